// Checks of the CUDA driver's answers: which devices it shows, and whether it lets programs in.
#include "base/text.hpp"
#include "base/units.hpp"
#include "judge/checks/common.hpp"
#include "judge/checks/subjects.hpp"
#include "judge/here/python.hpp"
#include "judge/rules/visible_devices.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

constexpr const char* kVisible = "CUDA_VISIBLE_DEVICES";
constexpr const char* kOrder = "CUDA_DEVICE_ORDER";

std::string nvml_source(const NvmlGpu& gpu, std::string_view call) {
  return fmt::format("{}(GPU {})", call, gpu.index);
}

// --- CUDA_VISIBLE_DEVICES ------------------------------------------------------------------------

struct Visible {
  VisibleDevices list;
  std::string value;
  size_t all = 0;
};

// nullopt and a reason where the variable is not set or nothing can be said of it.
std::optional<Visible> visible(const Machine& machine, Outcome& instead) {
  auto at = machine.environment.find(kVisible);
  if (at == machine.environment.end()) {
    instead = not_applicable("CUDA_VISIBLE_DEVICES is not set");
    return std::nullopt;
  }
  size_t all = gpu_count(machine);
  if (all == 0 && has_gpu(machine)) all = 1; // WSL, Jetson
  if (all == 0) {
    instead = machine.kernel.functions ? not_applicable("there is no GPU")
                                       : not_known(machine.kernel.functions.why_unknown);
    return std::nullopt;
  }
  std::vector<std::string> uuids(all);
  bool mig = false;
  for (const NvmlGpu& gpu : machine.nvml.gpus) {
    if (gpu.index < all) uuids[gpu.index] = gpu.uuid;
    mig = mig || gpu.mig.value.value_or(false);
  }
  bool by_uuid = at->second.find("GPU-") != std::string::npos;
  if (by_uuid && machine.nvml.asked.state != AskState::answered) {
    instead = not_known("the GPUs' UUIDs are not known: NVML did not answer (nvidia-smi -L)");
    return std::nullopt;
  }
  return Visible{read_visible_devices(at->second, uuids, mig), at->second, all};
}

std::vector<std::string> where_visible(const Machine& machine) {
  std::vector<std::string> evidence;
  for (const SetHere& setting : settings_of(machine, kVisible))
    if (setting.here || setting.where.rfind("/proc/", 0) != 0) evidence.push_back(setting.where);
  return evidence;
}

Outcome visible_none(const Machine& machine, const Facts&) {
  Outcome instead;
  std::optional<Visible> seen = visible(machine, instead);
  if (!seen) return instead;
  const VisibleDevices& list = seen->list;
  if (!list.devices.empty() || list.mig_entries > 0)
    return ok(fmt::format("{} of {} shown", list.devices.size() + list.mig_entries,
                          counted(seen->all, "GPU")));
  std::vector<std::string> evidence = where_visible(machine);
  evidence.push_back(fmt::format("GPUs here: {}", seen->all));
  std::string why = list.empty ? "it is empty" : fmt::format("\"{}\": {}", list.bad, list.why_bad);
  return fires(std::move(evidence), {{"value", seen->value}, {"why", why}});
}

Outcome visible_cut(const Machine& machine, const Facts&) {
  Outcome instead;
  std::optional<Visible> seen = visible(machine, instead);
  if (!seen) return instead;
  const VisibleDevices& list = seen->list;
  size_t shown = list.devices.size() + list.mig_entries;
  if (list.bad.empty() || list.twice || shown == 0)
    return ok(
        fmt::format("the list of {} is read to its end", counted(list.listed.size(), "entry")));
  // A trailing comma cuts nothing off.
  if (shown + 1 == list.listed.size() && list.bad == "(empty)") return ok("all entries are read");
  return fires(where_visible(machine), {{"value", seen->value},
                                        {"bad", list.bad},
                                        {"why", list.why_bad},
                                        {"shown", fmt::format("{}", shown)},
                                        {"listed", fmt::format("{}", list.listed.size())}});
}

Outcome visible_twice(const Machine& machine, const Facts&) {
  Outcome instead;
  std::optional<Visible> seen = visible(machine, instead);
  if (!seen) return instead;
  if (!seen->list.twice) return ok("no device is named twice");
  return fires(where_visible(machine), {{"value", seen->value}, {"bad", seen->list.bad}});
}

