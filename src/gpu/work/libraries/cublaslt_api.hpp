// The part of cuBLASLt that gpuvet uses, declared by ourselves as in cublasLt.h of cuBLAS 13.1; the
// same since cuBLAS 11. headers_test.cpp beside this file compares it with a real cublasLt.h where
// there is one.
#pragma once

#include "gpu/cuda_api.hpp"

#include <cstddef>
#include <cstdint>

namespace gpuvet {

struct CublasLtHandleHandle; // never looked into
using CublasLtHandle = CublasLtHandleHandle*;
struct CublasLtDescHandle;
using CublasLtDesc = CublasLtDescHandle*;
struct CublasLtLayoutHandle;
using CublasLtLayout = CublasLtLayoutHandle*;
struct CublasLtPreferenceHandle;
using CublasLtPreference = CublasLtPreferenceHandle*;

struct CublasLtAlgo { // never looked into
  uint64_t data[8];
};

struct CublasLtChoice { // cublasLtMatmulHeuristicResult_t
  CublasLtAlgo algo;
  size_t workspace;
  int state; // 0: the choice is good
  float waves;
  int reserved[4];
};

enum CublasLtNumber : int {
  kCublasNotSupported = 15, // CUBLAS_STATUS_NOT_SUPPORTED
  kCublasCompute32F = 68,   // CUBLAS_COMPUTE_32F
  kCublasDescTransposeA = 3,
  kCublasDescTransposeB = 4,
  kCublasPreferWorkspace = 1, // CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES
  kCublasTranspose = 1,       // CUBLAS_OP_T
  kCublasReal32F = 0,         // CUDA_R_32F
  kCublasReal16BF = 14,       // CUDA_R_16BF
};

#define GPUVET_CUBLASLT_CALLS(CALL)                                                                \
  CALL(cublasLtCreate, CublasLtHandle*)                                                            \
  CALL(cublasLtDestroy, CublasLtHandle)                                                            \
  CALL(cublasLtMatmulDescCreate, CublasLtDesc*, int, int)                                          \
  CALL(cublasLtMatmulDescDestroy, CublasLtDesc)                                                    \
  CALL(cublasLtMatmulDescSetAttribute, CublasLtDesc, int, const void*, size_t)                     \
  CALL(cublasLtMatrixLayoutCreate, CublasLtLayout*, int, uint64_t, uint64_t, int64_t)              \
  CALL(cublasLtMatrixLayoutDestroy, CublasLtLayout)                                                \
  CALL(cublasLtMatmulPreferenceCreate, CublasLtPreference*)                                        \
  CALL(cublasLtMatmulPreferenceSetAttribute, CublasLtPreference, int, const void*, size_t)         \
  CALL(cublasLtMatmulAlgoGetHeuristic, CublasLtHandle, CublasLtDesc, CublasLtLayout,               \
       CublasLtLayout, CublasLtLayout, CublasLtLayout, CublasLtPreference, int, CublasLtChoice*,   \
       int*)                                                                                       \
  CALL(cublasLtMatmul, CublasLtHandle, CublasLtDesc, const void*, const void*, CublasLtLayout,     \
       const void*, CublasLtLayout, const void*, const void*, CublasLtLayout, void*,               \
       CublasLtLayout, const CublasLtAlgo*, void*, size_t, CudaStream)

struct CublasLtApi {
#define GPUVET_DECLARE(name, ...) LibraryCall<__VA_ARGS__> name{#name};
  GPUVET_CUBLASLT_CALLS(GPUVET_DECLARE)
#undef GPUVET_DECLARE
  size_t (*cublasLtGetVersion)() = nullptr; // the one that returns no code
};

} // namespace gpuvet
