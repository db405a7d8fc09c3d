#include "base/version.hpp"

#include <algorithm>
#include <charconv>

namespace gpuvet {

std::strong_ordering operator<=>(const Version& a, const Version& b) {
  size_t count = std::max(a.parts.size(), b.parts.size());
  for (size_t i = 0; i < count; ++i)
    if (auto order = a.part(i) <=> b.part(i); order != 0) return order;
  return std::strong_ordering::equal;
}

std::optional<Version> parse_version(std::string_view text) {
  Version version;
  const char* at = text.data();
  const char* end = at + text.size();
  while (at != end) {
    uint32_t value = 0;
    auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc{}) {
      if (error == std::errc::result_out_of_range || version.parts.empty()) return std::nullopt;
      break;
    }
    version.parts.push_back(value);
    at = next;
    if (at == end || *at != '.') break;
    ++at;
  }
  if (version.parts.empty()) return std::nullopt;
  return version;
}

std::string to_string(const Version& version) {
  std::string text;
  for (uint32_t part : version.parts) {
    if (!text.empty()) text += '.';
    text += std::to_string(part);
  }
  return text;
}

} // namespace gpuvet
