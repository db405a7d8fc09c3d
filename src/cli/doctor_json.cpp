#include "cli/doctor_json.hpp"

#include <nlohmann/json.hpp>

namespace gpuvet {
namespace {

using nlohmann::ordered_json;

std::string answer_name(const CheckResult& check) {
  switch (check.state) {
  case State::ok:
    return "ok";
  case State::info:
    return "info";
  case State::warning:
    return "warning";
  case State::fault:
    return "fault";
  case State::not_applicable:
    return "not-applicable";
  case State::skipped:
    return "skipped";
  case State::unknown:
    break;
  }
  return "unknown";
}

ordered_json fixes_json(const CheckResult& check) {
  ordered_json list = ordered_json::array();
  for (const Fix& fix : check.fixes)
    list.push_back(
        {{fix.prose ? "step" : "command", fix.text}, {"safety", safety_name(fix.safety)}});
  return list;
}

ordered_json check_json(const CheckResult& check) {
  ordered_json json = {{"id", check.row->id},
                       {"area", check.row->area},
                       {"state", answer_name(check)},
                       {"asks", check.row->asks}};
  if (check.outcome.answer != Answer::fires) {
    json["why"] = check.outcome.why;
  } else {
    json["severity"] = severity_name(check.severity);
    json["title"] = check.title;
    json["cause"] = check.cause;
    json["confidence"] = check.outcome.missing.empty() ? "certain" : "likely";
    if (!check.outcome.missing.empty()) json["missing"] = check.outcome.missing;
    json["blame"] = check.row->blame;
    if (!check.row->action.empty()) json["action"] = check.row->action;
    json["fixes"] = fixes_json(check);
    json["hidden_by"] = nullptr;
    if (!check.hidden_by.empty()) json["hidden_by"] = check.hidden_by;
    json["explains"] = check.explains;
  }
  json["evidence"] = check.outcome.evidence;
  return json;
}

template <class T> ordered_json or_null(const NvmlValue<T>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json gpu_json(const NvmlGpu& gpu, const Machine& machine) {
  ordered_json json = {{"name", gpu.name},
                       {"uuid", gpu.uuid},
                       {"pci_address", gpu.pci_address},
                       {"nvml_index", gpu.index},
                       {"cuda_ordinal", nullptr},
                       {"minor", or_null(gpu.minor)},
                       {"error", gpu.error},
                       {"memory_bytes", or_null(gpu.memory_total)}};
  for (const CudaDevice& device : machine.cuda.devices)
    if (!gpu.uuid.empty() && device.uuid == gpu.uuid) json["cuda_ordinal"] = device.ordinal;
  return json;
}

ordered_json text_or_null(const Observed<std::string>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json machine_json(const Machine& machine) {
  ordered_json json = {{"kernel", text_or_null(machine.system.kernel_release)},
                       {"distribution", machine.distribution.name},
                       {"driver", text_or_null(machine.kernel.module_version)},
                       {"libcuda", machine.driver.resolved_libcuda},
                       {"cuda_api", nullptr}};
  if (machine.cuda.driver_api) json["cuda_api"] = *machine.cuda.driver_api;
  json["gpus"] = ordered_json::array();
  for (const NvmlGpu& gpu : machine.nvml.gpus)
    json["gpus"].push_back(gpu_json(gpu, machine));
  json["pci_gpus"] = ordered_json::array();
  for (const PciFunction* function : pci_gpus(machine))
    json["pci_gpus"].push_back({{"pci_address", function->address},
                                {"pci_id", function->id},
                                {"driver", function->driver}});
  return json;
}

} // namespace

std::string doctor_json(const Diagnosis& diagnosis, const DoctorVerdict& verdict,
                        const Machine& machine, const CheckTables& tables) {
  ordered_json json = {{"schema", "gpuvet-doctor/1"},
                       {"version", GPUVET_VERSION},
                       {"verdict", verdict_name(verdict.verdict)},
                       {"text", verdict.text},
                       {"id", nullptr},
                       {"command", nullptr}};
  if (!verdict.id.empty()) json["id"] = verdict.id;
  if (!verdict.command.empty()) json["command"] = verdict.command;
  json["complete"] = diagnosis.not_finished.empty();
  json["not_finished"] = diagnosis.not_finished;
  json["machine"] = machine_json(machine);
  json["causes"] = ordered_json::array();
  for (size_t cause : diagnosis.causes)
    json["causes"].push_back(diagnosis.checks[cause].row->id);
  json["symptoms"] = ordered_json::array();
  for (const SymptomResult& symptom : diagnosis.symptoms) {
    ordered_json causes = ordered_json::array(), open = ordered_json::array();
    for (size_t i : symptom.causes)
      causes.push_back(diagnosis.checks[i].row->id);
    for (size_t i : symptom.open)
      open.push_back(diagnosis.checks[i].row->id);
    json["symptoms"].push_back({{"id", symptom.symptom->id},
                                {"title", symptom.symptom->title},
                                {"evidence", symptom.evidence},
                                {"causes", causes},
                                {"open", open}});
  }
  json["areas"] = ordered_json::array();
  for (const CheckArea& area : tables.areas)
    json["areas"].push_back({{"id", area.id}, {"title", area.title}});
  json["checks"] = ordered_json::array();
  for (const CheckResult& check : diagnosis.checks)
    json["checks"].push_back(check_json(check));
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

} // namespace gpuvet
