#include "judge/arch/plan_report.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "judge/load/outcome_word.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

constexpr size_t kNamesInVerdict = 4;

std::string and_list(const std::vector<std::string>& names) {
  if (names.size() < 2) return names.empty() ? "" : names[0];
  std::vector<std::string> head(names.begin(), names.end() - 1);
  return joined(head) + " and " + names.back();
}

std::string devices_text(const PlanRequest& request) {
  std::vector<std::string> names;
  for (const LoadDevice& device : request.devices)
    names.push_back(device.name);
  if (names.size() <= kNamesInVerdict) return and_list(names);
  return fmt::format("all {} GPUs", names.size());
}

// "Kokkos and Numba fall short."
std::string systems_text(const Plan& plan) {
  std::vector<std::string> names;
  for (const SystemPlan& system : plan.systems)
    if (!system.shortcomings.empty()) names.push_back(system.system->tool);
  if (names.empty()) return {};
  if (names.size() > kNamesInVerdict)
    return fmt::format(" {} of {} build systems fall short.", names.size(), plan.systems.size());
  return fmt::format(" {} {} short.", and_list(names), names.size() == 1 ? "falls" : "fall");
}

std::string verdict_text(const Plan& plan, const PlanRequest& request) {
  if (!plan.shortcomings.empty()) {
    std::string text = "No list: " + plan.shortcomings[0].what + ".";
    if (plan.shortcomings.size() > 1)
      text += fmt::format(" Not served either: {} more.", plan.shortcomings.size() - 1);
    return text;
  }
  bool none = !plan.systems.empty() &&
              std::all_of(plan.systems.begin(), plan.systems.end(),
                          [](const SystemPlan& system) { return !system.shortcomings.empty(); });
  if (none) return "No line: " + plan.systems[0].shortcomings[0].what + ".";
  std::vector<std::string> targets;
  for (Target target : plan.targets)
    targets.push_back(cc_name(target.sm) +
                      (target.suffix ? std::string(1, target.suffix) : std::string()));
  std::string text = "Build for " + and_list(targets);
  if (plan.ptx) text += fmt::format(", with PTX of {}", cc_name(plan.ptx->sm));
  bool native = std::all_of(plan.runs.begin(), plan.runs.end(), [](const PlannedRun& run) {
    return run.verdict.outcome == LoadOutcome::native;
  });
  return fmt::format("{}: {} on {}.{}", text, native ? "native" : "machine code",
                     devices_text(request), systems_text(plan));
}

Table entry_table(const Plan& plan, const PlanRequest& request, const PlannedSizes* sizes) {
  Table table{{{"ENTRY"}}, {}};
  if (sizes) table.columns.push_back({"SIZE", Align::right});
  table.columns.push_back({"FOR", Align::left, true});
  CodeSet ordered = plan.codes;
  std::stable_partition(ordered.begin(), ordered.end(), [](const Code& code) { return !code.ptx; });
  for (const Code& code : ordered) {
    std::vector<Cell> row = {{code_name(code)}};
    std::string purpose = entry_purpose(plan, request, code);
    if (sizes) {
      for (const PlannedSize& size : sizes->entries) {
        if (size.code != code) continue;
        row.push_back({size.bytes ? (size.like.empty() ? "" : "about ") + human_bytes(*size.bytes)
                                  : std::string("?")});
        if (!size.like.empty()) purpose += fmt::format(" (size as {})", size.like);
      }
    }
    row.push_back({purpose});
    table.rows.push_back(std::move(row));
  }
  return table;
}

// Where some GPU is not served: how each runs what the rest of the list makes.
Table device_table(const Plan& plan, const PlanRequest& request) {
  Table table{{{"GPU"}, {"RUNS"}, {"LOADS", Align::left, true}}, {}};
  for (size_t i = 0; i < request.devices.size(); ++i) {
    const PlannedRun& run = plan.runs[i];
    bool good = runs_machine_code(run);
    table.rows.push_back({{device_text(request.devices[i])},
                          {run_text(run), good ? State::ok : State::fault},
                          {run.code ? code_name(*run.code) : run.verdict.reason}});
  }
  return table;
}

Finding finding_of(const Shortcoming& shortcoming, const std::string& id) {
  Finding finding;
  finding.id = id;
  finding.state = State::fault;
  finding.title = shortcoming.what;
  finding.fixes = shortcoming.fixes;
  return finding;
}

