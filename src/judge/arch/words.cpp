#include "judge/arch/words.hpp"

#include "base/text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>

namespace gpuvet {
namespace {

// Machine code for each plain target of the toolkit, or for the first of each major; PTX of one.
CodeSet whole_toolkit(const ArchWord& word, const Toolkit& toolkit) {
  std::map<uint32_t, uint32_t> first_of_major;
  std::vector<uint32_t> all;
  for (Target target : toolkit.sass_targets) {
    const auto& out = word.leaves_out;
    if (target.suffix || std::find(out.begin(), out.end(), target) != out.end()) continue;
    all.push_back(target.sm);
    auto [at, fresh] = first_of_major.emplace(cc_major(target.sm), target.sm);
    if (!fresh) at->second = std::min(at->second, target.sm);
  }
  CodeSet codes;
  uint32_t highest = first_of_major.empty() ? 0 : first_of_major.rbegin()->second;
  if (word.meaning == "all") {
    for (uint32_t sm : all)
      codes.push_back(sass_code({sm, 0}));
    if (word.ptx != "major" && !all.empty()) highest = *std::max_element(all.begin(), all.end());
  } else {
    for (const auto& [major, sm] : first_of_major)
      codes.push_back(sass_code({sm, 0}));
  }
  if (highest) codes.push_back(ptx_code({highest, 0}));
  return normalised(std::move(codes));
}

std::string range_text(const ArchWord& word) {
  if (word.first_toolkit && word.last_toolkit)
    return fmt::format("CUDA {} to {}", to_string(*word.first_toolkit),
                       to_string(*word.last_toolkit));
  if (word.first_toolkit) return fmt::format("CUDA {} and newer", to_string(*word.first_toolkit));
  return fmt::format("CUDA up to {}", to_string(*word.last_toolkit));
}

Result<std::optional<Keyword>> meaning_of(const ArchSystem& system, const ArchWord& word,
                                          const ArchContext& context) {
  auto refuse = [&](const std::string& why) {
    return fail(fmt::format("{}: {}", word.word, why), system.id);
  };
  if (word.meaning == "machine")
    return refuse("the GPUs of the machine that builds, which the value does not name: give them "
                  "to gpuvet arch plan --gpu");
  if (word.meaning == "off") return refuse("chooses no targets; other flags do");
  if (word.meaning == "release")
    return refuse(
        fmt::format("a list that differs between releases of {}: name the targets", system.tool));
  if (word.meaning.empty()) return std::optional<Keyword>(Keyword{word.value, std::nullopt});
  return std::optional<Keyword>(Keyword{{}, whole_toolkit(word, *context.toolkit)});
}

} // namespace

Result<std::optional<Keyword>> keyword_of(const ArchSystem& system, std::string_view word,
                                          const ArchContext& context) {
  const ArchWord* known = nullptr;
  for (const ArchWord& row : context.tables->words) {
    if (system.words.empty() || row.set != system.words || row.word != word) continue;
    known = &row;
    bool bound = row.first_toolkit || row.last_toolkit;
    bool wants_toolkit = bound || row.meaning == "all" || row.meaning == "all-major";
    if (wants_toolkit && !context.toolkit)
      return fail(fmt::format("{}: its targets depend on the toolkit: name it with --toolkit",
                              std::string(word)),
                  system.id);
    if (holds_for(row.first_toolkit, row.last_toolkit, context.toolkit))
      return meaning_of(system, row, context);
  }
  if (!known) return std::optional<Keyword>();
  return fail(fmt::format("{}: known for {}, not for CUDA {}", std::string(word),
                          range_text(*known), context.toolkit->version),
              system.id);
}

} // namespace gpuvet
