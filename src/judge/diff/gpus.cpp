// GPUs and what is set on them. Compared by PCI address: a snapshot holds no UUIDs.
#include "judge/diff/parts.hpp"

#include <fmt/core.h>

#include <array>

namespace gpuvet::diff {
namespace {

bool is_gpu(const PciFunction& function) {
  return (function.device_class >> 16) == 0x03; // display controllers
}

// "0000:65:00.0" of NVML's "00000000:65:00.0"
std::string address_of(const NvmlGpu& gpu) {
  std::string address = gpu.pci_address;
  if (address.size() == 16 && address.starts_with("0000")) address.erase(0, 4);
  for (char& c : address)
    if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
  return address.empty() ? fmt::format("{}", gpu.index) : address;
}

std::map<std::string, const NvmlGpu*> gpus_by_address(const Machine& machine) {
  std::map<std::string, const NvmlGpu*> gpus;
  for (const NvmlGpu& gpu : machine.nvml.gpus)
    gpus[address_of(gpu)] = &gpu;
  return gpus;
}

struct SeenGpu {
  std::string id, name; // "10de:2330", "NVIDIA H100"; empty: not told

  std::string shown() const { return name.empty() ? id : name; }
};

// By address, from the bus and from NVML.
std::optional<std::map<std::string, SeenGpu>> gpus_of(const Machine& machine) {
  if (!machine.kernel.functions && machine.nvml.asked.state != AskState::answered)
    return std::nullopt;
  std::map<std::string, SeenGpu> gpus;
  if (machine.kernel.functions)
    for (const PciFunction& function : *machine.kernel.functions)
      if (is_gpu(function)) gpus[function.address].id = function.id;
  for (const auto& [address, gpu] : gpus_by_address(machine))
    gpus[address].name = gpu->name;
  return gpus;
}

// Another GPU in the same place counts; that its name is not told any more does not.
void compare_presence(const std::map<std::string, SeenGpu>& before,
                      const std::map<std::string, SeenGpu>& after, Changes& changes) {
  for (const auto& [address, gpu] : before) {
    auto same = after.find(address);
    if (same == after.end())
      changes.compare("gpu", "GPU " + address, gpu.shown(), "");
    else if (!gpu.id.empty() && !same->second.id.empty() && gpu.id != same->second.id)
      changes.compare("gpu", "GPU " + address, gpu.shown() + " (" + gpu.id + ")",
                      same->second.shown() + " (" + same->second.id + ")");
  }
  for (const auto& [address, gpu] : after)
    if (!before.count(address)) changes.compare("gpu", "GPU " + address, "", gpu.shown());
}

std::map<std::string, std::string> bound_drivers(const Machine& machine) {
  std::map<std::string, std::string> drivers;
  for (const PciFunction& function : *machine.kernel.functions)
    if (is_gpu(function))
      drivers[function.address] = function.driver.empty() ? "none" : function.driver;
  return drivers;
}

std::string health(const NvmlGpu& gpu) {
  if (gpu.error == 0) return "answers";
  return fmt::format("does not answer: {} {}", gpu.error, gpu.error_text);
}

std::string watts(const NvmlValue<uint32_t>& milliwatts) {
  return milliwatts ? fmt::format("{:g} W", *milliwatts / 1000.0) : "";
}
std::string megahertz(const NvmlValue<uint32_t>& value) {
  return value ? fmt::format("{} MHz", *value) : "";
}
std::string switched(const NvmlValue<bool>& value) {
  return value ? shown(*value) : "";
}
std::string number(const NvmlValue<uint32_t>& value) {
  return value ? shown(*value) : "";
}
std::string mode(const NvmlValue<uint32_t>& value) {
  if (!value) return "";
  constexpr std::array<std::string_view, 4> names = {"default", "exclusive thread", "prohibited",
                                                     "exclusive process"};
  return *value < names.size() ? std::string(names[*value]) : shown(*value);
}
std::string gigabytes(const NvmlValue<uint64_t>& value) {
  return value ? fmt::format("{:.1f} GiB", static_cast<double>(*value) / (1U << 30)) : "";
}
std::string fabric(const NvmlValue<uint32_t>& value) {
  if (!value) return "";
  constexpr std::array<std::string_view, 4> names = {"not supported", "not started", "in progress",
                                                     "completed"};
  return *value < names.size() ? std::string(names[*value]) : shown(*value);
}

struct Setting {
  const char* id;
  const char* subject;
  std::string (*shown)(const NvmlGpu& gpu);
};

const std::vector<Setting>& settings() {
  static const std::vector<Setting> all = {
      {"ecc", "ECC", [](const NvmlGpu& gpu) { return switched(gpu.ecc); }},
      {"ecc-pending", "ECC after a reboot",
       [](const NvmlGpu& gpu) { return switched(gpu.ecc_pending); }},
      {"mig", "MIG", [](const NvmlGpu& gpu) { return switched(gpu.mig); }},
      {"mig-pending", "MIG after a reset",
       [](const NvmlGpu& gpu) { return switched(gpu.mig_pending); }},
      {"mig-devices", "MIG devices", [](const NvmlGpu& gpu) { return number(gpu.mig_devices); }},
      {"power-limit", "power limit", [](const NvmlGpu& gpu) { return watts(gpu.power_limit_mw); }},
      {"power-limit-default", "default power limit",
       [](const NvmlGpu& gpu) { return watts(gpu.power_default_mw); }},
      {"clock-limit", "highest SM clock",
       [](const NvmlGpu& gpu) { return megahertz(gpu.clock_sm_max); }},
      {"memory-clock-limit", "highest memory clock",
       [](const NvmlGpu& gpu) { return megahertz(gpu.clock_memory_max); }},
      {"persistence", "persistence mode",
       [](const NvmlGpu& gpu) { return switched(gpu.persistence); }},
      {"compute-mode", "compute mode", [](const NvmlGpu& gpu) { return mode(gpu.compute_mode); }},
      {"memory", "memory", [](const NvmlGpu& gpu) { return gigabytes(gpu.memory_total); }},
      {"vbios", "VBIOS", [](const NvmlGpu& gpu) { return gpu.vbios; }},
      {"link-generation", "highest PCIe generation",
       [](const NvmlGpu& gpu) { return number(gpu.link_generation_max); }},
      {"link-width", "PCIe width", [](const NvmlGpu& gpu) { return number(gpu.link_width); }},
      {"nvlinks", "NVLinks up", [](const NvmlGpu& gpu) { return number(gpu.nvlinks_active); }},
      {"fabric", "registration with the fabric",
       [](const NvmlGpu& gpu) { return fabric(gpu.fabric_state); }},
      {"remap-pending", "row remapping waits for a reset",
       [](const NvmlGpu& gpu) { return switched(gpu.remap_pending); }},
      {"remap-failed", "row remapping failed",
       [](const NvmlGpu& gpu) { return switched(gpu.remap_failed); }},
      {"retired-pending", "page retirement waits for a reboot",
       [](const NvmlGpu& gpu) { return switched(gpu.retired_pending); }},
  };
  return all;
}

} // namespace

void compare_gpus(const Machine& before, const Machine& after, MachineDiff& diff) {
  Changes changes(diff);
  const size_t first = diff.changes.size();
  const auto old_gpus = gpus_of(before), new_gpus = gpus_of(after);
  if (old_gpus && new_gpus)
    compare_presence(*old_gpus, *new_gpus, changes);
  else if (old_gpus || new_gpus)
    changes.not_compared("GPUs", old_gpus ? "not known now" : "not known before");

  const auto old_answers = gpus_by_address(before), new_answers = gpus_by_address(after);
  for (const auto& [address, gpu] : old_answers)
    if (auto same = new_answers.find(address); same != new_answers.end())
      changes.compare("gpu-answer", "GPU " + address, health(*gpu), health(*same->second));
  if (before.kernel.functions && after.kernel.functions) {
    const auto old_drivers = bound_drivers(before), new_drivers = bound_drivers(after);
    for (const auto& [address, driver] : old_drivers)
      if (auto same = new_drivers.find(address); same != new_drivers.end())
        changes.compare("gpu-driver", "GPU " + address + " is driven by", driver, same->second);
  }
  merge_equal(diff, first, "GPU ", 0, "");
}

void compare_gpu_settings(const Machine& before, const Machine& after, MachineDiff& diff) {
  const auto old_gpus = gpus_by_address(before), new_gpus = gpus_by_address(after);
  if (old_gpus.empty() != new_gpus.empty())
    Changes(diff).not_compared("settings of the GPUs", old_gpus.empty() ? "NVML did not tell before"
                                                                        : "NVML does not tell now");
  for (const Setting& setting : settings()) {
    const size_t first = diff.changes.size();
    const std::string end = std::string(": ") + setting.subject;
    for (const auto& [address, gpu] : old_gpus) {
      auto same = new_gpus.find(address);
      if (same == new_gpus.end()) continue;
      const std::string old_value = setting.shown(*gpu), new_value = setting.shown(*same->second);
      // Not supported, or not asked since the GPU is lost: which other changes tell.
      if (old_value.empty() || new_value.empty()) continue;
      Changes(diff).compare(std::string("gpu-") + setting.id, "GPU " + address, old_value,
                            new_value);
    }
    const std::string all = fmt::format("all {} GPUs", old_gpus.size());
    merge_equal(diff, first, "GPU ", old_gpus.size() > 1 ? old_gpus.size() : 0, all);
    for (size_t i = first; i < diff.changes.size(); ++i)
      diff.changes[i].subject += end;
  }
}

} // namespace gpuvet::diff
