#include "facts/readers.hpp"

#include <algorithm>

namespace gpuvet {
namespace {

bool knows(const SassRange& range, const Version& toolkit) {
  auto first = parse_version(range.first_cuda), last = parse_version(range.last_cuda);
  return first && *first <= toolkit && (!last || toolkit <= *last);
}

void add_targets(const LoadRules& rules, Toolkit& toolkit) {
  const std::string& from = toolkit.targets_from.empty() ? toolkit.version : toolkit.targets_from;
  Version version = parse_version(from).value_or(Version{});
  for (const SassRange& range : rules.sass_ranges) {
    if (!knows(range, version)) continue;
    toolkit.sass_targets.push_back(range.target);
    if (range.target.sm != 21) toolkit.ptx_targets.push_back(range.target); // built from compute_20
  }
}

void add_releases(const std::vector<PackedRow>& rows, FactFile& file,
                  std::vector<Toolkit>& toolkits) {
  for (const PackedRow& packed : rows) {
    FactRow row(file, packed);
    std::string version = row.text("toolkit");
    auto toolkit = std::find_if(toolkits.begin(), toolkits.end(),
                                [&](const Toolkit& t) { return t.version == version; });
    ToolkitRelease release;
    release.version = row.text("version");
    release.driver_linux = row.text_if("driver_linux");
    release.driver_windows = row.text_if("driver_windows");
    release.runfile = row.text_if("runfile");
    release.source = row.source();
    row.end();
    if (toolkit == toolkits.end())
      row.refuse("no toolkit is called '" + version + "'");
    else
      toolkit->releases.push_back(std::move(release));
  }
}

} // namespace

void read_toolkits(FactFile& file, const LoadRules& rules, std::vector<Toolkit>& toolkits) {
  for (const PackedRow& packed : file.rows("toolkit")) {
    FactRow row(file, packed);
    Toolkit toolkit;
    toolkit.version = row.text("version");
    toolkit.ptx_isa = row.text("ptx_isa");
    if (auto branch = row.count_if("driver_branch"))
      toolkit.driver_branch = std::to_string(*branch);
    if (auto sm = row.count_if("default_arch")) toolkit.default_arch = sm_name({*sm, 0});
    toolkit.min_gcc = row.text_if("min_gcc");
    toolkit.max_gcc = row.text_if("max_gcc");
    toolkit.max_clang = row.text_if("max_clang");
    toolkit.targets_from = row.text_if("targets_from");
    if (std::string value = row.text_if("confidence"); !value.empty()) toolkit.confidence = value;
    toolkit.note = row.text_if("note");
    toolkit.sources = row.sources();
    row.end();
    add_targets(rules, toolkit);
    uint32_t major = parse_version(toolkit.version).value_or(Version{}).major();
    for (const MinorFloor& floor : rules.floors) {
      if (floor.cuda_major != major) continue;
      toolkit.minor_driver_linux = floor.min_linux;
      toolkit.minor_driver_windows = floor.min_windows;
    }
    toolkits.push_back(std::move(toolkit));
  }
  add_releases(file.rows("release"), file, toolkits);
  for (Toolkit& toolkit : toolkits) {
    if (toolkit.releases.empty()) continue;
    toolkit.min_driver_linux = toolkit.releases.front().driver_linux;
    toolkit.min_driver_windows = toolkit.releases.front().driver_windows;
  }
}

} // namespace gpuvet
