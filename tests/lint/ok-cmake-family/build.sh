pip install cmake==3.31.8
cmake -B build -DCMAKE_CUDA_ARCHITECTURES="90a-real;100f-real;120-virtual"
