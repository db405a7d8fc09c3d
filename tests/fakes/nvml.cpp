// A libnvidia-ml.so.1 without a GPU, steered by GPUVET_FAKE_NVML (steering.hpp). It knows besides:
//   lost=GPU        its calls return 15 once the handle was given
//   count=N         number of GPUs that is claimed, where it differs from gpus
//   name=TEXT       "long" fills the buffer without an end
//   odd=1           values that nothing healthy has, each different from its neighbours
//   driver=VERSION  processes=N  entry=BYTES (of the process list)  print=TEXT (when initialised)
//   busy=PERCENT    of utilisation          clock=MHZ  of the SMs (345)
//   reasons=BITS    of what holds the clocks down (1: idle)
//   held=FIELD      the nanoseconds of that field grow with time, the others stay 0
//   xid=GPU         an Xid arrives on that GPU once it is listened for
// Built with GPUVET_FAKE_OLD it has only what a driver of about 2013 had.
#include "gpu/nvml_api.hpp"
#include "steering.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <iterator>
#include <string>

namespace {

using namespace gpuvet;

const fake::Steering& steering() {
  static const fake::Steering words("GPUVET_FAKE_NVML");
  return words;
}

char handles[4096]; // the n-th one stands for GPU n

int index_of(NvmlDevice device) {
  return static_cast<int>(reinterpret_cast<const char*>(device) - handles);
}

int enter(const char* call, NvmlDevice device) {
  int gpu = index_of(device);
  for (const std::string& lost : steering().all("lost"))
    if (lost == std::to_string(gpu)) return kNvmlGpuIsLost;
  return steering().enter(call, gpu);
}

[[maybe_unused]] bool odd() {
  return steering().number("odd", 0) != 0;
}

template <class T> int put(T* to, T value) {
  *to = value;
  return 0;
}

} // namespace

