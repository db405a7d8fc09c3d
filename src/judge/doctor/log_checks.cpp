#include "judge/doctor/log_checks.hpp"

#include "base/regex.hpp"
#include "judge/checks/common.hpp"
#include "judge/doctor/diagnose.hpp"

#include <fmt/core.h>

#include <charconv>

namespace gpuvet {
namespace {

constexpr size_t kLinesShown = 3;

std::string shown_line(const LogLine& line) {
  return line.seconds ? fmt::format("kernel log, {:.1f} s after boot: {}", *line.seconds, line.text)
                      : "kernel log: " + line.text;
}

std::string gpu_name(const Machine& machine, const std::string& pci_address) {
  for (const NvmlGpu& gpu : machine.nvml.gpus)
    if (same_address(gpu.pci_address, pci_address))
      return fmt::format("GPU {} ({})", gpu.index, pci_address);
  return pci_address.empty() ? "a GPU" : "GPU " + pci_address;
}

// As nvidia-smi -i takes it: the log leaves out the function.
std::string function_address(const std::string& pci_address) {
  return pci_address.find('.') == std::string::npos ? pci_address + ".0" : pci_address;
}

std::string times(const XidEvent& event) {
  std::string text = event.count == 1 ? "once" : fmt::format("{} times", event.count);
  if (event.first_s && event.last_s && event.count > 1)
    text += fmt::format(", {:.0f} to {:.0f} s after boot", *event.first_s, *event.last_s);
  else if (event.first_s)
    text += fmt::format(", {:.0f} s after boot", *event.first_s);
  return text;
}

// A machine without a GPU has no such lines to miss.
Outcome without_log(const Machine& machine) {
  bool none = machine.kernel.functions && pci_gpus(machine).empty() && machine.nvml.gpus.empty() &&
              !machine.surroundings.wsl && !machine.surroundings.jetson;
  if (none) return not_applicable("there is no NVIDIA GPU here");
  return not_known("the kernel log cannot be read: " + machine.kernel.log.lines.why_unknown);
}

} // namespace

Outcome log_outcome(const CheckRow& row, const Machine& machine) {
  const KernelLog& log = machine.kernel.log;
  if (!log.lines) return without_log(machine);
  auto pattern = Regex::compile(row.log);
  if (!pattern) return not_known("the pattern of this check is damaged: " + pattern.error().what);
  Outcome outcome = fires({});
  size_t found = 0;
  for (const LogLine& line : *log.lines) {
    auto fields = pattern->fields_in(line.text);
    if (!fields) continue;
    if (++found <= kLinesShown) outcome.evidence.push_back(shown_line(line));
    outcome.fields.merge(*fields);
  }
  if (found == 0) return ok("no such line in the kernel log");
  if (found > kLinesShown)
    outcome.evidence.push_back(fmt::format("and {} more such lines", found - kLinesShown));
  outcome.fields["count"] = fmt::format("{}", found);
  return outcome;
}

Outcome xid_outcome(const CheckRow& row, const Machine& machine) {
  const KernelLog& log = machine.kernel.log;
  if (!log.lines) return without_log(machine);
  uint32_t code = 0;
  std::string_view number = std::string_view(row.id).substr(row.id.rfind('-') + 1);
  std::from_chars(number.data(), number.data() + number.size(), code);
  Outcome outcome = fires({});
  for (const XidEvent& event : machine.kernel.xids) {
    if (event.sxid || event.code != code) continue;
    if (outcome.evidence.empty())
      outcome.fields = {{"gpu", gpu_name(machine, event.pci_address)},
                        {"pci", function_address(event.pci_address)},
                        {"detail", event.detail},
                        {"process", event.process},
                        {"count", fmt::format("{}", event.count)}};
    std::string place = event.pci_address.empty() ? "" : " (PCI:" + event.pci_address + ")";
    outcome.evidence.push_back(
        fmt::format("kernel log: Xid{} {}: {} ({})", place, code, event.detail, times(event)));
  }
  return outcome.evidence.empty() ? ok("not in the kernel log") : outcome;
}

} // namespace gpuvet
