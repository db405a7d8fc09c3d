#include "judge/explain/explain_row.hpp"

#include "base/text.hpp"
#include "judge/doctor/explain_check.hpp"
#include "judge/explain/causes.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

namespace gpuvet {
namespace {

constexpr size_t kSuggestions = 5;

const CheckRow* find_row(const std::vector<CheckRow>& rows, const std::string& id) {
  auto at =
      std::find_if(rows.begin(), rows.end(), [&](const CheckRow& row) { return row.id == id; });
  return at == rows.end() ? nullptr : &*at;
}

const Signature* find_signature(const SignatureTables& tables, const std::string& id) {
  for (const Signature& row : tables.signatures)
    if (row.id == id) return &row;
  return nullptr;
}

bool is_symptom(const CheckTables& checks, const std::string& id) {
  return std::any_of(checks.symptoms.begin(), checks.symptoms.end(),
                     [&](const Symptom& symptom) { return symptom.id == id; });
}

std::string conditions_text(const std::vector<Condition>& conditions, std::string_view between) {
  std::string text;
  for (const Condition& condition : conditions)
    text += (text.empty() ? "" : std::string(between)) + condition.text;
  return text;
}

std::string candidate_text(const CauseCandidate& candidate, const CheckTables& checks,
                           const SignatureTables& tables) {
  const CheckRow* row = find_cause(candidate.cause, checks, tables);
  std::string text = readable_text(!candidate.title.empty() ? candidate.title
                                   : row                    ? row->title
                                                            : std::string());
  if (!text.empty()) text += " ";
  text += "[" + readable_text(candidate.cause) + "]";
  if (!candidate.confirm.empty())
    text += "; certain if " + conditions_text(candidate.confirm, " and ");
  if (!candidate.likely.empty())
    text += "; likely if " + conditions_text(candidate.likely, " and ");
  if (!candidate.exclude.empty())
    text += "; excluded if " + conditions_text(candidate.exclude, " or ");
  return text;
}

void add_row(Table& table, const std::string& name, const std::string& text) {
  if (!text.empty()) table.rows.push_back({{name}, {text}});
}

Report explain_signature(const Signature& row, const CheckTables& checks,
                         const SignatureTables& tables) {
  Report report;
  report.state = State::info;
  report.verdict = row.id + ": " + readable_text(row.says);
  Table table;
  table.columns = {{""}, {"", Align::left, true}};
  add_row(table, "message", row.example.front());
  add_row(table, "severity", std::string(message_kind_name(row.kind)));
  add_row(table, "misleading", readable_text(row.misleading));
  for (size_t i = 0; i < row.candidates.size(); ++i)
    add_row(table, i ? "" : "causes", candidate_text(row.candidates[i], checks, tables));
  add_row(table, "to decide", readable_text(row.question));
  add_row(table, "", readable_text(row.ask));
  add_row(table, "follows", joined(row.after));
  add_row(table, "source", row.source);
  report.tables.push_back(std::move(table));
  return report;
}

Report explain_cause(const CheckRow& row, const SignatureTables& tables) {
  Report report = explain_check(row);
  std::vector<std::string> messages;
  for (const Signature& signature : tables.signatures)
    for (const CauseCandidate& candidate : signature.candidates)
      if (candidate.cause == row.id &&
          std::find(messages.begin(), messages.end(), signature.id) == messages.end())
        messages.push_back(signature.id);
  if (!messages.empty()) report.notes.push_back("messages that it causes: " + joined(messages));
  return report;
}

std::vector<std::string> alike(const std::string& id, const CheckTables& checks,
                               const SignatureTables& tables) {
  std::vector<std::string> found;
  auto take = [&](const std::string& other) {
    if (!id.empty() && other.find(id) != std::string::npos && found.size() < kSuggestions)
      found.push_back(other);
  };
  for (const CheckRow& row : checks.checks)
    take(row.id);
  for (const Signature& row : tables.signatures)
    take(row.id);
  for (const CheckRow& row : tables.causes)
    take(row.id);
  return found;
}

} // namespace

bool is_known_id(const std::string& id, const CheckTables& checks, const SignatureTables& tables) {
  return find_row(checks.checks, id) || is_symptom(checks, id) || find_signature(tables, id) ||
         find_row(tables.causes, id);
}

Result<Report> explain_any_id(const std::string& id, const CheckTables& checks,
                              const SignatureTables& tables) {
  if (const CheckRow* row = find_row(checks.checks, id)) return explain_cause(*row, tables);
  if (is_symptom(checks, id)) return explain_id(id, checks);
  if (const Signature* row = find_signature(tables, id))
    return explain_signature(*row, checks, tables);
  if (const CheckRow* row = find_row(tables.causes, id)) return explain_cause(*row, tables);
  std::vector<std::string> others = alike(id, checks, tables);
  return fail("there is no such file, and no check, symptom, message or cause of this name" +
                  (others.empty() ? std::string("; gpuvet doctor --list and gpuvet explain --list "
                                                "name all")
                                  : "; did you mean " + joined(others) + "?"),
              id);
}

Report list_signatures(const SignatureTables& tables) {
  Report report;
  for (const SignatureArea& area : tables.areas) {
    Table table;
    table.columns = {{area.id}, {"severity"}, {"what it says", Align::left, true}};
    for (const Signature& row : tables.signatures)
      if (row.area == area.id)
        table.rows.push_back(
            {{row.id}, {std::string(message_kind_name(row.kind))}, {readable_text(row.says)}});
    if (!table.rows.empty()) report.tables.push_back(std::move(table));
  }
  return report;
}

} // namespace gpuvet