extern "C" {

#define ENTER(...)                                                                                 \
  if (int code = enter(__func__, __VA_ARGS__)) return code
#define ENTER_SYSTEM()                                                                             \
  if (int code = steering().enter(__func__, -1)) return code

int nvmlInit_v2() {
  std::string print = steering().text("print", "");
  if (!print.empty()) std::printf("%s\n", print.c_str());
  if (!print.empty()) std::fflush(stdout);
  ENTER_SYSTEM();
  return 0;
}

int nvmlSystemGetDriverVersion(char* version, unsigned size) {
  ENTER_SYSTEM();
  return fake::put(version, size, steering().text("driver", "580.65.06"));
}

int nvmlDeviceGetCount_v2(unsigned* count) {
  ENTER_SYSTEM();
  return put(count,
             static_cast<unsigned>(steering().number("count", steering().number("gpus", 1))));
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, NvmlDevice* device) {
  if (int code = steering().enter(__func__, static_cast<int>(index))) return code;
  if (index >= sizeof(handles)) return 2;
  return put(device, reinterpret_cast<NvmlDevice>(&handles[index]));
}

int nvmlDeviceGetHandleByUUID(const char* uuid, NvmlDevice* device) {
  ENTER_SYSTEM();
  int digit = std::strlen(uuid) > 11 ? uuid[11] - '0' : -1; // GPU-0000000N-
  if (std::strncmp(uuid, "GPU-0000000", 11) != 0 || digit < 0 || digit > 9) return kNvmlNotFound;
  if (digit >= steering().number("gpus", 1)) return kNvmlNotFound;
  return put(device, reinterpret_cast<NvmlDevice>(&handles[digit]));
}

int nvmlDeviceGetName(NvmlDevice device, char* name, unsigned size) {
  ENTER(device);
  return fake::put(name, size, steering().text("name", "NVIDIA H200"));
}

int nvmlDeviceGetUUID(NvmlDevice device, char* uuid, unsigned size) {
  ENTER(device);
  std::string digit = std::to_string(index_of(device) % 10);
  return fake::put(uuid, size, "GPU-0000000" + digit + "-0001-0203-0405-060708090a0b");
}

int nvmlDeviceGetPciInfo_v3(NvmlDevice device, NvmlPci* pci) {
  ENTER(device);
  *pci = NvmlPci{};
  pci->bus = 0x1bu + static_cast<unsigned>(index_of(device));
  std::snprintf(pci->bus_id, sizeof(pci->bus_id), "00000000:%02X:00.0", pci->bus);
  return 0;
}

int nvmlDeviceGetMemoryInfo(NvmlDevice device, NvmlMemory* memory) {
  ENTER(device);
  *memory = {150'000'000'000, 149'000'000'000, 1'000'000'000};
  return 0;
}

#ifndef GPUVET_FAKE_OLD

const char* nvmlErrorString(int code) {
  switch (code) {
  case 9:
    return "Driver Not Loaded";
  case 15:
    return "GPU is lost";
  case 16:
    return "GPU requires reset";
  case 18:
    return "Driver/library version mismatch";
  default:
    return "Unknown Error";
  }
}

int nvmlSystemGetNVMLVersion(char* version, unsigned size) {
  ENTER_SYSTEM();
  return fake::put(version, size, "13." + steering().text("driver", "580.65.06"));
}

int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  ENTER_SYSTEM();
  return put(version, 13000);
}

int nvmlSystemGetConfComputeState(NvmlConfidential* state) {
  ENTER_SYSTEM();
  *state = {odd() ? 2u : 0u, odd() ? 1u : 0u, 0};
  return 0;
}

int nvmlSystemGetConfComputeGpusReadyState(unsigned* ready) {
  ENTER_SYSTEM();
  return put(ready, 1u);
}

int nvmlDeviceGetSerial(NvmlDevice device, char* serial, unsigned size) {
  ENTER(device);
  return fake::put(serial, size, "165042400000" + std::to_string(index_of(device)));
}

int nvmlDeviceGetVbiosVersion(NvmlDevice device, char* version, unsigned size) {
  ENTER(device);
  return fake::put(version, size, "96.00.AF.00.01");
}

int nvmlDeviceGetGspFirmwareVersion(NvmlDevice device, char* version) {
  ENTER(device);
  return fake::put(version, 64, steering().text("driver", "580.65.06"));
}

int nvmlDeviceGetBrand(NvmlDevice device, int* brand) {
  ENTER(device);
  return put(brand, 14);
}

int nvmlDeviceGetMinorNumber(NvmlDevice device, unsigned* minor) {
  ENTER(device);
  return put(minor, static_cast<unsigned>(index_of(device)));
}

int nvmlDeviceGetCudaComputeCapability(NvmlDevice device, int* major, int* minor) {
  ENTER(device);
  *major = 9;
  return put(minor, 0);
}

int nvmlDeviceGetMemoryInfo_v2(NvmlDevice device, NvmlMemory2* memory) {
  ENTER(device);
  if (memory->version != nvml_version<NvmlMemory2>(2)) return kNvmlArgumentVersionMismatch;
  *memory = {memory->version, 150'000'000'000, 600'000'000, 149'000'000'000, 400'000'000};
  return 0;
}

int nvmlDeviceGetEccMode(NvmlDevice device, int* current, int* pending) {
  ENTER(device);
  *current = 1;
  return put(pending, 0);
}

int nvmlDeviceGetTotalEccErrors(NvmlDevice device, int kind, int period,
                                unsigned long long* count) {
  ENTER(device);
  *count = odd() ? 10 : 0;
  *count += odd() && kind == kNvmlUncorrected && period == kNvmlAggregate;
  return 0;
}

int nvmlDeviceGetSramEccErrorStatus(NvmlDevice device, NvmlSramErrors* status) {
  ENTER(device);
  if (status->version != nvml_version<NvmlSramErrors>(1)) return kNvmlArgumentVersionMismatch;
  status->threshold_exceeded = odd();
  return 0;
}

int nvmlDeviceGetRemappedRows(NvmlDevice device, unsigned* correctable, unsigned* uncorrectable,
                              unsigned* pending, unsigned* failed) {
  ENTER(device);
  *correctable = odd() ? 1 : 0;
  *uncorrectable = odd() ? 2 : 0;
  *pending = odd();
  return put(failed, 0u);
}

int nvmlDeviceGetRetiredPagesPendingStatus(NvmlDevice device, int*) {
  ENTER(device);
  return kNvmlNotSupported;
}

int nvmlDeviceValidateInforom(NvmlDevice device) {
  ENTER(device);
  return 0;
}

int nvmlDeviceGetClockInfo(NvmlDevice device, int kind, unsigned* clock) {
  ENTER(device);
  return put(clock, kind == 1 ? static_cast<unsigned>(steering().number("clock", 345)) : 3201u);
}

int nvmlDeviceGetMaxClockInfo(NvmlDevice device, int kind, unsigned* clock) {
  ENTER(device);
  return put(clock, kind == 1 ? 1980u : 3202u);
}

int nvmlDeviceGetCurrentClocksEventReasons(NvmlDevice device, unsigned long long* reasons) {
  ENTER(device);
  return put(reasons, static_cast<unsigned long long>(steering().number("reasons", 1)));
}

int nvmlDeviceGetPerformanceState(NvmlDevice device, int* state) {
  ENTER(device);
  return put(state, 0);
}

int nvmlDeviceGetPowerUsage(NvmlDevice device, unsigned* milliwatts) {
  ENTER(device);
  return put(milliwatts, 76'000u);
}

int nvmlDeviceGetEnforcedPowerLimit(NvmlDevice device, unsigned* milliwatts) {
  ENTER(device);
  return put(milliwatts, odd() ? 700'001u : 700'000u);
}

int nvmlDeviceGetPowerManagementDefaultLimit(NvmlDevice device, unsigned* milliwatts) {
  ENTER(device);
  return put(milliwatts, odd() ? 700'002u : 700'000u);
}

int nvmlDeviceGetPowerManagementLimitConstraints(NvmlDevice device, unsigned* least,
                                                 unsigned* most) {
  ENTER(device);
  *least = 200'000;
  return put(most, odd() ? 700'003u : 700'000u);
}

int nvmlDeviceGetTemperature(NvmlDevice device, int, unsigned* celsius) {
  ENTER(device);
  return put(celsius, 31u);
}

int nvmlDeviceGetTemperatureThreshold(NvmlDevice device, int kind, unsigned* celsius) {
  ENTER(device);
  return put(celsius, kind == 1 ? 87u : 92u);
}

int nvmlDeviceGetUtilizationRates(NvmlDevice device, NvmlUtilization* busy) {
  ENTER(device);
  *busy = {static_cast<unsigned>(steering().number("busy", 0)), 7};
  return 0;
}

int nvmlDeviceGetPersistenceMode(NvmlDevice device, int* mode) {
  ENTER(device);
  return put(mode, 1);
}

int nvmlDeviceGetComputeMode(NvmlDevice device, int* mode) {
  ENTER(device);
  return put(mode, odd() ? 3 : 0);
}

int nvmlDeviceGetMigMode(NvmlDevice device, unsigned* current, unsigned* pending) {
  ENTER(device);
  *current = steering().number("mig", 0) > 0;
  return put(pending, *current | (odd() ? 1u : 0u));
}

int nvmlDeviceGetMaxMigDeviceCount(NvmlDevice device, unsigned* count) {
  ENTER(device);
  return put(count, 7u);
}

int nvmlDeviceGetMigDeviceHandleByIndex(NvmlDevice device, unsigned index, NvmlDevice* part) {
  ENTER(device);
  if (static_cast<int>(index) >= steering().number("mig", 0)) return kNvmlNotFound;
  return put(part, device);
}

int nvmlDeviceGetVirtualizationMode(NvmlDevice device, int* mode) {
  ENTER(device);
  return put(mode, steering().number("virtualization", 0));
}

int nvmlDeviceGetGridLicensableFeatures_v4(NvmlDevice device, NvmlLicenses* licenses) {
  ENTER(device);
  *licenses = NvmlLicenses{};
  licenses->supported = 1;
  licenses->count = 2;
  licenses->features[1].licensed = 1;
  return 0;
}

int nvmlDeviceGetCurrPcieLinkGeneration(NvmlDevice device, unsigned* generation) {
  ENTER(device);
  return put(generation, odd() ? 3u : 5u);
}

int nvmlDeviceGetMaxPcieLinkGeneration(NvmlDevice device, unsigned* generation) {
  ENTER(device);
  return put(generation, odd() ? 4u : 5u);
}

int nvmlDeviceGetGpuMaxPcieLinkGeneration(NvmlDevice device, unsigned* generation) {
  ENTER(device);
  return put(generation, 5u);
}

int nvmlDeviceGetCurrPcieLinkWidth(NvmlDevice device, unsigned* width) {
  ENTER(device);
  return put(width, odd() ? 8u : 16u);
}

int nvmlDeviceGetMaxPcieLinkWidth(NvmlDevice device, unsigned* width) {
  ENTER(device);
  return put(width, 16u);
}

int nvmlDeviceGetPcieReplayCounter(NvmlDevice device, unsigned* count) {
  ENTER(device);
  return put(count, odd() ? 11u : 0u);
}

static unsigned long long nanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<unsigned long long>(now.tv_sec) * 1'000'000'000 +
         static_cast<unsigned long long>(now.tv_nsec);
}

// The counters that only grow; false: the field is none of them.
static bool counter(NvmlField& field) {
  const unsigned times[] = {74, 75, 77, 79, 269, 270, 271};
  bool is_time = std::find(std::begin(times), std::end(times), field.field) != std::end(times);
  bool held = std::to_string(field.field) == steering().text("held", "");
  field.type = 3;
  if (is_time) field.value.u64 = held ? nanoseconds() : 0;
  if (field.field == kNvmlFieldEnergy) field.value.u64 = nanoseconds() / 1'000'000 * 76; // 76 W
  return is_time || field.field == kNvmlFieldEnergy;
}

int nvmlDeviceGetFieldValues(NvmlDevice device, int count, NvmlField* fields) {
  ENTER(device);
  for (int at = 0; at < count; ++at) {
    NvmlField& field = fields[at];
    field.code = 0;
    field.type = 1;
    if (field.field == 91) {
      field.value.u32 = 18;
    } else if (field.field == 165) {
      field.value.u32 = odd() && field.scope == 5 ? 0 : 1;
    } else if (field.field == 230) {
      field.type = 3;
      field.value.u64 = odd() ? 1 : 0;
    } else if (field.field == kNvmlFieldMemoryTemperature) {
      field.value.u32 = 40;
    } else if (counter(field)) {
      continue;
    } else {
      field.code = kNvmlNotSupported;
    }
  }
  return 0;
}

int nvmlDeviceGetNvLinkState(NvmlDevice device, unsigned link, int* active) {
  ENTER(device);
  return put(active, link < 4 ? 1 : 0);
}

int nvmlDeviceGetGpuFabricInfoV(NvmlDevice device, NvmlFabric2* fabric) {
  ENTER(device);
  if (fabric->version != nvml_version<NvmlFabric2>(2)) return kNvmlArgumentVersionMismatch;
  fabric->state = 3;
  fabric->status = 0;
  return 0;
}

// pid, memory, and as many instance ids as the entry has room for
int processes(unsigned* count, NvmlProcessEntry* entries) {
  auto size = static_cast<size_t>(steering().number("entry", 24));
  auto have = static_cast<unsigned>(steering().number("processes", 0));
  if (*count < have) return kNvmlInsufficientSize;
  auto* at = reinterpret_cast<char*>(entries);
  for (unsigned process = 0; process < have; ++process, at += size) {
    std::memset(at, 0, size);
    unsigned pid = 1000 + process;
    unsigned long long used = process == 1 ? ~0ull : 1'000'000ull * (process + 1);
    std::memcpy(at, &pid, sizeof(pid));
    std::memcpy(at + 8, &used, sizeof(used));
  }
  return put(count, have);
}

int nvmlEventSetCreate(NvmlEventSet* set) {
  ENTER_SYSTEM();
  return put(set, reinterpret_cast<NvmlEventSet>(&handles[1000]));
}

int nvmlDeviceRegisterEvents(NvmlDevice device, unsigned long long, NvmlEventSet) {
  ENTER(device);
  return 0;
}

int nvmlEventSetWait_v2(NvmlEventSet, NvmlEvent* event, unsigned) {
  ENTER_SYSTEM();
  static bool sent = false;
  int gpu = steering().number("xid", -1);
  if (sent || gpu < 0) return kNvmlTimeout;
  sent = true;
  *event = {reinterpret_cast<NvmlDevice>(&handles[gpu]), kNvmlEventXid, 79, 0, 0};
  return 0;
}

int nvmlDeviceGetComputeRunningProcesses_v3(NvmlDevice device, unsigned* count,
                                            NvmlProcessEntry* entries) {
  ENTER(device);
  return processes(count, entries);
}

int nvmlDeviceGetGraphicsRunningProcesses_v3(NvmlDevice device, unsigned* count,
                                             NvmlProcessEntry*) {
  ENTER(device);
  return put(count, 0u);
}

#endif

} // extern "C"
