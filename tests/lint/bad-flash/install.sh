FLASH_ATTN_CUDA_ARCHS="8.0;9.0" pip install flash-attn --no-build-isolation
