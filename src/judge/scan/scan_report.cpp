#include "judge/scan/scan_report.hpp"

#include "base/units.hpp"
#include "judge/scan/sizes.hpp"
#include "judge/scan/words.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>

namespace gpuvet {
namespace {

constexpr size_t kFindingsPerDevice = 3; // files told in full; the rest is counted
constexpr size_t kKernelsShown = 4;
constexpr size_t kReasonsShown = 3;

bool short_of(Coverage coverage) {
  return coverage == Coverage::none || coverage == Coverage::partial ||
         coverage == Coverage::may_fail;
}

struct DeviceSummary {
  size_t with_code = 0, none = 0, partial = 0, may_fail = 0;
  size_t jit = 0; // files of which some code is compiled at first use
  bool fine() const { return with_code > 0 && none + partial + may_fail == 0; }
};

DeviceSummary summarise(const ScanResult& result, size_t device) {
  DeviceSummary summary;
  for (const ScannedFile& file : result.files) {
    const FileVerdict& verdict = file.verdicts[device];
    if (verdict.coverage == Coverage::no_code) continue;
    ++summary.with_code;
    if (verdict.coverage == Coverage::none) ++summary.none;
    if (verdict.coverage == Coverage::partial) ++summary.partial;
    if (verdict.coverage == Coverage::may_fail) ++summary.may_fail;
    if (verdict.jit) ++summary.jit;
  }
  return summary;
}

// "T4 (3 of 41 files do not load, 1 lacks kernels)"; a single file needs no count.
std::string partly_text(const std::string& name, const DeviceSummary& summary) {
  if (summary.with_code == 1)
    return name + (summary.partial ? " (some kernels have no code)" : " (it may fail)");
  std::string text;
  auto add = [&](size_t count, const char* one, const char* many) {
    if (count)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, count == 1 ? one : many);
  };
  add(summary.none, "does not load", "do not load");
  add(summary.partial, "lacks code for some kernels", "lack code for some kernels");
  add(summary.may_fail, "may fail", "may fail");
  return fmt::format("{} (of {} files {})", name, summary.with_code, text);
}

const char* jit_remark(const DeviceSummary& summary) {
  if (summary.jit == 0) return "";
  return summary.jit == summary.with_code ? " (JIT)" : " (some of it by JIT)";
}

void set_nothing_found(Report& report, const ScanResult& result) {
  report.state = result.errors.empty() ? State::info : State::unknown;
  report.verdict = result.errors.empty() ? "No code for NVIDIA GPUs found."
                                         : "Nothing to judge: not everything could be read.";
}

void set_verdict(Report& report, const ScanResult& result) {
  std::vector<std::string> good, partly, bad;
  for (size_t i = 0; i < result.devices.size(); ++i) {
    DeviceSummary summary = summarise(result, i);
    const std::string& name = result.devices[i].name;
    if (summary.fine())
      good.push_back(name + jit_remark(summary));
    else if (summary.none == summary.with_code)
      bad.push_back(name);
    else
      partly.push_back(partly_text(name, summary));
  }
  auto say = [&](const char* what, const std::vector<std::string>& names) {
    if (!names.empty())
      report.verdict +=
          fmt::format("{}{} {}.", report.verdict.empty() ? "" : " ", what, listed(names));
  };
  say("Does not run on", bad);
  say("Runs only in part on", partly);
  say("Runs on", good);
  report.state = bad.empty() && partly.empty() ? State::ok : State::fault;
  if (report.verdict.empty()) set_nothing_found(report, result);
}

Finding finding_for(const ScannedFile& file, const FileVerdict& verdict, const LoadDevice& device,
                    const LoadEnvironment& environment, const std::vector<ErrorCode>& errors) {
  Finding finding;
  finding.id = "scan-" + coverage_name(verdict.coverage);
  finding.state = verdict.coverage == Coverage::none ? State::fault : State::warning;
  std::string label = fmt::format("{} ({})", device.name, cc_name(device.sm));
  if (device.name == cc_name(device.sm)) label = device.name;
  const char* what = verdict.coverage == Coverage::none      ? "nothing loads"
                     : verdict.coverage == Coverage::partial ? "some kernels have no code"
                                                             : "may fail";
  finding.title = fmt::format("{}: {} in {}", label, what, file.binary.path);
  finding.cause = verdict.reason;
  if (verdict.error) {
    std::string text = error_text(verdict.error, errors);
    finding.evidence.push_back(fmt::format("the program sees CUDA error {}{}{}", verdict.error,
                                           text.empty() ? "" : ": ", text));
  }
  size_t told = 0;
  for (const Shortfall& shortfall : verdict.shortfalls) {
    if (told++ == kReasonsShown) {
      finding.evidence.push_back(
          fmt::format("and {} more groups: see --json", verdict.shortfalls.size() - kReasonsShown));
      break;
    }
    if (shortfall.variant && verdict.coverage != Coverage::none) continue;
    std::string places = listed(shortfall.places);
    std::string line = fmt::format("{} fat binar{} ({}{})", shortfall.containers,
                                   shortfall.containers == 1 ? "y" : "ies", places,
                                   shortfall.containers > shortfall.places.size() ? ", ..." : "");
    if (verdict.shortfalls.size() > 1) line += ": " + shortfall.reason;
    finding.evidence.push_back(line);
    std::string kernels;
    for (size_t i = 0; i < shortfall.kernels.size() && i < kKernelsShown; ++i)
      kernels += (i ? ", " : "") + readable_kernel(shortfall.kernels[i]);
    if (shortfall.kernels.size() > kKernelsShown)
      kernels += fmt::format(" and {} more", shortfall.kernels.size() - kKernelsShown);
    if (!kernels.empty()) finding.evidence.push_back("kernels: " + kernels);
  }
  if (!verdict.driver_fix.empty()) {
    finding.fixes.push_back(verdict.driver_fix);
  } else if (verdict.error == 222) {
    if (!verdict.needs_driver.empty())
      finding.fixes.push_back(fmt::format("install driver {} or newer: {}", verdict.needs_driver,
                                          verdict.needs_driver_why));
  } else if (verdict.error == 223) {
    finding.fixes.push_back("unset CUDA_DISABLE_PTX_JIT and CUDA_DISABLE_JIT");
  } else if (verdict.error == 0 && verdict.coverage == Coverage::none) {
    finding.fixes.push_back("do not load it: kill the program that hangs, and get the file anew");
  } else if (verdict.error == 209) {
    finding.fixes.push_back(rebuild_fix(device, environment));
  } else if (verdict.error == 200 || verdict.error == 218 || verdict.error == 999) {
    finding.fixes.push_back("get the file anew: its GPU code is damaged");
  }
  return finding;
}

void add_findings(Report& report, const ScanResult& result, const std::vector<ErrorCode>& errors) {
  for (size_t i = 0; i < result.devices.size(); ++i) {
    size_t told = 0, left = 0;
    for (const ScannedFile& file : result.files) {
      const FileVerdict& verdict = file.verdicts[i];
      if (!short_of(verdict.coverage)) continue;
      if (told < kFindingsPerDevice) {
        report.findings.push_back(
            finding_for(file, verdict, result.devices[i], result.environment, errors));
        ++told;
      } else {
        ++left;
      }
    }
    if (left)
      report.notes.push_back(fmt::format("{}: {} more file{} fall short, see the table",
                                         result.devices[i].name, left, left == 1 ? "" : "s"));
  }
}

// The driver that everything together needs, per device; said only when none was given.
void add_driver_notes(Report& report, const ScanResult& result) {
  if (result.driver) {
    report.notes.push_back(
        fmt::format("judged for driver {} ({})", result.driver->text, result.driver_from));
    return;
  }
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> needs;
  for (size_t i = 0; i < result.devices.size(); ++i) {
    std::string driver, why;
    for (const ScannedFile& file : result.files) {
      const FileVerdict& verdict = file.verdicts[i];
      auto now = parse_version(driver), wanted = parse_version(verdict.needs_driver);
      if (!wanted || (now && *now >= *wanted)) continue;
      driver = verdict.needs_driver;
      why = verdict.needs_driver_why;
    }
    if (!driver.empty()) needs[{driver, why}].push_back(result.devices[i].name);
  }
  for (const auto& [need, names] : needs)
    report.notes.push_back(fmt::format("{} need{} driver {} or newer ({})", listed(names),
                                       names.size() == 1 ? "s" : "", need.first, need.second));
}

// The file's own name: paths of members are longer than a line.
std::string short_name(const std::string& path) {
  return path.substr(path.find_last_of("/!") + 1);
}

void add_file_notes(Report& report, const ScanResult& result) {
  constexpr size_t most = 8;
  size_t told = 0, left = 0;
  for (const ScannedFile& file : result.files) {
    for (const auto* list : {&file.binary.problems, &file.binary.notes})
      for (const std::string& note : *list) {
        if (told++ < most)
          report.notes.push_back(short_name(file.binary.path) + ": " + note);
        else
          ++left;
      }
  }
  if (left) report.notes.push_back(fmt::format("{} more notes: see --json", left));
  if (!result.compilers.empty()) {
    std::vector<std::string> some(
        result.compilers.begin(),
        result.compilers.begin() +
            static_cast<ptrdiff_t>(std::min<size_t>(4, result.compilers.size())));
    std::string more = result.compilers.size() > some.size()
                           ? fmt::format(" and {} more", result.compilers.size() - some.size())
                           : "";
    report.notes.push_back("some code is made at run time and cannot be judged here: " +
                           (more.empty() ? listed(some) : fmt::format("{}{}", listed(some), more)));
  }
}

} // namespace

