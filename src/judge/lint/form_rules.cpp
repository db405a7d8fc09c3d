// How a value is written: separators, numbers, quotes, architectures that exist.
#include "base/text.hpp"
#include "judge/lint/parts.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

std::string shown_separator(char c) {
  switch (c) {
  case ' ':
    return "a blank";
  case '\t':
    return "a tab";
  case '\n':
    return "a line end";
  default:
    return fmt::format("'{}'", c);
  }
}

std::string shown_separators(const std::vector<std::string>& list) {
  if (list.empty()) return "nothing: it takes one value";
  std::vector<std::string> names;
  for (const std::string& one : list)
    names.push_back(shown_separator(one.front()));
  return joined(names, " or ");
}

std::string shown_format(const LintVariable& variable) {
  std::vector<std::string> ways;
  for (const std::string& number : variable.numbers) {
    if (number == "dotted") ways.push_back("a number with a point (8.6)");
    if (number == "integer") ways.push_back("a number without a point (86)");
    if (number == "cmake") ways.push_back("a number without a point (86, 86-real)");
    if (number == "prefixed") ways.push_back("sm_86");
  }
  return joined(ways, " or ");
}

// Architectures that exist, near a number that doesn't.
std::string nearest(uint32_t sm, const LoadRules& rules, const LintVariable& variable) {
  std::vector<std::string> names;
  for (const SassRange& range : rules.sass_ranges) {
    if (range.target.suffix || range.target.sm / 10 != sm / 10) continue;
    ListEntry entry;
    entry.is_target = true;
    entry.target = range.target;
    if (auto text = spelled_for(entry, variable)) names.push_back(*text);
  }
  if (names.empty()) return "no architecture has this major version";
  return fmt::format("those of major version {} are {}", sm / 10, joined(names));
}

bool exists(Target target, const LoadRules& rules) {
  return std::any_of(rules.sass_ranges.begin(), rules.sass_ranges.end(),
                     [&](const SassRange& range) { return range.target == target; });
}

uint32_t newest(const LoadRules& rules) {
  uint32_t most = 0;
  for (const SassRange& range : rules.sass_ranges)
    most = std::max(most, range.target.sm);
  return most;
}

bool judge_unknown(LintRun& run, const KnownSetting& known, const ListEntry& entry) {
  const LoadRules& rules = run.facts.rules;
  Target plain = entry.target;
  if (exists(plain, rules) || plain.sm > newest(rules)) return false;
  plain.suffix = 0;
  std::string suggestion =
      exists(plain, rules)
          ? fmt::format("{} has no variant '{}'", cc_name(plain.sm), entry.target.suffix)
          : nearest(plain.sm, rules, known.variable);
  run.add("unknown-architecture", known.setting, known.place_of(entry),
          {{"item", entry.text}, {"suggestion", suggestion}})
      .label = "no such architecture";
  return true;
}

// A word that is not taken: a known one with a slip, or none.
bool judge_word(LintRun& run, const KnownSetting& known, const ListEntry& entry) {
  if (has_word(known.variable.words, entry.text) || has_word(known.variable.build_gpu, entry.text))
    return false;
  std::vector<std::string> words = known.variable.words;
  words.insert(words.end(), known.variable.build_gpu.begin(), known.variable.build_gpu.end());
  std::string_view bare = entry.text;
  std::string tail;
  if (size_t plus = bare.find("+PTX"); plus != bare.npos && known.variable.ptx == "plus") {
    tail = bare.substr(plus);
    bare = bare.substr(0, plus);
    if (has_word(words, bare)) return false;
  }
  std::vector<std::string> near;
  for (const std::string& word : words)
    if (lower_ascii(word) == lower_ascii(bare) ||
        (bare.size() > 3 && nearly_same(lower_ascii(word), lower_ascii(bare), 2)))
      near.push_back(word);
  // A default such as "auto" is often a word of the project's own.
  if (near.empty() && (known.setting.fallback || known.setting.several)) return true;
  std::string suggestion =
      near.empty() ? fmt::format("{} takes {}", known.variable.tool, known.variable.example)
                   : "did you mean " + joined(near, " or ") + "?";
  LintFinding& finding = run.add("unknown-architecture", known.setting, known.place_of(entry),
                                 {{"item", "'" + entry.text + "'"}, {"suggestion", suggestion}});
  finding.label = "not a word that " + known.variable.tool + " takes";
  if (near.size() == 1 && known.setting.literal && known.setting.after.empty())
    finding.fix = Replacement{finding.at.begin, finding.at.end, near.front() + tail};
  return true;
}

