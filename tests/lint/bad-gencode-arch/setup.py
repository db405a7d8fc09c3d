nvcc_flags = ["-O3", "-gencode", "arch=sm_80,code=sm_80"]
