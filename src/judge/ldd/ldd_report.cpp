#include "judge/ldd/ldd_report.hpp"

#include "base/text.hpp"
#include "judge/ldd/cuda_names.hpp"
#include "judge/ldd/tree_checks.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

namespace gpuvet {
namespace {

// In words that follow "one process of X": does it load at all?
enum class Fate { fine, remarks, doubtful, fails };

bool stops_loading(const Finding& finding) {
  return finding.id == "ldd-missing" || finding.id == "ldd-version" || finding.id == "ldd-symbol";
}

Fate fate_of(const Findings& findings) {
  Fate fate = Fate::fine;
  for (const Finding& finding : findings) {
    Fate one = stops_loading(finding)            ? Fate::fails
               : finding.state == State::fault   ? Fate::doubtful
               : finding.state == State::warning ? Fate::doubtful
                                                 : Fate::remarks;
    fate = std::max(fate, one);
  }
  return fate;
}

struct Counts {
  size_t libraries = 0, cuda = 0;
};

Counts count(const LoadTree& tree) {
  Counts counts;
  for (size_t i = 1; i < tree.nodes.size(); ++i) {
    ++counts.libraries;
    if (!cuda_name(tree.nodes[i].soname).library.empty()) ++counts.cuda;
  }
  return counts;
}

std::string counted(const LoadTree& tree) {
  Counts counts = count(tree);
  std::string text =
      fmt::format("{} librar{}", counts.libraries, counts.libraries == 1 ? "y" : "ies");
  if (counts.cuda) text += fmt::format(", {} of CUDA", counts.cuda);
  return text;
}

std::string name_of(const LddSubject& subject) {
  if (subject.kind != AskedKind::file) return subject.asked;
  return subject.asked.substr(subject.asked.rfind('/') + 1);
}

std::string fine_text(const LddSubject& subject) {
  const LoadTree& tree = subject.tree;
  if (subject.kind == AskedKind::soname && !tree.nodes.empty() && !tree.nodes[0].needs.empty()) {
    const LoadEdge& edge = tree.nodes[0].needs.front();
    return fmt::format("{} is {} (by {}).", subject.asked, edge.real_path, edge.by);
  }
  if (subject.kind == AskedKind::process)
    return fmt::format("{}: what is loaded fits together ({}).", subject.asked, counted(tree));
  return fmt::format("{}: everything is found ({}).", name_of(subject), counted(tree));
}

std::string verdict_of(const LddSubject& subject, const Findings& findings) {
  Fate fate = fate_of(findings);
  if (fate == Fate::fine || fate == Fate::remarks) return fine_text(subject);
  const Finding& first = findings.front();
  std::string mend = first.fixes.empty() ? "" : " Mend: " + first.fixes.front() + ".";
  if (fate == Fate::fails && subject.kind == AskedKind::soname &&
      first.title.starts_with(subject.asked))
    return first.title + "." + mend;
  const char* how = fate == Fate::fails                  ? "does not load"
                    : subject.kind == AskedKind::process ? "runs, but"
                                                         : "loads, but";
  return fmt::format("{} {}{} {}.{}", name_of(subject), how, fate == Fate::fails ? ":" : "",
                     first.title, mend);
}

State state_of(Fate fate) {
  switch (fate) {
  case Fate::fails:
    return State::fault;
  case Fate::doubtful:
    return State::warning;
  case Fate::fine:
  case Fate::remarks:
    break;
  }
  return State::ok;
}

const char* word_of(Fate fate) {
  switch (fate) {
  case Fate::fails:
    return "does not load";
  case Fate::doubtful:
    return "loads, see below";
  case Fate::fine:
  case Fate::remarks:
    break;
  }
  return "fine";
}

// Names that libraries ask for while they run and that are not there; the driver's most of all.
void add_run_time_notes(const LoadTree& tree, std::vector<std::string>& notes) {
  std::map<std::string, std::set<std::string>> asked; // name, by whom
  for (const LoadNode& node : tree.nodes)
    for (const LoadEdge& edge : node.needs)
      if (edge.rule == FoundBy::not_found && edge.at_run_time)
        asked[edge.name].insert(node.soname.empty() ? node.path : node.soname);
  for (const auto& [name, by] : asked)
    notes.push_back(
        fmt::format("{} is not found here; {} will ask for it at run time{}", name,
                    joined({by.begin(), by.end()}),
                    cuda_name(name).library == "cuda" || cuda_name(name).library == "nvidia-ml"
                        ? " (it comes with the NVIDIA driver)"
                        : ""));
}

// Which CUDA each package brings, where they differ: harmless until one program imports both.
void add_package_note(const LddResult& result, std::vector<std::string>& notes) {
  std::map<uint32_t, std::vector<std::string>> packages;
  for (const LddSubject& subject : result.subjects) {
    if (subject.kind != AskedKind::package) continue;
    std::set<uint32_t> majors;
    for (const LoadNode& node : subject.tree.nodes)
      if (uint32_t cuda = cuda_name(node.soname).cuda) majors.insert(cuda);
    for (uint32_t major : majors)
      packages[major].push_back(subject.asked);
  }
  if (packages.size() < 2) return;
  std::vector<std::string> parts;
  for (const auto& [major, names] : packages)
    parts.push_back(fmt::format("CUDA {}: {}", major, joined(names)));
  notes.push_back("packages of several CUDA versions meet when one program imports them: " +
                  joined(parts, "; "));
}

void add_notes(const LddResult& result, Report& report) {
  std::set<std::string> told;
  auto add = [&](const std::vector<std::string>& notes) {
    for (const std::string& note : notes)
      if (told.insert(note).second) report.notes.push_back(note);
  };
  for (const LddSubject& subject : result.subjects) {
    std::vector<std::string> notes;
    add_run_time_notes(subject.tree, notes);
    add(notes);
    add(subject.tree.notes);
  }
  std::vector<std::string> notes;
  add_package_note(result, notes);
  add(notes);
  add(result.notes);
}

void judge_several(const LddResult& result, Report& report) {
  Table table{{{"WHAT"}, {"LIBRARIES", Align::right}, {"CUDA", Align::right}, {"RESULT"}}, {}};
  std::vector<std::string> failing, doubtful;
  Fate worst = Fate::fine;
  for (const LddSubject& subject : result.subjects) {
    Findings findings = ldd_findings(subject);
    Fate fate = fate_of(findings);
    worst = std::max(worst, fate);
    if (fate == Fate::fails) failing.push_back(name_of(subject));
    if (fate == Fate::doubtful) doubtful.push_back(name_of(subject));
    Counts counts = count(subject.tree);
    table.rows.push_back({{subject.asked},
                          {fmt::format("{}", counts.libraries)},
                          {fmt::format("{}", counts.cuda)},
                          {word_of(fate), state_of(fate)}});
    for (Finding& finding : findings) {
      finding.title = name_of(subject) + ": " + finding.title;
      report.findings.push_back(std::move(finding));
    }
  }
  report.state = state_of(worst);
  if (!failing.empty()) report.verdict = "Does not load: " + joined(failing) + ".";
  if (!doubtful.empty())
    report.verdict += fmt::format("{}Loads, but something does not fit: {}.",
                                  report.verdict.empty() ? "" : " ", joined(doubtful));
  if (report.verdict.empty())
    report.verdict = fmt::format("Everything is found for all {}.", result.subjects.size());
  report.tables.push_back(std::move(table));
}

} // namespace

std::vector<Finding> ldd_findings(const LddSubject& subject) {
  Findings findings;
  find_missing(subject, findings);
  bool complete = findings.empty();
  find_version_gaps(subject.tree, findings);
  // Without all its libraries every function would seem to be lacking.
  if (complete) find_lacking_symbols(subject.tree, findings);
  find_odd_drivers(subject.tree, findings);
  find_mixtures(subject.tree, findings);
  find_cudnn_mixture(subject.tree, findings);
  find_changes(subject, findings);
  find_lost_run_paths(subject.tree, findings);
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    auto rank = [](const Finding& finding) {
      return finding.state == State::fault ? 0 : finding.state == State::warning ? 1 : 2;
    };
    return rank(a) < rank(b);
  });
  return findings;
}

Report ldd_report(const LddResult& result) {
  Report report;
  if (result.subjects.empty()) {
    report.state = State::unknown;
    report.verdict = result.errors.empty() ? "Nothing to look at." : "Nothing could be looked at.";
  } else if (result.subjects.size() == 1) {
    const LddSubject& subject = result.subjects.front();
    report.findings = ldd_findings(subject);
    report.verdict = verdict_of(subject, report.findings);
    report.state = state_of(fate_of(report.findings));
  } else {
    judge_several(result, report);
  }
  add_notes(result, report);
  return report;
}

} // namespace gpuvet
