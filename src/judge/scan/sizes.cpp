#include "judge/scan/sizes.hpp"

#include "base/units.hpp"
#include "judge/scan/words.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

namespace gpuvet {
namespace {

std::string target_name(const Image& image) {
  switch (image.kind) {
  case ImageKind::cubin:
    return sm_name(image.target);
  case ImageKind::ptx:
  case ImageKind::relocatable_ptx:
    return compute_name(image.target);
  case ImageKind::lto_ir:
    return "lto_" + sm_name(image.target).substr(3);
  case ImageKind::text_cubin:
  case ImageKind::index:
    break;
  }
  return "other";
}

uint64_t size_of(const Image& image) {
  return image.header_size + image.payload_size;
}

} // namespace

std::vector<TargetSize> sizes_by_target(const ScanResult& result) {
  std::map<std::string, TargetSize> by_name;
  for (const ScannedFile& file : result.files)
    for (const Container& container : file.binary.containers)
      for (const Image& image : container.images) {
        TargetSize& size = by_name[target_name(image)];
        size.name = target_name(image);
        size.bytes += size_of(image);
        ++size.images;
      }
  std::vector<TargetSize> sizes;
  for (auto& [name, size] : by_name)
    sizes.push_back(size);
  std::stable_sort(sizes.begin(), sizes.end(),
                   [](const TargetSize& a, const TargetSize& b) { return a.bytes > b.bytes; });
  return sizes;
}

uint64_t bytes_not_chosen(const ScanResult& result, const LoadRules& rules) {
  const LoadDriver* driver = result.driver ? &*result.driver : nullptr;
  uint64_t bytes = 0;
  for (const ScannedFile& file : result.files)
    for (const Container& container : file.binary.containers) {
      if (container.role == Role::relocatable) continue;
      std::set<int> chosen;
      for (const LoadDevice& device : result.devices)
        chosen.insert(load_container(container, device, driver, result.environment, rules).image);
      for (size_t i = 0; i < container.images.size(); ++i) {
        const Image& image = container.images[i];
        bool selectable = image.kind == ImageKind::cubin || image.kind == ImageKind::ptx;
        if (selectable && !chosen.count(static_cast<int>(i))) bytes += size_of(image);
      }
    }
  return bytes;
}

void add_sizes(Report& report, const ScanResult& result, const LoadRules& rules) {
  Table table{
      {{"TARGET"}, {"IMAGES", Align::right}, {"STORED", Align::right}, {"SHARE", Align::right}},
      {}};
  uint64_t total = 0;
  for (const TargetSize& size : sizes_by_target(result))
    total += size.bytes;
  for (const TargetSize& size : sizes_by_target(result))
    table.rows.push_back({{size.name},
                          {std::to_string(size.images)},
                          {human_bytes(size.bytes)},
                          {fmt::format("{:.1f} %", total ? 100.0 * static_cast<double>(size.bytes) /
                                                               static_cast<double>(total)
                                                         : 0.0)}});
  report.tables.push_back(std::move(table));
  std::vector<std::string> names;
  for (const LoadDevice& device : result.devices)
    names.push_back(device.name);
  uint64_t saved = bytes_not_chosen(result, rules);
  report.notes.push_back(
      fmt::format("a build for only {} would save {} of {} of GPU code ({:.0f} %), without PTX for "
                  "cards to come",
                  listed(names), human_bytes(saved), human_bytes(total),
                  total ? 100.0 * static_cast<double>(saved) / static_cast<double>(total) : 0.0));
}

} // namespace gpuvet
