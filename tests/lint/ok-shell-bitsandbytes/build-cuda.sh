#!/bin/bash
set -xeuo pipefail
build_capability="75;80;86;89;90"
[[ "${cuda_version}" == 12.8.* ]] && build_capability="75;80;86;89;90;100;120"
cmake -DCOMPUTE_BACKEND=cuda -DCOMPUTE_CAPABILITY="${build_capability}" .
