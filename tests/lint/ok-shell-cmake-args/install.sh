CMAKE_ARGS="-DGGML_CUDA=on -DCMAKE_CUDA_ARCHITECTURES=75;86" pip install llama-cpp-python
pip install . -Ccmake.define.CMAKE_CUDA_ARCHITECTURES="80;90"