Table files_table(const ScanResult& result, int width) {
  Table table{{{"FILE"}, {"SASS"}, {"PTX"}, {"GPU CODE", Align::right}}, {}};
  for (const LoadDevice& device : result.devices)
    table.columns.push_back({device.name});
  // Wider terminals show more targets; the file name gets the rest.
  size_t targets = width > 120 ? 60 : 24;
  for (const ScannedFile& file : result.files) {
    std::vector<Cell> row = {{file.binary.path},
                             {targets_cell(file.binary, ImageKind::cubin, targets)},
                             {targets_cell(file.binary, ImageKind::ptx, 11)},
                             {human_bytes(gpu_code_bytes(file.binary))}};
    for (const FileVerdict& verdict : file.verdicts)
      row.push_back(verdict_cell(verdict));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Report scan_report(const ScanResult& result, const ScanView& view,
                   const std::vector<ErrorCode>& errors) {
  Report report;
  if (result.files.empty()) {
    set_nothing_found(report, result);
    add_file_notes(report, result);
  } else {
    set_verdict(report, result);
    report.tables.push_back(files_table(result, view.width));
    add_findings(report, result, errors);
    std::string words = legend(result);
    if (!words.empty()) report.notes.push_back(words);
    if (!result.asked)
      report.notes.push_back("no NVIDIA GPU here and none named: shown for common ones; name yours "
                             "with --gpu");
    add_driver_notes(report, result);
    add_file_notes(report, result);
  }
  if (result.files_without_code && !result.files.empty())
    report.notes.push_back(
        fmt::format("{} more files hold no GPU code", result.files_without_code));
  for (const std::string& note : result.notes)
    report.notes.push_back(note);
  return report;
}

} // namespace gpuvet
