#include "judge/policy/check_report.hpp"

#include "base/units.hpp"
#include "judge/scan/words.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

constexpr size_t kFilesShown = 3;   // of one artefact and requirement
constexpr size_t kKernelsShown = 4; // of one group
constexpr size_t kFindings = 12;    // told in full

void add_shortfall(std::vector<std::string>& lines, const Shortfall& shortfall, bool with_reason) {
  std::string places = listed(shortfall.places);
  std::string line = fmt::format("{} fat binar{} ({}{})", shortfall.containers,
                                 shortfall.containers == 1 ? "y" : "ies", places,
                                 shortfall.containers > shortfall.places.size() ? ", ..." : "");
  if (with_reason) line += ": " + shortfall.reason;
  lines.push_back(std::move(line));
  std::vector<std::string> names; // shortened, so that instances of one template look alike
  for (const std::string& kernel : shortfall.kernels) {
    std::string name = readable_kernel(kernel);
    if (std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(std::move(name));
    if (names.size() == kKernelsShown) break;
  }
  std::string kernels;
  for (const std::string& name : names)
    kernels += (kernels.empty() ? "" : ", ") + name;
  if (shortfall.kernels.size() > names.size())
    kernels += fmt::format(" and {} more", shortfall.kernels.size() - names.size());
  if (!kernels.empty()) lines.push_back("kernels: " + kernels);
}

std::string counts_text(size_t yes, size_t no) {
  if (no == 0) return yes ? "met" : "-";
  return yes ? fmt::format("{} of {} fall short", no, yes + no) : "not met";
}

Table requirements_table(const PolicyCheck& result) {
  Table table{{{"REQUIREMENT"}, {"LINE", Align::right}, {"RESULT"}}, {}};
  for (size_t i = 0; i < result.requirements.size(); ++i) {
    size_t yes = 0, no = 0;
    auto count = [&](const std::vector<CheckedRequirement>& list) {
      for (const CheckedRequirement& one : list)
        if (one.requirement == i) {
          yes += one.met == Met::yes;
          no += one.met == Met::no;
        }
    };
    for (const CheckedArtefact& artefact : result.artefacts)
      count(artefact.requirements);
    count(result.overall);
    const PolicyRequirement& requirement = result.requirements[i];
    table.rows.push_back({{requirement.name},
                          {requirement.line ? std::to_string(requirement.line) : "-"},
                          {counts_text(yes, no), no    ? State::fault
                                                 : yes ? State::ok
                                                       : State::not_applicable}});
  }
  return table;
}

Table artefacts_table(const PolicyCheck& result) {
  Table table{{{"ARTEFACT"}, {"SIZE", Align::right}, {"GPU CODE", Align::right}, {"RESULT"}}, {}};
  for (const CheckedArtefact& artefact : result.artefacts) {
    size_t no = static_cast<size_t>(
        std::count_if(artefact.requirements.begin(), artefact.requirements.end(),
                      [](const CheckedRequirement& one) { return one.met == Met::no; }));
    Cell cell{no ? fmt::format("falls short of {}", no) : "ok", no ? State::fault : State::ok};
    if (!artefact.errors.empty() || !artefact.problems.empty())
      cell = {"not all readable", State::unknown};
    else if (!no && artefact.files_with_code == 0)
      cell = {"no GPU code", State::not_applicable};
    table.rows.push_back({{artefact.path},
                          {human_bytes(artefact.bytes)},
                          {artefact.gpu_code ? human_bytes(artefact.gpu_code) : "-"},
                          cell});
  }
  return table;
}

Finding finding_for(const PolicyCheck& result, const CheckedRequirement& checked,
                    const std::string& path, const std::vector<ErrorCode>& errors) {
  const PolicyRequirement& requirement = result.requirements[checked.requirement];
  Finding finding;
  finding.id = "check-" + requirement.id;
  finding.state = State::fault;
  finding.title = requirement.name;
  if (!path.empty()) finding.title = path + " falls short: " + requirement.name;
  if (requirement.line)
    finding.title += fmt::format(" ({}:{})", result.policy.file, requirement.line);
  finding.evidence = evidence_of(requirement, checked, errors);
  // A file that is the artefact itself is in the title.
  if (!finding.evidence.empty() && finding.evidence.front() == path)
    finding.evidence.erase(finding.evidence.begin());
  finding.cause = checked.why;
  if (!checked.fix.empty()) finding.fixes.push_back(checked.fix);
  return finding;
}

void set_verdict(Report& report, const PolicyCheck& result) {
  size_t short_of = 0;
  for (const CheckedArtefact& artefact : result.artefacts)
    short_of += std::any_of(artefact.requirements.begin(), artefact.requirements.end(),
                            [](const CheckedRequirement& one) { return one.met == Met::no; });
  if (!result.met()) {
    report.state = State::fault;
    report.verdict =
        short_of ? fmt::format("{} of {} artefact{} fall{} short of {}.", short_of,
                               result.artefacts.size(), result.artefacts.size() == 1 ? "" : "s",
                               short_of == 1 ? "s" : "", result.policy.file)
                 : fmt::format("The artefacts fall short of {}.", result.policy.file);
    return;
  }
  report.state = result.readable ? State::ok : State::unknown;
  size_t count = result.requirements.size();
  if (!result.readable)
    report.verdict = "Not everything could be read, so that nothing is settled.";
  else if (count == 1)
    report.verdict = fmt::format("The requirement of {} is met.", result.policy.file);
  else
    report.verdict = fmt::format("All {} requirements of {} are met.", count, result.policy.file);
}

} // namespace