// Which toolkits and drivers the list is for.
void add_notes(Report& report, const Plan& plan, const PlanRequest& request) {
  const Toolkit& toolkit = *plan.toolkit;
  std::string range = plan.last_toolkit.empty()
                          ? fmt::format("CUDA {} and newer", plan.first_toolkit)
                      : plan.first_toolkit == plan.last_toolkit
                          ? "CUDA " + plan.first_toolkit
                          : fmt::format("CUDA {} to {}", plan.first_toolkit, plan.last_toolkit);
  report.notes.push_back(fmt::format("every target of the list is known to {}{}", range,
                                     request.toolkit_named ? "" : "; name yours with --toolkit"));
  bool compat = std::any_of(plan.runs.begin(), plan.runs.end(), [](const PlannedRun& run) {
    return run.verdict.outcome == LoadOutcome::same_major;
  });
  if (compat)
    report.notes.push_back("compat: machine code for a lower minor version, or for the family");
  for (size_t i = 0; i < request.devices.size(); ++i) {
    const PlannedRun& run = plan.runs[i];
    Target own{request.devices[i].sm, 0};
    bool could = std::find(toolkit.sass_targets.begin(), toolkit.sass_targets.end(), own) !=
                 toolkit.sass_targets.end();
    if (run.verdict.outcome == LoadOutcome::same_major && !could)
      report.notes.push_back(fmt::format(
          "CUDA {} has no target of its own for {}: it runs the code for {}", toolkit.version,
          device_text(request.devices[i]), cc_name(run.code->target.sm)));
  }
  if (plan.ptx && !toolkit.min_driver_linux.empty() && request.toolkit_named) {
    auto full = parse_version(toolkit.min_driver_linux);
    auto minor = parse_version(toolkit.minor_driver_linux);
    std::string earlier =
        full && minor && *minor < *full
            ? fmt::format("; machine code starts with {} already", toolkit.minor_driver_linux)
            : "";
    report.notes.push_back(fmt::format("PTX of CUDA {} is compiled by driver {} and newer{}",
                                       toolkit.version, toolkit.min_driver_linux, earlier));
  }
  if (!plan.ptx)
    report.notes.push_back("without PTX nothing runs on GPUs of a newer major version");
}

void add_size_notes(Report& report, const PlannedSizes& sizes) {
  report.notes.push_back(fmt::format("GPU code: {}{} in this list, {} in the earlier build",
                                     sizes.whole ? "about " : "at least ", human_bytes(sizes.total),
                                     human_bytes(sizes.now)));
}

} // namespace

std::string run_text(const PlannedRun& run) {
  return outcome_word(run.verdict.outcome);
}

std::string entry_purpose(const Plan& plan, const PlanRequest& request, const Code& code) {
  std::string text;
  for (const char* how : {"native", "compat", "jit", "may fail"}) {
    std::vector<std::string> names;
    for (size_t i = 0; i < request.devices.size(); ++i)
      if (plan.runs[i].code == code && run_text(plan.runs[i]) == how)
        names.push_back(device_text(request.devices[i]));
    if (!names.empty())
      text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", how, joined(names));
  }
  if (!text.empty()) return text;
  if (code.ptx)
    return fmt::format("GPUs newer than {}, compiled at their first start",
                       cc_name(code.target.sm));
  return "no GPU of this list";
}

Report plan_report(const Plan& plan, const PlanRequest& request, const PlannedSizes* sizes) {
  Report report;
  report.verdict = verdict_text(plan, request);
  report.state = stands(plan) ? State::ok : State::fault;
  if (plan.shortcomings.empty())
    report.tables.push_back(entry_table(plan, request, sizes));
  else if (!plan.codes.empty() && plan.shortcomings.size() == plan.unserved.size())
    report.tables.push_back(device_table(plan, request));
  for (const Shortcoming& shortcoming : plan.shortcomings)
    report.findings.push_back(finding_of(shortcoming, "target-not-known"));
  for (const SystemPlan& system : plan.systems)
    for (const Shortcoming& shortcoming : system.shortcomings)
      report.findings.push_back(finding_of(shortcoming, system.system->id));
  if (!plan.shortcomings.empty()) return report;
  add_notes(report, plan, request);
  if (sizes) add_size_notes(report, *sizes);
  return report;
}

std::vector<SystemLines> plan_lines(const Plan& plan, Shell shell) {
  std::vector<SystemLines> all;
  for (const SystemPlan& made : plan.systems) {
    if (made.value.empty() || !made.shortcomings.empty()) continue;
    SystemLines lines{made.system->tool, {}, made.notes};
    if (made.system->set_by == "file") lines.title += ", in " + made.system->file;
    auto given = value_lines(*made.system, made.value, shell);
    if (given)
      lines.lines = *given;
    else
      lines.notes.insert(lines.notes.begin(), given.error().what);
    all.push_back(std::move(lines));
  }
  return all;
}

} // namespace gpuvet
