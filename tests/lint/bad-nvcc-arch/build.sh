nvcc -arch=86 -o a a.cu