Outcome visible_some(const Machine& machine, const Facts&) {
  Outcome instead;
  std::optional<Visible> seen = visible(machine, instead);
  if (!seen) return instead;
  const VisibleDevices& list = seen->list;
  if (list.mig_entries > 0) return not_applicable("it names MIG devices");
  if (list.devices.size() == seen->all) return ok("all GPUs are shown");
  if (list.devices.empty() || !list.bad.empty())
    return not_applicable("the list does not hold as it is written");
  return fires(where_visible(machine), {{"value", seen->value},
                                        {"shown", fmt::format("{}", list.devices.size())},
                                        {"all", fmt::format("{}", seen->all)}});
}

Outcome visible_mig(const Machine& machine, const Facts&) {
  Outcome instead;
  std::optional<Visible> seen = visible(machine, instead);
  if (!seen) return instead;
  if (seen->list.mig_entries < 2) return ok("at most one MIG device is named");
  return fires(where_visible(machine),
               {{"value", seen->value}, {"count", fmt::format("{}", seen->list.mig_entries)}});
}

// vLLM maps the entries to NVML's numbers by itself. Releases 0.5.2, 0.5.3, 0.6.3, 0.8.5, 0.10.0,
// 0.20.1, 0.22.0 and 0.23.0 read each as a number; 0.24.0 to 0.33.0 take a UUID too, written in
// full (vllm/platforms/cuda.py and interface.py of the released sources).
std::string not_read_by_vllm(const Version& version, const std::string& entry) {
  constexpr size_t full = 40; // bytes of "GPU-" and a UUID
  if (!entry.starts_with("GPU-") && !entry.starts_with("MIG-")) return {};
  if (version < Version{{0, 5, 2}} || version >= Version{{0, 34}}) return {};
  if (version < Version{{0, 24}}) return "reads numbers only";
  return entry.starts_with("GPU-") && entry.size() < full ? "reads UUIDs in full only" : "";
}

Outcome visible_vllm(const Machine& machine, const Facts&) {
  Outcome instead;
  std::optional<Visible> seen = visible(machine, instead);
  if (!seen) return instead;
  return over_pythons(machine, [&](const PythonEnv& env) {
    const PythonPackage* vllm = find_package(env, "vllm");
    if (!vllm) return not_applicable("vLLM is not installed");
    std::optional<Version> version = parse_version(without_tag(vllm->version));
    if (!version) return not_known("the version of " + shown(*vllm));
    for (const std::string& entry : seen->list.listed) {
      const std::string why = not_read_by_vllm(*version, entry);
      if (why.empty()) continue;
      std::vector<std::string> evidence = where_visible(machine);
      evidence.push_back(shown(*vllm));
      Outcome outcome = fires(
          std::move(evidence),
          {{"version", vllm->version}, {"entry", entry}, {"why", why}, {"pip", pip_command(env)}});
      if (*version < Version{{0, 24}}) outcome.fields["newer"] = "0.24";
      std::vector<std::string> numbers;
      for (size_t device : seen->list.devices)
        numbers.push_back(fmt::format("{}", device));
      if (seen->list.mig_entries == 0 && !numbers.empty())
        outcome.fields["numbers"] = joined(numbers, ",");
      return outcome;
    }
    return ok(shown(*vllm) + " reads the entries");
  });
}

Outcome order_invalid(const Machine& machine, const Facts&) {
  auto at = machine.environment.find(kOrder);
  if (at == machine.environment.end()) return not_applicable("CUDA_DEVICE_ORDER is not set");
  if (at->second == "PCI_BUS_ID" || at->second == "FASTEST_FIRST") return ok(at->second);
  std::vector<std::string> evidence;
  for (const SetHere& setting : settings_of(machine, kOrder))
    evidence.push_back(setting.where);
  return fires(std::move(evidence), {{"value", at->second}});
}

Outcome order_differs(const Machine& machine, const Facts&) {
  if (machine.nvml.asked.state != AskState::answered ||
      machine.cuda.asked.state != AskState::answered)
    return not_known("NVML or the CUDA driver did not answer");
  if (machine.cuda.devices.size() < 2) return not_applicable("CUDA shows fewer than two devices");
  if (machine.environment.count(kVisible)) return not_applicable("CUDA_VISIBLE_DEVICES is set");
  for (const CudaDevice& device : machine.cuda.devices)
    for (const NvmlGpu& gpu : machine.nvml.gpus) {
      if (device.uuid.empty() || device.uuid != gpu.uuid) continue;
      if (static_cast<uint32_t>(device.ordinal) == gpu.index) continue;
      return fires(
          {fmt::format("cuDeviceGet({}): {} {}", device.ordinal, device.name, device.pci_address),
           fmt::format("nvidia-smi, GPU {}: {} {}", gpu.index, gpu.name, gpu.pci_address)},
          {{"cuda", fmt::format("{}", device.ordinal)}, {"nvml", fmt::format("{}", gpu.index)}});
    }
  return ok("CUDA and nvidia-smi number the GPUs alike");
}

