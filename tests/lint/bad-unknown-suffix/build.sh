nvcc -gencode arch=compute_86a,code=sm_86a -c a.cu
