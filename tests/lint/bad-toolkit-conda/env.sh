conda install -y -c nvidia cuda-nvcc=12.6 cuda-version=12.6
cmake -B build -DCMAKE_CUDA_ARCHITECTURES=100
