// JSON documents of a few kilobytes: manifests of container images and the like. Numbers become
// doubles, whole ones are kept exactly beside that. A document is untrusted: nesting is limited, a
// name given twice keeps its first value.
#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpuvet {

struct Json {
  enum class Kind { null, boolean, number, text, list, object };

  Kind kind = Kind::null;
  bool boolean = false;
  double number = 0;
  bool whole = false, negative = false; // a whole number that fits 64 bits: magnitude and sign
  uint64_t magnitude = 0;
  std::string text;
  std::vector<Json> items;       // of a list; values of an object
  std::vector<std::string> keys; // of an object, one per item

  // The field of an object; null where there is none, so that lookups chain.
  const Json& operator[](std::string_view key) const;
  bool has(std::string_view key) const;
};

Result<Json> parse_json(std::string_view text, const std::string& where);

} // namespace gpuvet
