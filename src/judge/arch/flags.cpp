#include "judge/arch/flags.hpp"

#include "base/text.hpp"
#include "judge/arch/words.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

Error bad(const ArchSystem& system, std::string_view text, const std::string& why) {
  return {fmt::format("\"{}\": {}", std::string(text), why), system.id};
}

Result<Target> prefixed(const ArchSystem& system, std::string_view text, std::string_view prefix,
                        const ArchContext& context) {
  auto target = text.starts_with(prefix) ? parse_target(text) : std::nullopt;
  if (!target || (text != sm_name(*target) && text != compute_name(*target)))
    return tl::unexpected(bad(system, text, fmt::format("{}XY is wanted", std::string(prefix))));
  if (!accepts(system, *target, context))
    return tl::unexpected(
        bad(system, text, fmt::format("{} does not take this target", system.tool)));
  return *target;
}

// Adds the images of one virtual target. nvcc compiles machine code for a target that is not older.
Result<bool> add_codes(const ArchSystem& system, Target from, const std::vector<std::string>& names,
                       const ArchContext& context, CodeSet& codes) {
  for (const std::string& name : names) {
    if (name.starts_with("lto_"))
      return tl::unexpected(bad(system, name, "LTO IR is for a later link, not for a GPU"));
    bool ptx = name.starts_with("compute_");
    auto target = prefixed(system, name, ptx ? "compute_" : "sm_", context);
    if (!target) return tl::unexpected(target.error());
    if (ptx && *target != from)
      return tl::unexpected(
          bad(system, name, fmt::format("PTX is that of arch={}", compute_name(from))));
    if (target->sm < from.sm)
      return tl::unexpected(
          bad(system, name, fmt::format("is older than arch={}", compute_name(from))));
    if (from.suffix == 'a' && *target != from)
      return tl::unexpected(
          bad(system, name, fmt::format("{} makes sm_{}a only", compute_name(from), from.sm)));
    if (from.suffix == 'f' && !sass_fits(*context.rules, from, {"", target->sm, false}))
      return tl::unexpected(bad(system, name, "is not of the family of " + compute_name(from)));
    codes.push_back(ptx ? ptx_code(*target) : sass_code(*target, from));
  }
  return true;
}

// "[sm_90,compute_90]", "sm_90,compute_90" and the same in quotes.
std::vector<std::string> code_list(std::string_view text) {
  text = unquoted(trimmed(text));
  while (text.starts_with('\\') || text.starts_with('"'))
    text.remove_prefix(1);
  while (text.ends_with('\\') || text.ends_with('"'))
    text.remove_suffix(1);
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  std::vector<std::string> names;
  for (const std::string& name : split_at(text, ','))
    names.emplace_back(trimmed(name));
  return names;
}

// "arch=compute_80,code=sm_80"
Result<bool> add_pair(const ArchSystem& system, std::string_view text, const ArchContext& context,
                      CodeSet& codes) {
  text = unquoted(trimmed(text));
  size_t comma = text.find(',');
  std::string_view arch = trimmed(text.substr(0, comma));
  std::string_view code = comma == std::string_view::npos ? "" : trimmed(text.substr(comma + 1));
  if (!arch.starts_with("arch=") || !code.starts_with("code="))
    return tl::unexpected(bad(system, text, "arch=compute_XY,code=... is wanted"));
  auto from = prefixed(system, arch.substr(5), "compute_", context);
  if (!from) return tl::unexpected(from.error());
  return add_codes(system, *from, code_list(code.substr(5)), context, codes);
}

// Words as a shell makes them; quotes are taken away.
std::vector<std::string> shell_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  char quote = 0;
  bool inside = false;
  for (char c : text) {
    if (quote ? c == quote : c == '"' || c == '\'') {
      quote = quote ? 0 : c;
      inside = true;
    } else if (!quote && (c == ' ' || c == '\t' || c == '\n' || c == '\\')) {
      if (inside) words.push_back(word);
      word.clear();
      inside = false;
    } else {
      word += c;
      inside = true;
    }
  }
  if (inside) words.push_back(word);
  return words;
}

enum class Flag { gencode, arch, code };

// "-arch=sm_90" or "-arch sm_90": the flag and where its value starts.
std::optional<Flag> flag_of(std::string_view word) {
  word = word.substr(0, word.find('='));
  if (word == "-gencode" || word == "--generate-code") return Flag::gencode;
  if (word == "-arch" || word == "--gpu-architecture") return Flag::arch;
  if (word == "-code" || word == "--gpu-code") return Flag::code;
  return std::nullopt;
}

// -arch with -code, or alone: sm_XY is machine code and PTX. For a target with a suffix nvcc adds
// PTX of the plain one (measured with 13.0 and 13.5).
Result<bool> add_arch(const ArchSystem& system, const std::string& arch,
                      const std::vector<std::string>& names, const ArchContext& context,
                      CodeSet& codes) {
  auto keyword = keyword_of(system, arch, context);
  if (!keyword) return tl::unexpected(keyword.error());
  if (*keyword) {
    if (!names.empty()) return tl::unexpected(bad(system, arch, "does not go with -code"));
    const CodeSet more = (*keyword)->codes.value_or(CodeSet{});
    codes.insert(codes.end(), more.begin(), more.end());
    return true;
  }
  bool real = arch.starts_with("sm_");
  if (!real && !arch.starts_with("compute_"))
    return tl::unexpected(bad(system, arch, "sm_XY or compute_XY is wanted"));
  auto target = prefixed(system, arch, real ? "sm_" : "compute_", context);
  if (!target) return tl::unexpected(target.error());
  if (!names.empty()) {
    if (real)
      return tl::unexpected(bad(system, arch, "-arch=sm_XY together with -code is refused"));
    return add_codes(system, *target, names, context, codes);
  }
  if (real) codes.push_back(sass_code(*target));
  codes.push_back(ptx_code(*target));
  if (target->suffix) codes.push_back(ptx_code({target->sm, 0}));
  return true;
}

} // namespace

