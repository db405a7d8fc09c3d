"""Set TORCH_CUDA_ARCH_LIST="8.0,8.6" ... in words only."""
import os
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension

# os.environ["TORCH_CUDA_ARCH_LIST"] = "8.0,8.6"
os.environ.setdefault("TORCH_CUDA_ARCH_LIST", "7.5;8.0;8.6+PTX")
archs = os.environ.get("FLASH_ATTN_CUDA_ARCHS", "80;90").split(";")
cc_flag = []
for arch in archs:
    cc_flag += ["-gencode", f"arch=compute_{arch},code=sm_{arch}"]
cc_flag.append("-gencode=arch=compute_90a,code=sm_90a")
raise_text = "TORCH_CUDA_ARCH_LIST=8.0,8.6 is not understood"
setup(name="x", ext_modules=[CUDAExtension("x", ["x.cu"], extra_compile_args={"nvcc": ["-O3"] + cc_flag})],
      cmdclass={"build_ext": BuildExtension})
