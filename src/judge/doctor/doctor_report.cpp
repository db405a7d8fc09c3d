#include "judge/doctor/doctor_report.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "judge/rules/words.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

constexpr size_t kOpenShown = 4; // undecided causes of a symptom told in full
constexpr size_t kEvidenceShown = 6;

std::string verdict_line(const DoctorVerdict& verdict) {
  std::string text;
  switch (verdict.verdict) {
  case DoctorOutcome::healthy:
    return "Healthy: " + verdict.text + ".";
  case DoctorOutcome::no_gpu:
    return "No GPU: " + verdict.text + ".";
  case DoctorOutcome::unknown:
    return "Unknown: " + verdict.text + ".";
  case DoctorOutcome::warnings:
    text = "Works, but: ";
    break;
  case DoctorOutcome::fault:
    text = "Fault: ";
    break;
  case DoctorOutcome::broken:
    text = "Broken: ";
    break;
  }
  text += verdict.text + ".";
  return verdict.command.empty() ? text : text + " Mend: " + verdict.command;
}

State verdict_state(DoctorOutcome verdict) {
  switch (verdict) {
  case DoctorOutcome::healthy:
    return State::ok;
  case DoctorOutcome::warnings:
    return State::warning;
  case DoctorOutcome::fault:
  case DoctorOutcome::broken:
    return State::fault;
  case DoctorOutcome::no_gpu:
    return State::info;
  case DoctorOutcome::unknown:
    break;
  }
  return State::unknown;
}

Finding finding_of(const CheckResult& check, bool verbose) {
  Finding finding;
  finding.id = check.row->id;
  finding.state = check.state;
  finding.title =
      fmt::format("{}: {} [{}]", severity_name(check.severity), check.title, check.row->id);
  const auto& evidence = check.outcome.evidence;
  size_t shown = verbose ? evidence.size() : std::min(evidence.size(), kEvidenceShown);
  finding.evidence.assign(evidence.begin(), evidence.begin() + static_cast<std::ptrdiff_t>(shown));
  if (shown < evidence.size())
    finding.evidence.push_back(fmt::format("and {} more (-v)", evidence.size() - shown));
  for (const std::string& symptom : check.explains)
    finding.evidence.push_back("explains: " + symptom);
  finding.cause = check.cause;
  if (!check.outcome.missing.empty())
    finding.cause += " Likely, not certain: " + check.outcome.missing;
  if (!check.row->note.empty()) finding.cause += " Note: " + check.row->note;
  for (const Fix& fix : check.fixes)
    finding.fixes.push_back(fix.text + std::string(safety_remark(fix.safety)));
  return finding;
}

Finding finding_of(const SymptomResult& symptom, const Diagnosis& diagnosis) {
  Finding finding;
  finding.id = symptom.symptom->id;
  finding.state = State::fault;
  finding.title = fmt::format("error: {} [{}]", symptom.symptom->title, symptom.symptom->id);
  finding.evidence = symptom.evidence;
  if (symptom.open.empty()) {
    finding.cause = "None of the causes that gpuvet knows fits. They are told apart by: " +
                    symptom.symptom->decide + ".";
    return finding;
  }
  finding.cause = fmt::format("One of {} causes that could not be decided; facts that decide: {}.",
                              symptom.open.size(), symptom.symptom->decide);
  for (size_t i = 0; i < std::min(symptom.open.size(), kOpenShown); ++i) {
    const CheckResult& open = diagnosis.checks[symptom.open[i]];
    finding.evidence.push_back(fmt::format("open: {} {}", open.row->asks, open.outcome.why));
  }
  return finding;
}

std::string index_text(const std::optional<uint32_t>& index) {
  return index ? fmt::format("{}", *index) : "-";
}

