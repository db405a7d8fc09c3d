./build.sh --use_cuda --cuda_home /usr/local/cuda-12.4 --config Release \
  --cmake_extra_defines 'CMAKE_CUDA_ARCHITECTURES=75-real;80-real;90' onnxruntime_BUILD_UNIT_TESTS=OFF
