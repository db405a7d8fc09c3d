DS_BUILD_OPS=1 DS_CUDA_ARCH="8.0" pip install deepspeed
