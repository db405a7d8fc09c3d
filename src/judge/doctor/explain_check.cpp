#include "judge/doctor/explain_check.hpp"

#include "base/text.hpp"
#include "judge/doctor/diagnose.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

constexpr size_t kSuggestions = 5;

void add_row(Table& table, const std::string& name, const std::string& text) {
  if (!text.empty()) table.rows.push_back({{name}, {text}});
}

// "{nvcc.version}": a dot within braces.
bool names_fact(std::string_view text) {
  size_t open = text.find('{');
  size_t close = open == std::string_view::npos ? open : text.find('}', open);
  return close != std::string_view::npos &&
         text.substr(open, close - open).find('.') != std::string_view::npos;
}

std::string fix_text(const CheckFix& fix) {
  std::string text = readable_text(fix.command) + "  (" + std::string(safety_name(fix.safety));
  return text + (fix.on.empty() ? ")" : "; on " + joined(fix.on) + ")");
}

Report explain_symptom(const Symptom& symptom, const CheckTables& tables) {
  Report report;
  report.state = State::info;
  report.verdict = symptom.id + ": " + symptom.title;
  Table table;
  table.columns = {{"possible cause"}, {"asks", Align::left, true}};
  for (const CheckRow& row : tables.checks)
    if (std::find(row.symptoms.begin(), row.symptoms.end(), symptom.id) != row.symptoms.end())
      table.rows.push_back({{row.id}, {row.asks}});
  report.tables.push_back(std::move(table));
  report.notes.push_back("told apart by " + symptom.decide);
  return report;
}

} // namespace

std::string readable_text(const std::string& text) {
  std::string result;
  bool inside = false, choice = false, second = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (text.compare(i, 2, "[?") == 0) {
      choice = true;
      ++i;
      // What names a fact of a machine has words for when it is not known.
      std::string_view first =
          std::string_view(text).substr(i + 1, text.find_first_of("|]", i) - i);
      if (size_t bar = text.find_first_of("|]", i); names_fact(first) && bar != std::string::npos)
        i = text[bar] == '|' ? bar : bar - 1;
    } else if (choice && c == ']') {
      choice = second = false;
    } else if (choice && c == '|') {
      second = true;
    } else if (second) {
      continue; // the words for when nothing is known
    } else if (c == '{' || c == '}') {
      inside = c == '{';
    } else if (inside && c >= 'a' && c <= 'z') {
      result += static_cast<char>(c - 'a' + 'A');
    } else {
      result += c;
    }
  }
  return result;
}

Report explain_check(const CheckRow& row) {
  Report report;
  report.state = State::info;
  report.verdict = row.id + ": " + readable_text(row.title);
  Table table;
  table.columns = {{""}, {"", Align::left, true}};
  add_row(table, "asks", row.asks);
  add_row(table, "severity", severity_name(row.severity) + ", mended by: " + row.blame);
  add_row(table, "why", readable_text(row.cause));
  add_row(table, "mind", row.note);
  for (size_t i = 0; i < row.fixes.size(); ++i)
    add_row(table, i ? "" : "mend", fix_text(row.fixes[i]));
  add_row(table, "NVIDIA's word", row.action);
  add_row(table, "kernel log", row.log);
  add_row(table, "explains", joined(row.symptoms));
  add_row(table, "hides", joined(row.hides));
  add_row(table, "source", row.source);
  report.tables.push_back(std::move(table));
  return report;
}

Result<Report> explain_id(const std::string& id, const CheckTables& tables) {
  for (const CheckRow& row : tables.checks)
    if (row.id == id) return explain_check(row);
  for (const Symptom& symptom : tables.symptoms)
    if (symptom.id == id) return explain_symptom(symptom, tables);
  std::vector<std::string> alike;
  for (const CheckRow& row : tables.checks)
    if (!id.empty() && row.id.find(id) != std::string::npos && alike.size() < kSuggestions)
      alike.push_back(row.id);
  return fail("there is no check or symptom of this name" +
                  (alike.empty() ? std::string("; gpuvet doctor --list names all")
                                 : "; did you mean " + joined(alike) + "?"),
              id);
}

} // namespace gpuvet
