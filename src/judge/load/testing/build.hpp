// Containers and devices for tests, written as a person says them: container("sm_80 compute_90a").
#pragma once

#include "facts/facts.hpp"
#include "judge/load/load.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace gpuvet::testing {

inline const LoadRules& rules() {
  static const Facts facts;
  static const LoadRules* table = [] {
    auto read = facts.load_rules();
    if (!read) throw std::runtime_error(read.error().what);
    return *read;
  }();
  return *table;
}

// Fields of a line in tests/tables.
inline std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::string part;
  std::istringstream stream(text);
  while (std::getline(stream, part, separator))
    parts.push_back(part);
  return parts;
}

inline Image image(const std::string& word) {
  Image image;
  bool ptx = word.starts_with("compute_");
  bool lto = word.starts_with("lto_");
  image.kind = ptx ? ImageKind::ptx : lto ? ImageKind::lto_ir : ImageKind::cubin;
  image.target = *parse_target(lto ? word.substr(4) : word);
  if (ptx) {
    image.version_major = 9;
    image.version_minor = 0;
  }
  return image;
}

inline Container container(const std::string& words) {
  Container container;
  std::istringstream stream(words);
  for (std::string word; stream >> word;)
    container.images.push_back(image(word));
  return container;
}

inline LoadDevice device(uint32_t sm) {
  const auto& tegra = rules().tegra;
  return {cc_name(sm), sm, std::find(tegra.begin(), tegra.end(), sm) != tegra.end()};
}

inline LoadDriver driver(const std::string& version) {
  return make_driver(rules(), version, *parse_version(version));
}

inline LoadVerdict load(const std::string& words, uint32_t sm, const LoadEnvironment& env = {}) {
  LoadDriver newest = driver("580.159.04");
  return load_container(container(words), device(sm), &newest, env, rules());
}

} // namespace gpuvet::testing
