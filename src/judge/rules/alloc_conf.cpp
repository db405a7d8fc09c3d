#include "judge/rules/alloc_conf.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace gpuvet {
namespace {

enum class Kind : uint8_t { number, ratio, boolean, backend, any };

struct Key {
  std::string_view name;
  Kind kind;
  bool of_native = true; // the backend cudaMallocAsync ignores it
};
constexpr std::array<Key, 15> kKeys = {{{"backend", Kind::backend, false},
                                        {"max_split_size_mb", Kind::number},
                                        {"max_non_split_rounding_mb", Kind::number},
                                        {"garbage_collection_threshold", Kind::ratio},
                                        {"roundup_power2_divisions", Kind::any},
                                        {"expandable_segments", Kind::boolean},
                                        {"pinned_use_background_threads", Kind::boolean, false},
                                        {"release_lock_on_cudamalloc", Kind::boolean},
                                        {"release_lock_on_hipmalloc", Kind::boolean},
                                        {"pinned_use_cuda_host_register", Kind::boolean, false},
                                        {"pinned_use_hip_host_register", Kind::boolean, false},
                                        {"pinned_num_register_threads", Kind::number, false},
                                        {"pinned_reserve_segment_size_mb", Kind::number, false},
                                        {"graph_capture_record_stream_reuse", Kind::boolean},
                                        {"per_process_memory_fraction", Kind::ratio, false}}};

bool all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Why the value does not do; empty: it does.
std::string wrong_value(const Key& key, std::string_view value) {
  switch (key.kind) {
  case Kind::number:
    return all_digits(value) ? "" : "a whole number is wanted";
  case Kind::ratio:
    if (value.empty() || value.find_first_not_of("0123456789.") != std::string_view::npos)
      return "a number between 0 and 1 is wanted";
    return value[0] == '0' || value[0] == '.' || value == "1" || value == "1.0"
               ? ""
               : "a number between 0 and 1 is wanted";
  case Kind::boolean:
    return value == "True" || value == "False" ? "" : "True or False is wanted";
  case Kind::backend:
    return value == "native" || value == "cudaMallocAsync" ? ""
                                                           : "native or cudaMallocAsync is wanted";
  case Kind::any:
    break;
  }
  return value.empty() ? "a value is wanted" : "";
}

// Settings, cut at commas outside brackets, without blanks.
std::vector<std::string> settings_of_text(std::string_view text) {
  std::vector<std::string> parts(1);
  bool inside = false;
  for (char c : text) {
    if (c == '[') inside = true;
    if (c == ']') inside = false;
    if (c == ',' && !inside)
      parts.emplace_back();
    else if (!std::isspace(static_cast<unsigned char>(c)))
      parts.back() += c;
  }
  std::erase_if(parts, [](const std::string& part) { return part.empty(); });
  return parts;
}

AllocConf::Wrong unknown_key(const std::string& setting, const std::string& name) {
  for (const Key& key : kKeys)
    if (edit_distance(name, key.name, 3) <= 3)
      return {setting, fmt::format("the key is spelt {}", key.name)};
  if (setting.find('=') != std::string::npos)
    return {setting, "key and value are joined by a colon"};
  return {setting, fmt::format("PyTorch knows no key {}", name), false};
}

} // namespace

size_t edit_distance(std::string_view a, std::string_view b, size_t most) {
  size_t longer = std::max(a.size(), b.size());
  if (longer > 100 || longer - std::min(a.size(), b.size()) > most) return most + 1;
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({change, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

AllocConf read_alloc_conf(std::string_view text) {
  AllocConf conf;
  bool async = false;
  for (const std::string& setting : settings_of_text(text)) {
    size_t colon = setting.find(':');
    std::string name = setting.substr(0, std::min(colon, setting.find('=')));
    std::string value = colon == std::string::npos ? std::string() : setting.substr(colon + 1);
    conf.settings.emplace_back(name, value);
    const auto* key = std::find_if(kKeys.begin(), kKeys.end(),
                                   [&](const Key& known) { return known.name == name; });
    if (key == kKeys.end()) {
      conf.wrong.push_back(unknown_key(setting, name));
      continue;
    }
    if (colon == std::string::npos) {
      conf.wrong.push_back({setting, "key and value are joined by a colon"});
      continue;
    }
    if (std::string why = wrong_value(*key, value); !why.empty())
      conf.wrong.push_back({setting, why, true, true});
    async = async || (key->kind == Kind::backend && value == "cudaMallocAsync");
    if (key->of_native && conf.ignored.empty()) conf.ignored = name;
  }
  if (!async) conf.ignored.clear();
  return conf;
}

} // namespace gpuvet
