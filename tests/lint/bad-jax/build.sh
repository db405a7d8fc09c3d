python build/build.py build --wheels=jax-cuda-plugin --cuda_compute_capabilities="8.0;9.0"
