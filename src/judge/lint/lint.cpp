#include "judge/lint/lint.hpp"

#include "base/text.hpp"
#include "judge/lint/parts.hpp"

#include <algorithm>

namespace gpuvet {
namespace {

std::string_view form_name(SettingForm form) {
  switch (form) {
  case SettingForm::environment:
    return "environment";
  case SettingForm::definition:
    return "definition";
  case SettingForm::argument:
    return "argument";
  case SettingForm::option:
    return "option";
  case SettingForm::assignment:
    return "assignment";
  case SettingForm::value:
    break;
  }
  return "value";
}

// The option's other spellings.
std::string_view option_name(std::string_view name) {
  if (name == "--generate-code" || name == "-generate-code") return "-gencode";
  if (name == "--gpu-architecture" || name == "-gpu-architecture") return "-arch";
  if (name == "--gpu-code") return "-code";
  return name;
}

std::string filled(const std::string& text, LintWords words) {
  std::string made;
  for (size_t i = 0; i < text.size(); ++i) {
    size_t close = text[i] == '{' ? text.find('}', i) : std::string::npos;
    if (close == std::string::npos) {
      made += text[i];
      continue;
    }
    std::string_view key = std::string_view(text).substr(i + 1, close - i - 1);
    for (const auto& [name, value] : words)
      if (name == key) made += value;
    i = close;
  }
  return made;
}

// Options of one command make one list together.
struct Group {
  const BuildSetting* first = nullptr;
  const LintVariable* variable = nullptr;
  std::vector<CodeTarget> targets;
};

class Judge {
 public:
  explicit Judge(LintRun& run) : run_(run) {}

  void settings() {
    for (const BuildSetting& setting : run_.file.settings) {
      const LintVariable* variable = variable_of(setting, run_.facts.tables);
      if (!variable) continue;
      if (run_.file.kind == BuildFileKind::shell_profile)
        run_.add("shell-only", setting, setting.name_at.line ? setting.name_at : setting.at,
                 {{"name", setting.name}});
      if (setting.known) one(setting, *variable);
    }
    for (const Group& group : groups_)
      judge_coverage(run_, *group.first, group.targets, *group.variable);
  }

 private:
  void one(const BuildSetting& setting, const LintVariable& variable) {
    if (trimmed(setting.value).empty()) return judge_empty(run_, setting, variable);
    if (has_word(variable.numbers, "gencode")) return gencodes(setting, variable);
    KnownSetting known{setting, variable, setting.value + setting.after, {}, {}, true};
    known.entries = parse_entries(known.value, known.separators);
    judge_words(run_, known);
    if (!judge_form(run_, known)) return;
    std::vector<CodeTarget> targets = code_targets(known.entries, variable);
    for (const ListEntry& entry : known.entries)
      if (entry.is_target)
        judge_targets(run_, setting, code_targets({entry}, variable), known.place_of(entry));
    if (!known.sound || targets.empty() || targets.size() != known.entries.size())
      return; // words: not known
    if (variable.ptx == "other") return;
    judge_coverage(run_, setting, targets, variable);
  }

  // nvcc's options; CuPy's list of the same.
  void gencodes(const BuildSetting& setting, const LintVariable& variable) {
    if (has_word(variable.build_gpu, setting.value)) {
      KnownSetting known{setting, variable, setting.value, {}, {}, true};
      known.entries = parse_entries(known.value, known.separators);
      return judge_words(run_, known);
    }
    std::vector<CodeTarget> all;
    size_t offset = 0;
    bool understood = true;
    for (const std::string& part : setting.form == SettingForm::option
                                       ? std::vector<std::string>{setting.value}
                                       : split_at(setting.value, ';')) {
      judge_gencode(run_, setting, part, offset);
      offset += part.size() + 1;
      auto pair = parse_gencode(part);
      if (!pair || pair->codes.empty()) {
        understood = false;
        continue;
      }
      std::vector<CodeTarget> targets = gencode_targets(*pair);
      judge_targets(run_, setting, targets, setting.at);
      all.insert(all.end(), targets.begin(), targets.end());
    }
    auto group = std::find_if(groups_.begin(), groups_.end(), [&](const Group& one) {
      return one.first->scope == setting.scope && one.variable == &variable;
    });
    if (group == groups_.end()) {
      groups_.push_back({&setting, &variable, {}});
      group = groups_.end() - 1;
    }
    if (understood && !all.empty())
      group->targets.insert(group->targets.end(), all.begin(), all.end());
  }

  LintRun& run_;
  std::vector<Group> groups_;
};

} // namespace

bool has_word(const std::vector<std::string>& list, std::string_view text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

const LintVariable* variable_of(const BuildSetting& setting, const LintTables& tables) {
  std::string_view name =
      setting.form == SettingForm::option ? option_name(setting.name) : setting.name;
  for (const LintVariable& variable : tables.variables)
    if (variable.name == name && has_word(variable.forms, form_name(setting.form)) &&
        (variable.commands.empty() || has_word(variable.commands, setting.command)))
      return &variable;
  return nullptr;
}

FilePlace KnownSetting::place_of(const ListEntry& entry) const {
  if (!setting.literal || setting.at.line == 0) return setting.at;
  FilePlace at = setting.at;
  at.begin += entry.begin;
  at.end = setting.at.begin + entry.end;
  at.column += static_cast<uint32_t>(entry.begin); // an architecture list is ASCII
  return at;
}

LintFinding& LintRun::add(std::string_view rule, const BuildSetting& setting, const FilePlace& at,
                          LintWords words) {
  LintFinding made;
  made.rule = rule;
  made.at = at;
  made.name = setting.name;
  made.value = setting.value;
  if (const LintRule* row = find_rule(facts.tables, rule)) {
    made.level = row->severity == "error"     ? LintLevel::error
                 : row->severity == "warning" ? LintLevel::warning
                                              : LintLevel::note;
    made.message = filled(row->message, words);
    made.why = filled(row->why, words);
    made.help = filled(row->help, words);
  }
  findings.push_back(std::move(made));
  return findings.back();
}

std::vector<LintFinding> lint_file(const BuildFile& file, const LintFacts& facts,
                                   const LintAsked& asked) {
  LintRun run{file, facts, asked, {}};
  Judge(run).settings();
  judge_names(run);
  judge_whole_file(run);
  std::stable_sort(
      run.findings.begin(), run.findings.end(),
      [](const LintFinding& a, const LintFinding& b) { return a.at.begin < b.at.begin; });
  return std::move(run.findings);
}

} // namespace gpuvet
