#!/bin/bash
CC=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -1 | tr -d .)
cmake -B build -DCMAKE_CUDA_ARCHITECTURES=$CC
nvcc -arch=sm_$CC -o a a.cu
nvcc -arch=native -o b b.cu
clang -arch x86_64 -o c c.c
gcc -march=native -o d d.c
