pip install cmake==3.22.1 ninja
cmake -B build -DCMAKE_CUDA_ARCHITECTURES=native
