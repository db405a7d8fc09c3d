#include "gpu/nvml_device.hpp"

#include "gpu/text.hpp"

#include <array>
#include <cstddef>
#include <string>

namespace gpuvet {
namespace {

constexpr unsigned kMostMigDevices = 64;

// nvmlBrandType_t
constexpr const char* kBrands[] = {"Unknown",    "Quadro",      "Tesla",     "NVS",       "GRID",
                                   "GeForce",    "Titan",       "vApps",     "vPC",       "vCS",
                                   "vWS",        "CloudGaming", "QuadroRTX", "NvidiaRTX", "NVIDIA",
                                   "GeForceRTX", "TitanRTX"};

using Text = std::array<char, 257>; // one more than is told to the library, for the end

template <class Call> void ask_text(NvmlTalk& talk, const Call& call, const char* field) {
  Text text{};
  int code = talk.asker.ask(call, talk.device, text.data(), unsigned{256});
  talk.asker.answer(field, code, bounded_text(text.data(), 256));
}

// The many calls of the form f(device, &number).
template <class Number>
void ask_number(NvmlTalk& talk, const LibraryCall<NvmlDevice, Number*>& call, const char* field) {
  Number number{};
  int code = talk.asker.ask(call, talk.device, &number);
  talk.asker.answer(field, code, number);
}

template <class Number>
void ask_bool(NvmlTalk& talk, const LibraryCall<NvmlDevice, Number*>& call, const char* field) {
  Number number{};
  int code = talk.asker.ask(call, talk.device, &number);
  talk.asker.answer(field, code, number != 0);
}

void ask_kind_number(NvmlTalk& talk, const LibraryCall<NvmlDevice, int, unsigned*>& call, int kind,
                     const char* field) {
  unsigned number = 0;
  int code = talk.asker.ask(call, talk.device, kind, &number);
  talk.asker.answer(field, code, number);
}

bool lacks(int code) {
  return code == kNvmlFunctionNotFound || code == kNvmlArgumentVersionMismatch;
}

void ask_memory(NvmlTalk& talk) {
  NvmlMemory2 memory{};
  memory.version = nvml_version<NvmlMemory2>(2);
  int code = talk.asker.ask(talk.api.nvmlDeviceGetMemoryInfo_v2, talk.device, &memory);
  if (!lacks(code)) {
    talk.asker.answer("memory_total", code, memory.total);
    talk.asker.answer("memory_used", code, memory.used);
    talk.asker.answer("memory_reserved", code, memory.reserved);
    return;
  }
  NvmlMemory older{};
  code = talk.asker.ask(talk.api.nvmlDeviceGetMemoryInfo, talk.device, &older);
  talk.asker.answer("memory_total", code, older.total);
  talk.asker.answer("memory_used", code, older.used);
}

void ask_vgpu_license(NvmlTalk& talk) {
  NvmlLicenses licenses{};
  int code =
      talk.asker.ask(talk.api.nvmlDeviceGetGridLicensableFeatures_v4, talk.device, &licenses);
  bool licensed = false;
  for (unsigned at = 0; at < licenses.count && at < std::size(licenses.features); ++at)
    licensed |= licenses.features[at].licensed != 0;
  talk.asker.answer("vgpu_licensed", code, licensed);
}

void ask_mig_devices(NvmlTalk& talk) {
  unsigned most = 0, found = 0;
  int code = talk.asker.ask(talk.api.nvmlDeviceGetMaxMigDeviceCount, talk.device, &most);
  for (unsigned at = 0; code == 0 && at < most && at < kMostMigDevices; ++at) {
    NvmlDevice part = nullptr;
    int here = talk.asker.ask(talk.api.nvmlDeviceGetMigDeviceHandleByIndex, talk.device, at, &part);
    if (here == 0)
      ++found;
    else if (here != kNvmlNotFound)
      code = here;
  }
  talk.asker.answer("mig_devices", code, found);
}

} // namespace

void ask_identity(NvmlTalk& talk) {
  const NvmlApi& api = talk.api;
  NvmlPci pci{};
  int code = talk.asker.ask(api.nvmlDeviceGetPciInfo_v3, talk.device, &pci);
  talk.asker.answer("pci_address", code,
                    sysfs_address(bounded_text(pci.bus_id, sizeof(pci.bus_id))));
  ask_text(talk, api.nvmlDeviceGetName, "name");
  ask_text(talk, api.nvmlDeviceGetUUID, "uuid");
  ask_number(talk, api.nvmlDeviceGetMinorNumber, "minor");
  int major = 0, minor = 0;
  code = talk.asker.ask(api.nvmlDeviceGetCudaComputeCapability, talk.device, &major, &minor);
  talk.asker.answer("capability", code, major * 10 + minor);
  ask_text(talk, api.nvmlDeviceGetSerial, "serial");
  ask_text(talk, api.nvmlDeviceGetVbiosVersion, "vbios");
  int brand = 0;
  code = talk.asker.ask(api.nvmlDeviceGetBrand, talk.device, &brand);
  bool known = brand >= 0 && static_cast<size_t>(brand) < std::size(kBrands);
  talk.asker.answer("brand", code, std::string(known ? kBrands[brand] : "Unknown"));
  Text firmware{};
  code = talk.asker.ask(api.nvmlDeviceGetGspFirmwareVersion, talk.device, firmware.data());
  talk.asker.answer("gsp_firmware", code, bounded_text(firmware.data(), 256));
}

void ask_memory_and_health(NvmlTalk& talk) {
  const NvmlApi& api = talk.api;
  ask_memory(talk);
  int now = 0, next = 0;
  int code = talk.asker.ask(api.nvmlDeviceGetEccMode, talk.device, &now, &next);
  talk.asker.answer("ecc", code, now != 0);
  talk.asker.answer("ecc_pending", code, next != 0);
  for (int period : {int{kNvmlVolatile}, int{kNvmlAggregate}}) {
    unsigned long long errors = 0;
    code = talk.asker.ask(api.nvmlDeviceGetTotalEccErrors, talk.device, int{kNvmlUncorrected},
                          period, &errors);
    talk.asker.answer(period == kNvmlVolatile ? "ecc_uncorrected" : "ecc_uncorrected_aggregate",
                      code, errors);
  }
  NvmlSramErrors sram{};
  sram.version = nvml_version<NvmlSramErrors>(1);
  code = talk.asker.ask(api.nvmlDeviceGetSramEccErrorStatus, talk.device, &sram);
  talk.asker.answer("sram_threshold_exceeded", code, sram.threshold_exceeded != 0);
  unsigned correctable = 0, uncorrectable = 0, pending = 0, failed = 0;
  code = talk.asker.ask(api.nvmlDeviceGetRemappedRows, talk.device, &correctable, &uncorrectable,
                        &pending, &failed);
  talk.asker.answer("remapped_correctable", code, correctable);
  talk.asker.answer("remapped_uncorrectable", code, uncorrectable);
  talk.asker.answer("remap_pending", code, pending != 0);
  talk.asker.answer("remap_failed", code, failed != 0);
  ask_bool(talk, api.nvmlDeviceGetRetiredPagesPendingStatus, "retired_pending");
  if (!talk.read_roms) return;
  code = talk.asker.ask(api.nvmlDeviceValidateInforom, talk.device);
  bool corrupted = code == kNvmlCorruptedInforom;
  talk.asker.answer("inforom_ok", corrupted ? 0 : code, !corrupted);
}

void ask_clocks_and_power(NvmlTalk& talk) {
  const NvmlApi& api = talk.api;
  ask_kind_number(talk, api.nvmlDeviceGetClockInfo, kNvmlClockSm, "clock_sm");
  ask_kind_number(talk, api.nvmlDeviceGetMaxClockInfo, kNvmlClockSm, "clock_sm_max");
  ask_kind_number(talk, api.nvmlDeviceGetClockInfo, kNvmlClockMemory, "clock_memory");
  ask_kind_number(talk, api.nvmlDeviceGetMaxClockInfo, kNvmlClockMemory, "clock_memory_max");
  // Renamed with branch 535; older drivers have the second name only.
  const auto& reasons = api.nvmlDeviceGetCurrentClocksEventReasons;
  ask_number(talk, reasons.function ? reasons : api.nvmlDeviceGetCurrentClocksThrottleReasons,
             "clock_reasons");
  ask_number(talk, api.nvmlDeviceGetPerformanceState, "performance_state");
  ask_number(talk, api.nvmlDeviceGetPowerUsage, "power_mw");
  ask_number(talk, api.nvmlDeviceGetEnforcedPowerLimit, "power_limit_mw");
  ask_number(talk, api.nvmlDeviceGetPowerManagementDefaultLimit, "power_default_mw");
  unsigned least = 0, most = 0;
  int code =
      talk.asker.ask(api.nvmlDeviceGetPowerManagementLimitConstraints, talk.device, &least, &most);
  talk.asker.answer("power_max_mw", code, most);
  ask_kind_number(talk, api.nvmlDeviceGetTemperature, kNvmlDieTemperature, "temperature_c");
  ask_kind_number(talk, api.nvmlDeviceGetTemperatureThreshold, kNvmlSlowdown,
                  "temperature_slowdown_c");
  NvmlUtilization busy{};
  code = talk.asker.ask(api.nvmlDeviceGetUtilizationRates, talk.device, &busy);
  talk.asker.answer("utilisation_percent", code, busy.gpu);
}

void ask_modes(NvmlTalk& talk) {
  const NvmlApi& api = talk.api;
  ask_bool(talk, api.nvmlDeviceGetPersistenceMode, "persistence");
  ask_number(talk, api.nvmlDeviceGetComputeMode, "compute_mode");
  unsigned now = 0, next = 0;
  int code = talk.asker.ask(api.nvmlDeviceGetMigMode, talk.device, &now, &next);
  talk.asker.answer("mig", code, now != 0);
  talk.asker.answer("mig_pending", code, next != 0);
  if (code == 0 && now != 0) ask_mig_devices(talk);
  int virtualization = 0;
  code = talk.asker.ask(api.nvmlDeviceGetVirtualizationMode, talk.device, &virtualization);
  talk.asker.answer("virtualization", code, virtualization);
  if (code == 0 && virtualization == kNvmlVirtualGpu) ask_vgpu_license(talk);
}

} // namespace gpuvet
