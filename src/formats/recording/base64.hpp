// Base64 (RFC 4648) with padding.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gpuvet {

std::string base64(std::string_view bytes);
std::optional<std::string> from_base64(std::string_view text);

} // namespace gpuvet
