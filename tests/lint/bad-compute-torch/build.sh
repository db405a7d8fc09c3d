export TORCH_CUDA_ARCH_LIST="8.0;compute_90"
