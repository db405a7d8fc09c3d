// Version numbers as the field writes them: "12.8", "580.65.06", "2.11.0+cu130" (the numeric head
// counts, the rest is ignored). Missing parts compare as zero; an empty version is "not known".
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuvet {

struct Version {
  std::vector<uint32_t> parts;

  uint32_t major() const { return part(0); }
  uint32_t minor() const { return part(1); }
  uint32_t part(size_t index) const { return index < parts.size() ? parts[index] : 0; }

  friend std::strong_ordering operator<=>(const Version& a, const Version& b);
  friend bool operator==(const Version& a, const Version& b) { return (a <=> b) == 0; }
};

// nullopt when the text does not start with a digit or a part exceeds 32 bits.
std::optional<Version> parse_version(std::string_view text);

// "12.8"; parts are printed as numbers, so "525.60.13" survives and "580.65.06" becomes "580.65.6".
// Keep the original text where it is shown to a person.
std::string to_string(const Version& version);

} // namespace gpuvet
