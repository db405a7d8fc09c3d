docker build --build-arg TORCH_CUDA_ARCH_LIST="8.0,9.0" -t x .
