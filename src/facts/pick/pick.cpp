#include "facts/pick/pick.hpp"

#include "base/text.hpp"
#include "facts/readers.hpp"

#include <algorithm>

namespace gpuvet {
namespace {

std::optional<Version> version_if(FactRow& row, std::string_view key) {
  std::string text = row.text_if(key);
  if (text.empty()) return std::nullopt;
  auto version = parse_version(text);
  if (!version) row.refuse(std::string("'") + std::string(key) + "' is not a version");
  return version;
}

void read_names(FactFile& file, PickTables& tables) {
  for (const PackedRow& packed : file.rows("framework")) {
    FactRow row(file, packed);
    FrameworkName name;
    name.framework = row.text("framework");
    name.title = row.text("title");
    name.aliases = row.list("aliases");
    name.source = row.source();
    row.end();
    tables.frameworks.push_back(std::move(name));
  }
  for (const PackedRow& packed : file.rows("platform")) {
    FactRow row(file, packed);
    PickPlatform platform;
    platform.name = row.text("name");
    platform.builds = row.list("builds");
    if (platform.builds.empty()) row.refuse("'builds' is missing");
    platform.source = row.source();
    row.end();
    tables.platforms.push_back(std::move(platform));
  }
}

Version minor_of(const Version& version) {
  return Version{{version.major(), version.minor()}};
}

} // namespace

void read_pick(FactFile& file, PickTables& tables) {
  read_names(file, tables);
  for (const PackedRow& packed : file.rows("install")) {
    FactRow row(file, packed);
    InstallCommand install;
    install.framework = row.text("framework");
    install.platform = row.text("platform");
    install.variant = row.text_if("variant");
    install.cuda = row.text_if("cuda");
    install.first = version_if(row, "first");
    install.last = version_if(row, "last");
    install.command = row.text("command");
    install.note = row.text_if("note");
    install.source = row.source();
    if (!find_framework(tables, install.framework)) row.refuse("no such framework");
    row.end();
    tables.commands.push_back(std::move(install));
  }
  for (const PackedRow& packed : file.rows("newest")) {
    FactRow row(file, packed);
    NewestPatch patch;
    patch.framework = row.text("framework");
    patch.minor = row.text("minor");
    patch.release = row.text("release");
    patch.source = row.source();
    if (!patch.release.starts_with(patch.minor + "."))
      row.refuse("'release' is no patch of 'minor'");
    row.end();
    tables.newest.push_back(std::move(patch));
  }
  for (const PackedRow& packed : file.rows("ptx")) {
    FactRow row(file, packed);
    MeasuredPtx ptx;
    ptx.framework = row.text("framework");
    ptx.version = row.text("version");
    ptx.isa = row.version("isa");
    ptx.source = row.source();
    row.end();
    tables.ptx.push_back(std::move(ptx));
  }
  for (const PackedRow& packed : file.rows("mig")) {
    FactRow row(file, packed);
    MigCapability mig;
    auto target = parse_target(row.text("capability"));
    if (!target || target->suffix) row.refuse("'capability' is not a compute capability");
    mig.sm = target.value_or(Target{}).sm;
    mig.cards = row.text("cards");
    mig.source = row.source();
    row.end();
    tables.mig.push_back(std::move(mig));
  }
}

const FrameworkName* find_framework(const PickTables& tables, std::string_view name) {
  std::string wanted = lower_ascii(name);
  for (const FrameworkName& row : tables.frameworks)
    if (row.framework == wanted || lower_ascii(row.title) == wanted ||
        std::find(row.aliases.begin(), row.aliases.end(), wanted) != row.aliases.end())
      return &row;
  return nullptr;
}

std::vector<ReleaseRange> release_ranges(std::string_view text) {
  std::vector<ReleaseRange> ranges;
  for (const std::string& part : split_at(text, ',')) {
    std::string_view range = trimmed(part);
    size_t dash = range.find('-');
    auto first = parse_version(range.substr(0, dash));
    auto last = dash == std::string_view::npos ? first : parse_version(range.substr(dash + 1));
    if (first && last) ranges.push_back({*first, *last, range.ends_with('+')});
  }
  return ranges;
}

std::string newest_release(std::string_view text) {
  std::string newest;
  Version highest;
  for (const std::string& part : split_at(text, ',')) {
    std::string_view range = trimmed(part);
    if (size_t dash = range.find('-'); dash != std::string_view::npos)
      range = range.substr(dash + 1);
    if (range.ends_with('+')) range.remove_suffix(1);
    auto version = parse_version(range);
    if (!version || (!newest.empty() && *version <= highest)) continue;
    newest = range;
    highest = *version;
  }
  return newest;
}

bool holds_release(const std::vector<ReleaseRange>& ranges, const Version& release) {
  Version minor = minor_of(release);
  return std::any_of(ranges.begin(), ranges.end(), [&](const ReleaseRange& range) {
    return minor_of(range.first) <= minor && (range.open || minor <= minor_of(range.last));
  });
}

} // namespace gpuvet