// --- compute mode, MIG ---------------------------------------------------------------------------

// GPUs of which `wrong` is true, as evidence; fires with {gpus}.
template <class Wrong>
Outcome gpus_that(const Machine& machine, std::string fine, const Wrong& wrong) {
  if (machine.nvml.asked.state != AskState::answered)
    return not_known("NVML did not answer (nvidia-smi -q)");
  std::vector<std::string> evidence, indices;
  for (const NvmlGpu& gpu : machine.nvml.gpus)
    if (std::string line = wrong(gpu); !line.empty()) {
      evidence.push_back(std::move(line));
      indices.push_back(fmt::format("{}", gpu.index));
    }
  if (indices.empty()) return ok(std::move(fine));
  Outcome outcome = fires(std::move(evidence));
  outcome.fields = {{"gpus", (indices.size() == 1 ? "GPU " : "GPUs ") + joined(indices)},
                    {"index", joined(indices, ",")},
                    {"count", fmt::format("{}", indices.size())}};
  if (indices.size() < machine.nvml.gpus.size()) outcome.severity = Severity::error;
  return outcome;
}

Outcome compute_prohibited(const Machine& machine, const Facts&) {
  return gpus_that(machine, "no GPU refuses programs", [](const NvmlGpu& gpu) {
    if (gpu.compute_mode.value.value_or(0) != 2) return std::string();
    return nvml_source(gpu, "nvmlDeviceGetComputeMode") + ": 2 (prohibited)";
  });
}

std::string holders(const Machine& machine, const NvmlGpu& gpu) {
  std::vector<std::string> names;
  for (const NvmlProcess& process : gpu.processes.value.value_or(std::vector<NvmlProcess>{})) {
    std::string name;
    if (machine.processes)
      for (const GpuProcess& known_one : *machine.processes)
        if (known_one.pid == process.pid) name = known_one.name;
    if (process.graphics) continue;
    names.push_back(name.empty() ? fmt::format("process {}", process.pid)
                                 : fmt::format("{} (pid {})", name, process.pid));
  }
  return joined(names);
}

Outcome compute_exclusive(const Machine& machine, const Facts&) {
  bool mps = machine.surroundings.mps.control_socket.value_or(false);
  Outcome outcome = gpus_that(machine, "no GPU is for one process only", [&](const NvmlGpu& gpu) {
    if (gpu.compute_mode.value.value_or(0) != 3) return std::string();
    std::string who = holders(machine, gpu);
    return nvml_source(gpu, "nvmlDeviceGetComputeMode") + ": 3 (exclusive process), " +
           (who.empty() ? "free" : "held by " + who);
  });
  if (outcome.answer != Answer::fires) return outcome;
  if (mps) return ok("exclusive, with MPS in front of it");
  bool held = std::any_of(outcome.evidence.begin(), outcome.evidence.end(), [](const auto& line) {
    return line.find("held by") != std::string::npos;
  });
  outcome.severity = held ? Severity::error : Severity::info;
  return outcome;
}

Outcome mig_empty(const Machine& machine, const Facts&) {
  return gpus_that(machine, "no GPU in MIG mode is without instances", [](const NvmlGpu& gpu) {
    if (!gpu.mig.value.value_or(false) || gpu.mig_devices.value.value_or(1) > 0)
      return std::string();
    return nvml_source(gpu, "nvmlDeviceGetMigMode") + ": enabled, 0 compute instances";
  });
}

Outcome mig_pending(const Machine& machine, const Facts&) {
  Outcome outcome = gpus_that(machine, "no change of MIG mode waits", [](const NvmlGpu& gpu) {
    if (!gpu.mig || !gpu.mig_pending || *gpu.mig == *gpu.mig_pending) return std::string();
    return nvml_source(gpu, "nvmlDeviceGetMigMode") + fmt::format(": now {}, after a reset {}",
                                                                  *gpu.mig ? "on" : "off",
                                                                  *gpu.mig_pending ? "on" : "off");
  });
  outcome.severity.reset();
  return outcome;
}

// --- what CUDA shows -----------------------------------------------------------------------------

