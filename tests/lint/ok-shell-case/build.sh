#!/usr/bin/env bash
set -euo pipefail
# usage: TORCH_CUDA_ARCH_LIST=8.0,8.6 ./build.sh   (no: it is parted by ';')
echo "set TORCH_CUDA_ARCH_LIST=8.0,8.6 for A100"
case "$1" in
  a100) ARCH="80" ;;
  ada)  ARCH="89" ;;
  *)    ARCH="80;89" ;;
esac
cmake -B build -DCMAKE_CUDA_ARCHITECTURES="$ARCH" .
cat > README <<END
CMAKE_CUDA_ARCHITECTURES=8.6
END
