mkdir -p build && cd build
cmake .. -DCMAKE_CUDA_ARCHITECTURES=75;80;86 -DCMAKE_BUILD_TYPE=Release
