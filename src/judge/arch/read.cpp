#include "base/text.hpp"
#include "judge/arch/entry.hpp"
#include "judge/arch/flags.hpp"
#include "judge/arch/words.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

constexpr size_t kLongestValue = 65536; // bytes; no list of targets is longer

std::vector<std::string> split_at_any(std::string_view text, std::string_view separators) {
  std::vector<std::string> parts;
  for (size_t at = 0; at <= text.size();) {
    size_t end = std::min(text.find_first_of(separators, at), text.size());
    std::string_view part = trimmed(text.substr(at, end - at));
    if (!part.empty()) parts.emplace_back(part);
    at = end + 1;
  }
  return parts;
}

// "-DNAME=", "NAME =", "export NAME=", "NAME :=" and quotes around what follows are taken away.
std::string_view bare_value(const ArchSystem& system, std::string_view text) {
  text = trimmed(text);
  std::string_view rest = text;
  for (std::string_view word : {"export ", "ENV ", "set ", "-D"})
    if (rest.starts_with(word)) rest = trimmed(rest.substr(word.size()));
  if (!system.variable.empty() && rest.starts_with(system.variable)) {
    rest = trimmed(rest.substr(system.variable.size()));
    if (rest.starts_with(":=")) return unquoted(trimmed(rest.substr(2)));
    if (rest.starts_with("=")) return unquoted(trimmed(rest.substr(1)));
  }
  return unquoted(text);
}

// A separator of other systems inside an entry is the likeliest mistake.
std::optional<Error> wrong_separator(const ArchSystem& system, std::string_view token) {
  for (char c : {',', ';', ' '}) {
    if (token.find(c) == std::string_view::npos) continue;
    std::string wanted;
    for (char good : system.split)
      wanted += fmt::format("{}'{}'", wanted.empty() ? "" : " or ", good);
    return Error{fmt::format("\"{}\": {} separates entries with {}, not '{}'", std::string(token),
                             system.tool, wanted, c),
                 system.id};
  }
  return std::nullopt;
}

// TensorFlow: where all entries are X.Y they are sorted as texts, and the last gets PTX too.
bool all_dotted(const std::vector<std::string>& tokens) {
  return std::all_of(tokens.begin(), tokens.end(), [](const std::string& token) {
    return token.find('.') != std::string::npos && parse_target(token).has_value();
  });
}

std::vector<std::string> from_dotted(const std::vector<std::string>& tokens) {
  std::vector<std::string> names;
  for (const std::string& token : tokens)
    names.push_back(sm_name(*parse_target(token)).substr(3));
  std::sort(names.begin(), names.end());
  for (size_t i = 0; i < names.size(); ++i)
    names[i] = (i + 1 < names.size() ? "sm_" : "compute_") + names[i];
  return names;
}

// Keywords replaced by what they stand for; code of `all` and the like goes to `codes`.
Result<std::vector<std::string>> expanded(const ArchSystem& system,
                                          const std::vector<std::string>& tokens,
                                          const ArchContext& context, CodeSet& codes) {
  std::vector<std::string> entries;
  for (const std::string& token : tokens) {
    std::string word = token, tail;
    if (system.ptx == "plus" && word.ends_with("+PTX")) {
      tail = "+PTX";
      word.resize(word.size() - tail.size());
    }
    auto keyword = keyword_of(system, word, context);
    if (!keyword) return tl::unexpected(keyword.error());
    if (!*keyword) {
      entries.push_back(token);
    } else if ((*keyword)->codes) {
      if (tokens.size() > 1)
        return fail(fmt::format("{} stands alone, not in a list", token), system.id);
      codes = *(*keyword)->codes;
    } else {
      for (const std::string& part : split_at_any((*keyword)->value + tail, system.split))
        entries.push_back(part);
    }
  }
  return entries;
}

