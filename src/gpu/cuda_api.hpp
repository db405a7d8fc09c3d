// The part of the CUDA driver API that gpuvet uses, declared by ourselves as in cuda.h of
// CUDA 13.0. The test beside this file compares it with a real cuda.h where there is one.
#pragma once

#include "gpu/library.hpp"

#include <cstddef>

namespace gpuvet {

struct CudaContextHandle; // never looked into
using CudaContext = CudaContextHandle*;
struct CudaModuleHandle;
using CudaModule = CudaModuleHandle*;
struct CudaFunctionHandle;
using CudaFunction = CudaFunctionHandle*;
struct CudaStreamHandle;
using CudaStream = CudaStreamHandle*; // null: the default stream
struct CudaEventHandle;
using CudaEvent = CudaEventHandle*;
struct CudaGraphHandle;
using CudaGraph = CudaGraphHandle*;
struct CudaGraphNodeHandle;
using CudaGraphNode = CudaGraphNodeHandle*;
struct CudaGraphExecHandle;
using CudaGraphExec = CudaGraphExecHandle*;
using CudaPointer = unsigned long long; // of device memory

// Device memory for functions that want a pointer; only the GPU may follow it.
inline void* address_of(CudaPointer memory) {
  return reinterpret_cast<void*>(memory); // NOLINT(performance-no-int-to-ptr): the driver's number
}

struct CudaUuid {
  unsigned char bytes[16];
};

struct alignas(128) CudaTensorMap { // 128 bytes, never looked into
  unsigned long long words[16];
};

enum CudaCode : int {
  kCudaSuccess = 0,
  kCudaInvalidValue = 1,
  kCudaOutOfMemory = 2,
  kCudaDeviceUnavailable = 46,
  kCudaInvalidDevice = 101,
  kCudaInvalidImage = 200,
  kCudaNoBinaryForGpu = 209,
  kCudaNoJitCompiler = 221,
  kCudaUnsupportedPtxVersion = 222,
  kCudaJitDisabled = 223,
  kCudaNotFound = 500, // here also: this library has no such function
  kCudaNotReady = 600,
  kCudaNotSupported = 801,
};

// The table in gpu/work/attributes.cpp has all of them by name; here are those that code asks for.
enum CudaAttribute : int {
  kCudaMultiprocessors = 16,
  kCudaIntegrated = 18,
  kCudaComputeMode = 20,
  kCudaMemoryBusBits = 37,
  kCudaL2Bytes = 38,
  kCudaThreadsPerMultiprocessor = 39,
  kCudaCapabilityMajor = 75,
  kCudaCapabilityMinor = 76,
  kCudaManagedMemory = 83,
  kCudaPageableMemory = 88,
  kCudaSharedBytesOptIn = 97,
  kCudaStreamMemoryOperations = 122, // of 64 bits too; those of 32 bits then exist
};

// Of CUjit_option, CUstreamWaitValue_flags, CUstream_flags, CUctx_flags, CUfunction_attribute and
// CUstreamCaptureMode; flags of cuMemHostAlloc and cuEventCreate.
enum CudaNumber : int {
  kCudaJitInfoLog = 3,
  kCudaJitInfoLogBytes = 4,
  kCudaJitErrorLog = 5,
  kCudaJitErrorLogBytes = 6,
  kCudaWaitEqual = 1,
  kCudaStreamNonBlocking = 1,
  kCudaEventBlocking = 1,
  kCudaEventNoTiming = 2,
  kCudaHostPortable = 1,
  kCudaHostMapped = 2,
  kCudaHostWriteCombined = 4,
  kCudaFunctionRegisters = 4,
  kCudaFunctionDynamicSharedBytes = 8,
  kCudaCaptureThreadLocal = 1,
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
  CALL(cuDevicePrimaryCtxSetFlags_v2, int, unsigned)                                               \
  CALL(cuCtxSetCurrent, CudaContext)                                                               \
  CALL(cuCtxSynchronize)                                                                           \
  CALL(cuCtxEnablePeerAccess, CudaContext, unsigned)                                               \
  CALL(cuDeviceCanAccessPeer, int*, int, int)                                                      \
  CALL(cuDeviceGetP2PAttribute, int*, int, int, int)                                               \
  CALL(cuModuleLoadDataEx, CudaModule*, const void*, unsigned, int*, void**)                       \
  CALL(cuModuleUnload, CudaModule)                                                                 \
  CALL(cuModuleGetFunction, CudaFunction*, CudaModule, const char*)                                \
  CALL(cuFuncGetAttribute, int*, int, CudaFunction)                                                \
  CALL(cuFuncSetAttribute, CudaFunction, int, int)                                                 \
  CALL(cuOccupancyMaxActiveBlocksPerMultiprocessor, int*, CudaFunction, int, size_t)               \
  CALL(cuLaunchKernel, CudaFunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,   \
       unsigned, CudaStream, void**, void**)                                                       \
  CALL(cuTensorMapEncodeTiled, CudaTensorMap*, int, unsigned, void*, const unsigned long long*,    \
       const unsigned long long*, const unsigned*, const unsigned*, int, int, int, int)            \
  CALL(cuMemGetInfo_v2, size_t*, size_t*)                                                          \
  CALL(cuMemAlloc_v2, CudaPointer*, size_t)                                                        \
  CALL(cuMemFree_v2, CudaPointer)                                                                  \
  CALL(cuMemHostAlloc, void**, size_t, unsigned)                                                   \
  CALL(cuMemFreeHost, void*)                                                                       \
  CALL(cuMemHostRegister_v2, void*, size_t, unsigned)                                              \
  CALL(cuMemHostUnregister, void*)                                                                 \
  CALL(cuMemHostGetDevicePointer_v2, CudaPointer*, void*, unsigned)                                \
  CALL(cuMemcpyHtoDAsync_v2, CudaPointer, const void*, size_t, CudaStream)                         \
  CALL(cuMemcpyDtoHAsync_v2, void*, CudaPointer, size_t, CudaStream)                               \
  CALL(cuMemcpyDtoDAsync_v2, CudaPointer, CudaPointer, size_t, CudaStream)                         \
  CALL(cuMemcpyPeerAsync, CudaPointer, CudaContext, CudaPointer, CudaContext, size_t, CudaStream)  \
  CALL(cuMemsetD32Async, CudaPointer, unsigned, size_t, CudaStream)                                \
  CALL(cuStreamCreate, CudaStream*, unsigned)                                                      \
  CALL(cuStreamDestroy_v2, CudaStream)                                                             \
  CALL(cuStreamSynchronize, CudaStream)                                                            \
  CALL(cuStreamQuery, CudaStream)                                                                  \
  CALL(cuStreamWaitEvent, CudaStream, CudaEvent, unsigned)                                         \
  CALL(cuStreamWaitValue32_v2, CudaStream, CudaPointer, unsigned, unsigned)                        \
  CALL(cuStreamBeginCapture_v2, CudaStream, int)                                                   \
  CALL(cuStreamEndCapture, CudaStream, CudaGraph*)                                                 \
  CALL(cuEventCreate, CudaEvent*, unsigned)                                                        \
  CALL(cuEventRecord, CudaEvent, CudaStream)                                                       \
  CALL(cuEventQuery, CudaEvent)                                                                    \
  CALL(cuEventSynchronize, CudaEvent)                                                              \
  CALL(cuEventElapsedTime, float*, CudaEvent, CudaEvent)                                           \
  CALL(cuEventDestroy_v2, CudaEvent)                                                               \
  CALL(cuGraphInstantiateWithFlags, CudaGraphExec*, CudaGraph, unsigned long long)                 \
  CALL(cuGraphInstantiate_v2, CudaGraphExec*, CudaGraph, CudaGraphNode*, char*, size_t)            \
  CALL(cuGraphUpload, CudaGraphExec, CudaStream)                                                   \
  CALL(cuGraphLaunch, CudaGraphExec, CudaStream)                                                   \
  CALL(cuGraphExecDestroy, CudaGraphExec)                                                          \
  CALL(cuGraphDestroy, CudaGraph)                                                                  \
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
