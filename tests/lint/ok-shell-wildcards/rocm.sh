export PYTORCH_ROCM_ARCH="gfx90a;gfx942"
cmake -DCMAKE_HIP_ARCHITECTURES=gfx90a -DGPU_TARGETS=gfx90a ..
hipcc --offload-arch=gfx90a -o a a.cpp
export TORCH_XPU_ARCH_LIST=pvc
export ARCH=x86_64 ARCHFLAGS="-arch arm64"