Outcome fewer_devices(const Machine& machine, const Facts&) {
  if (machine.cuda.asked.state != AskState::answered ||
      machine.nvml.asked.state != AskState::answered || !machine.nvml.count)
    return not_known("NVML or the CUDA driver did not answer");
  if (machine.environment.count(kVisible)) return not_applicable("CUDA_VISIBLE_DEVICES is set");
  if (machine.environment.count("NVIDIA_VISIBLE_DEVICES") && machine.surroundings.jetson)
    return not_applicable("Jetson");
  size_t shown = machine.cuda.devices.size(), all = *machine.nvml.count;
  if (shown >= all) return ok(fmt::format("CUDA shows {}", counted(shown, "device")));
  Outcome outcome = fires(
      {fmt::format("cuDeviceGetCount: {}", shown), fmt::format("nvmlDeviceGetCount_v2: {}", all)},
      {{"shown", fmt::format("{}", shown)}, {"all", fmt::format("{}", all)}});
  bool mig = false;
  for (const NvmlGpu& gpu : machine.nvml.gpus)
    if (gpu.mig.value.value_or(false)) {
      mig = true;
      outcome.evidence.push_back(nvml_source(gpu, "nvmlDeviceGetMigMode") + ": enabled");
    }
  outcome.fields["why"] = mig ? "with MIG on, a program gets one MIG device or the other GPUs"
                              : "the driver leaves out GPUs that it cannot use";
  if (mig) {
    outcome.severity = Severity::info;
    return outcome;
  }
  return likely(std::move(outcome), "what the kernel log says of the GPUs that are left out");
}

Outcome slow_start(const Machine& machine, const Facts&) {
  constexpr double kSlow = 3.0; // seconds; some hundred milliseconds are usual
  if (machine.cuda.asked.state != AskState::answered)
    return not_known("the CUDA driver did not answer");
  double took = machine.cuda.init_seconds;
  if (took < kSlow) return ok(fmt::format("cuInit took {:.2f} s", took));
  Outcome outcome =
      fires({fmt::format("cuInit: {:.1f} s", took)}, {{"seconds", fmt::format("{:.1f}", took)}});
  bool off = false;
  for (const NvmlGpu& gpu : machine.nvml.gpus)
    if (gpu.persistence && !*gpu.persistence) {
      off = true;
      outcome.evidence.push_back(nvml_source(gpu, "nvmlDeviceGetPersistenceMode") + ": disabled");
    }
  return off ? outcome : likely(std::move(outcome), "persistence mode is on; what else takes time");
}

// Programs of others that leave less than half of a GPU's memory.
Outcome memory_taken(const Machine& machine, const Facts&) {
  if (machine.nvml.asked.state != AskState::answered)
    return not_known("NVML did not answer (nvidia-smi)");
  Outcome outcome = fires({});
  bool others = false;
  for (const NvmlGpu& gpu : machine.nvml.gpus) {
    if (!gpu.memory_used || !gpu.memory_total || *gpu.memory_total == 0) continue;
    if (*gpu.memory_used < *gpu.memory_total / 2) continue;
    std::string who = holders(machine, gpu);
    if (who.empty()) continue;
    outcome.evidence.push_back(
        fmt::format("{}: {} of {}, {}", nvml_source(gpu, "nvmlDeviceGetMemoryInfo"),
                    human_bytes(*gpu.memory_used), human_bytes(*gpu.memory_total), who));
    for (const NvmlProcess& process : *gpu.processes) {
      bool ours = false;
      if (machine.processes)
        for (const GpuProcess& known_one : *machine.processes)
          ours = ours || (known_one.pid == process.pid && known_one.ours);
      others = others || !ours;
    }
    if (outcome.fields.empty())
      outcome.fields = {
          {"gpu", fmt::format("GPU {}", gpu.index)},
          {"used", human_bytes(*gpu.memory_used)},
          {"total", human_bytes(*gpu.memory_total)},
          {"free", human_bytes(*gpu.memory_total - std::min(*gpu.memory_used, *gpu.memory_total))},
          {"who", who}};
  }
  if (outcome.evidence.empty()) return ok("no GPU's memory is taken by more than half");
  outcome.severity = others ? Severity::warning : Severity::info;
  return outcome;
}

} // namespace

CheckList cuda_checks() {
  return {{"cuda-visible-devices-none", visible_none},
          {"cuda-visible-devices-cut", visible_cut},
          {"cuda-visible-devices-twice", visible_twice},
          {"cuda-visible-devices-some", visible_some},
          {"cuda-visible-devices-mig", visible_mig},
          {"cuda-visible-devices-vllm", visible_vllm},
          {"cuda-device-order-invalid", order_invalid},
          {"cuda-device-order-differs", order_differs},
          {"cuda-compute-prohibited", compute_prohibited},
          {"cuda-compute-exclusive", compute_exclusive},
          {"cuda-mig-empty", mig_empty},
          {"cuda-mig-pending", mig_pending},
          {"cuda-fewer-devices", fewer_devices},
          {"cuda-slow-start", slow_start},
          {"cuda-memory-taken", memory_taken}};
}

} // namespace gpuvet
