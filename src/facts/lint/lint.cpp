#include "facts/lint/lint.hpp"

#include <algorithm>

namespace gpuvet {
namespace {

// Facts are texts of one line.
std::string with_line_ends(std::string text) {
  for (size_t at = text.find("\\n"); at != std::string::npos; at = text.find("\\n", at))
    text.replace(at, 2, "\n");
  return text;
}

LintRule rule_of(FactRow row) {
  LintRule rule;
  rule.id = row.text("id");
  rule.asks = row.text("asks");
  rule.message = row.text("message");
  rule.why = row.text("why");
  rule.help = row.text("help");
  rule.severity = row.text("severity");
  if (rule.severity != "error" && rule.severity != "warning" && rule.severity != "note")
    row.refuse("severity is error, warning or note");
  rule.fixes = row.flag("fixes");
  rule.file = row.text_if("file");
  rule.example = with_line_ends(row.text_if("example"));
  rule.source = row.source();
  row.end();
  return rule;
}

LintVariable variable_of(FactRow row) {
  LintVariable variable;
  variable.name = row.text("name");
  variable.tool = row.text("tool");
  variable.forms = row.list("forms");
  variable.commands = row.list("commands");
  variable.numbers = row.list("numbers");
  variable.separators = row.list("separators");
  variable.suffixes = row.text_if("suffixes");
  variable.ptx = row.text("ptx");
  variable.words = row.list("words");
  variable.build_gpu = row.list("build_gpu");
  variable.empty = row.text_if("empty");
  variable.empty_anywhere = row.flag("empty_anywhere");
  variable.ptx_only = row.flag("ptx_only");
  variable.example = row.text("example");
  variable.source = row.source();
  row.end();
  return variable;
}

} // namespace

void read_lint(FactFile& file, LintTables& tables) {
  for (const PackedRow& packed : file.rows("rule"))
    tables.rules.push_back(rule_of(FactRow(file, packed)));
  for (const PackedRow& packed : file.rows("variable"))
    tables.variables.push_back(variable_of(FactRow(file, packed)));
}

const LintRule* find_rule(const LintTables& tables, std::string_view id) {
  auto found = std::find_if(tables.rules.begin(), tables.rules.end(),
                            [&](const LintRule& rule) { return rule.id == id; });
  return found == tables.rules.end() ? nullptr : &*found;
}

} // namespace gpuvet
