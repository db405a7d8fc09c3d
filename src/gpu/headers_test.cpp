// Our declarations against NVIDIA's own headers, where those are installed. A mistake here would be
// memory overwritten by the driver's library.
#include "gpu/cuda_api.hpp"
#include "gpu/nvml_api.hpp"
#include "gpu/testing/called_alike.hpp"
#include "gpu/work/attributes.hpp"

#include <gtest/gtest.h>

#if __has_include(<nvml.h>)
#define NVML_NO_UNVERSIONED_FUNC_DEFS // declares the older versions too, and hides none
#include <nvml.h>
#endif
#if __has_include(<cuda.h>)
#define __CUDA_API_VERSION_INTERNAL // declares the older versions too:
                                    // NOLINT(bugprone-reserved-identifier)
#include <cuda.h>
#endif

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace gpuvet {
namespace {

TEST(Headers, TheComparisonCanFail) {
  using Ours = LibraryCall<NvmlDevice, unsigned*>;
  EXPECT_TRUE((kCalledAlike<Ours, int (*)(void*, int*)>));
  EXPECT_FALSE((kCalledAlike<Ours, int (*)(void*, long*)>));
  EXPECT_FALSE((kCalledAlike<Ours, int (*)(void*, int)>));
  EXPECT_FALSE((kCalledAlike<Ours, int (*)(void*)>));
  EXPECT_FALSE((kCalledAlike<Ours, char (*)(void*, int*)>));
}

#if defined(NVML_API_VERSION) && NVML_API_VERSION >= 12 && defined(nvmlGpuFabricInfo_v2)

TEST(Headers, NvmlFunctionsTakeWhatWeGive) {
#define GPUVET_COMPARE(name, ...)                                                                  \
  EXPECT_TRUE((kCalledAlike<decltype(NvmlApi::name), decltype(&::name)>)) << #name;
  GPUVET_NVML_CALLS(GPUVET_COMPARE)
#undef GPUVET_COMPARE
}

TEST(Headers, NvmlStructuresLieAlike) {
  EXPECT_EQ(sizeof(NvmlPci), sizeof(nvmlPciInfo_t));
  EXPECT_SAME_PLACE(NvmlPci, bus_id, nvmlPciInfo_t, busId);
  EXPECT_EQ(sizeof(NvmlMemory), sizeof(nvmlMemory_t));
  EXPECT_SAME_PLACE(NvmlMemory, total, nvmlMemory_t, total);
  EXPECT_SAME_PLACE(NvmlMemory, used, nvmlMemory_t, used);
  EXPECT_EQ(nvml_version<NvmlMemory2>(2), nvmlMemory_v2);
  EXPECT_SAME_PLACE(NvmlMemory2, total, nvmlMemory_v2_t, total);
  EXPECT_SAME_PLACE(NvmlMemory2, reserved, nvmlMemory_v2_t, reserved);
  EXPECT_SAME_PLACE(NvmlMemory2, used, nvmlMemory_v2_t, used);
  EXPECT_EQ(nvml_version<NvmlSramErrors>(1), nvmlEccSramErrorStatus_v1);
  EXPECT_SAME_PLACE(NvmlSramErrors, threshold_exceeded, nvmlEccSramErrorStatus_t,
                    bThresholdExceeded);
  EXPECT_SAME_PLACE(NvmlUtilization, gpu, nvmlUtilization_t, gpu);
  EXPECT_EQ(sizeof(NvmlFabric), sizeof(nvmlGpuFabricInfo_t));
  EXPECT_SAME_PLACE(NvmlFabric, state, nvmlGpuFabricInfo_t, state);
  EXPECT_SAME_PLACE(NvmlFabric, status, nvmlGpuFabricInfo_t, status);
  EXPECT_EQ(nvml_version<NvmlFabric2>(2), nvmlGpuFabricInfo_v2);
  EXPECT_SAME_PLACE(NvmlFabric2, state, nvmlGpuFabricInfo_v2_t, state);
  EXPECT_SAME_PLACE(NvmlFabric2, status, nvmlGpuFabricInfo_v2_t, status);
}

TEST(Headers, NvmlListsLieAlike) {
  EXPECT_EQ(sizeof(NvmlField), sizeof(nvmlFieldValue_t));
  EXPECT_SAME_PLACE(NvmlField, field, nvmlFieldValue_t, fieldId);
  EXPECT_SAME_PLACE(NvmlField, scope, nvmlFieldValue_t, scopeId);
  EXPECT_SAME_PLACE(NvmlField, type, nvmlFieldValue_t, valueType);
  EXPECT_SAME_PLACE(NvmlField, code, nvmlFieldValue_t, nvmlReturn);
  EXPECT_SAME_PLACE(NvmlField, value, nvmlFieldValue_t, value);
  EXPECT_EQ(sizeof(NvmlProcessEntry), sizeof(nvmlProcessInfo_v2_t));
  EXPECT_SAME_PLACE(NvmlProcessEntry, pid, nvmlProcessInfo_v2_t, pid);
  EXPECT_SAME_PLACE(NvmlProcessEntry, used, nvmlProcessInfo_v2_t, usedGpuMemory);
  EXPECT_EQ(sizeof(NvmlEvent), sizeof(nvmlEventData_t));
  EXPECT_SAME_PLACE(NvmlEvent, device, nvmlEventData_t, device);
  EXPECT_SAME_PLACE(NvmlEvent, kind, nvmlEventData_t, eventType);
  EXPECT_SAME_PLACE(NvmlEvent, data, nvmlEventData_t, eventData);
  EXPECT_EQ(sizeof(NvmlParts), sizeof(nvmlDeviceAttributes_t));
  EXPECT_SAME_PLACE(NvmlParts, multiprocessors, nvmlDeviceAttributes_t, multiprocessorCount);
  EXPECT_SAME_PLACE(NvmlParts, gpu_slices, nvmlDeviceAttributes_t, gpuInstanceSliceCount);
  EXPECT_SAME_PLACE(NvmlParts, compute_slices, nvmlDeviceAttributes_t, computeInstanceSliceCount);
  EXPECT_SAME_PLACE(NvmlParts, memory_mib, nvmlDeviceAttributes_t, memorySizeMB);
  EXPECT_EQ(sizeof(NvmlConfidential), sizeof(nvmlConfComputeSystemState_t));
  EXPECT_SAME_PLACE(NvmlConfidential, feature, nvmlConfComputeSystemState_t, ccFeature);
  EXPECT_EQ(sizeof(NvmlLicenses), sizeof(nvmlGridLicensableFeatures_t));
  EXPECT_SAME_PLACE(NvmlLicenses, count, nvmlGridLicensableFeatures_t, licensableFeaturesCount);
  EXPECT_SAME_PLACE(NvmlLicenses, features, nvmlGridLicensableFeatures_t, gridLicensableFeatures);
  EXPECT_SAME_PLACE(NvmlLicensedFeature, licensed, nvmlGridLicensableFeature_t, featureState);
}

TEST(Headers, NvmlNumbersAreTheirs) {
  EXPECT_EQ(kNvmlNotSupported, int{NVML_ERROR_NOT_SUPPORTED});
  EXPECT_EQ(kNvmlNotFound, int{NVML_ERROR_NOT_FOUND});
  EXPECT_EQ(kNvmlInsufficientSize, int{NVML_ERROR_INSUFFICIENT_SIZE});
  EXPECT_EQ(kNvmlFunctionNotFound, int{NVML_ERROR_FUNCTION_NOT_FOUND});
  EXPECT_EQ(kNvmlCorruptedInforom, int{NVML_ERROR_CORRUPTED_INFOROM});
  EXPECT_EQ(kNvmlGpuIsLost, int{NVML_ERROR_GPU_IS_LOST});
  EXPECT_EQ(kNvmlResetRequired, int{NVML_ERROR_RESET_REQUIRED});
  EXPECT_EQ(kNvmlArgumentVersionMismatch, int{NVML_ERROR_ARGUMENT_VERSION_MISMATCH});
  EXPECT_EQ(kNvmlClockSm, int{NVML_CLOCK_SM});
  EXPECT_EQ(kNvmlClockMemory, int{NVML_CLOCK_MEM});
  EXPECT_EQ(kNvmlUncorrected, int{NVML_MEMORY_ERROR_TYPE_UNCORRECTED});
  EXPECT_EQ(kNvmlVolatile, int{NVML_VOLATILE_ECC});
  EXPECT_EQ(kNvmlAggregate, int{NVML_AGGREGATE_ECC});
  EXPECT_EQ(kNvmlDieTemperature, int{NVML_TEMPERATURE_GPU});
  EXPECT_EQ(kNvmlSlowdown, int{NVML_TEMPERATURE_THRESHOLD_SLOWDOWN});
  EXPECT_EQ(kNvmlVirtualGpu, int{NVML_GPU_VIRTUALIZATION_MODE_VGPU});
  EXPECT_EQ(kNvmlCorrected, int{NVML_MEMORY_ERROR_TYPE_CORRECTED});
  EXPECT_EQ(kNvmlEventXid, nvmlEventTypeXidCriticalError);
  EXPECT_EQ(kNvmlTimeout, int{NVML_ERROR_TIMEOUT});
  EXPECT_EQ(kNvmlFieldFlitErrors, NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL);
  EXPECT_EQ(kNvmlFieldCrcErrors, NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL);
  EXPECT_EQ(kNvmlFieldReplayErrors, NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL);
  EXPECT_EQ(kNvmlFieldRecoveryErrors, NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL);
  EXPECT_EQ(kNvmlFieldPowerNs, NVML_FI_DEV_PERF_POLICY_POWER);
  EXPECT_EQ(kNvmlFieldThermalNs, NVML_FI_DEV_PERF_POLICY_THERMAL);
  EXPECT_EQ(kNvmlFieldBoardLimitNs, NVML_FI_DEV_PERF_POLICY_BOARD_LIMIT);
  EXPECT_EQ(kNvmlFieldReliabilityNs, NVML_FI_DEV_PERF_POLICY_RELIABILITY);
  EXPECT_EQ(kNvmlFieldMemoryTemperature, NVML_FI_DEV_MEMORY_TEMP);
  EXPECT_EQ(kNvmlFieldEnergy, NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION);
#ifdef NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN // moved with CUDA 13
  unsigned moved = NVML_API_VERSION >= 13 ? kNvmlSlowdownsSince13 : kNvmlSlowdownsOf12;
  EXPECT_EQ(moved, unsigned{NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN});
  EXPECT_EQ(moved + 1, unsigned{NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN});
  EXPECT_EQ(moved + 2, unsigned{NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN});
#endif
  EXPECT_EQ(kNvmlFieldLinkCount, NVML_FI_DEV_NVLINK_LINK_COUNT);
  EXPECT_EQ(kNvmlFieldLinkState, NVML_FI_DEV_NVLINK_GET_STATE);
#ifdef NVML_FI_DEV_GET_GPU_RECOVERY_ACTION
  EXPECT_EQ(kNvmlFieldRecoveryAction, NVML_FI_DEV_GET_GPU_RECOVERY_ACTION);
#endif
  EXPECT_GE(kNvmlMostLinks, unsigned{NVML_NVLINK_MAX_LINKS});
}

#else

TEST(Headers, Nvml) {
  GTEST_SKIP() << "no nvml.h of CUDA 12.9 or newer is installed";
}

#endif
#ifdef CUDA_VERSION

TEST(Headers, CudaFunctionsTakeWhatWeGive) {
#define GPUVET_COMPARE(name, ...)                                                                  \
  EXPECT_TRUE((kCalledAlike<decltype(CudaApi::name), decltype(&::name)>)) << #name;
  GPUVET_CUDA_CALLS(GPUVET_COMPARE)
#undef GPUVET_COMPARE
}

TEST(Headers, CudaNumbersAreTheirs) {
  EXPECT_EQ(sizeof(CudaUuid), sizeof(CUuuid));
  EXPECT_EQ(sizeof(CudaTensorMap), sizeof(CUtensorMap));
  EXPECT_GE(alignof(CudaTensorMap), alignof(CUtensorMap)); // 64 until CUDA 12, then 128
  EXPECT_EQ(sizeof(CudaPointer), sizeof(CUdeviceptr));
  EXPECT_EQ(kCudaInvalidValue, int{CUDA_ERROR_INVALID_VALUE});
  EXPECT_EQ(kCudaOutOfMemory, int{CUDA_ERROR_OUT_OF_MEMORY});
  EXPECT_EQ(kCudaDeviceUnavailable, int{CUDA_ERROR_DEVICE_UNAVAILABLE});
  EXPECT_EQ(kCudaInvalidDevice, int{CUDA_ERROR_INVALID_DEVICE});
  EXPECT_EQ(kCudaInvalidImage, int{CUDA_ERROR_INVALID_IMAGE});
  EXPECT_EQ(kCudaNoBinaryForGpu, int{CUDA_ERROR_NO_BINARY_FOR_GPU});
  EXPECT_EQ(kCudaUnsupportedPtxVersion, int{CUDA_ERROR_UNSUPPORTED_PTX_VERSION});
  EXPECT_EQ(kCudaNotFound, int{CUDA_ERROR_NOT_FOUND});
  EXPECT_EQ(kCudaNotReady, int{CUDA_ERROR_NOT_READY});
  EXPECT_EQ(kCudaNotSupported, int{CUDA_ERROR_NOT_SUPPORTED});
}

TEST(Headers, CudaFlagsAreTheirs) {
  EXPECT_EQ(kCudaJitInfoLog, int{CU_JIT_INFO_LOG_BUFFER});
  EXPECT_EQ(kCudaJitInfoLogBytes, int{CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES});
  EXPECT_EQ(kCudaJitErrorLog, int{CU_JIT_ERROR_LOG_BUFFER});
  EXPECT_EQ(kCudaJitErrorLogBytes, int{CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES});
  EXPECT_EQ(kCudaWaitEqual, int{CU_STREAM_WAIT_VALUE_EQ});
  EXPECT_EQ(kCudaStreamNonBlocking, int{CU_STREAM_NON_BLOCKING});
  EXPECT_EQ(kCudaEventBlocking, int{CU_EVENT_BLOCKING_SYNC});
  EXPECT_EQ(kCudaEventNoTiming, int{CU_EVENT_DISABLE_TIMING});
  EXPECT_EQ(kCudaHostPortable, CU_MEMHOSTALLOC_PORTABLE);
  EXPECT_EQ(kCudaHostMapped, CU_MEMHOSTALLOC_DEVICEMAP);
  EXPECT_EQ(kCudaHostWriteCombined, CU_MEMHOSTALLOC_WRITECOMBINED);
  EXPECT_EQ(kCudaFunctionRegisters, int{CU_FUNC_ATTRIBUTE_NUM_REGS});
  EXPECT_EQ(kCudaFunctionDynamicSharedBytes, int{CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES});
  EXPECT_EQ(kCudaCaptureThreadLocal, int{CU_STREAM_CAPTURE_MODE_THREAD_LOCAL});
}

TEST(Headers, CudaAttributesAreTheirs) {
  EXPECT_EQ(kCudaMultiprocessors, int{CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT});
  EXPECT_EQ(kCudaIntegrated, int{CU_DEVICE_ATTRIBUTE_INTEGRATED});
  EXPECT_EQ(kCudaComputeMode, int{CU_DEVICE_ATTRIBUTE_COMPUTE_MODE});
  EXPECT_EQ(kCudaMemoryBusBits, int{CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH});
  EXPECT_EQ(kCudaL2Bytes, int{CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE});
  EXPECT_EQ(kCudaThreadsPerMultiprocessor, int{CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR});
  EXPECT_EQ(kCudaSharedBytesOptIn, int{CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN});
#if CUDA_VERSION >= 12000
  EXPECT_EQ(kCudaStreamMemoryOperations, int{CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS});
#endif
  EXPECT_EQ(kCudaCapabilityMajor, int{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR});
  EXPECT_EQ(kCudaCapabilityMinor, int{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR});
  EXPECT_EQ(kCudaManagedMemory, int{CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY});
  EXPECT_EQ(kCudaPageableMemory, int{CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS});
}

#if CUDA_VERSION >= 13000

TEST(Headers, CudaAttributesHaveTheirNumbers) {
#define GPUVET_COMPARE(number, name, theirs) EXPECT_EQ(number, int{CU_DEVICE_ATTRIBUTE_##theirs});
  GPUVET_CUDA_ATTRIBUTES(GPUVET_COMPARE)
#undef GPUVET_COMPARE
}

#endif
#else

TEST(Headers, Cuda) {
  GTEST_SKIP() << "no cuda.h is installed";
}

#endif

} // namespace
} // namespace gpuvet
