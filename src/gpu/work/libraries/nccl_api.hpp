// The part of NCCL that gpuvet uses, declared by ourselves as in nccl.h of NCCL 2.32; the same
// since NCCL 2.10, which brought bf16. headers_test.cpp beside this file compares it with a real
// nccl.h where there is one.
#pragma once

#include "gpu/cuda_api.hpp"

#include <cstddef>

namespace gpuvet {

struct NcclCommHandle; // never looked into
using NcclComm = NcclCommHandle*;

enum NcclNumber : int {
  kNcclSum = 0,
  kNcclInt32 = 2,
  kNcclBfloat16 = 9,
  kNcclInProgress = 7,
};

#define GPUVET_NCCL_CALLS(CALL)                                                                    \
  CALL(ncclGetVersion, int*)                                                                       \
  CALL(ncclCommInitAll, NcclComm*, int, const int*)                                                \
  CALL(ncclCommDestroy, NcclComm)                                                                  \
  CALL(ncclCommAbort, NcclComm)                                                                    \
  CALL(ncclCommGetAsyncError, NcclComm, int*)                                                      \
  CALL(ncclAllReduce, const void*, void*, size_t, int, int, NcclComm, CudaStream)                  \
  CALL(ncclGroupStart)                                                                             \
  CALL(ncclGroupEnd)

struct NcclApi {
#define GPUVET_DECLARE(name, ...) LibraryCall<__VA_ARGS__> name{#name};
  GPUVET_NCCL_CALLS(GPUVET_DECLARE)
#undef GPUVET_DECLARE
  const char* (*ncclGetErrorString)(int) = nullptr; // returns no code
};

} // namespace gpuvet