// The list as its reader wants it; nullopt: not everything can be said there.
std::optional<std::string> corrected(const KnownSetting& known) {
  std::string made;
  for (const ListEntry& entry : known.entries) {
    if (entry.text.empty()) continue;
    std::optional<std::string> text = entry.text;
    if (entry.is_target && !is_spelled_for(entry, known.variable))
      text = spelled_for(entry, known.variable);
    if (!text) return std::nullopt;
    if (!made.empty()) {
      if (known.variable.separators.empty()) return std::nullopt;
      // What parts the entries now is kept where it is right.
      std::string now(1, known.separators.empty() ? ' ' : known.separators.front());
      bool right = known.separators.size() == 1 && has_word(known.variable.separators, now);
      made += right ? now : known.variable.separators.front();
    }
    made += *text;
  }
  return made;
}

void set_fix(LintFinding& finding, const KnownSetting& known, const std::string& text) {
  const BuildSetting& setting = known.setting;
  if (!setting.literal) return;
  std::string written = text;
  if (setting.blank_list) std::replace(written.begin(), written.end(), ';', ' ');
  bool needs_quotes = written.find_first_of("; ") != std::string::npos;
  if (!setting.quoted && !setting.blank_list && needs_quotes) written = "\"" + written + "\"";
  size_t end = setting.after.empty() ? setting.at.end : setting.after_end;
  finding.fix = Replacement{setting.at.begin, end, written};
}

bool looks_like_list(const std::vector<ListEntry>& entries) {
  return std::all_of(entries.begin(), entries.end(),
                     [](const ListEntry& entry) { return entry.is_target || entry.text.empty(); });
}

// Are the wrong separators all that is strange? Then it's a list, and not some other text.
std::string wrong_separators(const KnownSetting& known) {
  std::string wrong;
  for (char c : known.separators)
    if (!has_word(known.variable.separators, std::string(1, c))) wrong += c;
  return wrong;
}

void judge_separator(LintRun& run, const KnownSetting& known,
                     const std::optional<std::string>& right) {
  std::string wrong = wrong_separators(known);
  bool gap = std::any_of(known.entries.begin(), known.entries.end(),
                         [](const ListEntry& entry) { return entry.text.empty(); });
  const BuildSetting& setting = known.setting;
  bool torch = known.variable.ptx == "plus" && setting.form == SettingForm::environment;
  if (wrong.empty() && !(gap && torch)) return;
  if (!wrong.empty() && !looks_like_list(known.entries)) return;
  std::string what = wrong.empty() ? std::string() : shown_separator(wrong.front());
  LintFinding& finding = run.add("separator", setting, setting.at,
                                 {{"tool", known.variable.tool},
                                  {"name", setting.name},
                                  {"separators", shown_separators(known.variable.separators)},
                                  {"wrong", what},
                                  {"right", right.value_or(known.variable.example)}});
  if (wrong.empty()) {
    finding.message = fmt::format("{} holds an empty entry", setting.name);
    finding.why =
        fmt::format("{} parts the list at each {} and refuses the empty entry between two",
                    known.variable.tool, shown_separators(known.variable.separators));
  }
  finding.label = wrong.empty() ? "two separators side by side" : "not a separator here";
  if (right) set_fix(finding, known, *right);
}

void judge_quotes(LintRun& run, const KnownSetting& known) {
  const BuildSetting& setting = known.setting;
  bool semicolon = setting.after.front() == ';';
  std::string quoted = "\"" + known.value + "\"";
  LintFinding& finding = run.add("unquoted", setting, setting.at,
                                 {{"reader", setting.command == "ENV" ? "Dockerfile" : "shell"},
                                  {"name", setting.name},
                                  {"wrong", semicolon ? "';'" : "the blank"},
                                  {"item", std::string(trimmed(setting.after.substr(1)))},
                                  {"value", setting.value},
                                  {"right", quoted}});
  finding.label = semicolon ? "the value ends before ';'" : "the value ends before the blank";
  if (setting.literal) finding.fix = Replacement{setting.at.begin, setting.after_end, quoted};
}

// Entries that are written as another tool has them, in one finding.
bool judge_numbers(LintRun& run, const KnownSetting& known,
                   const std::optional<std::string>& right) {
  std::vector<const ListEntry*> wrong;
  for (const ListEntry& entry : known.entries)
    if (entry.is_target && !is_spelled_for(entry, known.variable)) wrong.push_back(&entry);
  if (wrong.empty()) return false;
  std::vector<std::string> items, better;
  for (const ListEntry* entry : wrong) {
    items.push_back(entry->text);
    if (auto text = spelled_for(*entry, known.variable)) better.push_back(*text);
  }
  bool all = better.size() == wrong.size();
  FilePlace at = wrong.size() == 1 ? known.place_of(*wrong.front()) : known.setting.at;
  LintFinding& finding = run.add("number-format", known.setting, at,
                                 {{"tool", known.variable.tool},
                                  {"name", known.setting.name},
                                  {"format", shown_format(known.variable)},
                                  {"item", joined(items)},
                                  {"right", all ? right.value_or(joined(better))
                                                : "entries as in " + known.variable.example}});
  finding.label = all ? "write " + joined(better) : "not taken here";
  if (right) set_fix(finding, known, *right);
  return true;
}

} // namespace

