export FLASHINFER_CUDA_ARCH_LIST="7.5 8.0 9.0a 12.0f"
python -m build
