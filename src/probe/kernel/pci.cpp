// PCI functions of vendor 10de, as sysfs shows them to any user, without a driver.
//
// A GPU that sleeps (runtime power management of laptops) is left asleep: reading its `config`
// would wake it, so that file is read only while the function is not suspended.
#include "base/bytes.hpp"
#include "base/text.hpp"
#include "probe/kernel/parts.hpp"

#include <algorithm>
#include <map>

namespace gpuvet::kernel {
namespace {

const std::string kDevices = "/sys/bus/pci/devices";
constexpr size_t kMostConfig = 4096;

std::optional<uint32_t> small_number(const std::string& text) {
  auto value = decimal_number(text);
  if (!value || *value > UINT32_MAX) return std::nullopt;
  return static_cast<uint32_t>(*value);
}

// "0x10de" -> "10de"
std::string hex_digits(const std::string& text) {
  return text.starts_with("0x") ? text.substr(2) : text;
}

std::string pair_of(const Source& source, const std::string& vendor, const std::string& device) {
  std::string first = hex_digits(first_line(source, vendor));
  std::string second = hex_digits(first_line(source, device));
  return first.empty() || second.empty() ? "" : first + ":" + second;
}

std::string last_part(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

// "0000:65:00.0", unlike "pci0000:64"
bool is_address(const std::string& name) {
  return name.find(':') != std::string::npos && name.find('.') != std::string::npos;
}

// The addresses above a function, nearest first: bridges and switches up to the root port.
std::vector<std::string> bridges_above(const Source& source, const std::string& folder) {
  auto real = source.real_path(folder);
  if (!real) return {};
  std::vector<std::string> above;
  std::vector<std::string> parts = split_at(*real, '/');
  for (size_t i = parts.size() - 1; i-- > 0 && is_address(parts[i]);)
    above.push_back(parts[i]);
  return above;
}

// Control register of the Access Control Services capability. nullopt: only root reads that far.
enum class Acs : uint8_t { hidden, absent, direct, redirects };

Acs acs_of(const Source& source, const std::string& address) {
  constexpr uint16_t acs = 0x0d, redirect = 0x04 | 0x08; // requests, completions
  auto config = source.read_file(kDevices + "/" + address + "/config", kMostConfig);
  if (!config || config->size() < 260) return Acs::hidden;
  Bytes bytes = std::string_view(*config);
  uint32_t at = 0x100;
  for (int steps = 0; at >= 0x100 && steps < 64; ++steps) {
    auto head = bytes.read<uint32_t>(at);
    if (!head || *head == 0 || *head == 0xffffffff) break;
    if ((*head & 0xffff) == acs) {
      auto control = bytes.read<uint16_t>(at + 6);
      if (!control) return Acs::hidden;
      return (*control & redirect) != 0 ? Acs::redirects : Acs::direct;
    }
    at = *head >> 20;
  }
  return Acs::absent;
}

using AcsByBridge = std::map<std::string, Acs>; // GPUs share bridges, and each costs a millisecond

std::optional<bool> acs_redirects(const Source& source, const std::vector<std::string>& bridges,
                                  AcsByBridge& seen) {
  bool hidden = false;
  for (const std::string& bridge : bridges) {
    auto [place, is_new] = seen.emplace(bridge, Acs::hidden);
    if (is_new) place->second = acs_of(source, bridge);
    if (place->second == Acs::redirects) return true;
    hidden = hidden || place->second == Acs::hidden;
  }
  if (hidden) return std::nullopt;
  return false;
}

bool is_gpu(const PciFunction& function) {
  return function.device_class >> 16 == 0x03;
}

// It bears on traffic between GPUs, so one GPU alone is not asked about.
void find_acs(const Source& source, std::vector<PciFunction>& functions) {
  if (std::count_if(functions.begin(), functions.end(), is_gpu) < 2) return;
  AcsByBridge seen;
  for (PciFunction& function : functions)
    if (is_gpu(function))
      function.acs_redirects =
          acs_redirects(source, bridges_above(source, kDevices + "/" + function.address), seen);
}

// "0x0000104002000000 0x0000104002ffffff 0x000000000014220c", one line per region. A region that
// the firmware gave no room starts at 0 and keeps its size.
std::vector<PciFunction::Bar> bars_of(const Source& source, const std::string& folder) {
  constexpr size_t regions = 6;
  std::vector<PciFunction::Bar> bars;
  for (const std::string& line : lines(source, folder + "/resource")) {
    if (bars.size() == regions) break;
    std::vector<std::string> fields = words_of(line);
    PciFunction::Bar bar;
    if (fields.size() == 3) {
      uint64_t start = hexadecimal_number(fields[0]).value_or(0);
      uint64_t end = hexadecimal_number(fields[1]).value_or(0);
      if (end > start) bar = {start, end - start + 1};
    }
    bars.push_back(bar);
  }
  return bars;
}

// "TOTAL_ERR_COR 12", the last line of aer_dev_correctable and its kin.
std::optional<uint64_t> errors_in(const Source& source, const std::string& path) {
  for (const std::string& line : lines(source, path))
    if (line.starts_with("TOTAL_ERR")) {
      std::vector<std::string> fields = words_of(line);
      return fields.size() == 2 ? decimal_number(fields[1]) : std::nullopt;
    }
  return std::nullopt;
}

// A function that fell off the bus reads as ones everywhere, also in its link's status: width 63.
// Root gets 4 KiB of `config`, register by register, which costs a virtual machine 20 ms; so a live
// one is not asked for it when its link's width is a possible one.
std::optional<bool> reads_all_ones(const Source& source, const std::string& folder,
                                   std::optional<uint32_t> width) {
  constexpr uint32_t widest = 32;
  bool link_answers = width && *width > 0 && *width <= widest;
  if (source.kind == Seen::live && link_answers) return false;
  auto config = source.read_file(folder + "/config", kMostConfig);
  if (config && config->size() >= 4)
    return std::all_of(config->begin(), config->begin() + 4, [](char c) { return c == '\xff'; });
  return link_answers ? std::optional<bool>(false) : std::nullopt;
}

void read_link(const Source& source, const std::string& folder, PciFunction& function) {
  function.link_speed = first_line(source, folder + "/current_link_speed");
  function.link_speed_max = first_line(source, folder + "/max_link_speed");
  function.link_width = small_number(first_line(source, folder + "/current_link_width"));
  function.link_width_max = small_number(first_line(source, folder + "/max_link_width"));
  std::vector<std::string> bridges = bridges_above(source, folder);
  if (bridges.empty()) return;
  function.port_address = bridges.front();
  std::string port = kDevices + "/" + bridges.front();
  function.port_speed_max = first_line(source, port + "/max_link_speed");
  function.port_width_max = small_number(first_line(source, port + "/max_link_width"));
  function.port_runtime_power = first_line(source, port + "/power/control");
}

PciFunction read_function(const Source& source, const std::string& address) {
  std::string folder = kDevices + "/" + address;
  PciFunction function;
  function.address = address;
  function.id = pair_of(source, folder + "/vendor", folder + "/device");
  function.subsystem = pair_of(source, folder + "/subsystem_vendor", folder + "/subsystem_device");
  auto device_class = hexadecimal_number(first_line(source, folder + "/class"));
  function.device_class = static_cast<uint32_t>(device_class.value_or(0) & 0xffffff);
  if (auto driver = source.link_target(folder + "/driver")) function.driver = last_part(*driver);
  function.numa_node = small_number(first_line(source, folder + "/numa_node"));
  function.bars = bars_of(source, folder);
  function.runtime_power = first_line(source, folder + "/power/control");
  function.runtime_status = first_line(source, folder + "/power/runtime_status");
  function.iommu_group_type = first_line(source, folder + "/iommu_group/type");
  std::string enabled = first_line(source, folder + "/enable");
  if (!enabled.empty()) function.enabled = enabled != "0";
  if (auto interrupts = source.list(folder + "/msi_irqs")) function.interrupts = interrupts->size();
  function.aer_correctable = errors_in(source, folder + "/aer_dev_correctable");
  function.aer_nonfatal = errors_in(source, folder + "/aer_dev_nonfatal");
  function.aer_fatal = errors_in(source, folder + "/aer_dev_fatal");
  if (function.runtime_status != "suspended") {
    read_link(source, folder, function);
    function.config_all_ones = reads_all_ones(source, folder, function.link_width);
  }
  return function;
}

} // namespace

void probe_pci(const Source& source, KernelSide& side) {
  auto names = source.list(kDevices);
  if (!names) {
    side.functions = unknown<std::vector<PciFunction>>(kDevices + ": " + names.error().what);
    return;
  }
  std::vector<PciFunction> functions;
  for (const std::string& address : *names)
    if (first_line(source, kDevices + "/" + address + "/vendor") == "0x10de")
      functions.push_back(read_function(source, address));
  find_acs(source, functions);
  side.functions = known(std::move(functions), kDevices);
}

} // namespace gpuvet::kernel
