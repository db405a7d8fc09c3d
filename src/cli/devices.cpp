#include "cli/devices.hpp"

#include "judge/load/find_device.hpp"
#include "probe/local_gpus.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

// Shown when nobody names a GPU and the machine has none: one per generation in wide use.
constexpr const char* kCommonGpus[] = {"V100", "T4",   "A100",    "RTX 4090",
                                       "H100", "B200", "RTX 5090"};

Result<std::vector<LoadDevice>> local_devices(const LocalGpus& local, const Facts& facts,
                                              std::vector<std::string>& notes) {
  std::vector<LoadDevice> devices;
  auto gpus = facts.gpus();
  if (!gpus) return tl::unexpected(gpus.error());
  for (const LocalGpu& gpu : local.gpus) {
    GpuMatch match = find_gpu(**gpus, gpu.pci_id);
    if (!match.gpu) {
      notes.push_back(
          fmt::format("the GPU at {} (PCI id {}) is not in the table: name it with --gpu",
                      gpu.pci_address, gpu.pci_id));
      continue;
    }
    std::string name = match.gpu->name;
    if (name.starts_with("NVIDIA ")) name = name.substr(7);
    bool seen = std::any_of(devices.begin(), devices.end(),
                            [&](const LoadDevice& device) { return device.name == name; });
    if (!seen) devices.push_back({name, match.gpu->sm, match.gpu->tegra});
  }
  return devices;
}

} // namespace

Result<LoadDevice> device_from(const std::string& query, const Facts& facts) {
  auto device = find_device(query, facts);
  if (!device && device.error().where.empty()) return fail(device.error().what, "--gpu");
  return device;
}

Result<LoadDriver> driver_from(const std::string& text, const LoadRules& rules) {
  auto version = parse_version(text);
  if (!version || version->major() < 300 || version->major() > 9999)
    return fail(fmt::format("\"{}\" is not a driver version such as 535 or 580.65.06", text),
                "--driver");
  return make_driver(rules, text, *version);
}

Result<bool> choose_devices(ScanResult& result, const std::vector<std::string>& gpus,
                            const std::string& driver, const Facts& facts) {
  auto rules = facts.load_rules();
  if (!rules) return tl::unexpected(rules.error());
  std::string driver_text = driver;
  result.driver_from = "named";
  if (!gpus.empty()) {
    result.devices_from = "named";
    result.asked = true;
    for (const std::string& query : gpus) {
      auto device = device_from(query, facts);
      if (!device) return tl::unexpected(device.error());
      result.devices.push_back(*device);
    }
  } else {
    LocalGpus local = local_gpus("/");
    auto devices = local_devices(local, facts, result.notes);
    if (!devices) return tl::unexpected(devices.error());
    result.devices = *devices;
    result.asked = !result.devices.empty();
    result.devices_from = result.asked ? "this machine" : "common GPUs";
    if (result.asked && driver_text.empty() && local.driver) {
      driver_text = *local.driver;
      result.driver_from = local.driver.source;
    }
    if (!result.asked)
      for (const char* name : kCommonGpus) {
        auto device = device_from(name, facts);
        if (!device) return tl::unexpected(device.error());
        result.devices.push_back(*device);
      }
  }
  if (driver_text.empty()) return true;
  auto named = driver_from(driver_text, **rules);
  if (!named) return tl::unexpected(named.error());
  result.driver = *named;
  return true;
}

} // namespace gpuvet
