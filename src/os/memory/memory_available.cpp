#include "os/memory/memory_available.hpp"

#include "base/text.hpp"
#include "os/file_tree.hpp"

#include <algorithm>

namespace gpuvet {
namespace {

constexpr size_t kSmallFile = 1 << 16; // bytes; such files of the kernel are shorter

std::string text_of(const std::string& path) {
  auto text = read_small_file(path, kSmallFile);
  return text ? std::string(trimmed(*text)) : std::string();
}

// "max" and what cannot be read are no limit.
std::optional<uint64_t> cgroup_number(const std::string& path) {
  return decimal_number(text_of(path));
}

// Version 2 has one tree and limits at each level; version 1 has one of its own for memory. In a
// container either may be mounted from its own group downwards: then the root is the group.
void apply_cgroups(const std::string& root, std::optional<uint64_t>& least) {
  auto lower = [&](std::optional<uint64_t> most, std::optional<uint64_t> used) {
    if (!most || !used) return;
    uint64_t left = *most > *used ? *most - *used : 0;
    if (!least || left < *least) least = left;
  };
  auto groups = read_small_file(root + "/proc/self/cgroup", kSmallFile);
  for (const std::string& line : split_at(groups ? *groups : std::string(), '\n')) {
    auto parts = split_at(line, ':'); // "0::/user.slice", "9:memory:/docker/abc"
    if (parts.size() < 3) continue;
    bool second = parts[0] == "0" && parts[1].empty();
    auto names = split_at(parts[1], ',');
    if (!second && std::find(names.begin(), names.end(), "memory") == names.end()) continue;
    std::string tree = root + (second ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory");
    for (std::string path = parts[2] == "/" ? "" : parts[2];;) {
      if (second)
        lower(cgroup_number(tree + path + "/memory.max"),
              cgroup_number(tree + path + "/memory.current"));
      else
        lower(cgroup_number(tree + path + "/memory.limit_in_bytes"),
              cgroup_number(tree + path + "/memory.usage_in_bytes"));
      size_t slash = path.rfind('/');
      if (slash == std::string::npos) break;
      path.resize(slash);
    }
  }
}

} // namespace

uint64_t meminfo_bytes(std::string_view text, std::string_view name) {
  for (const std::string& line : split_at(text, '\n')) {
    auto pair = key_and_value(line, ':');
    if (!pair) continue;
    auto words = words_of(pair->first), values = words_of(pair->second);
    if (words.empty() || words.back() != name || values.empty()) continue;
    if (auto kib = decimal_number(values.front())) return *kib * 1024;
  }
  return 0;
}

std::optional<uint64_t> memory_available(const std::string& root) {
  std::optional<uint64_t> least;
  if (uint64_t bytes = meminfo_bytes(text_of(root + "/proc/meminfo"), "MemAvailable"))
    least = bytes;
  apply_cgroups(root, least);
  return least;
}

} // namespace gpuvet
