# builds on my card
export TORCH_CUDA_ARCH_LIST="8.9"
export CUDAARCHS=89
