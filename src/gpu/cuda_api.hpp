// The part of the CUDA driver API that gpuvet uses, declared by ourselves as in cuda.h of
// CUDA 13.0. The test beside this file compares it with a real cuda.h where there is one.
#pragma once

#include "gpu/library.hpp"

#include <cstddef>

namespace gpuvet {

struct CudaContextHandle; // never looked into
using CudaContext = CudaContextHandle*;

struct CudaUuid {
  unsigned char bytes[16];
};

enum CudaCode : int {
  kCudaSuccess = 0,
  kCudaNotFound = 500, // here also: this library has no such function
};

enum CudaAttribute : int {
  kCudaCapabilityMajor = 75,
  kCudaCapabilityMinor = 76,
  kCudaManagedMemory = 83,
  kCudaPageableMemory = 88,
};

// CALL(name, parameters...): every function that is used and returns a code.
#define GPUVET_CUDA_CALLS(CALL)                                                                    \
  CALL(cuInit, unsigned)                                                                           \
  CALL(cuDriverGetVersion, int*)                                                                   \
  CALL(cuDeviceGetCount, int*)                                                                     \
  CALL(cuDeviceGet, int*, int)                                                                     \
  CALL(cuDeviceGetName, char*, int, int)                                                           \
  CALL(cuDeviceGetUuid, CudaUuid*, int)                                                            \
  CALL(cuDeviceGetUuid_v2, CudaUuid*, int)                                                         \
  CALL(cuDeviceGetPCIBusId, char*, int, int)                                                       \
  CALL(cuDeviceTotalMem_v2, size_t*, int)                                                          \
  CALL(cuDeviceGetAttribute, int*, int, int)                                                       \
  CALL(cuDevicePrimaryCtxRetain, CudaContext*, int)                                                \
  CALL(cuDevicePrimaryCtxRelease_v2, int)                                                          \
  CALL(cuGetErrorName, int, const char**)

struct CudaApi {
#define GPUVET_DECLARE(name, ...) LibraryCall<__VA_ARGS__> name{#name};
  GPUVET_CUDA_CALLS(GPUVET_DECLARE)
#undef GPUVET_DECLARE
};

extern const LibraryPlaces kCudaPlaces;

CudaApi find_cuda(const OpenLibrary& library);

// "CUDA_ERROR_NO_DEVICE": by the library, or ours where it does not know.
std::string cuda_error_name(const CudaApi& api, int code);

} // namespace gpuvet
