MAX_JOBS=8 FLASH_ATTN_CUDA_ARCHS="80;90" pip install flash-attn --no-build-isolation
