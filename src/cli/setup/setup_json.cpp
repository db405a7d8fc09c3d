#include "cli/setup/setup_json.hpp"

#include "formats/json_write.hpp"

namespace gpuvet {
namespace {

Json step_json(const SetupAction& step) {
  Json json = json_object();
  set(json, "id", json_of(step.id));
  set(json, "title", json_of(step.title));
  set(json, "why", json_or_null(step.why));
  if (!step.items.empty()) set(json, "removes", json_of(step.items));
  set(json, "commands", json_of(step.lines));
  set(json, "source", json_of(step.source));
  return json;
}

} // namespace

std::string setup_json(const SetupPlan& plan, const std::string& script) {
  Json json = json_object();
  set(json, "schema", json_of("gpuvet-setup/1"));
  set(json, "what", json_of(plan.what));
  set(json, "for", json_of(plan.where));
  set(json, "toolkit", json_or_null(plan.toolkit));
  set(json, "package", json_or_null(plan.package));
  set(json, "repository", json_of(plan.repository));
  set(json, "architecture", json_of(plan.arch));
  set(json, "packaged", json_or_null(plan.packaged));
  Json driver = json_object();
  set(driver, "told", json_of(plan.driver));
  set(driver, "branch", json_or_null(plan.driver_branch));
  set(driver, "module", json_or_null(plan.driver_module));
  set(driver, "needed", json_or_null(plan.driver_needed));
  set(json, "driver", std::move(driver));
  set(json, "notes", json_of(plan.notes));
  Json steps = json_list();
  for (const SetupAction& step : plan.steps)
    steps.items.push_back(step_json(step));
  set(json, "steps", std::move(steps));
  set(json, "script", json_of(script));
  return write_json(json);
}

std::string refusal_json(const SetupRefusal& refusal) {
  Json json = json_object();
  set(json, "schema", json_of("gpuvet-setup/1"));
  set(json, "refused", json_of(refusal.why));
  set(json, "instead", json_of(refusal.ways));
  return write_json(json);
}

} // namespace gpuvet
