export TORCH_CUDA_ARCH_LIST="Turing;Amprere"
