// What NVML and the CUDA driver answered. Each is asked in a child process with a deadline: a hang,
// a crash or one lost GPU is part of the answer, and the rest of it stays valid.
#pragma once

#include "base/observed.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gpuvet {

enum class AskState : uint8_t {
  skipped,    // not asked; `problem` says why
  no_library, // dlopen failed; `problem` is its text
  failed,     // the initialising call returned `error`
  answered,
  hung,    // no answer within the deadline; `call` was under way
  crashed, // the child died of `signal` in `call`
};

struct Asked {
  AskState state = AskState::skipped;
  std::string problem = "not asked";
  int error = 0;          // return code of the initialising call
  std::string error_text; // nvmlErrorString, cuGetErrorName
  std::string call;       // under way when it hung or crashed: "nvmlDeviceGetUUID(GPU 3)"
  int signal = 0;
  std::string library; // file that the loader gave, "/usr/lib/.../libcuda.so.580.65.06"
  // Not empty: the loader found none (its text); `library` comes from a folder that programs do not
  // search by themselves.
  std::string loader_problem;
  double seconds = 0; // taken in all
};

// Value, or the NVML code that came instead ("Not Supported" is an answer too).
template <class T> struct NvmlValue {
  std::optional<T> value;
  int error = 0; // NVML return code where there is no value; -1: not asked

  explicit operator bool() const { return value.has_value(); }
  const T& operator*() const { return *value; }
};

struct NvmlProcess {
  uint64_t pid = 0;
  std::optional<uint64_t> bytes; // nullopt: not available here
  bool graphics = false;
};

struct NvmlGpu {
  uint32_t index = 0;
  // 0: it answers. Else the code of getting its handle, after which it was given up (15: lost), or
  // that it gave to other calls (16: needs a reset); -1: no answer, error_text says why: the
  // library hung or crashed there, or time was over.
  int error = 0;
  std::string error_text;
  std::string name, uuid, pci_address, serial, vbios, brand;      // empty: see error
  NvmlValue<uint32_t> minor;                                      // /dev/nvidiaN
  NvmlValue<uint32_t> capability;                                 // compute capability x 10
  NvmlValue<uint64_t> memory_total, memory_used, memory_reserved; // bytes
  NvmlValue<bool> ecc, ecc_pending;
  NvmlValue<uint64_t> ecc_uncorrected, ecc_uncorrected_aggregate; // volatile; lifetime
  NvmlValue<bool> sram_threshold_exceeded;
  NvmlValue<uint32_t> remapped_correctable, remapped_uncorrectable;
  NvmlValue<bool> remap_pending, remap_failed, retired_pending;
  NvmlValue<uint32_t> clock_sm, clock_sm_max, clock_memory, clock_memory_max; // MHz
  NvmlValue<uint64_t> clock_reasons; // bits of NVML_CLOCKS_EVENT_REASON_*
  NvmlValue<uint32_t> power_mw, power_limit_mw, power_default_mw, power_max_mw;
  NvmlValue<uint32_t> temperature_c, temperature_slowdown_c;
  NvmlValue<uint32_t> utilisation_percent;
  NvmlValue<bool> persistence;
  NvmlValue<uint32_t> compute_mode;      // 0 default, 2 prohibited, 3 exclusive process
  NvmlValue<uint32_t> performance_state; // 0 busy .. 15 idle
  NvmlValue<bool> mig, mig_pending;
  NvmlValue<uint32_t> mig_devices; // compute instances that exist
  NvmlValue<uint32_t> link_generation, link_generation_max, link_width, link_width_max;
  NvmlValue<uint32_t> link_generation_device_max;
  NvmlValue<uint64_t> replays;
  NvmlValue<uint32_t> nvlinks, nvlinks_active; // links that the GPU has; that are up
  NvmlValue<uint32_t> fabric_state; // 0 not supported, 1 not started, 2 in progress, 3 completed
  NvmlValue<int> fabric_status;     // nvmlReturn of the registration, when completed
  NvmlValue<bool> inforom_ok;
  NvmlValue<uint32_t> recovery_action; // 0 none, 1 reset, 2 reboot, 3 drain P2P, 4 drain and reset
  NvmlValue<uint32_t> virtualization;  // 0 none, 1 passthrough, 2 vGPU, 3 host vGPU, 4 host VSGA
  NvmlValue<bool> vgpu_licensed;
  NvmlValue<std::string> gsp_firmware;
  NvmlValue<std::vector<NvmlProcess>> processes;
};

struct NvmlAnswers {
  Asked asked;
  std::string library_version;          // nvmlSystemGetNVMLVersion; told even where init fails
  std::string driver_version;           // nvmlSystemGetDriverVersion
  std::optional<uint32_t> cuda_version; // 13000
  std::optional<uint32_t> count;
  std::vector<NvmlGpu> gpus; // by NVML index; one per index even when it failed
  std::optional<bool> confidential_computing, confidential_ready;
};

struct CudaDevice {
  int ordinal = 0;
  int error = 0; // of cuDeviceGet; -1: no answer, error_text says why
  std::string error_text;
  std::string name, uuid, pci_address;
  std::optional<uint32_t> capability; // x 10
  std::optional<uint64_t> memory_bytes;
  std::optional<bool> managed_memory;
  std::optional<bool> pageable_memory; // reaches the memory of programs: HMM or ATS
  // Only with a context, which is made when it was asked for.
  std::optional<int> context_error;
};

struct CudaAnswers {
  Asked asked;                        // error: of cuInit
  std::optional<uint32_t> driver_api; // cuDriverGetVersion, 13000
  std::optional<int> count_error;
  std::vector<CudaDevice> devices; // in CUDA's order under this environment
  double init_seconds = 0;         // cuInit alone
};

} // namespace gpuvet
