FROM nvidia/cuda:11.8.0-cudnn8-devel-ubuntu22.04
RUN cmake -D WITH_CUDA=ON -D CUDA_ARCH_BIN="7.5,8.6" -D CUDA_ARCH_PTX=8.6 -D OPENCV_DNN_CUDA=ON ..
