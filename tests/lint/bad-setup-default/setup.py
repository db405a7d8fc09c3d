import os
os.environ.setdefault("TORCH_CUDA_ARCH_LIST", "80")
