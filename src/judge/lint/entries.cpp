#include "judge/lint/entries.hpp"

#include "base/text.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

bool take_end(std::string_view& text, std::string_view end) {
  if (text.size() < end.size()) return false;
  if (lower_ascii(text.substr(text.size() - end.size())) != lower_ascii(end)) return false;
  text.remove_suffix(end.size());
  return true;
}

std::string digits(const ListEntry& entry) {
  std::string made = std::to_string(entry.target.sm);
  if (entry.target.suffix) made += entry.target.suffix;
  return made;
}

std::string dotted(const ListEntry& entry) {
  std::string made = cc_name(entry.target.sm);
  if (entry.target.suffix) made += entry.target.suffix;
  return made;
}

bool only_ptx(const ListEntry& entry) {
  return entry.virtual_only || entry.style == NumberStyle::virtual_code;
}

bool has(const std::vector<std::string>& list, std::string_view text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

} // namespace

ListEntry parse_entry(std::string_view text) {
  ListEntry entry;
  entry.text = text;
  std::string_view rest = text;
  entry.plus_ptx = take_end(rest, "+PTX");
  entry.real_only = take_end(rest, "-real");
  entry.virtual_only = take_end(rest, "-virtual");
  if (rest.ends_with(')'))
    if (size_t open = rest.find('('); open != rest.npos) {
      entry.from = parse_target(rest.substr(open + 1, rest.size() - open - 2));
      if (entry.from) rest = rest.substr(0, open);
    }
  auto target = parse_target(rest);
  if (!target || target->sm < 10) return entry;
  entry.is_target = true;
  entry.target = *target;
  std::string lower = lower_ascii(rest);
  if (lower.starts_with("sm"))
    entry.style = NumberStyle::machine;
  else if (lower.starts_with("compute"))
    entry.style = NumberStyle::virtual_code;
  else if (rest.find('.') != rest.npos)
    entry.style = NumberStyle::dotted;
  return entry;
}

std::vector<ListEntry> parse_entries(std::string_view value, std::string& used) {
  std::vector<ListEntry> entries;
  size_t begin = 0;
  for (size_t i = 0; i <= value.size(); ++i) {
    bool mark = i < value.size() && std::string_view(";, :|\t\n").find(value[i]) != value.npos;
    if (i < value.size() && !mark) continue;
    std::string_view text = value.substr(begin, i - begin);
    bool link_time = text.starts_with("lto_");
    ListEntry entry = parse_entry(link_time ? text.substr(4) : text);
    entry.text = text;
    if (link_time) entry.style = NumberStyle::link_time;
    entry.begin = begin;
    entry.end = i;
    entries.push_back(std::move(entry));
    if (mark && used.find(value[i]) == std::string::npos) used += value[i];
    begin = i + 1;
  }
  return entries;
}

std::optional<std::string> spelled(const ListEntry& entry, std::string_view number) {
  if (!entry.is_target) return std::nullopt;
  bool ptx_alone = only_ptx(entry);
  if (number == "dotted") {
    if (ptx_alone || entry.from) return std::nullopt;
    return dotted(entry) + (entry.plus_ptx ? "+PTX" : "");
  }
  if (number == "integer") {
    if (ptx_alone || entry.plus_ptx || entry.from) return std::nullopt;
    return digits(entry);
  }
  if (number == "cmake") {
    if (entry.from) return std::nullopt;
    if (ptx_alone) return digits(entry) + "-virtual";
    bool alone = entry.real_only || entry.style == NumberStyle::machine;
    return digits(entry) + (alone && !entry.plus_ptx ? "-real" : "");
  }
  if (number == "prefixed") {
    if (entry.style == NumberStyle::link_time) return "lto_" + digits(entry);
    if (entry.plus_ptx || entry.from) return std::nullopt;
    return (ptx_alone ? "compute_" : "sm_") + digits(entry);
  }
  if (number == "pair") {
    if (!entry.from || entry.plus_ptx) return std::nullopt;
    bool points = entry.text.find('.') != std::string::npos;
    return points ? fmt::format("{}({})", dotted(entry), cc_name(entry.from->sm))
                  : fmt::format("{}({})", digits(entry), entry.from->sm);
  }
  return std::nullopt;
}

