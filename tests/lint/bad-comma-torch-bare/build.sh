TORCH_CUDA_ARCH_LIST=8.0,8.6 python setup.py install
