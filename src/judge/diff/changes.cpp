#include "judge/diff/changes.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet::diff {

void Changes::compare(const std::string& id, const std::string& subject, const std::string& before,
                      const std::string& after) {
  if (before == after) return;
  into_.changes.push_back({.id = id, .subject = subject, .before = before, .after = after});
}

void Changes::not_compared(const std::string& subject, const std::string& why) {
  into_.not_compared.push_back({.subject = subject, .why = why});
}

std::string Changes::one_sided(bool known_before, const std::string& why) {
  std::string text = known_before ? "not known now" : "not known before";
  return why.empty() ? text : text + ": " + why;
}

void Changes::compare_maps(const std::string& id, const std::string& subject_start,
                           const std::map<std::string, std::string>& before,
                           const std::map<std::string, std::string>& after) {
  std::map<std::string, std::pair<std::string, std::string>> both;
  for (const auto& [name, value] : before)
    both[name].first = value.empty() ? "(empty)" : value;
  for (const auto& [name, value] : after)
    both[name].second = value.empty() ? "(empty)" : value;
  for (const auto& [name, values] : both)
    compare(id, subject_start + name, values.first, values.second);
}

void Changes::compare_sets(const std::string& id, const std::string& subject,
                           const std::set<std::string>& before,
                           const std::set<std::string>& after) {
  for (const std::string& text : before)
    if (!after.count(text)) compare(id, subject, text, "");
  for (const std::string& text : after)
    if (!before.count(text)) compare(id, subject, "", text);
}

void merge_equal(MachineDiff& diff, size_t first, const std::string& start, size_t count,
                 const std::string& all) {
  std::vector<Change> merged;
  std::vector<std::vector<std::string>> names; // of the subjects of each
  for (size_t i = first; i < diff.changes.size(); ++i) {
    const Change& change = diff.changes[i];
    const std::string name =
        change.subject.starts_with(start) ? change.subject.substr(start.size()) : change.subject;
    auto same = std::find_if(merged.begin(), merged.end(), [&](const Change& other) {
      return other.id == change.id && other.before == change.before && other.after == change.after;
    });
    if (same == merged.end()) {
      merged.push_back(change);
      names.push_back({name});
    } else {
      names[static_cast<size_t>(same - merged.begin())].push_back(name);
    }
  }
  constexpr size_t kNamed = 2;
  for (size_t i = 0; i < merged.size(); ++i) {
    if (names[i].size() == 1) continue;
    if (names[i].size() == count && !all.empty()) {
      merged[i].subject = all;
      continue;
    }
    std::string subject = start;
    for (size_t k = 0; k < names[i].size() && k < kNamed; ++k)
      subject += (k ? ", " : "") + names[i][k];
    if (names[i].size() > kNamed) subject += fmt::format(" and {} more", names[i].size() - kNamed);
    merged[i].subject = subject;
  }
  diff.changes.resize(first);
  diff.changes.insert(diff.changes.end(), merged.begin(), merged.end());
}

} // namespace gpuvet::diff
