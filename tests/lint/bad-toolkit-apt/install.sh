apt-get install -y cuda-toolkit-11-7
export TORCH_CUDA_ARCH_LIST="8.9"