bool judge_form(LintRun& run, KnownSetting& known) {
  const BuildSetting& setting = known.setting;
  if (setting.yaml_number && run.file.kind == BuildFileKind::github_workflow) {
    std::string item = setting.value;
    while (item.ends_with('0'))
      item.pop_back();
    if (item.ends_with('.')) item.pop_back();
    LintFinding& finding = run.add("yaml-number", setting, setting.at,
                                   {{"value", setting.value},
                                    {"name", setting.name},
                                    {"item", item},
                                    {"right", "\"" + setting.value + "\""}});
    finding.label = "a number, not text";
    finding.fix = Replacement{setting.at.begin, setting.at.end, "\"" + setting.value + "\""};
  }
  if (!setting.after.empty()) {
    judge_quotes(run, known);
    return false; // the rest is judged when the value is whole
  }
  for (const ListEntry& entry : known.entries) {
    if (entry.text.empty()) continue;
    bool wrong = entry.is_target ? judge_unknown(run, known, entry)
                                 : wrong_separators(known).empty() && judge_word(run, known, entry);
    if (wrong) known.sound = false;
  }
  if (!looks_like_list(known.entries) && !wrong_separators(known).empty()) return false;
  std::optional<std::string> right = corrected(known);
  if (!known.sound) right.reset();
  judge_separator(run, known, right);
  if (judge_numbers(run, known, right)) known.sound = false;
  return true;
}

std::vector<CodeTarget> gencode_targets(const GencodePair& pair) {
  std::vector<CodeTarget> made;
  for (const std::string& code : pair.codes) {
    ListEntry entry = parse_entry(code);
    if (!entry.is_target) continue;
    bool ptx = entry.style == NumberStyle::virtual_code;
    made.push_back({entry.target, !ptx, ptx});
  }
  return made;
}

void judge_gencode(LintRun& run, const BuildSetting& setting, std::string_view value,
                   size_t offset) {
  auto pair = parse_gencode(trimmed(value));
  if (!pair) return;
  FilePlace at = setting.at;
  if (setting.literal && at.line) {
    at.begin += offset;
    at.end = at.begin + value.size();
    at.column += static_cast<uint32_t>(offset);
  }
  auto complain = [&](const std::string& format, const std::string& item,
                      const std::string& right) {
    LintFinding& finding = run.add("number-format", setting, at,
                                   {{"tool", "nvcc"},
                                    {"name", setting.name},
                                    {"format", format},
                                    {"item", item},
                                    {"right", right}});
    finding.label = "write " + right;
    std::string text(value);
    size_t found = text.find(item);
    if (setting.literal && found != std::string::npos) {
      text.replace(found, item.size(), right);
      finding.fix = Replacement{at.begin, at.end, text};
    }
  };
  ListEntry arch = parse_entry(pair->arch);
  if (!arch.is_target) return;
  if (!pair->arch.starts_with("compute_")) {
    ListEntry plain = arch;
    plain.style = NumberStyle::virtual_code;
    return complain("a virtual architecture behind arch= (compute_86)", "arch=" + pair->arch,
                    "arch=" + spelled(plain, "prefixed").value_or(pair->arch));
  }
  bool known = true;
  for (const std::string& code : pair->codes) {
    ListEntry entry = parse_entry(code);
    if (!entry.is_target) return;
    if (entry.style == NumberStyle::integer || entry.style == NumberStyle::dotted) {
      entry.style = NumberStyle::machine;
      return complain("sm_86 or compute_86 behind code=", "code=" + code,
                      "code=" + spelled(entry, "prefixed").value_or(code));
    }
    LintVariable shown;
    shown.numbers = {"prefixed"};
    KnownSetting one{setting, shown, std::string(value), {}, {}, true};
    if (known && judge_unknown(run, one, entry)) known = false;
    if (known && entry.target.sm < arch.target.sm)
      run.add("gencode-pair", setting, at,
              {{"item", code},
               {"value", pair->arch},
               {"right", fmt::format("arch={},code={}", compute_name(entry.target), code)}})
          .label = "older than " + pair->arch;
  }
}

} // namespace gpuvet
