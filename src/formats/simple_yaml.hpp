// The part of YAML that programs write: mappings and lists by indentation, plain and quoted values
// of one line, comments, one document. Anchors, tags, flow collections other than [] and {}, values
// of several lines and tabs are errors with their line: what was not understood is never guessed.
#pragma once

#include "formats/json_read.hpp"

#include <string>
#include <string_view>

namespace gpuvet {

// Decimal numbers become numbers and keep their text, so that a name 0 can be read as either.
Result<Json> parse_simple_yaml(std::string_view text, const std::string& where);

} // namespace gpuvet
