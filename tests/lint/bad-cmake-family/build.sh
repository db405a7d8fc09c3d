pip install cmake==4.0.1
cmake -B build -DCMAKE_CUDA_ARCHITECTURES=100f-real
