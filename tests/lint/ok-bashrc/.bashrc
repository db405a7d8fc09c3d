export PATH=/usr/local/cuda/bin:$PATH
export CUDA_HOME=/usr/local/cuda
alias archs='echo $TORCH_CUDA_ARCH_LIST'
