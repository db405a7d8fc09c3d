// Parts of machines, what is asked of them, and what a test changes.
#include "judge/checks/testing/machines.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace gpuvet::testing {

const Facts& facts() {
  static const Facts all;
  return all;
}

Outcome ask(const CheckList& checks, std::string_view id, const Machine& machine) {
  for (const CheckCode& check : checks)
    if (check.id == id) return check.run(machine, facts());
  throw std::runtime_error(fmt::format("there is no check {}", id));
}

std::vector<std::string> firing(const CheckList& checks, const Machine& machine) {
  std::vector<std::string> ids;
  for (const CheckCode& check : checks)
    if (check.run(machine, facts()).answer == Answer::fires) ids.emplace_back(check.id);
  return ids;
}

std::vector<std::string> found(const Machine& machine, const std::set<std::string>& areas) {
  auto diagnosis = diagnose(machine, facts(), areas);
  if (!diagnosis) throw std::runtime_error(diagnosis.error().what);
  std::vector<std::string> ids;
  for (size_t cause : diagnosis->causes)
    if (diagnosis->checks[cause].severity > Severity::info)
      ids.push_back(diagnosis->checks[cause].row->id);
  return ids;
}

std::string first_command(const Machine& machine, std::string_view id) {
  auto diagnosis = diagnose(machine, facts());
  if (!diagnosis) throw std::runtime_error(diagnosis.error().what);
  for (const CheckResult& check : diagnosis->checks)
    if (check.row->id == id && !check.fixes.empty()) return check.fixes.front().text;
  return {};
}

PciFunction pci_function(std::string address, std::string id, std::string driver,
                         uint32_t device_class) {
  PciFunction function;
  function.address = std::move(address);
  function.id = std::move(id);
  function.device_class = device_class;
  function.driver = std::move(driver);
  function.link_speed = function.link_speed_max = "16.0 GT/s PCIe";
  function.link_width = function.link_width_max = 16U;
  function.port_speed_max = "16.0 GT/s PCIe";
  function.port_width_max = 16U;
  function.port_address = "0000:00:01.0";
  function.bars = {{0xa0000000, 16U << 20U}, {0x380000000000, 1ULL << 37U}, {}, {}, {}, {}};
  function.config_all_ones = false;
  function.aer_correctable = function.aer_nonfatal = function.aer_fatal = 0U;
  function.runtime_power = function.port_runtime_power = "on";
  function.enabled = true;
  function.interrupts = 1U;
  return function;
}

KernelModule kernel_module(std::string name, std::string version) {
  KernelModule loaded;
  loaded.name = std::move(name);
  loaded.version = std::move(version);
  loaded.state = "live";
  return loaded;
}

DeviceNode device_node(std::string path, uint32_t major, uint32_t minor) {
  DeviceNode node;
  node.path = std::move(path);
  node.exists = node.character = true;
  node.major = major;
  node.minor = minor;
  node.mode = 0666;
  node.open_error = 0;
  return node;
}

DeviceNode absent_node(std::string path) {
  DeviceNode node;
  node.path = std::move(path);
  return node;
}

std::string gpu_address(uint32_t index) {
  return fmt::format("0000:{:02x}:00.0", 0x10 + index * 0x10);
}