std::optional<std::string> spelled_for(const ListEntry& entry, const LintVariable& variable) {
  if (entry.target.suffix && variable.suffixes.find(entry.target.suffix) == std::string::npos)
    return std::nullopt;
  for (const std::string& number : variable.numbers)
    if (auto text = spelled(entry, number)) {
      // "+PTX" is a word of some dotted lists only.
      if (entry.plus_ptx && number == "dotted" && variable.ptx != "plus") continue;
      return text;
    }
  return std::nullopt;
}

bool is_spelled_for(const ListEntry& entry, const LintVariable& variable) {
  if (entry.target.suffix && variable.suffixes.find(entry.target.suffix) == std::string::npos)
    return false;
  if (entry.plus_ptx && variable.ptx != "plus") return false;
  return std::any_of(
      variable.numbers.begin(), variable.numbers.end(),
      [&](const std::string& number) { return spelled(entry, number) == entry.text; });
}

std::optional<GencodePair> parse_gencode(std::string_view value) {
  GencodePair pair;
  size_t code = value.find("code=");
  if (!value.starts_with("arch=")) return std::nullopt;
  size_t end = code == value.npos ? value.size() : code;
  std::string_view arch = value.substr(5, end - 5);
  while (arch.ends_with(',') || arch.ends_with(' '))
    arch.remove_suffix(1);
  pair.arch = arch;
  if (code == value.npos) return pair;
  std::string_view codes = value.substr(code + 5);
  for (std::string part : split_at(codes, ',')) {
    std::erase_if(
        part, [](char c) { return c == '[' || c == ']' || c == '"' || c == '\'' || c == '\\'; });
    pair.codes.push_back(std::string(trimmed(part)));
  }
  return pair;
}

std::vector<CodeTarget> code_targets(const std::vector<ListEntry>& entries,
                                     const LintVariable& variable) {
  std::vector<CodeTarget> made;
  bool all_dotted = std::all_of(entries.begin(), entries.end(), [](const ListEntry& entry) {
    return !entry.is_target || entry.style == NumberStyle::dotted;
  });
  for (const ListEntry& entry : entries) {
    if (!entry.is_target) continue;
    CodeTarget one{entry.target, true, false};
    if (variable.ptx == "plus") {
      one.ptx = entry.plus_ptx || only_ptx(entry);
      one.sass = !only_ptx(entry);
    }
    if (variable.ptx == "cmake") {
      one.ptx = !entry.real_only;
      one.sass = !entry.virtual_only;
    }
    if (variable.ptx == "prefix") one.ptx = only_ptx(entry);
    if (variable.ptx_only) one = {entry.target, false, true};
    made.push_back(one);
  }
  // TensorFlow gives PTX to the last of a list of plain numbers.
  if (variable.ptx == "prefix" && has(variable.numbers, "dotted") && all_dotted && !made.empty())
    made.back().ptx = true;
  return made;
}

bool nearly_same(std::string_view a, std::string_view b, size_t most) {
  if (a.size() > 64 || b.size() > 64) return false;
  std::vector<std::vector<size_t>> cost(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i)
    for (size_t k = 0; k <= b.size(); ++k) {
      if (i == 0 || k == 0) {
        cost[i][k] = i + k;
        continue;
      }
      size_t change = cost[i - 1][k - 1] + (a[i - 1] == b[k - 1] ? 0 : 1);
      cost[i][k] = std::min({cost[i - 1][k] + 1, cost[i][k - 1] + 1, change});
      if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
        cost[i][k] = std::min(cost[i][k], cost[i - 2][k - 2] + 1);
    }
  return cost[a.size()][b.size()] <= most;
}

} // namespace gpuvet
