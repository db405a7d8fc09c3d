// The part of cuDNN that gpuvet uses: a convolution by the calls of cuDNN 7 and 8, which cuDNN 9
// still has. Declared by ourselves as in cudnn_graph.h, cudnn_ops.h and cudnn_cnn.h of cuDNN 9.28;
// headers_test.cpp beside this file compares it with a real cudnn.h where there is one.
#pragma once

#include "gpu/cuda_api.hpp"

#include <cstddef>

namespace gpuvet {

struct CudnnHandleHandle; // never looked into
using CudnnHandle = CudnnHandleHandle*;
struct CudnnTensorHandle;
using CudnnTensor = CudnnTensorHandle*;
struct CudnnFilterHandle;
using CudnnFilter = CudnnFilterHandle*;
struct CudnnConvolutionHandle;
using CudnnConvolution = CudnnConvolutionHandle*;

enum CudnnNumber : int {
  kCudnnFloat = 0,            // CUDNN_DATA_FLOAT
  kCudnnBfloat16 = 9,         // CUDNN_DATA_BFLOAT16
  kCudnnNhwc = 1,             // CUDNN_TENSOR_NHWC
  kCudnnCrossCorrelation = 1, // CUDNN_CROSS_CORRELATION
  kCudnnTensorOpMath = 1,     // CUDNN_TENSOR_OP_MATH
  kCudnnPrecompGemm = 1,      // CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM
};

#define GPUVET_CUDNN_CALLS(CALL)                                                                   \
  CALL(cudnnCreate, CudnnHandle*)                                                                  \
  CALL(cudnnDestroy, CudnnHandle)                                                                  \
  CALL(cudnnSetStream, CudnnHandle, CudaStream)                                                    \
  CALL(cudnnCreateTensorDescriptor, CudnnTensor*)                                                  \
  CALL(cudnnDestroyTensorDescriptor, CudnnTensor)                                                  \
  CALL(cudnnSetTensor4dDescriptor, CudnnTensor, int, int, int, int, int, int)                      \
  CALL(cudnnCreateFilterDescriptor, CudnnFilter*)                                                  \
  CALL(cudnnDestroyFilterDescriptor, CudnnFilter)                                                  \
  CALL(cudnnSetFilter4dDescriptor, CudnnFilter, int, int, int, int, int, int)                      \
  CALL(cudnnCreateConvolutionDescriptor, CudnnConvolution*)                                        \
  CALL(cudnnDestroyConvolutionDescriptor, CudnnConvolution)                                        \
  CALL(cudnnSetConvolution2dDescriptor, CudnnConvolution, int, int, int, int, int, int, int, int)  \
  CALL(cudnnSetConvolutionMathType, CudnnConvolution, int)                                         \
  CALL(cudnnGetConvolutionForwardWorkspaceSize, CudnnHandle, CudnnTensor, CudnnFilter,             \
       CudnnConvolution, CudnnTensor, int, size_t*)                                                \
  CALL(cudnnConvolutionForward, CudnnHandle, const void*, CudnnTensor, const void*, CudnnFilter,   \
       const void*, CudnnConvolution, int, void*, size_t, const void*, CudnnTensor, void*)

struct CudnnApi {
#define GPUVET_DECLARE(name, ...) LibraryCall<__VA_ARGS__> name{#name};
  GPUVET_CUDNN_CALLS(GPUVET_DECLARE)
#undef GPUVET_DECLARE
  size_t (*cudnnGetVersion)() = nullptr; // these return no code
  const char* (*cudnnGetErrorString)(int) = nullptr;
};

} // namespace gpuvet