Result<CodeSet> read_list(const ArchSystem& system, std::string_view value,
                          const ArchContext& context) {
  CodeSet codes;
  std::vector<std::string> tokens = split_at_any(value, system.split);
  if (system.dotted_too && !tokens.empty() && all_dotted(tokens)) tokens = from_dotted(tokens);
  auto entries = expanded(system, tokens, context, codes);
  if (!entries) return tl::unexpected(entries.error());
  if (!codes.empty()) return codes;
  std::vector<ArchEntry> read;
  for (const std::string& text : *entries) {
    if (auto error = wrong_separator(system, text)) return tl::unexpected(*error);
    std::string entry_form = text;
    if (system.dotted_too && text.find('.') != std::string::npos)
      if (auto target = parse_target(text))
        entry_form = compute_name(*target); // X.Y in a mixed list
    auto entry = read_entry(system, entry_form, context);
    if (!entry) return tl::unexpected(entry.error());
    read.push_back(*entry);
  }
  return codes_of(system, std::move(read), context);
}

// The value of NAME= in a line with several settings.
std::optional<std::string> setting(std::string_view line, const std::string& name) {
  size_t at = line.find(name + "=");
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = line.substr(at + name.size() + 1);
  if (!rest.empty() && (rest[0] == '"' || rest[0] == '\'')) {
    size_t end = rest.find(rest[0], 1);
    return std::string(rest.substr(1, end == std::string_view::npos ? end : end - 1));
  }
  return std::string(rest.substr(0, rest.find_first_of(" \t")));
}

Result<CodeSet> read_two(const ArchSystem& system, std::string_view value,
                         const ArchContext& context) {
  auto bin = setting(value, system.variable), ptx = setting(value, system.ptx_variable);
  for (const std::string& other : system.also_set) {
    std::string name = other.substr(0, other.find('='));
    auto given = setting(value, name);
    if (given && name + "=" + *given != other)
      return fail(fmt::format("{}={}: {} and {} count only with {}", name, *given, system.variable,
                              system.ptx_variable, other),
                  system.id);
  }
  if (!bin && !ptx) bin = std::string(value);
  CodeSet codes;
  for (const auto* list : {&bin, &ptx}) {
    if (!*list) continue;
    for (const std::string& token : split_at_any(**list, system.split)) {
      auto keyword = keyword_of(system, token, context);
      if (!keyword) return tl::unexpected(keyword.error());
      if (auto error = wrong_separator(system, token)) return tl::unexpected(*error);
      auto entry = read_entry(system, token, context);
      if (!entry) return tl::unexpected(entry.error());
      codes.push_back(list == &ptx ? ptx_code(entry->value)
                                   : sass_code(entry->value, entry->from.value_or(entry->value)));
    }
  }
  if (codes.empty()) return fail("the list is empty: it names no target", system.id);
  return normalised(std::move(codes));
}

Result<CodeSet> read_option(const ArchSystem& system, std::string_view value,
                            const ArchContext& context) {
  std::vector<ArchEntry> entries;
  for (std::string token : words_of(value)) {
    if (token.starts_with("-D")) token = token.substr(2);
    if (token.starts_with(system.variable)) token = token.substr(system.variable.size());
    token = token.substr(0, token.find('='));
    auto keyword = keyword_of(system, token, context);
    if (!keyword) return tl::unexpected(keyword.error());
    auto target = *keyword ? parse_target((*keyword)->value) : std::nullopt;
    if (!target)
      return fail(fmt::format("{} has no option {}{}", system.tool, system.variable, token),
                  system.id);
    entries.push_back({*target, std::nullopt, true, false});
  }
  return codes_of(system, std::move(entries), context);
}

} // namespace

Result<CodeSet> read_value(const ArchSystem& system, std::string_view value,
                           const ArchContext& context) {
  if (system.form == "none") return fail(system.cannot, system.id);
  if (value.size() > kLongestValue) return fail("the value is longer than 64 KiB", system.id);
  if (system.form == "two") return read_two(system, unquoted(trimmed(value)), context);
  if (system.form == "option") return read_option(system, unquoted(trimmed(value)), context);
  std::string_view bare = bare_value(system, value);
  if (trimmed(bare).empty()) return fail("the list is empty: it names no target", system.id);
  if (system.form == "list") return read_list(system, bare, context);
  if (system.form == "pairs") return read_pairs(system, bare, context);
  if (system.form == "specs") return read_specs(system, bare, context);
  if (system.form == "arguments") return read_arguments(system, trimmed(value), context);
  return read_flags(system, bare, context);
}

} // namespace gpuvet
