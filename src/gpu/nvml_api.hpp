// The part of NVML that gpuvet uses, declared by ourselves: names, parameters and layouts as in
// nvml.h of CUDA 12.9 to 13.5, which keep those of older drivers under older names. The test beside
// this file compares them with a real nvml.h where there is one.
#pragma once

#include "gpu/library.hpp"

#include <cstddef>
#include <cstdint>

namespace gpuvet {

struct NvmlDeviceHandle; // never looked into
using NvmlDevice = NvmlDeviceHandle*;
struct NvmlEventSetHandle;
using NvmlEventSet = NvmlEventSetHandle*;

enum NvmlCode : int {
  kNvmlSuccess = 0,
  kNvmlNotSupported = 3,
  kNvmlNotFound = 6,
  kNvmlInsufficientSize = 7,
  kNvmlTimeout = 10,
  kNvmlFunctionNotFound = 13, // here also: this library has no such function
  kNvmlCorruptedInforom = 14,
  kNvmlGpuIsLost = 15,
  kNvmlResetRequired = 16,
  kNvmlArgumentVersionMismatch = 25,
};

// Of nvmlClockType_t, nvmlMemoryErrorType_t, nvmlEccCounterType_t, nvmlTemperatureSensors_t and
// nvmlTemperatureThresholds_t, nvmlGpuVirtualizationMode_t; fields of nvmlDeviceGetFieldValues.
enum NvmlNumber : int {
  kNvmlClockSm = 1,
  kNvmlClockMemory = 2,
  kNvmlCorrected = 0,
  kNvmlUncorrected = 1,
  kNvmlVolatile = 0,
  kNvmlAggregate = 1,
  kNvmlDieTemperature = 0,
  kNvmlSlowdown = 1,
  kNvmlVirtualGpu = 2,
  kNvmlEventXid = 8,
  kNvmlFieldFlitErrors = 38, // of all links of NVLink together, as the next three
  kNvmlFieldCrcErrors = 45,
  kNvmlFieldReplayErrors = 52,
  kNvmlFieldRecoveryErrors = 59,
  kNvmlFieldPowerNs = 74, // how long the clocks were held down for this, as the next three
  kNvmlFieldThermalNs = 75,
  kNvmlFieldBoardLimitNs = 77,
  kNvmlFieldReliabilityNs = 79,
  kNvmlFieldMemoryTemperature = 82,
  kNvmlFieldEnergy = 83, // mJ since the driver was loaded
  kNvmlFieldLinkCount = 91,
  kNvmlFieldLinkState = 165,
  kNvmlFieldRecoveryAction = 230,
};

// First of three fields: nanoseconds of software thermal slowdown, hardware thermal slowdown, power
// brake. Drivers of CUDA 13 have other things under the numbers of CUDA 12.9.
inline constexpr unsigned kNvmlSlowdownsOf12 = 251, kNvmlSlowdownsSince13 = 269;

inline constexpr unsigned kNvmlMostLinks = 36; // of NVLink, on one GPU

struct NvmlPci {
  char bus_id_legacy[16];
  unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
  char bus_id[32]; // "00000000:3B:00.0"
};

struct NvmlMemory {
  unsigned long long total, free, used; // bytes; used has what the driver reserves
};

struct NvmlMemory2 {
  unsigned version;
  unsigned long long total, reserved, free, used;
};

struct NvmlSramErrors {
  unsigned version;
  unsigned long long counters[11];
  unsigned threshold_exceeded;
};

struct NvmlUtilization {
  unsigned gpu, memory; // percent
};

struct NvmlFabric {
  unsigned char cluster[16];
  int status;
  unsigned clique;
  unsigned char state;
};

struct NvmlFabric2 {
  unsigned version;
  unsigned char cluster[16];
  int status;
  unsigned clique;
  unsigned char state;
  unsigned health;
};

struct NvmlField {
  unsigned field, scope;
  long long timestamp, latency_us;
  int type;
  int code; // the value holds only when this is 0
  union {
    double floating;
    unsigned u32;
    unsigned long long u64;
    int i32;
    unsigned short u16;
  } value;
};

struct NvmlProcessEntry {
  unsigned pid;
  unsigned long long used; // bytes; all ones: not available
  unsigned gpu_instance, compute_instance;
};

struct NvmlEvent {
  NvmlDevice device;
  unsigned long long kind, data; // data: the Xid's number
  unsigned gpu_instance, compute_instance;
};

struct NvmlParts { // what a MIG device has
  unsigned multiprocessors, copy_engines, decoders, encoders, jpeg, ofa;
  unsigned gpu_slices, compute_slices;
  unsigned long long memory_mib;
};

struct NvmlConfidential {
  unsigned environment, feature, devtools;
};

struct NvmlLicensedFeature {
  int code;
  unsigned licensed;
  char info[128], product[128];
  unsigned enabled;
  unsigned expiry_year;
  unsigned short expiry[5];
  unsigned char expiry_status;
};

struct NvmlLicenses {
  int supported;
  unsigned count;
  NvmlLicensedFeature features[3];
};

// What NVML wants in the `version` of its structures.
template <class Structure> constexpr unsigned nvml_version(unsigned number) {
  return static_cast<unsigned>(sizeof(Structure)) | number << 24;
}

// CALL(name, parameters...): every function that is used and returns a code. Each is looked up by
// itself, since an older driver lacks the newer ones.
#define GPUVET_NVML_CALLS(CALL)                                                                    \
  CALL(nvmlInit_v2)                                                                                \
  CALL(nvmlSystemGetNVMLVersion, char*, unsigned)                                                  \
  CALL(nvmlSystemGetDriverVersion, char*, unsigned)                                                \
  CALL(nvmlSystemGetCudaDriverVersion_v2, int*)                                                    \
  CALL(nvmlSystemGetCudaDriverVersion, int*)                                                       \
  CALL(nvmlSystemGetConfComputeState, NvmlConfidential*)                                           \
  CALL(nvmlSystemGetConfComputeGpusReadyState, unsigned*)                                          \
  CALL(nvmlDeviceGetCount_v2, unsigned*)                                                           \
  CALL(nvmlDeviceGetHandleByIndex_v2, unsigned, NvmlDevice*)                                       \
  CALL(nvmlDeviceGetHandleByUUID, const char*, NvmlDevice*)                                        \
  CALL(nvmlDeviceGetDeviceHandleFromMigDeviceHandle, NvmlDevice, NvmlDevice*)                      \
  CALL(nvmlDeviceGetAttributes_v2, NvmlDevice, NvmlParts*)                                         \
  CALL(nvmlDeviceGetMemoryBusWidth, NvmlDevice, unsigned*)                                         \
  CALL(nvmlEventSetCreate, NvmlEventSet*)                                                          \
  CALL(nvmlDeviceRegisterEvents, NvmlDevice, unsigned long long, NvmlEventSet)                     \
  CALL(nvmlEventSetWait_v2, NvmlEventSet, NvmlEvent*, unsigned)                                    \
  CALL(nvmlDeviceGetName, NvmlDevice, char*, unsigned)                                             \
  CALL(nvmlDeviceGetUUID, NvmlDevice, char*, unsigned)                                             \
  CALL(nvmlDeviceGetPciInfo_v3, NvmlDevice, NvmlPci*)                                              \
  CALL(nvmlDeviceGetSerial, NvmlDevice, char*, unsigned)                                           \
  CALL(nvmlDeviceGetVbiosVersion, NvmlDevice, char*, unsigned)                                     \
  CALL(nvmlDeviceGetGspFirmwareVersion, NvmlDevice, char*)                                         \
  CALL(nvmlDeviceGetBrand, NvmlDevice, int*)                                                       \
  CALL(nvmlDeviceGetMinorNumber, NvmlDevice, unsigned*)                                            \
  CALL(nvmlDeviceGetCudaComputeCapability, NvmlDevice, int*, int*)                                 \
  CALL(nvmlDeviceGetMemoryInfo_v2, NvmlDevice, NvmlMemory2*)                                       \
  CALL(nvmlDeviceGetMemoryInfo, NvmlDevice, NvmlMemory*)                                           \
  CALL(nvmlDeviceGetEccMode, NvmlDevice, int*, int*)                                               \
  CALL(nvmlDeviceGetTotalEccErrors, NvmlDevice, int, int, unsigned long long*)                     \
  CALL(nvmlDeviceGetSramEccErrorStatus, NvmlDevice, NvmlSramErrors*)                               \
  CALL(nvmlDeviceGetRemappedRows, NvmlDevice, unsigned*, unsigned*, unsigned*, unsigned*)          \
  CALL(nvmlDeviceGetRetiredPagesPendingStatus, NvmlDevice, int*)                                   \
  CALL(nvmlDeviceValidateInforom, NvmlDevice)                                                      \
  CALL(nvmlDeviceGetClockInfo, NvmlDevice, int, unsigned*)                                         \
  CALL(nvmlDeviceGetMaxClockInfo, NvmlDevice, int, unsigned*)                                      \
  CALL(nvmlDeviceGetCurrentClocksEventReasons, NvmlDevice, unsigned long long*)                    \
  CALL(nvmlDeviceGetCurrentClocksThrottleReasons, NvmlDevice, unsigned long long*)                 \
  CALL(nvmlDeviceGetPerformanceState, NvmlDevice, int*)                                            \
  CALL(nvmlDeviceGetPowerUsage, NvmlDevice, unsigned*)                                             \
  CALL(nvmlDeviceGetEnforcedPowerLimit, NvmlDevice, unsigned*)                                     \
  CALL(nvmlDeviceGetPowerManagementDefaultLimit, NvmlDevice, unsigned*)                            \
  CALL(nvmlDeviceGetPowerManagementLimitConstraints, NvmlDevice, unsigned*, unsigned*)             \
  CALL(nvmlDeviceGetTemperature, NvmlDevice, int, unsigned*)                                       \
  CALL(nvmlDeviceGetTemperatureThreshold, NvmlDevice, int, unsigned*)                              \
  CALL(nvmlDeviceGetUtilizationRates, NvmlDevice, NvmlUtilization*)                                \
  CALL(nvmlDeviceGetPersistenceMode, NvmlDevice, int*)                                             \
  CALL(nvmlDeviceGetComputeMode, NvmlDevice, int*)                                                 \
  CALL(nvmlDeviceGetMigMode, NvmlDevice, unsigned*, unsigned*)                                     \
  CALL(nvmlDeviceGetMaxMigDeviceCount, NvmlDevice, unsigned*)                                      \
  CALL(nvmlDeviceGetMigDeviceHandleByIndex, NvmlDevice, unsigned, NvmlDevice*)                     \
  CALL(nvmlDeviceGetCurrPcieLinkGeneration, NvmlDevice, unsigned*)                                 \
  CALL(nvmlDeviceGetMaxPcieLinkGeneration, NvmlDevice, unsigned*)                                  \
  CALL(nvmlDeviceGetGpuMaxPcieLinkGeneration, NvmlDevice, unsigned*)                               \
  CALL(nvmlDeviceGetCurrPcieLinkWidth, NvmlDevice, unsigned*)                                      \
  CALL(nvmlDeviceGetMaxPcieLinkWidth, NvmlDevice, unsigned*)                                       \
  CALL(nvmlDeviceGetPcieReplayCounter, NvmlDevice, unsigned*)                                      \
  CALL(nvmlDeviceGetFieldValues, NvmlDevice, int, NvmlField*)                                      \
  CALL(nvmlDeviceGetNvLinkState, NvmlDevice, unsigned, int*)                                       \
  CALL(nvmlDeviceGetGpuFabricInfoV, NvmlDevice, NvmlFabric2*)                                      \
  CALL(nvmlDeviceGetGpuFabricInfo, NvmlDevice, NvmlFabric*)                                        \
  CALL(nvmlDeviceGetVirtualizationMode, NvmlDevice, int*)                                          \
  CALL(nvmlDeviceGetGridLicensableFeatures_v4, NvmlDevice, NvmlLicenses*)                          \
  CALL(nvmlDeviceGetComputeRunningProcesses_v3, NvmlDevice, unsigned*, NvmlProcessEntry*)          \
  CALL(nvmlDeviceGetComputeRunningProcesses_v2, NvmlDevice, unsigned*, NvmlProcessEntry*)          \
  CALL(nvmlDeviceGetGraphicsRunningProcesses_v3, NvmlDevice, unsigned*, NvmlProcessEntry*)         \
  CALL(nvmlDeviceGetGraphicsRunningProcesses_v2, NvmlDevice, unsigned*, NvmlProcessEntry*)

struct NvmlApi {
#define GPUVET_DECLARE(name, ...) LibraryCall<__VA_ARGS__> name{#name};
  GPUVET_NVML_CALLS(GPUVET_DECLARE)
#undef GPUVET_DECLARE
  const char* (*nvmlErrorString)(int) = nullptr;
};

extern const LibraryPlaces kNvmlPlaces;

NvmlApi find_nvml(const OpenLibrary& library);

// The library's own text; ours where it has none.
std::string nvml_error_text(const NvmlApi& api, int code);

} // namespace gpuvet
