// What `verify` measured, before anybody judged it: steps, each one test on one GPU (or on a pair,
// all of them, or a Python), with the samples it took; and how clocks, power, temperatures and
// links stood meanwhile. Everything that a judgement needs is in here, so a file of it can be
// judged again.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gpuvet {

enum class StepState : uint8_t {
  done,        // ran to its end: the readings are complete
  failed,      // a call failed, or data were wrong: `call`, `error`, `reason`
  hung,        // no sign of life until its deadline; `call` was under way
  crashed,     // the process died in `call`
  unsupported, // this GPU, driver or installation cannot do it; `reason`
  not_run,     // not asked for, or not reached; `reason`
};

// Samples of one quantity, in the order in which they were taken.
struct Reading {
  std::string
      unit; // "GB/s" (10^9 bytes), "TFLOP/s", "us", "ms", "s", "MHz", "bytes", "1" (a count)
  std::vector<double> samples;
};

// StepResult::error of a test that gpuvet itself broke: it says nothing about the machine.
inline constexpr const char* kOwnFault = "GPUVET_FAULT";

struct StepResult {
  std::string id;   // of a row in facts/verify.toml: "copy-to-gpu"
  std::string gpu;  // UUID; empty: the machine as a whole
  std::string peer; // UUID of the second GPU, or the Python or library it is about
  StepState state = StepState::not_run;
  std::string reason;                       // one sentence; for every state but done
  std::string call;                         // of a library: under way when it failed, hung or died
  int code = 0;                             // that the call returned
  std::string error;                        // its name: "CUDA_ERROR_LAUNCH_FAILED"
  double begin_s = 0, end_s = 0;            // since the start of the run
  std::map<std::string, Reading> readings;  // by name: "rate", "to_gpu"
  std::map<std::string, std::string> words; // what is no number: "engine", "numa_node", "pattern"
};

// How a GPU stood at one moment, as NVML told it; absent: NVML does not know (MIG, WSL2, vGPU).
struct GpuMoment {
  double at_s = 0; // since the start of the run
  std::optional<double> sm_clock_mhz, memory_clock_mhz, power_w, temperature_c,
      memory_temperature_c;
  std::optional<uint32_t> link_generation, link_width;
  std::optional<uint64_t> reasons; // bits of the clocks event reasons; test bits, not equality
  // Since the driver was loaded, in nanoseconds: how long each held the clocks down.
  std::optional<uint64_t> power_ns, thermal_ns, board_limit_ns, reliability_ns, software_thermal_ns,
      hardware_thermal_ns, brake_ns;
  std::optional<double> energy_j;
};

// What is read once before and once after.
struct GpuCounters {
  std::optional<uint64_t> replays, ecc_corrected, ecc_uncorrected, remapped_rows, nvlink_errors;
  std::optional<bool> remap_pending, remap_failed;
  std::optional<uint64_t> xids; // events that arrived during the run; only `after` has it
};

struct VerifiedGpu {
  std::string uuid, name, pci_address; // "0000:3b:00.0"
  int ordinal = -1;                    // of the CUDA driver
  std::optional<uint32_t> nvml_index;
  uint32_t sm = 0; // compute capability x 10
  // From the driver's attributes and NVML, by their field names: "multiprocessors",
  // "l2_bytes", "memory_bus_bits", "memory_clock_max_mhz", "sm_clock_max_mhz", "power_limit_w",
  // "power_default_w", "link_generation_max", "link_width_max", "nvlinks_active", ...
  std::map<std::string, double> numbers;
  std::map<std::string, std::string> words; // "compute_mode", "mig", "virtualization", "numa_node"
  std::string busy;         // who else uses it: "process 4711 (python3)"; empty: nobody
  std::string why_unusable; // not empty: no step could run on it
  GpuCounters before, after;
  std::vector<GpuMoment> moments; // of the whole run
};

struct Measurements {
  std::string version;      // of gpuvet
  std::string started;      // "2026-12-01T04:00:00Z"
  std::string host_kind;    // "bare metal", "virtual machine", "wsl2", "container": see Machine
  std::string driver, cuda; // "580.65.06", "13.0" that the driver offers
  std::string no_gpu_why;   // not empty: nothing could be measured, and why
  bool quick = false;
  bool interrupted = false; // Ctrl-C: what follows was not run
  uint64_t seed = 0;
  double seconds = 0;
  double continued_s = 0; // this run goes on with a log that holds so many seconds already
  std::vector<VerifiedGpu> gpus;
  std::vector<StepResult> steps; // in the order of their start
};

} // namespace gpuvet
