#include "judge/arch/entry.hpp"

#include "base/text.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

Error bad(const ArchSystem& system, std::string_view text, const std::string& why) {
  return {fmt::format("\"{}\": {}", std::string(text), why), system.id};
}

bool take_end(std::string_view& text, std::string_view end) {
  if (!text.ends_with(end)) return false;
  text.remove_suffix(end.size());
  return true;
}

// Why a number that means a target is not written as the system wants it; empty: it is.
std::string format_complaint(const ArchSystem& system, std::string_view text, Target target) {
  if (text == number_text(system, target)) return "";
  if (system.number == "prefixed")
    return text == compute_name(target) ? "" : "sm_XY or compute_XY is wanted";
  std::string wanted = number_text(system, target);
  std::string dotted = cc_name(target.sm) + (target.suffix ? std::string(1, target.suffix) : "");
  if (system.drops_dots && text == dotted) return "";
  if (system.number == "integer" && text == dotted)
    return fmt::format("{} writes {}, without the dot", system.tool, wanted);
  if (system.number == "dotted" && text.find('.') == std::string_view::npos &&
      text == sm_name(target).substr(3))
    return fmt::format("{} writes {}, with the dot", system.tool, wanted);
  return fmt::format("{} writes {}", system.tool, wanted);
}

std::string refusal_text(const ArchSystem& system, Target target, const ArchContext& context) {
  if (target.suffix && system.suffixes.find(target.suffix) == std::string::npos)
    return fmt::format("{} does not take the suffix {}", system.tool,
                       std::string(1, target.suffix));
  std::string which;
  if (context.release) which += " " + to_string(*context.release);
  if (context.toolkit) which += " with CUDA " + context.toolkit->version;
  std::string text = fmt::format("{}{} does not take it", system.tool, which);
  return system.otherwise.empty() ? text : text + ": " + system.otherwise;
}

} // namespace

Result<Target> read_number(const ArchSystem& system, std::string_view text,
                           const ArchContext& context) {
  auto target = parse_target(text);
  if (!target) return tl::unexpected(bad(system, text, "is not a GPU target"));
  if (std::string why = format_complaint(system, text, *target); !why.empty())
    return tl::unexpected(bad(system, text, why));
  if (!accepts(system, *target, context))
    return tl::unexpected(bad(system, text, refusal_text(system, *target, context)));
  return *target;
}

Result<ArchEntry> read_entry(const ArchSystem& system, std::string_view text,
                             const ArchContext& context) {
  std::string_view rest = text;
  ArchEntry entry;
  if (system.ptx == "plus" && take_end(rest, "+PTX")) entry.ptx = true;
  if (system.ptx == "virtual" && !take_end(rest, "-real")) {
    entry.ptx = true;
    entry.sass = !take_end(rest, "-virtual");
  }
  if (system.ptx == "prefix") entry.ptx = rest.starts_with("compute_");
  size_t open = rest.find('(');
  if (system.paren && open != std::string_view::npos && rest.ends_with(')')) {
    auto from = read_number(system, rest.substr(open + 1, rest.size() - open - 2), context);
    if (!from) return tl::unexpected(from.error());
    entry.from = *from;
    rest = rest.substr(0, open);
  }
  auto value = read_number(system, rest, context);
  if (!value) {
    // Tell of the entry as it was written.
    Error error = value.error();
    if (rest != text) error.what = fmt::format("\"{}\": {}", std::string(text), error.what);
    return tl::unexpected(error);
  }
  entry.value = *value;
  return entry;
}

std::string entry_text(const ArchSystem& system, const ArchEntry& entry) {
  bool compute = system.ptx == "prefix" && entry.ptx;
  std::string text = number_text(system, entry.value, compute);
  if (entry.from) text += "(" + number_text(system, *entry.from) + ")";
  if (system.ptx == "plus" && entry.ptx) text += "+PTX";
  if (system.ptx == "virtual" && !entry.ptx) text += "-real";
  if (system.ptx == "virtual" && !entry.sass) text += "-virtual";
  return text;
}

Result<CodeSet> codes_of(const ArchSystem& system, std::vector<ArchEntry> entries,
                         const ArchContext& context) {
  if (entries.empty()) return fail("the list is empty: it names no target", system.id);
  if (system.takes == "one" && entries.size() > 1)
    return fail(fmt::format("{} takes one target", system.tool), system.id);
  if (system.ptx == "always")
    for (ArchEntry& entry : entries)
      entry.ptx = true;
  if (system.ptx == "highest")
    std::max_element(entries.begin(), entries.end(), [](const ArchEntry& a, const ArchEntry& b) {
      return a.value < b.value;
    })->ptx = true;
  CodeSet codes;
  for (const ArchEntry& entry : entries) {
    auto found = rewrite_of(system, entry.value, context);
    if (!found) return tl::unexpected(found.error());
    const ArchRewrite* rewrite = *found;
    Target from = entry.from.value_or(entry.value);
    if (entry.sass)
      codes.push_back(rewrite ? sass_code(rewrite->target, rewrite->from)
                              : sass_code(entry.value, from));
    if (!entry.ptx) continue;
    codes.push_back(ptx_code(rewrite && rewrite->ptx ? *rewrite->ptx : entry.value));
    if (entry.from && !system.one_digit)
      return fail(fmt::format("what {} makes of PTX beside X(Y) is not established", system.tool),
                  system.id);
    if (entry.from) codes.push_back(ptx_code(*entry.from)); // FindCUDA takes both numbers
  }
  return normalised(std::move(codes));
}

} // namespace gpuvet
