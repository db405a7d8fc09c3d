#include "judge/arch/convert.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

const SassRange* range_of(const LoadRules& rules, Target target) {
  for (const SassRange& range : rules.sass_ranges)
    if (range.target == target) return &range;
  return nullptr;
}

std::string toolkits_of(const SassRange& range) {
  if (range.last_cuda.empty()) return fmt::format("CUDA {} and newer do", range.first_cuda);
  return fmt::format("CUDA {} to {} do", range.first_cuda, range.last_cuda);
}

} // namespace

std::optional<Error> unknown_target(const CodeSet& codes, const ArchContext& context) {
  for (const Code& code : codes)
    for (Target target : {code.target, code.from}) {
      const SassRange* range = range_of(*context.rules, target);
      if (!range) return Error{fmt::format("no toolkit has a target {}", sm_name(target)), "VALUE"};
      if (!context.toolkit) continue;
      const auto& known = context.toolkit->sass_targets;
      if (std::find(known.begin(), known.end(), target) == known.end())
        return Error{fmt::format("CUDA {} does not know {}: {}", context.toolkit->version,
                                 sm_name(target), toolkits_of(*range)),
                     "VALUE"};
    }
  return std::nullopt;
}

Result<Conversion> convert_value(const ArchSystem& from, const ArchSystem& to,
                                 std::string_view value, const ArchContext& context) {
  auto codes = read_value(from, value, context);
  if (!codes) return tl::unexpected(codes.error());
  if (auto error = unknown_target(*codes, context)) return tl::unexpected(*error);
  auto text = write_value(to, *codes, context);
  if (!text) return tl::unexpected(text.error());
  return Conversion{*codes, *text};
}

} // namespace gpuvet