Result<CodeSet> read_flags(const ArchSystem& system, std::string_view value,
                           const ArchContext& context) {
  CodeSet codes;
  std::string arch;
  std::vector<std::string> names;
  std::vector<std::string> words = shell_words(value);
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    auto flag = flag_of(word);
    if (!flag) return tl::unexpected(bad(system, word, "is not a flag that chooses targets"));
    size_t equals = word.find('=');
    if (equals == std::string::npos && i + 1 == words.size())
      return tl::unexpected(bad(system, word, "its value is missing"));
    std::string given = equals == std::string::npos ? words[++i] : word.substr(equals + 1);
    if (*flag == Flag::gencode) {
      if (!system.takes.empty())
        return tl::unexpected(bad(system, word, "use --from nvcc for -gencode"));
      auto added = add_pair(system, given, context, codes);
      if (!added) return tl::unexpected(added.error());
    } else if (*flag == Flag::arch) {
      if (!arch.empty()) return tl::unexpected(bad(system, word, "-arch takes one value, once"));
      arch = given;
    } else {
      for (const std::string& name : code_list(given))
        names.push_back(name);
    }
  }
  if (arch.empty() && !names.empty()) return fail("-code without -arch", system.id);
  if (!arch.empty()) {
    auto added = add_arch(system, arch, names, context, codes);
    if (!added) return tl::unexpected(added.error());
  }
  if (codes.empty()) return fail("no flag names a target", system.id);
  return normalised(std::move(codes));
}

Result<CodeSet> read_pairs(const ArchSystem& system, std::string_view value,
                           const ArchContext& context) {
  auto keyword = keyword_of(system, trimmed(value), context);
  if (!keyword) return tl::unexpected(keyword.error());
  CodeSet codes;
  for (const std::string& pair : split_at(value, ';')) {
    if (trimmed(pair).empty()) continue;
    auto added = add_pair(system, pair, context, codes);
    if (!added) return tl::unexpected(added.error());
  }
  if (codes.empty()) return fail("the list is empty: it names no target", system.id);
  return normalised(std::move(codes));
}

namespace {

// The lowest number among the names: what Bazel and xmake compile from when nobody says.
std::optional<Target> lowest(const std::vector<std::string>& names) {
  std::optional<Target> low;
  for (const std::string& name : names)
    if (auto target = parse_target(name); target && (!low || target->sm < low->sm)) low = target;
  return low;
}

} // namespace

Result<CodeSet> read_specs(const ArchSystem& system, std::string_view value,
                           const ArchContext& context) {
  CodeSet codes;
  for (const std::string& spec : split_at(value, ';')) {
    std::string_view text = trimmed(spec);
    if (text.empty()) continue;
    size_t colon = text.find(':');
    std::vector<std::string> names =
        code_list(colon == std::string_view::npos ? text : text.substr(colon + 1));
    Result<Target> from = lowest(names).value_or(Target{});
    if (colon != std::string_view::npos)
      from = prefixed(system, trimmed(text.substr(0, colon)), "compute_", context);
    if (!from) return tl::unexpected(from.error());
    auto added = add_codes(system, *from, names, context, codes);
    if (!added) return tl::unexpected(added.error());
  }
  if (codes.empty()) return fail("the list is empty: it names no target", system.id);
  return normalised(std::move(codes));
}

Result<CodeSet> read_arguments(const ArchSystem& system, std::string_view value,
                               const ArchContext& context) {
  if (value.starts_with(system.variable)) value = trimmed(value.substr(system.variable.size()));
  if (value.starts_with('(') && value.ends_with(')')) value = value.substr(1, value.size() - 2);
  bool quoted = value.find('"') != std::string_view::npos;
  std::vector<std::string> arguments;
  std::vector<std::string> parts = split_at(value, '"');
  if (quoted)
    for (size_t i = 1; i < parts.size(); i += 2)
      arguments.push_back(parts[i]);
  else
    arguments = words_of(value);
  CodeSet codes;
  for (const std::string& argument : arguments) {
    auto keyword = keyword_of(system, argument, context);
    if (!keyword) return tl::unexpected(keyword.error());
    std::vector<std::string> names, given = code_list(argument);
    std::optional<Target> from = lowest(given);
    bool real = false;
    for (const std::string& name : given)
      real = real || name.starts_with("sm_");
    for (const std::string& name : given) {
      bool is_virtual = name.starts_with("compute_");
      if (is_virtual) from = parse_target(name);
      if (!is_virtual || !real) names.push_back(name); // beside sm_XY it only says what from
    }
    auto added = add_codes(system, from.value_or(Target{}), names, context, codes);
    if (!added) return tl::unexpected(added.error());
  }
  if (codes.empty()) return fail("no argument names a target", system.id);
  return normalised(std::move(codes));
}

} // namespace gpuvet
