#include "cli/devices.hpp"

#include "probe/local_gpus.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

// Shown when nobody names a GPU and the machine has none: one per generation in wide use.
constexpr const char* kCommonGpus[] = {"V100", "T4",   "A100",    "RTX 4090",
                                       "H100", "B200", "RTX 5090"};

std::string list_text(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names)
    text += (text.empty() ? "" : ", ") + name;
  return text;
}

Error ambiguous(const std::string& query, const std::vector<const Gpu*>& candidates) {
  std::vector<std::string> names;
  for (const Gpu* gpu : candidates)
    names.push_back(fmt::format("{} ({})", gpu->name, cc_name(gpu->sm)));
  return {fmt::format("\"{}\" names cards of different compute capability: {}; give the full name, "
                      "the capability or the PCI id",
                      query, list_text(names)),
          "--gpu"};
}

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
  auto rules = facts.load_rules();
  if (!rules) return tl::unexpected(rules.error());
  if (auto target = parse_target(query)) {
    if (target->suffix)
      return fail(
          fmt::format("{} is a code target, not a GPU: give {}", query, cc_name(target->sm)),
          "--gpu");
    const auto& ranges = (*rules)->sass_ranges;
    bool known = std::any_of(ranges.begin(), ranges.end(),
                             [&](const SassRange& range) { return range.target.sm == target->sm; });
    if (!known)
      return fail(fmt::format("no GPU of compute capability {} is known", cc_name(target->sm)),
                  "--gpu");
    const auto& tegra = (*rules)->tegra;
    return LoadDevice{cc_name(target->sm), target->sm,
                      std::find(tegra.begin(), tegra.end(), target->sm) != tegra.end()};
  }
  auto gpus = facts.gpus();
  if (!gpus) return tl::unexpected(gpus.error());
  GpuMatch match = find_gpu(**gpus, query);
  if (match.gpu) return LoadDevice{query, match.gpu->sm, match.gpu->tegra};
  if (!match.candidates.empty()) return tl::unexpected(ambiguous(query, match.candidates));
  std::string near = match.suggestions.empty() ? "" : "; close: " + list_text(match.suggestions);
  return fail(fmt::format("no GPU is called \"{}\"{}", query, near), "--gpu");
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
  auto version = parse_version(driver_text);
  if (!version || version->major() < 300 || version->major() > 9999)
    return fail(fmt::format("\"{}\" is not a driver version such as 535 or 580.65.06", driver_text),
                "--driver");
  result.driver = make_driver(**rules, driver_text, *version);
  return true;
}

} // namespace gpuvet
