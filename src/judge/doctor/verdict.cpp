#include "base/text.hpp"
#include "judge/doctor/doctor_report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>

namespace gpuvet {
namespace {

constexpr size_t kLineBytes = 80;

// "8 NVIDIA H200", "NVIDIA T4 and 2 NVIDIA L4"
std::string gpus_text(const Machine& machine) {
  std::map<std::string, int> names;
  for (const NvmlGpu& gpu : machine.nvml.gpus)
    if (gpu.error == 0) ++names[gpu.name.empty() ? "GPU without a name" : gpu.name];
  std::string text;
  for (const auto& [name, count] : names)
    text += (text.empty() ? "" : ", ") + (count > 1 ? fmt::format("{} {}", count, name) : name);
  return text;
}

std::string driver_text(const Machine& machine) {
  std::string text;
  if (!machine.nvml.driver_version.empty())
    text = ", driver " + machine.nvml.driver_version;
  else if (machine.kernel.module_version)
    text = ", driver " + *machine.kernel.module_version;
  if (machine.cuda.driver_api)
    text += fmt::format(", CUDA {}.{}", *machine.cuda.driver_api / 1000,
                        *machine.cuda.driver_api % 1000 / 10);
  return text;
}

// Why the machine cannot be called healthy although no check fires; empty: it can.
std::string what_is_missing(const Diagnosis& diagnosis, const Machine& machine) {
  if (!diagnosis.not_finished.empty())
    return "the deadline cut short: " + joined(diagnosis.not_finished);
  if (machine.nvml.asked.state != AskState::answered)
    return "NVML was not asked or did not answer: " + machine.nvml.asked.problem;
  bool all_work = std::all_of(machine.nvml.gpus.begin(), machine.nvml.gpus.end(),
                              [](const NvmlGpu& gpu) { return gpu.error == 0; });
  if (!all_work) return "not every GPU answers through NVML";
  bool cuda_fine = machine.cuda.asked.state == AskState::answered ||
                   machine.cuda.asked.state == AskState::skipped;
  return cuda_fine ? "" : "the CUDA driver did not answer: " + machine.cuda.asked.problem;
}

std::string first_command(const std::vector<Fix>& fixes) {
  return fixes.empty() ? "" : fixes.front().text;
}

// A symptom that nothing explains is a fault of its own.
const SymptomResult* unexplained(const Diagnosis& diagnosis) {
  for (const SymptomResult& symptom : diagnosis.symptoms)
    if (symptom.causes.empty()) return &symptom;
  return nullptr;
}

DoctorVerdict from_cause(const CheckResult& cause) {
  DoctorVerdict verdict;
  verdict.verdict = cause.severity == Severity::blocker ? DoctorOutcome::broken
                    : cause.severity == Severity::error ? DoctorOutcome::fault
                                                        : DoctorOutcome::warnings;
  verdict.text = (cause.outcome.missing.empty() ? "" : "likely, ") + cause.title;
  verdict.command = first_command(cause.fixes);
  verdict.id = cause.row->id;
  return verdict;
}

DoctorVerdict without_cause(const Diagnosis& diagnosis, const Machine& machine) {
  DoctorVerdict verdict;
  bool somewhere = machine.surroundings.wsl || machine.surroundings.jetson;
  if (!machine.kernel.functions && !somewhere && machine.nvml.gpus.empty()) {
    verdict.text = "whether there is a GPU is not known: " + machine.kernel.functions.why_unknown;
    return verdict;
  }
  if (pci_gpus(machine).empty() && machine.nvml.gpus.empty() && !somewhere) {
    verdict.verdict = DoctorOutcome::no_gpu;
    verdict.text = "there is no NVIDIA GPU here (none on the PCI bus)";
    return verdict;
  }
  if (std::string missing = what_is_missing(diagnosis, machine); !missing.empty()) {
    verdict.text = missing;
    return verdict;
  }
  verdict.verdict = DoctorOutcome::healthy;
  verdict.text = gpus_text(machine) + driver_text(machine);
  return verdict;
}

} // namespace

std::string verdict_name(DoctorOutcome verdict) {
  switch (verdict) {
  case DoctorOutcome::healthy:
    return "healthy";
  case DoctorOutcome::warnings:
    return "warnings";
  case DoctorOutcome::fault:
    return "fault";
  case DoctorOutcome::broken:
    return "broken";
  case DoctorOutcome::no_gpu:
    return "no-gpu";
  case DoctorOutcome::unknown:
    break;
  }
  return "unknown";
}

DoctorVerdict doctor_verdict(const Diagnosis& diagnosis, const Machine& machine, const Facts&) {
  const CheckResult* worst =
      diagnosis.causes.empty() ? nullptr : &diagnosis.checks[diagnosis.causes.front()];
  if (worst && worst->severity >= Severity::error) return from_cause(*worst);
  if (const SymptomResult* symptom = unexplained(diagnosis)) {
    DoctorVerdict verdict;
    verdict.verdict = DoctorOutcome::fault;
    verdict.text = symptom->symptom->title + "; the cause is open";
    verdict.id = symptom->symptom->id;
    return verdict;
  }
  // A cause that would be a warning by itself is a fault once something fails of it.
  for (size_t i : diagnosis.causes) {
    const CheckResult& cause = diagnosis.checks[i];
    if (cause.explains.empty()) continue;
    DoctorVerdict verdict = from_cause(cause);
    verdict.verdict = DoctorOutcome::fault;
    return verdict;
  }
  DoctorVerdict verdict = without_cause(diagnosis, machine);
  bool fine = verdict.verdict == DoctorOutcome::healthy || verdict.verdict == DoctorOutcome::no_gpu;
  if (fine && worst && worst->severity == Severity::warning) return from_cause(*worst);
  return verdict;
}

std::string one_line(const DoctorVerdict& verdict) {
  std::string line = verdict_name(verdict.verdict);
  if (!verdict.id.empty()) line += " " + verdict.id;
  line += ": " + verdict.text;
  if (line.size() <= kLineBytes) return line;
  size_t end = kLineBytes - 3;
  while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0) == 0x80)
    --end; // not inside a UTF-8 sequence
  return line.substr(0, end) + "...";
}

int exit_status(const Diagnosis& diagnosis, const DoctorVerdict& verdict, ExitProfile profile) {
  bool bad = verdict.verdict == DoctorOutcome::fault || verdict.verdict == DoctorOutcome::broken;
  bool unknown = verdict.verdict == DoctorOutcome::unknown;
  switch (profile) {
  case ExitProfile::nagios:
    return bad ? 2 : unknown ? 3 : verdict.verdict == DoctorOutcome::warnings ? 1 : 0;
  case ExitProfile::npd:
    return bad ? 1 : unknown ? 2 : 0;
  case ExitProfile::slurm: {
    // Only what is the machine's or the provider's fault may drain a node.
    auto of_node = [&](size_t i) {
      const CheckResult& check = diagnosis.checks[i];
      return check.severity >= Severity::error &&
             (check.row->blame == "node" || check.row->blame == "provider");
    };
    bool node = std::any_of(diagnosis.causes.begin(), diagnosis.causes.end(), of_node);
    return node || (bad && diagnosis.causes.empty()) ? 1 : 0;
  }
  case ExitProfile::standard:
    break;
  }
  return bad ? 1 : unknown ? 3 : 0;
}

} // namespace gpuvet
