// Checks of NVLink connections and NVSwitches.
#include "judge/checks/fabric/parts.hpp"
#include "judge/doctor/diagnose.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet::fabric {
namespace {

bool is_link_xid(uint32_t code) {
  return code == 74 || code == 136 || (code >= 144 && code <= 150);
}

// Links are compared with those of like GPUs: cards without a bridge have none, and that is fine.
Outcome links_down(const Machine& machine, const Facts&) {
  if (machine.nvml.asked.state != AskState::answered)
    return not_known("NVML did not answer: " + machine.nvml.asked.problem);
  bool switched = !nvswitches(machine).empty();
  std::map<std::string, uint32_t> best; // by name
  bool told = false, any_active = false;
  for (const NvmlGpu& gpu : machine.nvml.gpus) {
    if (!gpu.nvlinks || !gpu.nvlinks_active || *gpu.nvlinks == 0) continue;
    told = true;
    any_active |= *gpu.nvlinks_active > 0;
    uint32_t& most = best[gpu.name];
    most = std::max(most, switched ? *gpu.nvlinks : *gpu.nvlinks_active);
  }
  if (!told) return not_applicable("these GPUs have no NVLink");
  if (!any_active && !switched) return not_applicable("no bridge or switch joins these GPUs");
  std::vector<std::string> evidence;
  std::string gpus;
  for (const NvmlGpu& gpu : machine.nvml.gpus) {
    if (!gpu.nvlinks || !gpu.nvlinks_active || *gpu.nvlinks_active >= best[gpu.name]) continue;
    evidence.push_back(
        nvml_evidence("nvmlDeviceGetNvLinkState", gpu,
                      fmt::format("{} of {} links up", *gpu.nvlinks_active, best[gpu.name])));
    gpus += fmt::format("{}GPU {}", gpus.empty() ? "" : ", ", gpu.index);
  }
  if (evidence.empty()) return ok("all links are up");
  for (const XidEvent& event : machine.kernel.xids)
    if (!event.sxid && is_link_xid(event.code))
      evidence.push_back(fmt::format("kernel log: Xid {} (PCI:{}): {}", event.code,
                                     event.pci_address, event.detail));
  return fires(std::move(evidence), {{"gpus", gpus}});
}

template <bool fatal> Outcome switch_errors(const Machine& machine, const Facts&) {
  if (!machine.kernel.log.lines)
    return not_known("the kernel log cannot be read: " + machine.kernel.log.lines.why_unknown);
  std::vector<std::string> evidence;
  std::string codes, address;
  for (const XidEvent& event : machine.kernel.xids) {
    bool is_fatal = event.detail.starts_with("Fatal");
    if (!event.sxid || is_fatal != fatal) continue;
    evidence.push_back(fmt::format("kernel log: SXid (PCI:{}) {}: {}, {}", event.pci_address,
                                   event.code, event.detail, counted(event.count, "time")));
    if (address.empty()) address = event.pci_address;
    std::string code = fmt::format("{}", event.code);
    if (codes.find(code) == std::string::npos) codes += (codes.empty() ? "" : ", ") + code;
  }
  if (evidence.empty()) return ok("no such SXid in the kernel log");
  return fires(std::move(evidence), {{"codes", codes}, {"address", address}});
}

Outcome switch_unbound(const Machine& machine, const Facts&) {
  if (auto answer = no_switches(machine)) return *answer;
  std::vector<std::string> evidence;
  for (const PciFunction* function : nvswitches(machine))
    if (function->driver.empty())
      evidence.push_back(fmt::format("/sys/bus/pci/devices/{}/driver: none", function->address));
  if (evidence.empty()) return ok("the driver holds every NVSwitch");
  return fires(evidence, {{"count", switches_text(evidence.size())}});
}

// HGX boards are sold with a fixed number of switches.
Outcome switches_missing(const Machine& machine, const Facts& facts) {
  if (auto answer = no_switches(machine)) return *answer;
  size_t a100 = 0, hopper = 0;
  for (const PciFunction* function : pci_gpus(machine)) {
    const Gpu* gpu = gpu_by_id(facts, function->id);
    bool board = gpu && gpu->segment == "datacenter" && gpu->name.find("PCIe") == std::string::npos;
    a100 += board && gpu->sm == 80 ? 1 : 0;
    hopper += board && gpu->sm == 90 ? 1 : 0;
  }
  size_t expected = a100 == 8 ? 6 : a100 == 16 ? 12 : hopper == 8 ? 4 : 0;
  size_t seen = nvswitches(machine).size();
  if (expected == 0) return not_applicable("not a board of eight or sixteen GPUs");
  if (seen >= expected) return ok(switches_text(seen) + ", as the board should have");
  return fires({switches_evidence(machine),
                fmt::format("{}: {} GPUs", machine.kernel.functions.source, a100 + hopper)},
               {{"seen", fmt::format("{}", seen)}, {"expected", fmt::format("{}", expected)}});
}

} // namespace

CheckList link_checks() {
  return {
      {"nvlinks-down", links_down},
      {"nvswitch-fatal-error", switch_errors<true>},
      {"nvswitch-error", switch_errors<false>},
      {"nvswitch-without-driver", switch_unbound},
      {"nvswitch-missing", switches_missing},
  };
}

} // namespace gpuvet::fabric
