./build.sh --use_cuda --cmake_extra_defines CMAKE_CUDA_ARCHITECTURES=8.0
