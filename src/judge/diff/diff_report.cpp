#include "judge/diff/diff.hpp"

#include <fmt/core.h>

#include <map>

namespace gpuvet {
namespace {

constexpr size_t kMostOfOneKind = 12; // lines, unless everything is asked for
constexpr size_t kShort = 40;         // columns of a value that the first line can take

std::string clipped(const std::string& text) {
  return text.size() <= kShort ? text : text.substr(0, kShort - 3) + "...";
}

std::string verdict(const MachineDiff& diff) {
  if (diff.changes.empty())
    return diff.not_compared.empty() ? "Nothing changed"
                                     : "Nothing changed, as far as could be compared";
  const Change& first = diff.changes.front();
  const Change shown{.id = first.id,
                     .subject = first.subject,
                     .before = clipped(first.before),
                     .after = clipped(first.after)};
  std::string text = "Changed: " + shown.subject + ", " + in_words(shown);
  const size_t more = diff.changes.size() - 1;
  if (more > 0) text += fmt::format("; and {} more", more);
  return text;
}

} // namespace

std::string in_words(const Change& change) {
  if (change.before.empty()) return "new: " + change.after;
  if (change.after.empty()) return "gone: " + change.before;
  return change.before + " -> " + change.after;
}

Report diff_report(const MachineDiff& diff, const std::string& before, const std::string& after,
                   bool verbose) {
  Report report;
  report.verdict = verdict(diff) + " (" + before + " -> " + after + ")";
  report.state = diff.changes.empty() ? State::ok : State::warning;
  Table table;
  table.columns = {{"what"}, {"before -> after", Align::left, true}};
  std::map<std::string, size_t> of_kind;
  size_t left_out = 0;
  for (const Change& change : diff.changes) {
    if (++of_kind[change.id] > kMostOfOneKind && !verbose) {
      ++left_out;
      continue;
    }
    table.rows.push_back({{change.subject}, {in_words(change)}});
  }
  if (!table.rows.empty()) report.tables.push_back(std::move(table));
  for (const auto& [id, count] : of_kind)
    if (count > kMostOfOneKind && left_out > 0)
      report.notes.push_back(
          fmt::format("{} more of kind {}: -v shows them", count - kMostOfOneKind, id));
  for (const NotCompared& part : diff.not_compared)
    report.notes.push_back("not compared: " + part.subject + " (" + part.why + ")");
  return report;
}

} // namespace gpuvet
