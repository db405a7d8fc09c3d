#include "base/text.hpp"
#include "judge/arch/entry.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>

namespace gpuvet {
namespace {

Error cannot(const ArchSystem& system, const std::string& what) {
  return {fmt::format("{} cannot say {}", system.tool, what), system.id};
}

// The entry that makes this machine code, taking the system's rewrites into account.
Result<ArchEntry> entry_for(const ArchSystem& system, const Code& code,
                            const ArchContext& context) {
  ArchEntry entry;
  entry.ptx = code.ptx;
  entry.sass = !code.ptx;
  entry.value = code.target;
  bool plainly = code.from == code.target && accepts(system, code.target, context);
  for (const ArchRewrite& rewrite : context.tables->rewrites) {
    bool makes = code.ptx ? rewrite.ptx == code.target
                          : rewrite.target == code.target && rewrite.from == code.from;
    if (!plainly && rewrite.system == system.id && makes &&
        holds_for(rewrite.first_toolkit, rewrite.last_toolkit, context.toolkit))
      entry.value = rewrite.value;
  }
  auto rewrite = rewrite_of(system, entry.value, context);
  if (!rewrite) return tl::unexpected(rewrite.error());
  bool rewritten = *rewrite && (code.ptx ? (*rewrite)->ptx.value_or(entry.value) == code.target
                                         : (*rewrite)->target == code.target);
  if (*rewrite && !rewritten)
    return fail(fmt::format("{} builds {} as {}: {} alone cannot be said", system.tool,
                            number_text(system, entry.value),
                            code_name(sass_code((*rewrite)->target, (*rewrite)->from)),
                            code_name(code)),
                system.id);
  if (!code.ptx && !*rewrite && code.from != code.target) {
    if (!system.paren) return tl::unexpected(cannot(system, code_name(code)));
    entry.from = code.from;
    if (!accepts(system, code.from, context))
      return tl::unexpected(cannot(system, code_name(code)));
  }
  if (!accepts(system, entry.value, context)) {
    Error error = cannot(system, code_name(code));
    char suffix = entry.value.suffix;
    if (suffix && system.suffixes.find(suffix) == std::string::npos)
      error.what += fmt::format(": it does not take the suffix {}", std::string(1, suffix));
    else if (!system.otherwise.empty())
      error.what += ": " + system.otherwise;
    return tl::unexpected(error);
  }
  return entry;
}

// One entry per target, machine code and PTX together.
Result<std::vector<ArchEntry>> entries_for(const ArchSystem& system, const CodeSet& codes,
                                           const ArchContext& context) {
  std::map<std::pair<Target, Target>, ArchEntry> made; // by number and what it is compiled from
  for (const Code& code : codes) {
    auto entry = entry_for(system, code, context);
    if (!entry) return tl::unexpected(entry.error());
    auto key = std::make_pair(entry->value, entry->from.value_or(entry->value));
    auto [at, fresh] = made.emplace(key, *entry);
    if (fresh) continue;
    at->second.sass = at->second.sass || entry->sass;
    at->second.ptx = at->second.ptx || entry->ptx;
  }
  std::vector<ArchEntry> entries;
  for (const auto& [key, entry] : made)
    entries.push_back(entry);
  return entries;
}

std::optional<Error> ptx_complaint(const ArchSystem& system,
                                   const std::vector<ArchEntry>& entries) {
  for (const ArchEntry& entry : entries) {
    std::string number = number_text(system, entry.value);
    if (!entry.sass && (system.ptx != "virtual"))
      return Error{fmt::format("{} cannot say PTX without machine code ({})", system.tool, number),
                   system.id};
    if (entry.ptx && system.ptx == "none")
      return Error{fmt::format("{} cannot say PTX ({})", system.tool, number), system.id};
    if (!entry.ptx && system.ptx == "always")
      return Error{fmt::format("{} always adds PTX: machine code alone cannot be said ({})",
                               system.tool, number),
                   system.id};
  }
  return std::nullopt;
}

std::string list_text(const ArchSystem& system, const std::vector<ArchEntry>& entries) {
  std::vector<std::string> texts;
  for (const ArchEntry& entry : entries)
    texts.push_back(entry_text(system, entry));
  return joined(texts, system.join);
}

Result<std::string> write_list(const ArchSystem& system, const CodeSet& codes,
                               const ArchContext& context) {
  auto entries = entries_for(system, codes, context);
  if (!entries) return tl::unexpected(entries.error());
  if (auto error = ptx_complaint(system, *entries)) return tl::unexpected(*error);
  if (system.takes == "one" && entries->size() > 1)
    return fail(fmt::format("{} takes one target: build once for each", system.tool), system.id);
  return list_text(system, *entries);
}

Result<std::string> write_option(const ArchSystem& system, const CodeSet& codes,
                                 const ArchContext& context) {
  auto number = write_list(system, codes, context);
  if (!number) return number;
  for (const ArchWord& word : context.tables->words)
    if (word.set == system.words && word.value == *number)
      return "-D" + system.variable + word.word + "=ON";
  return fail(fmt::format("{} has no option for {}: {}", system.tool, *number, system.otherwise),
              system.id);
}

Result<std::string> write_two(const ArchSystem& system, const CodeSet& codes,
                              const ArchContext& context) {
  std::vector<std::string> bin, ptx;
  for (const Code& code : codes) {
    auto entry = entry_for(system, code, context);
    if (!entry) return tl::unexpected(entry.error());
    entry->ptx = false;
    (code.ptx ? ptx : bin).push_back(entry_text(system, *entry));
  }
  std::string text;
  for (const std::string& other : system.also_set)
    text += "-D" + other + " ";
  // Both, always: where one is not given, an old or default list would stay.
  return fmt::format("{}-D{}=\"{}\" -D{}=\"{}\"", text, system.variable, joined(bin, system.join),
                     system.ptx_variable, joined(ptx, system.join));
}

std::string pair_text(const Code& code) {
  return fmt::format("arch={},code={}", compute_name(code.from),
                     code.ptx ? compute_name(code.target) : sm_name(code.target));
}

// In the order in which people write: machine code first, by target, then PTX.
CodeSet sass_first(const CodeSet& codes) {
  CodeSet ordered = codes;
  std::stable_partition(ordered.begin(), ordered.end(), [](const Code& code) { return !code.ptx; });
  return ordered;
}

Result<std::string> write_pairs(const ArchSystem& system, const CodeSet& codes,
                                const ArchContext& context, const std::string& before) {
  std::vector<std::string> texts;
  for (const Code& code : sass_first(codes)) {
    if (!accepts(system, code.target, context) || !accepts(system, code.from, context))
      return tl::unexpected(cannot(system, code_name(code)));
    texts.push_back(before + pair_text(code));
  }
  return joined(texts, system.join);
}

Result<std::string> write_arch(const ArchSystem& system, const CodeSet& codes) {
  Target from = codes.front().from;
  Target real = codes.front().target;
  CodeSet short_form = {sass_code(real), ptx_code(real)};
  if (real.suffix) short_form.push_back(ptx_code({real.sm, 0}));
  if (!codes.front().ptx && normalised(short_form) == codes) return "-arch=" + sm_name(real);
  std::vector<std::string> names;
  for (const Code& code : sass_first(codes)) {
    if (code.from != from)
      return fail(fmt::format("{} takes one virtual target, these need {} and {}: use -gencode",
                              system.tool, compute_name(from), compute_name(code.from)),
                  system.id);
    names.push_back(code.ptx ? compute_name(code.target) : sm_name(code.target));
  }
  return fmt::format("-arch={} -code={}", compute_name(from), joined(names, ","));
}

Result<std::string> write_specs(const ArchSystem& system, const CodeSet& codes,
                                const ArchContext& context) {
  std::map<Target, std::vector<std::string>> by_virtual;
  for (const Code& code : codes) {
    if (!accepts(system, code.target, context) || !accepts(system, code.from, context))
      return tl::unexpected(cannot(system, code_name(code)));
    by_virtual[code.from].push_back(code.ptx ? compute_name(code.target) : sm_name(code.target));
  }
  std::vector<std::string> specs;
  for (const auto& [from, names] : by_virtual) {
    bool plain = names.size() == 1 && names[0].substr(names[0].find('_')) == // sm_80 from 80
                                          compute_name(from).substr(7);
    specs.push_back(plain ? names[0] : compute_name(from) + ":" + joined(names, ","));
  }
  return joined(specs, system.join);
}

Result<std::string> write_arguments(const ArchSystem& system, const CodeSet& codes,
                                    const ArchContext& context) {
  std::vector<std::string> texts;
  for (const Code& code : sass_first(codes)) {
    if (!accepts(system, code.target, context) || !accepts(system, code.from, context))
      return tl::unexpected(cannot(system, code_name(code)));
    std::string text = code.ptx ? compute_name(code.target) : sm_name(code.target);
    if (!code.ptx && code.from != code.target) text = compute_name(code.from) + "," + text;
    texts.push_back('"' + text + '"');
  }
  return joined(texts, system.join);
}

Result<std::string> write_form(const ArchSystem& system, const CodeSet& codes,
                               const ArchContext& context) {
  if (system.form == "none") return fail(system.cannot, system.id);
  if (codes.empty()) return fail("nothing to build: there is no target", system.id);
  if (system.form == "list") return write_list(system, codes, context);
  if (system.form == "option") return write_option(system, codes, context);
  if (system.form == "two") return write_two(system, codes, context);
  if (system.form == "pairs") return write_pairs(system, codes, context, "");
  if (system.form == "specs") return write_specs(system, codes, context);
  if (system.form == "arguments") return write_arguments(system, codes, context);
  if (!system.takes.empty()) return write_arch(system, codes);
  return write_pairs(system, codes, context, "-gencode ");
}

} // namespace

Result<std::string> write_value(const ArchSystem& system, const CodeSet& codes,
                                const ArchContext& context) {
  auto text = write_form(system, codes, context);
  if (!text) return text;
  auto back = read_value(system, *text, context);
  if (!back) return tl::unexpected(back.error());
  if (*back == codes) return text;
  return fail(fmt::format("{} cannot say {}: {} would build {}", system.tool, codes_text(codes),
                          *text, codes_text(*back)),
              system.id);
}

Result<std::string> write_wish(const ArchSystem& system, const std::vector<Target>& targets,
                               bool ptx_of_last, const ArchContext& context) {
  if (targets.empty()) return fail("nothing to build: there is no target", system.id);
  if (system.form != "list" && system.form != "option") {
    CodeSet codes;
    for (Target target : targets)
      codes.push_back(sass_code(target));
    if (ptx_of_last) codes.push_back(ptx_code({targets.back().sm, 0}));
    return write_form(system, normalised(std::move(codes)), context);
  }
  std::vector<ArchEntry> entries;
  for (Target target : targets) {
    if (!accepts(system, target, context)) {
      Error error = cannot(system, sm_name(target));
      if (!system.otherwise.empty()) error.what += ": " + system.otherwise;
      return tl::unexpected(error);
    }
    entries.push_back({target, std::nullopt, true, false});
  }
  bool chooses = system.ptx == "plus" || system.ptx == "virtual" || system.ptx == "prefix";
  // PTX for a suffix runs on no newer GPU: then the plain target is an entry of its own.
  if (ptx_of_last && chooses && entries.back().value.suffix)
    entries.push_back({{targets.back().sm, 0}, std::nullopt, system.ptx != "virtual", false});
  if (ptx_of_last && chooses) entries.back().ptx = true;
  if (system.takes == "one" && entries.size() > 1)
    return fail(fmt::format("{} takes one target: build once for each GPU", system.tool),
                system.id);
  if (system.form == "list") return list_text(system, entries);
  return write_option(system, {sass_code(targets[0]), ptx_code(targets[0])}, context);
}

} // namespace gpuvet