NvmlGpu nvml_gpu(uint32_t index, std::string name, uint32_t capability) {
  NvmlGpu gpu;
  gpu.index = index;
  gpu.name = std::move(name);
  gpu.uuid = fmt::format("GPU-00000000-0000-0000-0000-{:012}", index);
  gpu.pci_address = gpu_address(index);
  gpu.vbios = "96.00.74.00.01";
  gpu.minor.value = index;
  gpu.capability.value = capability;
  gpu.memory_total.value = 80ULL << 30U;
  gpu.memory_used.value = 500ULL << 20U;
  gpu.remap_pending.value = gpu.remap_failed.value = false;
  gpu.remapped_correctable.value = gpu.remapped_uncorrectable.value = 0U;
  gpu.clock_sm.value = 345U;
  gpu.clock_sm_max.value = 1980U;
  gpu.clock_reasons.value = 1U; // idle
  gpu.power_mw.value = 70'000U;
  gpu.power_limit_mw.value = gpu.power_default_mw.value = gpu.power_max_mw.value = 450'000U;
  gpu.temperature_c.value = 35U;
  gpu.temperature_slowdown_c.value = 90U;
  gpu.utilisation_percent.value = 0U;
  gpu.persistence.value = true;
  gpu.compute_mode.value = 0U;
  gpu.performance_state.value = 8U;
  gpu.link_generation.value = 1U;
  gpu.link_generation_max.value = gpu.link_generation_device_max.value = 4U;
  gpu.link_width.value = gpu.link_width_max.value = 16U;
  gpu.replays.value = 0U;
  gpu.inforom_ok.value = true;
  gpu.virtualization.value = 0U;
  gpu.processes.value = std::vector<NvmlProcess>{};
  return gpu;
}

LibraryFile library_file(std::string path, std::string version, std::string owner) {
  LibraryFile file;
  file.path = file.real_path = std::move(path);
  file.version = std::move(version);
  file.owner = std::move(owner);
  file.origin = file.owner.empty() ? Origin::unknown : Origin::distribution;
  file.readable = true;
  return file;
}

ServiceUnit service(std::string name, bool enabled, bool running) {
  ServiceUnit unit;
  unit.name = std::move(name);
  unit.file = "/usr/lib/systemd/system/" + unit.name;
  unit.enabled = known(enabled, unit.file);
  unit.running = known(running, "/proc");
  unit.state = running ? "active" : "inactive";
  return unit;
}

KernelModule* find_module(Machine& machine, std::string_view name) {
  std::vector<KernelModule>& modules = *machine.kernel.modules.value;
  auto at = std::find_if(modules.begin(), modules.end(),
                         [&](const KernelModule& module) { return module.name == name; });
  return at == modules.end() ? nullptr : &*at;
}

void unload(Machine& machine, std::string_view name) {
  std::erase_if(*machine.kernel.modules.value,
                [&](const KernelModule& module) { return module.name == name; });
}

DeviceNode& node(Machine& machine, std::string_view path) {
  for (DeviceNode& node : machine.kernel.nodes)
    if (node.path == path) return node;
  machine.kernel.nodes.push_back(absent_node(std::string(path)));
  return machine.kernel.nodes.back();
}

void without_module(Machine& machine) {
  KernelSide& kernel = machine.kernel;
  for (const char* name : {"nvidia", "nvidia_uvm", "nvidia_modeset"})
    unload(machine, name);
  kernel.module_version = unknown<std::string>("no nvidia kernel module is loaded");
  kernel.flavour = unknown<Flavour>("no nvidia kernel module is loaded");
  kernel.proc_gpus = unknown<std::vector<std::string>>("/proc/driver/nvidia: no such folder");
  kernel.proc_gpu_information.clear();
  kernel.proc_params.clear();
  kernel.char_majors = known<std::map<std::string, uint32_t>>({}, "/proc/devices");
  kernel.dev_char_links.reset();
  kernel.persistenced_socket = false;
  for (DeviceNode& node : kernel.nodes)
    node = absent_node(node.path);
  for (PciFunction& function : *kernel.functions.value)
    function.driver.clear();
  machine.nvml = {};
  machine.cuda = {};
  machine.nvml.asked.state = machine.cuda.asked.state = AskState::failed;
  machine.nvml.asked.error = 9;
  machine.nvml.asked.error_text = "Driver Not Loaded";
  machine.cuda.asked.error = 100;
  machine.cuda.asked.error_text = "CUDA_ERROR_NO_DEVICE";
  machine.services.clear();
}

void log_line(Machine& machine, std::string text) {
  machine.kernel.log.lines.value->push_back({10.0, std::move(text)});
}

} // namespace gpuvet::testing
