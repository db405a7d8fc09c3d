#include "judge/doctor/diagnose.hpp"

#include "base/fill_text.hpp"
#include "judge/checks/subjects.hpp"
#include "judge/doctor/log_checks.hpp"

#include <algorithm>
#include <unordered_map>

namespace gpuvet {
namespace {

State state_of(const Outcome& outcome, Severity severity) {
  switch (outcome.answer) {
  case Answer::ok:
    return State::ok;
  case Answer::not_applicable:
    return State::not_applicable;
  case Answer::unknown:
    return State::unknown;
  case Answer::fires:
    break;
  }
  return gpuvet::state_of(severity);
}

std::string_view package_tag(PackageSystem system) {
  switch (system) {
  case PackageSystem::apt:
    return "apt";
  case PackageSystem::dnf:
    return "dnf";
  case PackageSystem::zypper:
    return "zypper";
  case PackageSystem::pacman:
    return "pacman";
  case PackageSystem::apk:
    return "apk";
  case PackageSystem::none:
    break;
  }
  return "";
}

std::string_view container_tag(ContainerKind kind) {
  switch (kind) {
  case ContainerKind::docker:
  case ContainerKind::wsl_docker:
    return "docker";
  case ContainerKind::podman:
    return "podman";
  case ContainerKind::kubernetes:
    return "kubernetes";
  case ContainerKind::singularity:
    return "singularity";
  case ContainerKind::lxc:
    return "lxc";
  default:
    return "other-container";
  }
}

// The words that a fix's `on` may name and that are true here.
std::set<std::string> tags_of(const Machine& machine) {
  std::set<std::string> tags;
  if (machine.distribution.id) tags.insert(*machine.distribution.id);
  if (std::string_view packages = package_tag(machine.distribution.packages); !packages.empty())
    tags.emplace(packages);
  const Surroundings& around = machine.surroundings;
  bool in_container = around.container && *around.container != ContainerKind::none;
  tags.insert(in_container ? "container" : "host");
  if (in_container) tags.emplace(container_tag(*around.container));
  if (around.wsl) tags.insert("wsl");
  if (around.jetson) tags.insert("jetson");
  return tags;
}

// A way out that names a field which the check did not give is for another case.
std::vector<Fix> fixes_for(const CheckRow& row, const Outcome& outcome,
                           const std::set<std::string>& tags) {
  std::vector<Fix> fixes;
  for (const CheckFix& fix : row.fixes) {
    bool here = fix.on.empty() || std::any_of(fix.on.begin(), fix.on.end(),
                                              [&](const auto& tag) { return tags.count(tag) > 0; });
    std::string own = first_choices(fix.command); // the other is for messages, see areas.toml
    if (here && can_fill(own, outcome.fields))
      fixes.push_back({fill_text(own, outcome.fields), fix.prose, fix.safety});
  }
  return fixes;
}

Outcome run_check(const CheckRow& row, const Machine& machine, const Facts& facts,
                  const std::unordered_map<std::string_view, CheckFunction>& code) {
  if (row.area == "xid") return xid_outcome(row, machine);
  if (!row.log.empty()) return log_outcome(row, machine);
  auto at = code.find(row.id);
  return at == code.end() ? not_known("this build has no such check") : at->second(machine, facts);
}

// On a machine that is known to have no GPU, what could not be seen of one is not missing.
void judge_without_gpu(CheckResult& result, bool no_gpu) {
  static const std::set<std::string_view> about_gpus = {"driver", "devices", "hardware",
                                                        "xid",    "fabric",  "cuda"};
  if (!no_gpu || result.outcome.answer != Answer::unknown || !about_gpus.count(result.row->area))
    return;
  result.outcome = not_applicable("there is no NVIDIA GPU here");
}

// A cause hides what follows from it, and what follows from that.
void hide_consequences(Diagnosis& diagnosis) {
  std::unordered_map<std::string_view, size_t> index;
  for (size_t i = 0; i < diagnosis.checks.size(); ++i)
    index.emplace(diagnosis.checks[i].row->id, i);
  for (size_t cause : diagnosis.causes) {
    if (!diagnosis.checks[cause].hidden_by.empty()) continue;
    std::vector<size_t> open{cause};
    std::set<size_t> done{cause};
    while (!open.empty()) {
      const CheckRow& row = *diagnosis.checks[open.back()].row;
      open.pop_back();
      for (const std::string& id : row.hides) {
        auto at = index.find(id);
        if (at == index.end() || !done.insert(at->second).second) continue;
        CheckResult& hidden = diagnosis.checks[at->second];
        if (hidden.hidden_by.empty()) hidden.hidden_by = diagnosis.checks[cause].row->id;
        open.push_back(at->second);
      }
    }
  }
  std::erase_if(diagnosis.causes, [&](size_t i) { return !diagnosis.checks[i].hidden_by.empty(); });
}

// Worst first; of equals the certain one, then the one that explains what was seen.
bool weighs_more(const CheckResult& a, const CheckResult& b) {
  if (a.severity != b.severity) return a.severity > b.severity;
  if (a.outcome.missing.empty() != b.outcome.missing.empty()) return a.outcome.missing.empty();
  return a.explains.size() > b.explains.size();
}

void join_symptoms(Diagnosis& diagnosis, const Machine& machine, const CheckTables& tables) {
  for (SeenSymptom& seen : seen_symptoms(machine)) {
    SymptomResult result;
    result.evidence = std::move(seen.evidence);
    for (const Symptom& symptom : tables.symptoms)
      if (symptom.id == seen.id) result.symptom = &symptom;
    if (!result.symptom) continue;
    for (size_t i = 0; i < diagnosis.checks.size(); ++i) {
      CheckResult& check = diagnosis.checks[i];
      const auto& ids = check.row->symptoms;
      if (std::find(ids.begin(), ids.end(), seen.id) == ids.end()) continue;
      if (check.outcome.answer == Answer::fires) {
        result.causes.push_back(i);
        check.explains.push_back(result.symptom->title);
      } else if (check.outcome.answer == Answer::unknown) {
        result.open.push_back(i);
      }
    }
    diagnosis.symptoms.push_back(std::move(result));
  }
}

} // namespace

State state_of(Severity severity) {
  if (severity == Severity::info) return State::info;
  return severity == Severity::warning ? State::warning : State::fault;
}

std::string severity_name(Severity severity) {
  switch (severity) {
  case Severity::info:
    return "info";
  case Severity::warning:
    return "warning";
  case Severity::error:
    return "error";
  case Severity::blocker:
    break;
  }
  return "blocker";
}

std::string safety_name(Safety safety) {
  switch (safety) {
  case Safety::safe:
    return "safe";
  case Safety::changes_files:
    return "changes-files";
  case Safety::needs_root:
    return "needs-root";
  case Safety::restarts_service:
    return "restarts-service";
  case Safety::reboot:
    return "reboot";
  case Safety::hardware:
    return "hardware";
  case Safety::provider:
    break;
  }
  return "provider";
}

std::string fill_in(const std::string& text, const std::map<std::string, std::string>& fields) {
  return fill_text(text, fields);
}

std::vector<const PciFunction*> pci_gpus(const Machine& machine) {
  std::vector<const PciFunction*> gpus;
  if (!machine.kernel.functions) return gpus;
  for (const PciFunction& function : *machine.kernel.functions)
    if (function.id.starts_with("10de:") && function.device_class >> 16 == 0x03)
      gpus.push_back(&function);
  return gpus;
}

Result<Diagnosis> diagnose(const Machine& machine, const Facts& facts,
                           const std::set<std::string>& areas) {
  auto tables = facts.checks();
  if (!tables) return tl::unexpected<Error>(tables.error());
  std::unordered_map<std::string_view, CheckFunction> code;
  for (const CheckCode& check : check_functions())
    code.emplace(check.id, check.run);
  std::set<std::string> tags = tags_of(machine);
  bool no_gpu = machine.kernel.functions && pci_gpus(machine).empty() &&
                machine.nvml.gpus.empty() && !machine.surroundings.wsl &&
                !machine.surroundings.jetson;

  Diagnosis diagnosis;
  diagnosis.not_finished = machine.not_finished;
  for (const CheckRow& row : (*tables)->checks) {
    if (!areas.empty() && !areas.count(row.area)) continue;
    CheckResult result;
    result.row = &row;
    result.outcome = run_check(row, machine, facts, code);
    judge_without_gpu(result, no_gpu);
    result.severity = result.outcome.severity.value_or(row.severity);
    result.state = state_of(result.outcome, result.severity);
    if (result.outcome.answer == Answer::fires) {
      result.title = fill_in(row.title, result.outcome.fields);
      result.cause = fill_in(row.cause, result.outcome.fields);
      result.fixes = fixes_for(row, result.outcome, tags);
      diagnosis.causes.push_back(diagnosis.checks.size());
    }
    diagnosis.checks.push_back(std::move(result));
  }
  join_symptoms(diagnosis, machine, **tables);
  std::stable_sort(diagnosis.causes.begin(), diagnosis.causes.end(), [&](size_t a, size_t b) {
    return weighs_more(diagnosis.checks[a], diagnosis.checks[b]);
  });
  hide_consequences(diagnosis);
  return diagnosis;
}

} // namespace gpuvet