std::vector<std::string> evidence_of(const PolicyRequirement& requirement,
                                     const CheckedRequirement& checked,
                                     const std::vector<ErrorCode>& errors) {
  bool show_error = requirement.id != "future-gpus";
  std::vector<std::string> lines;
  for (size_t i = 0; i < checked.files.size(); ++i) {
    if (i == kFilesShown) {
      lines.push_back(fmt::format("and {} more files: see --json", checked.files.size() - i));
      break;
    }
    const ShortFile& file = checked.files[i];
    // One file: its reason is the finding's.
    lines.push_back(checked.files.size() == 1 ? file.path : file.path + ": " + file.verdict.reason);
    int code = file.verdict.error;
    // A requirement of machine code, or for cards to come, is not an error that a program sees.
    if (code && code != 223 && show_error) {
      std::string text = error_text(code, errors);
      lines.push_back(
          fmt::format("the program sees CUDA error {}{}{}", code, text.empty() ? "" : ": ", text));
    }
    for (const Shortfall& shortfall : file.verdict.shortfalls)
      if (!shortfall.variant || file.verdict.coverage == Coverage::none)
        add_shortfall(lines, shortfall, file.verdict.shortfalls.size() > 1);
  }
  return lines;
}

Report check_report(const PolicyCheck& result, const std::vector<ErrorCode>& errors) {
  Report report;
  set_verdict(report, result);
  report.tables.push_back(requirements_table(result));
  report.tables.push_back(artefacts_table(result));
  size_t left = 0;
  auto add = [&](const CheckedRequirement& checked, const std::string& path) {
    if (checked.met != Met::no) return;
    if (report.findings.size() < kFindings)
      report.findings.push_back(finding_for(result, checked, path, errors));
    else
      ++left;
  };
  for (const CheckedArtefact& artefact : result.artefacts)
    for (const CheckedRequirement& checked : artefact.requirements)
      add(checked, artefact.path);
  for (const CheckedRequirement& checked : result.overall)
    add(checked, {});
  if (left) report.notes.push_back(fmt::format("{} more shortcomings: see --json", left));
  for (const CheckedArtefact& artefact : result.artefacts)
    for (const std::string& problem : artefact.problems)
      report.notes.push_back("damaged: " + problem);
  for (const std::string& note : result.policy.notes)
    report.notes.push_back(note);
  if (!result.compilers.empty())
    report.notes.push_back(fmt::format("{} file{} also make code at run time, which no check of "
                                       "files can judge",
                                       result.compilers.size(),
                                       result.compilers.size() == 1 ? "" : "s"));
  return report;
}

} // namespace gpuvet
