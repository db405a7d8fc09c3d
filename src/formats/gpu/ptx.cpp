#include "formats/gpu/ptx.hpp"

#include <algorithm>
#include <string>

namespace gpuvet {
namespace {

// The word behind a directive that starts a line; empty when the directive is missing.
std::string_view word_after(std::string_view text, std::string_view directive) {
  size_t at = text.find(directive);
  if (at == std::string_view::npos || (at > 0 && text[at - 1] != '\n' && text[at - 1] != ' '))
    return {};
  size_t begin = text.find_first_not_of(" \t", at + directive.size());
  if (begin == std::string_view::npos) return {};
  size_t end = std::min(text.find_first_of(" \t\r\n,\0", begin), text.size());
  return text.substr(begin, end - begin);
}

} // namespace

std::optional<PtxHead> parse_ptx_head(std::string_view text) {
  size_t start = text.find(".version");
  if (start == std::string_view::npos) return std::nullopt;
  text = text.substr(start, std::min(text.find('\0', start), text.size()) - start);
  auto isa = parse_version(word_after(text, ".version"));
  if (!isa || isa->parts.size() != 2 || isa->major() > 99 || isa->minor() > 99) return std::nullopt;
  auto target = parse_target(word_after(text, ".target"));
  if (!target) return std::nullopt;
  return PtxHead{*isa, *target};
}

} // namespace gpuvet
