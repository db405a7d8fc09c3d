cmake -B build -DCMAKE_CUDA_ARCHITECTURES=allmajor