// Addresses as NVML and sysfs write them differ in width and case.
std::string short_address(std::string address) {
  std::transform(address.begin(), address.end(), address.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return address.size() > 12 ? address.substr(address.size() - 12) : address;
}

const CudaDevice* cuda_device(const Machine& machine, const NvmlGpu& gpu) {
  for (const CudaDevice& device : machine.cuda.devices)
    if (!gpu.pci_address.empty() &&
        short_address(device.pci_address) == short_address(gpu.pci_address))
      return &device;
  return nullptr;
}

std::string pci_name(const Facts& facts, const PciFunction& function) {
  if (auto gpus = facts.gpus(); gpus)
    if (GpuMatch match = find_gpu(**gpus, function.id); match.gpu) return match.gpu->name;
  return function.id;
}

// All GPUs by PCI address: what the bus has, joined with what NVML and CUDA say.
Table gpu_table(const Machine& machine, const Facts& facts) {
  Table table;
  table.columns = {{"GPU"},  {"PCI address"},       {"memory", Align::right},
                   {"NVML"}, {"CUDA", Align::left}, {"/dev/nvidia"},
                   {"UUID"}};
  std::set<std::string> shown;
  for (const NvmlGpu& gpu : machine.nvml.gpus) {
    const CudaDevice* cuda = cuda_device(machine, gpu);
    std::string address = short_address(gpu.pci_address);
    shown.insert(address);
    State state = gpu.error == 0 ? State::info : State::fault;
    std::string name = gpu.name.empty() ? "not known" : gpu.name;
    if (gpu.error != 0) name = fmt::format("{} (error {})", name, gpu.error);
    table.rows.push_back({{name, state},
                          {address, state},
                          {gpu.memory_total ? human_bytes(*gpu.memory_total) : "-", state},
                          {fmt::format("{}", gpu.index), state},
                          {cuda ? fmt::format("{}", cuda->ordinal) : "-", state},
                          {index_text(gpu.minor.value), state},
                          {gpu.uuid.substr(0, 12), state}});
  }
  for (const PciFunction* function : pci_gpus(machine)) {
    if (shown.count(short_address(function->address))) continue;
    std::string driver = function->driver.empty() ? "no driver" : function->driver;
    table.rows.push_back({{pci_name(facts, *function), State::info},
                          {short_address(function->address), State::info},
                          {"-"},
                          {"-"},
                          {"-"},
                          {"-"},
                          {driver, State::info}});
  }
  return table;
}

struct AreaCount {
  size_t ok = 0, fires = 0, unknown = 0, none = 0;
  State worst = State::not_applicable;
};

AreaCount count_area(const Diagnosis& diagnosis, const std::string& area) {
  AreaCount count;
  for (const CheckResult& check : diagnosis.checks) {
    if (check.row->area != area) continue;
    switch (check.outcome.answer) {
    case Answer::ok:
      ++count.ok;
      break;
    case Answer::fires:
      ++count.fires;
      if (count.worst != State::fault) count.worst = check.state;
      break;
    case Answer::unknown:
      ++count.unknown;
      break;
    case Answer::not_applicable:
      ++count.none;
      break;
    }
  }
  if (count.fires == 0)
    count.worst = count.ok > 0 ? State::ok : count.unknown ? State::unknown : State::not_applicable;
  return count;
}

std::string state_word(State state) {
  switch (state) {
  case State::ok:
    return "ok";
  case State::info:
    return "info";
  case State::warning:
    return "warning";
  case State::fault:
    return "fault";
  case State::unknown:
    return "unknown";
  case State::not_applicable:
    return "-";
  case State::skipped:
    break;
  }
  return "skipped";
}

Table area_table(const Diagnosis& diagnosis, const CheckTables& tables) {
  Table table;
  table.columns = {{"area"}, {"state"}, {"checks", Align::left, true}};
  for (const CheckArea& area : tables.areas) {
    AreaCount count = count_area(diagnosis, area.id);
    if (count.ok + count.fires + count.unknown == 0) continue;
    std::string text;
    auto add = [&](size_t n, const char* what) {
      if (n) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", n, what);
    };
    add(count.fires, count.fires == 1 ? "finding" : "findings");
    add(count.ok, "ok");
    add(count.unknown, "unknown");
    table.rows.push_back(
        {{area.title}, {state_word(count.worst), count.worst}, {text, State::info}});
  }
  return table;
}

Table check_table(const Diagnosis& diagnosis) {
  Table table;
  table.columns = {{"check"}, {"state"}, {"what was seen, or why not", Align::left, true}};
  for (const CheckResult& check : diagnosis.checks) {
    if (check.row->area == "xid" && check.outcome.answer != Answer::fires) continue;
    std::string text = check.outcome.answer == Answer::fires ? check.title : check.outcome.why;
    if (!check.hidden_by.empty()) text += " (follows from " + check.hidden_by + ")";
    table.rows.push_back({{check.row->id}, {state_word(check.state), check.state}, {text}});
  }
  return table;
}

// What root would add, said once.
std::string root_note(const Machine& machine) {
  if (machine.seen != Seen::live || !machine.system.user || *machine.system.user == 0) return "";
  std::string text;
  if (!machine.kernel.log.lines) text = "the kernel log";
  if (machine.processes && std::any_of(machine.processes->begin(), machine.processes->end(),
                                       [](const GpuProcess& process) { return !process.ours; }))
    text += text.empty() ? "other users' processes" : " and other users' processes";
  return text.empty() ? "" : "as root, gpuvet would also read " + text;
}

void add_notes(Report& report, const Diagnosis& diagnosis, const Machine& machine, bool verbose) {
  // All Xid codes stand or fall with one question: can the kernel log be read?
  std::set<std::string_view> open;
  for (const CheckResult& check : diagnosis.checks)
    if (check.outcome.answer == Answer::unknown)
      open.insert(check.row->area == "xid" ? std::string_view("xid") : check.row->id);
  size_t unknown = open.size();
  size_t hidden = static_cast<size_t>(
      std::count_if(diagnosis.checks.begin(), diagnosis.checks.end(),
                    [](const CheckResult& check) { return !check.hidden_by.empty(); }));
  if (hidden && !verbose)
    report.notes.push_back(fmt::format("{} consequence{} of the above {} not shown (-v)", hidden,
                                       hidden == 1 ? "" : "s", hidden == 1 ? "is" : "are"));
  if (unknown && !verbose)
    report.notes.push_back(fmt::format("{} question{} could not be answered; -v says why", unknown,
                                       unknown == 1 ? "" : "s"));
  if (!diagnosis.not_finished.empty())
    report.notes.push_back(
        fmt::format("incomplete: the deadline cut short {}", joined(diagnosis.not_finished)));
  if (std::string note = root_note(machine); !note.empty()) report.notes.push_back(note);
}

} // namespace

Report doctor_report(const Diagnosis& diagnosis, const Machine& machine, const Facts& facts,
                     bool verbose) {
  Report report;
  DoctorVerdict verdict = doctor_verdict(diagnosis, machine, facts);
  report.verdict = verdict_line(verdict);
  report.state = verdict_state(verdict.verdict);
  if (Table gpus = gpu_table(machine, facts); !gpus.rows.empty())
    report.tables.push_back(std::move(gpus));
  if (auto tables = facts.checks())
    report.closing.push_back(verbose ? check_table(diagnosis) : area_table(diagnosis, **tables));
  for (const SymptomResult& symptom : diagnosis.symptoms)
    if (symptom.causes.empty()) report.findings.push_back(finding_of(symptom, diagnosis));
  for (size_t cause : diagnosis.causes) {
    const CheckResult& check = diagnosis.checks[cause];
    if (check.severity > Severity::info || verbose)
      report.findings.push_back(finding_of(check, verbose));
  }
  add_notes(report, diagnosis, machine, verbose);
  return report;
}

} // namespace gpuvet
