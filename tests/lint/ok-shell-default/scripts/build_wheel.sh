#!/bin/sh
: "${TORCH_CUDA_ARCH_LIST:=8.0;8.6+PTX}"
export TORCH_CUDA_ARCH_LIST="${TORCH_CUDA_ARCH_LIST:-8.0;8.6+PTX}"
if [ "$CUDA" = "12.8" ]; then
  TORCH_CUDA_ARCH_LIST="${TORCH_CUDA_ARCH_LIST};10.0;12.0"
fi
python setup.py bdist_wheel
