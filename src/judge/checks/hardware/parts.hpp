// Checks of the GPUs as hardware, by what they look at, and what they share.
#pragma once

#include "judge/checks/common.hpp"
#include "judge/checks/subjects.hpp"

#include <fmt/core.h>

#include <string>
#include <string_view>

namespace gpuvet::hardware {

CheckList health_checks(); // health.cpp: lost GPUs, power cables, what differs among them
CheckList memory_checks(); // memory.cpp: ECC, replaced rows, InfoROM
CheckList link_checks();   // links.cpp: PCI Express
CheckList clock_checks();  // clocks.cpp: heat, power, clocks

// Under load a GPU runs its link and clocks at full speed; idle it steps down, which is no fault.
bool is_busy(const NvmlGpu& gpu);

// Why NVML's answers cannot be judged; nullopt: they can.
std::optional<Outcome> nvml_silent(const Machine& machine);

constexpr int kNvmlNotSupported = 3;
constexpr int kNvmlNotAsked = -1; // NvmlValue::error

// Asks one value of every GPU that answers. `bad(gpu, value)` gives what is wrong as evidence, or
// an empty text. Fields: gpus, pci (of the first).
template <class T, class Bad> Outcome each_gpu(const Machine& machine, NvmlValue<T> NvmlGpu::*value,
                                               std::string_view call, Bad bad) {
  if (auto answer = nvml_silent(machine)) return *answer;
  Outcome outcome = fires({}, {});
  bool told = false, unsupported = false;
  std::string gpus;
  for (const NvmlGpu& gpu : machine.nvml.gpus) {
    const NvmlValue<T>& answer = gpu.*value;
    unsupported |= gpu.error == 0 && !answer && answer.error == kNvmlNotSupported;
    if (gpu.error != 0 || !answer) continue;
    told = true;
    std::string text = bad(gpu, *answer);
    if (text.empty()) continue;
    outcome.evidence.push_back(nvml_evidence(call, gpu, text));
    outcome.fields.emplace("pci", plain_address(gpu.pci_address));
    gpus += fmt::format("{}GPU {}", gpus.empty() ? "" : ", ", gpu.index);
  }
  if (!told && unsupported) return not_applicable("these GPUs do not have it");
  if (!told) return not_known(fmt::format("{} tells nothing", call));
  if (outcome.evidence.empty()) return ok("no GPU has it");
  outcome.fields["gpus"] = gpus;
  return outcome;
}

} // namespace gpuvet::hardware
