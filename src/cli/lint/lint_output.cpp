#include "cli/lint/lint_output.hpp"

#include "formats/buildfile/buildfile.hpp"
#include "formats/json_write.hpp"
#include "formats/sarif.hpp"

#include <algorithm>

namespace gpuvet {
namespace {

std::string level_name(LintLevel level) {
  switch (level) {
  case LintLevel::error:
    return "error";
  case LintLevel::warning:
    return "warning";
  case LintLevel::note:
    break;
  }
  return "note";
}

Json finding_json(const LintFinding& finding) {
  Json json = json_object();
  set(json, "rule", json_of(finding.rule));
  set(json, "level", json_of(level_name(finding.level)));
  set(json, "line", json_of(uint64_t{finding.at.line}));
  set(json, "column", json_of(uint64_t{finding.at.column}));
  set(json, "name", json_of(finding.name));
  set(json, "value", json_of(finding.value));
  set(json, "message", json_of(finding.message));
  set(json, "why", json_of(finding.why));
  set(json, "help", json_of(finding.help));
  Json fix;
  if (finding.fix) {
    fix = json_object();
    set(fix, "begin", json_of(uint64_t{finding.fix->begin}));
    set(fix, "end", json_of(uint64_t{finding.fix->end}));
    set(fix, "text", json_of(finding.fix->text));
  }
  set(json, "fix", std::move(fix));
  return json;
}

} // namespace

std::string lint_json(const LintInputs& inputs, const std::string& verdict) {
  Json root = json_object();
  set(root, "schema", json_of("gpuvet-lint/1"));
  set(root, "gpuvet", json_of(GPUVET_VERSION));
  set(root, "verdict", json_of(verdict));
  set(root, "files_read", json_of(uint64_t{inputs.looked_at}));
  set(root, "settings", json_of(uint64_t{inputs.settings}));
  set(root, "settings_with_outside_values", json_of(uint64_t{inputs.unresolved}));
  Json files = json_list();
  for (const LintedFile& file : inputs.files) {
    Json one = json_object();
    set(one, "path", json_of(file.path));
    set(one, "kind", json_of(kind_name(file.kind)));
    Json findings = json_list();
    for (const LintFinding& finding : file.findings)
      findings.items.push_back(finding_json(finding));
    set(one, "findings", std::move(findings));
    files.items.push_back(std::move(one));
  }
  set(root, "files", std::move(files));
  Json errors = json_list();
  for (const Error& error : inputs.errors) {
    Json one = json_object();
    set(one, "what", json_of(error.what));
    set(one, "where", json_of(error.where));
    errors.items.push_back(std::move(one));
  }
  set(root, "errors", std::move(errors));
  return write_json(root);
}

std::string lint_sarif(const LintInputs& inputs, const LintTables& tables) {
  std::vector<SarifRule> rules;
  for (const LintRule& rule : tables.rules)
    rules.push_back({rule.id, rule.asks, {}});
  std::vector<SarifResult> results;
  for (const LintedFile& file : inputs.files)
    for (const LintFinding& finding : file.findings) {
      std::string message = finding.message;
      if (!finding.why.empty()) message += ": " + finding.why;
      if (!finding.help.empty()) message += ". " + finding.help;
      bool words = file.kind == BuildFileKind::arguments;
      results.push_back({finding.rule, level_name(finding.level), message + ".",
                         words ? std::string() : file.path, words ? 0 : finding.at.line,
                         words ? 0 : finding.at.column});
    }
  return write_sarif("arch lint", rules, results);
}

std::string rules_json(const LintTables& tables) {
  Json root = json_object();
  set(root, "schema", json_of("gpuvet-lint-rules/1"));
  Json rules = json_list();
  for (const LintRule& rule : tables.rules) {
    Json one = json_object();
    set(one, "id", json_of(rule.id));
    set(one, "severity", json_of(rule.severity));
    set(one, "asks", json_of(rule.asks));
    set(one, "fixes", json_of(rule.fixes));
    set(one, "file", json_of(rule.file));
    set(one, "example", json_of(rule.example));
    set(one, "source", json_of(rule.source));
    rules.items.push_back(std::move(one));
  }
  set(root, "rules", std::move(rules));
  return write_json(root);
}

Report rules_report(const LintTables& tables) {
  Report report;
  report.state = State::ok;
  Table table;
  table.columns = {{"rule"}, {"severity"}, {"--fix"}, {"asks", Align::left, true}};
  for (const LintRule& rule : tables.rules)
    table.rows.push_back({{rule.id}, {rule.severity}, {rule.fixes ? "yes" : "no"}, {rule.asks}});
  report.verdict = std::to_string(tables.rules.size()) + " rules";
  report.tables.push_back(std::move(table));
  return report;
}

FixedText fixed_text(const LintedFile& file) {
  std::vector<Replacement> fixes;
  for (const LintFinding& finding : file.findings)
    if (finding.fix && finding.fix->end <= file.text.size()) fixes.push_back(*finding.fix);
  std::stable_sort(fixes.begin(), fixes.end(),
                   [](const Replacement& a, const Replacement& b) { return a.begin < b.begin; });
  FixedText made;
  size_t at = 0;
  for (const Replacement& fix : fixes) {
    std::string_view old(file.text.data() + fix.begin, fix.end - fix.begin);
    // A second finding about the same place has the same fix, or waits for the next run.
    if (fix.begin < at || (fix.begin == at && made.fixes > 0 && fix.begin == fix.end)) continue;
    if (old.find('\n') != old.npos || fix.text.find('\n') != std::string::npos || old == fix.text)
      continue;
    made.text += file.text.substr(at, fix.begin - at) + fix.text;
    at = fix.end;
    ++made.fixes;
  }
  made.text += file.text.substr(at);
  return made;
}

} // namespace gpuvet
