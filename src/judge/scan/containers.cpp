#include "judge/scan/containers.hpp"

#include "judge/scan/words.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

std::string image_word(const Image& image) {
  std::string word;
  switch (image.kind) {
  case ImageKind::cubin:
    word = sm_name(image.target);
    break;
  case ImageKind::ptx:
    word = compute_name(image.target);
    break;
  case ImageKind::lto_ir:
    word = "lto_" + sm_name(image.target).substr(3);
    break;
  case ImageKind::index:
    word = "index";
    break;
  case ImageKind::relocatable_ptx:
    word = "relocatable-" + compute_name(image.target);
    break;
  case ImageKind::text_cubin:
    word = "text-cubin";
    break;
  default:
    word = fmt::format("kind-{:#04x}:{}", static_cast<unsigned>(image.kind), image.target.sm);
  }
  if (image.damage != Damage::none) word += "(damaged)";
  return word;
}

std::string images_text(const Container& container) {
  std::string text;
  for (const Image& image : container.images)
    text += (text.empty() ? "" : " ") + image_word(image);
  if (!container.problem.empty()) text += (text.empty() ? "" : " ") + ("! " + container.problem);
  return text.empty() ? "(empty)" : text;
}

Cell load_cell(const LoadVerdict& load) {
  if (loads(load)) return {outcome_name(load.outcome), State::ok};
  if (load.outcome == LoadOutcome::may_fail) return {"may-fail", State::warning};
  return {load.error ? fmt::format("none {}", load.error) : "none", State::fault};
}

} // namespace

std::string role_name(Role role) {
  switch (role) {
  case Role::registered:
    return "registered";
  case Role::linked:
    return "linked";
  case Role::relocatable:
    return "relocatable";
  case Role::unreferenced:
    return "unreferenced";
  case Role::embedded:
    return "embedded";
  case Role::bare:
    return "bare";
  }
  return "registered";
}

std::vector<LoadVerdict> container_verdicts(const Binary& binary, const LoadDevice& device,
                                            const LoadDriver* driver,
                                            const LoadEnvironment& environment,
                                            const LoadRules& rules) {
  std::vector<const Container*> parts;
  for (const Container& container : binary.containers)
    if (container.role == Role::relocatable) parts.push_back(&container);
  std::vector<LoadVerdict> verdicts;
  for (const Container& container : binary.containers)
    verdicts.push_back(container.role == Role::linked
                           ? load_linked(container, parts, device, driver, environment, rules)
                           : load_container(container, device, driver, environment, rules));
  return verdicts;
}

void add_containers(Report& report, const ScanResult& result, const LoadRules& rules) {
  const LoadDriver* driver = result.driver ? &*result.driver : nullptr;
  for (const ScannedFile& file : result.files) {
    Table table{{{"FAT BINARY"}, {"SIZE", Align::right}}, {}};
    std::vector<std::vector<LoadVerdict>> loads_by_device;
    for (const LoadDevice& device : result.devices) {
      table.columns.push_back({device.name});
      loads_by_device.push_back(
          container_verdicts(file.binary, device, driver, result.environment, rules));
    }
    table.columns.push_back({"IMAGES", Align::left, true});
    for (size_t i = 0; i < file.binary.containers.size(); ++i) {
      const Container& container = file.binary.containers[i];
      std::string place = container.member.empty() ? container.section : container.member;
      std::vector<Cell> row = {
          {fmt::format("{:#x} {} {}", container.offset, place.empty() ? "-" : place,
                       role_name(container.role))},
          {std::to_string(container.size)}};
      for (const auto& verdicts : loads_by_device)
        row.push_back(load_cell(verdicts[i]));
      row.push_back({images_text(container)});
      table.rows.push_back(std::move(row));
    }
    report.tables.push_back(std::move(table));
  }
}

void add_kernels(Report& report, const ScanResult& result, const LoadRules& rules) {
  const LoadDriver* driver = result.driver ? &*result.driver : nullptr;
  for (const ScannedFile& file : result.files) {
    Table table{{}, {}};
    std::vector<std::vector<LoadVerdict>> loads_by_device;
    for (const LoadDevice& device : result.devices) {
      table.columns.push_back({device.name});
      loads_by_device.push_back(
          container_verdicts(file.binary, device, driver, result.environment, rules));
    }
    table.columns.push_back({"KERNEL", Align::left, true});
    for (size_t i = 0; i < file.binary.containers.size(); ++i)
      for (const std::string& kernel : file.binary.containers[i].kernels) {
        std::vector<Cell> row;
        for (const auto& verdicts : loads_by_device)
          row.push_back(load_cell(verdicts[i]));
        row.push_back({readable_kernel(kernel)});
        table.rows.push_back(std::move(row));
      }
    if (!table.rows.empty()) report.tables.push_back(std::move(table));
  }
}

} // namespace gpuvet
