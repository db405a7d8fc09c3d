#include "cli/scan_json.hpp"

#include "formats/gpu/fatbin.hpp"
#include "judge/scan/containers.hpp"
#include "judge/scan/sizes.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <set>

namespace gpuvet {
namespace {

using nlohmann::ordered_json;

std::string format_name(FileFormat format) {
  switch (format) {
  case FileFormat::elf:
    return "elf";
  case FileFormat::elf_relocatable:
    return "object";
  case FileFormat::ar:
    return "archive";
  case FileFormat::pe:
    return "pe";
  case FileFormat::cubin:
    return "cubin";
  case FileFormat::fatbin:
    return "fatbin";
  case FileFormat::ptx:
    return "ptx";
  case FileFormat::other:
    break;
  }
  return "other";
}

ordered_json targets(const Binary& binary, ImageKind kind) {
  std::set<Target> all;
  for (const Container& container : binary.containers)
    for (const Image& image : container.images)
      if (image.kind == kind) all.insert(image.target);
  ordered_json list = ordered_json::array();
  for (Target target : all)
    list.push_back(kind == ImageKind::cubin ? sm_name(target) : compute_name(target));
  return list;
}

ordered_json image_json(const Image& image) {
  bool ptx = image.kind == ImageKind::ptx || image.kind == ImageKind::relocatable_ptx;
  ordered_json json = {{"kind", kind_name(image.kind)},
                       {"target", ptx ? compute_name(image.target) : sm_name(image.target)},
                       {"ptx_isa", nullptr},
                       {"offset", image.offset},
                       {"header_size", image.header_size},
                       {"stored_size", image.stored_size},
                       {"payload_size", image.payload_size},
                       {"raw_size", image.raw_size},
                       {"compression", compression_name(image.compression)},
                       {"flags", image.flags}};
  if (ptx) json["ptx_isa"] = fmt::format("{}.{}", image.version_major, image.version_minor);
  if (uint64_t unknown = unknown_flags(image.flags)) json["unknown_flags"] = unknown;
  if (!image.name.empty()) json["name"] = image.name;
  if (image.damage != Damage::none) json["damaged"] = true;
  if (image.relocatable) json["relocatable"] = true;
  return json;
}

ordered_json load_json(const LoadDevice& device, const LoadVerdict& load) {
  ordered_json json = {{"gpu", device.name},
                       {"verdict", outcome_name(load.outcome)},
                       {"image", nullptr},
                       {"error", load.error},
                       {"reason", load.reason}};
  if (loads(load) && load.image >= 0) json["image"] = load.image;
  return json;
}

ordered_json containers_json(const ScannedFile& file, const ScanResult& result,
                             const LoadRules& rules) {
  const LoadDriver* driver = result.driver ? &*result.driver : nullptr;
  ordered_json list = ordered_json::array();
  for (const Container& container : file.binary.containers) {
    ordered_json json = {{"offset", container.offset},        {"size", container.size},
                         {"section", container.section},      {"member", container.member},
                         {"role", role_name(container.role)}, {"problem", container.problem}};
    json["images"] = ordered_json::array();
    for (const Image& image : container.images)
      json["images"].push_back(image_json(image));
    if (container.kernels_read) json["kernels"] = container.kernels;
    json["verdicts"] = ordered_json::array();
    list.push_back(std::move(json));
  }
  for (const LoadDevice& device : result.devices) {
    auto verdicts = container_verdicts(file.binary, device, driver, result.environment, rules);
    for (size_t i = 0; i < verdicts.size(); ++i)
      list[i]["verdicts"].push_back(load_json(device, verdicts[i]));
  }
  return list;
}

ordered_json verdict_json(const LoadDevice& device, const FileVerdict& verdict) {
  ordered_json json = {{"gpu", device.name},
                       {"verdict", coverage_name(verdict.coverage)},
                       {"reason", verdict.reason},
                       {"error", verdict.error},
                       {"containers",
                        {{"native", verdict.native},
                         {"same_major", verdict.same_major},
                         {"jit", verdict.jit},
                         {"linked", verdict.linked},
                         {"failing", verdict.failing},
                         {"variants", verdict.variants},
                         {"uncertain", verdict.uncertain}}},
                       {"needs_driver", nullptr}};
  if (!verdict.needs_driver.empty()) {
    json["needs_driver"] = verdict.needs_driver;
    json["needs_driver_why"] = verdict.needs_driver_why;
  }
  json["shortfalls"] = ordered_json::array();
  for (const Shortfall& shortfall : verdict.shortfalls)
    json["shortfalls"].push_back({{"reason", shortfall.reason},
                                  {"error", shortfall.error},
                                  {"containers", shortfall.containers},
                                  {"variant", shortfall.variant},
                                  {"places", shortfall.places},
                                  {"kernels", shortfall.kernels}});
  return json;
}

ordered_json file_json(const ScannedFile& file, const ScanResult& result, const LoadRules& rules,
                       bool containers) {
  const Binary& binary = file.binary;
  ordered_json json = {{"path", binary.path},
                       {"size", binary.size},
                       {"format", format_name(binary.format)},
                       {"gpu_code_bytes", gpu_code_bytes(binary)},
                       {"container_count", binary.containers.size()},
                       {"sass", targets(binary, ImageKind::cubin)},
                       {"ptx", targets(binary, ImageKind::ptx)},
                       {"toolkit", nullptr}};
  if (binary.toolkit)
    json["toolkit"] = to_string(*binary.toolkit);
  else
    json["toolkit_unknown"] = binary.toolkit.why_unknown;
  json["verdicts"] = ordered_json::array();
  for (size_t i = 0; i < file.verdicts.size(); ++i)
    json["verdicts"].push_back(verdict_json(result.devices[i], file.verdicts[i]));
  json["runtime_compilers"] = ordered_json::array();
  for (const RuntimeCompiler& compiler : binary.runtime_compilers)
    json["runtime_compilers"].push_back({{"name", compiler.name}, {"evidence", compiler.evidence}});
  json["notes"] = binary.notes;
  json["problems"] = binary.problems;
  if (containers) json["containers"] = containers_json(file, result, rules);
  return json;
}

} // namespace

std::string scan_json(const ScanResult& result, const LoadRules& rules, bool containers) {
  ordered_json json = {{"schema", "gpuvet-scan/1"}, {"gpuvet", GPUVET_VERSION}};
  json["gpus_from"] = result.devices_from;
  json["gpus"] = ordered_json::array();
  for (const LoadDevice& device : result.devices)
    json["gpus"].push_back({{"name", device.name},
                            {"compute_capability", cc_name(device.sm)},
                            {"sm", device.sm},
                            {"tegra", device.tegra}});
  json["driver"] = nullptr;
  if (result.driver) {
    json["driver"] = {{"version", result.driver->text}, {"from", result.driver_from}};
    json["driver"]["cuda"] =
        result.driver->cuda ? ordered_json(to_string(*result.driver->cuda)) : ordered_json();
  }
  json["falls_short"] = falls_short(result);
  json["files"] = ordered_json::array();
  for (const ScannedFile& file : result.files)
    json["files"].push_back(file_json(file, result, rules, containers));
  json["files_without_code"] = result.files_without_code;
  json["sizes"] = ordered_json::array();
  for (const TargetSize& size : sizes_by_target(result))
    json["sizes"].push_back(
        {{"target", size.name}, {"bytes", size.bytes}, {"images", size.images}});
  json["bytes_not_chosen"] = bytes_not_chosen(result, rules);
  json["run_time_code"] = result.compilers;
  json["notes"] = result.notes;
  json["errors"] = ordered_json::array();
  for (const Error& error : result.errors)
    json["errors"].push_back({{"what", error.what}, {"where", error.where}});
  // Names in hostile files need not be UTF-8: bad bytes are replaced, never thrown about.
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

} // namespace gpuvet
