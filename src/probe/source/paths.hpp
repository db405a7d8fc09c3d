// Paths without a file system: what chroot and the kernel do with links, over anything that can
// tell a link from the rest. Used where the links of one tree must not lead out of it.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace gpuvet {

// The target of a link; nullopt when the path is something else or not there.
using LinkAt = std::function<std::optional<std::string>(const std::string& path)>;

enum class LastLink : uint8_t { follow, keep };

// An absolute path without links, "." and ".."; ".." at the root stays there. Whether the result
// exists is not asked.
Result<std::string> resolve_links(const std::string& path, LastLink last, const LinkAt& link_at);

// Shell pattern of one name: '*', '?', '[a-z]', '[!a-z]', '\' before a plain character. A name that
// starts with '.' matches like any other.
bool matches_pattern(std::string_view name, std::string_view pattern);

} // namespace gpuvet
