#include "cli/arch/plan_json.hpp"

#include "formats/json_write.hpp"

#include <algorithm>

namespace gpuvet {
namespace {

Json code_json(const Code& code) {
  Json json = json_object();
  set(json, "kind", json_of(code.ptx ? "ptx" : "sass"));
  set(json, "target",
      json_of(std::string_view(code.ptx ? compute_name(code.target) : sm_name(code.target))));
  set(json, "from", json_of(std::string_view(compute_name(code.from))));
  return json;
}

Json codes_json(const CodeSet& codes) {
  Json json = json_list();
  for (const Code& code : codes)
    json.items.push_back(code_json(code));
  return json;
}

Json shortcomings_json(const std::vector<Shortcoming>& shortcomings) {
  Json json = json_list();
  for (const Shortcoming& shortcoming : shortcomings) {
    Json one = json_object();
    set(one, "what", json_of(std::string_view(shortcoming.what)));
    set(one, "fixes", json_of(shortcoming.fixes));
    json.items.push_back(std::move(one));
  }
  return json;
}

Json runs_json(const std::vector<PlannedRun>& runs, const PlanRequest& request) {
  Json json = json_list();
  for (size_t i = 0; i < runs.size(); ++i) {
    Json one = json_object();
    set(one, "gpu", json_of(std::string_view(request.devices[i].name)));
    set(one, "capability", json_of(std::string_view(cc_name(request.devices[i].sm))));
    set(one, "runs", json_of(std::string_view(run_text(runs[i]))));
    set(one, "loads", runs[i].code ? code_json(*runs[i].code) : Json{});
    set(one, "reason", json_or_null(runs[i].code ? "" : runs[i].verdict.reason));
    json.items.push_back(std::move(one));
  }
  return json;
}

Json entries_json(const Plan& plan, const PlanRequest& request, const PlannedSizes* sizes) {
  Json json = json_list();
  for (size_t i = 0; i < plan.codes.size(); ++i) {
    Json one = code_json(plan.codes[i]);
    set(one, "for", json_of(std::string_view(entry_purpose(plan, request, plan.codes[i]))));
    const PlannedSize* size = sizes ? &sizes->entries[i] : nullptr;
    set(one, "bytes", size && size->bytes ? json_of(*size->bytes) : Json{});
    set(one, "bytes_as", size ? json_or_null(size->like) : Json{});
    json.items.push_back(std::move(one));
  }
  return json;
}

Json system_json(const SystemPlan& made, const PlanRequest& request, Shell shell) {
  Json json = json_object();
  set(json, "id", json_of(std::string_view(made.system->id)));
  set(json, "tool", json_of(std::string_view(made.system->tool)));
  set(json, "value", json_or_null(made.value));
  std::vector<std::string> lines;
  if (!made.value.empty())
    if (auto given = value_lines(*made.system, made.value, shell)) lines = *given;
  set(json, "lines", json_of(lines));
  set(json, "file", json_or_null(made.system->file));
  set(json, "builds", codes_json(made.builds));
  set(json, "gpus", runs_json(made.runs, request));
  set(json, "shortcomings", shortcomings_json(made.shortcomings));
  set(json, "notes", json_of(made.notes));
  return json;
}

} // namespace

std::string plan_json(const Plan& plan, const PlanRequest& request, const PlannedSizes* sizes,
                      Shell shell) {
  Report report = plan_report(plan, request, sizes);
  Json json = json_object();
  set(json, "schema", json_of("gpuvet-arch/1"));
  set(json, "stands", json_of(stands(plan)));
  set(json, "verdict", json_of(std::string_view(report.verdict)));
  set(json, "toolkit", json_of(std::string_view(plan.toolkit->version)));
  set(json, "toolkit_named", json_of(request.toolkit_named));
  set(json, "first_toolkit", json_or_null(plan.first_toolkit));
  set(json, "last_toolkit", json_or_null(plan.last_toolkit));
  set(json, "entries", entries_json(plan, request, sizes));
  set(json, "gpus", runs_json(plan.runs, request));
  set(json, "shortcomings", shortcomings_json(plan.shortcomings));
  Json systems = json_list();
  for (const SystemPlan& made : plan.systems)
    systems.items.push_back(system_json(made, request, shell));
  set(json, "systems", std::move(systems));
  if (sizes) {
    Json bytes = json_object();
    set(bytes, "planned", json_of(sizes->total));
    set(bytes, "whole", json_of(sizes->whole));
    set(bytes, "earlier", json_of(sizes->now));
    set(json, "bytes", std::move(bytes));
  }
  set(json, "notes", json_of(report.notes));
  return write_json(json);
}

std::string conversion_json(const ArchSystem& from, const ArchSystem& to, std::string_view given,
                            const CodeSet& codes, const std::string& value,
                            const std::vector<std::string>& notes) {
  Json json = json_object();
  set(json, "schema", json_of("gpuvet-arch-convert/1"));
  set(json, "from", json_of(std::string_view(from.id)));
  set(json, "to", json_of(std::string_view(to.id)));
  set(json, "given", json_of(given));
  set(json, "value", json_of(std::string_view(value)));
  set(json, "builds", codes_json(codes));
  set(json, "notes", json_of(notes));
  return write_json(json);
}

} // namespace gpuvet
