// From answers to symptoms. What a symptom's cause is, the checks say.
#include "judge/checks/common.hpp"
#include "judge/doctor/diagnose.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

std::string took(const Asked& asked) {
  return fmt::format("{} did not return within {:.1f} s",
                     asked.call.empty() ? "a call" : asked.call, asked.seconds);
}

std::string code_text(const std::string& call, const Asked& asked) {
  std::string text = fmt::format("{}: {}", call, asked.error);
  if (!asked.error_text.empty()) text += " (" + asked.error_text + ")";
  if (!asked.library.empty()) text += ", from " + asked.library;
  return text;
}

std::string cuda_symptom(int error) {
  for (int known : {3, 34, 35, 46, 100, 101, 802, 803, 804, 999})
    if (error == known) return fmt::format("cuda-{}", known);
  return "cuda-other";
}

std::string nvml_symptom(int error) {
  switch (error) {
  case 4:
    return "nvml-no-permission";
  case 9:
    return "nvml-not-loaded";
  case 12:
    return "nvml-not-found";
  case 18:
    return "nvml-lib-mismatch";
  case 999:
    return "nvml-unknown-error";
  default:
    return "nvml-other";
  }
}

bool may_have_gpu(const Machine& machine) {
  return !pci_gpus(machine).empty() || machine.surroundings.wsl || machine.surroundings.jetson;
}

void add_asked(const Asked& asked, const std::string& call, const std::string& hang,
               const std::string& missing, const std::string& failed, bool gpu,
               std::vector<SeenSymptom>& seen) {
  switch (asked.state) {
  case AskState::hung:
    seen.push_back({hang, {took(asked)}});
    break;
  case AskState::crashed:
    seen.push_back({hang == "nvml-hang" ? "nvml-crash" : "cuda-crash",
                    {fmt::format("{} died of signal {}", asked.call.empty() ? call : asked.call,
                                 asked.signal)}});
    break;
  case AskState::no_library:
    if (gpu) seen.push_back({missing, {"dlopen: " + asked.problem}});
    break;
  case AskState::failed:
    if (gpu || asked.error != 100) seen.push_back({failed, {code_text(call, asked)}});
    break;
  case AskState::skipped:
  case AskState::answered:
    break;
  }
}

// A container that was not given all GPUs of its host has fewer, as it should.
bool was_given_some(const Machine& machine) {
  return in_container(machine) && machine.surroundings.nvidia_visible_devices != "all";
}

void add_counts(const Machine& machine, std::vector<SeenSymptom>& seen) {
  size_t on_bus = 0;
  for (const PciFunction* gpu : pci_gpus(machine))
    if (!is_given_away(machine, *gpu)) ++on_bus;
  if (on_bus == 0 || machine.surroundings.wsl) return;
  const auto& modules = machine.kernel.modules;
  bool loaded = !modules || std::any_of(modules->begin(), modules->end(),
                                        [](const KernelModule& m) { return m.name == "nvidia"; });
  if (modules && !loaded)
    seen.push_back(
        {"smi-cannot-communicate",
         {fmt::format("{} NVIDIA GPU{} on the PCI bus, no module nvidia in /proc/modules", on_bus,
                      on_bus == 1 ? "" : "s")}});
  if (machine.nvml.asked.state != AskState::answered) return;
  auto works = [](const NvmlGpu& gpu) { return gpu.error == 0; };
  size_t working =
      static_cast<size_t>(std::count_if(machine.nvml.gpus.begin(), machine.nvml.gpus.end(), works));
  std::string evidence = fmt::format("{} on the PCI bus, {} usable through NVML", on_bus, working);
  if (working == 0)
    seen.push_back({"no-devices-found", {evidence}});
  else if (working < on_bus && !was_given_some(machine))
    seen.push_back({"fewer-gpus", {evidence}});
}

} // namespace

std::vector<SeenSymptom> seen_symptoms(const Machine& machine) {
  std::vector<SeenSymptom> seen;
  bool gpu = may_have_gpu(machine);
  const Asked& cuda = machine.cuda.asked;
  const Asked& nvml = machine.nvml.asked;
  add_counts(machine, seen);
  add_asked(nvml, "nvmlInit_v2", "nvml-hang", "nvml-not-found", nvml_symptom(nvml.error), gpu,
            seen);
  add_asked(cuda, "cuInit", "cuda-hang", "libcuda-not-found", cuda_symptom(cuda.error), gpu, seen);
  for (const CudaDevice& device : machine.cuda.devices)
    if (device.context_error.value_or(0) != 0)
      seen.push_back({cuda_symptom(*device.context_error),
                      {fmt::format("cuCtxCreate on CUDA device {}: {}", device.ordinal,
                                   *device.context_error)}});
  return seen;
}

} // namespace gpuvet
