#include "cli/check/outputs.hpp"

#include "formats/json_write.hpp"
#include "formats/sarif.hpp"
#include "judge/policy/check_report.hpp"
#include "os/file_entry.hpp"
#include "os/written/new_file.hpp"
#include "render/junit.hpp"

#include <fmt/core.h>

#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace gpuvet {
namespace {

const char* met_name(Met met) {
  return met == Met::yes ? "met" : met == Met::no ? "not-met" : "not-applicable";
}

Json file_json(const ShortFile& file) {
  Json json = json_object();
  set(json, "path", json_of(file.path));
  set(json, "verdict", json_of(coverage_name(file.verdict.coverage)));
  set(json, "reason", json_of(file.verdict.reason));
  set(json, "error", file.verdict.error ? json_of(uint64_t(file.verdict.error)) : Json{});
  Json shortfalls = json_list();
  for (const Shortfall& shortfall : file.verdict.shortfalls) {
    Json one = json_object();
    set(one, "reason", json_of(shortfall.reason));
    set(one, "containers", json_of(uint64_t(shortfall.containers)));
    set(one, "places", json_of(shortfall.places));
    set(one, "kernels", json_of(shortfall.kernels));
    set(one, "variant", json_of(shortfall.variant));
    shortfalls.items.push_back(std::move(one));
  }
  set(json, "shortfalls", std::move(shortfalls));
  return json;
}

Json requirement_json(const PolicyCheck& result, const CheckedRequirement& checked) {
  const PolicyRequirement& requirement = result.requirements[checked.requirement];
  Json json = json_object();
  set(json, "id", json_of(requirement.id));
  set(json, "requirement", json_of(requirement.name));
  set(json, "gpu", requirement.gpu ? json_of(requirement.gpu->name) : Json{});
  set(json, "line", requirement.line ? json_of(uint64_t(requirement.line)) : Json{});
  set(json, "result", json_of(met_name(checked.met)));
  set(json, "why", json_or_null(checked.why));
  set(json, "fix", json_or_null(checked.fix));
  Json files = json_list();
  for (const ShortFile& file : checked.files)
    files.items.push_back(file_json(file));
  set(json, "files", std::move(files));
  return json;
}

Json requirements_json(const PolicyCheck& result, const std::vector<CheckedRequirement>& list) {
  Json json = json_list();
  for (const CheckedRequirement& checked : list)
    json.items.push_back(requirement_json(result, checked));
  return json;
}

JunitCase junit_case(const PolicyCheck& result, const CheckedRequirement& checked,
                     const std::vector<ErrorCode>& errors) {
  JunitCase one;
  const PolicyRequirement& requirement = result.requirements[checked.requirement];
  one.name = requirement.name;
  one.message = checked.why;
  if (checked.met == Met::not_applicable) one.state = JunitState::skipped;
  if (checked.met != Met::no) return one;
  one.state = JunitState::failed;
  for (const std::string& line : evidence_of(requirement, checked, errors))
    one.text += line + "\n";
  if (!checked.fix.empty()) one.text += "mend: " + checked.fix + "\n";
  return one;
}

JunitCase junit_error(const std::string& message) {
  return {"can be read", JunitState::error, message, {}};
}

std::string rule_id(const PolicyRequirement& requirement) {
  return "check-" + requirement.id;
}

struct RuleText {
  const char* id;
  const char* summary;
  const char* help;
};
constexpr RuleText kRules[] = {
    {"native", "An artefact lacks machine code for a GPU of the policy.",
     "Add the GPU's compute capability to the architectures of the build."},
    {"jit", "An artefact has neither machine code nor PTX that loads on a GPU of the policy.",
     "Add the GPU's compute capability, or PTX of a lower one, to the build."},
    {"driver", "An artefact was built with a CUDA that does not start on the policy's driver.",
     "Build with an older CUDA, or raise the driver in the policy."},
    {"future-gpus", "An artefact has no PTX for cards to come.",
     "Build PTX of the highest architecture too."},
    {"gpu-code", "An artefact holds more GPU code than the policy allows.",
     "gpuvet scan --sizes tells what each target costs."},
    {"file", "An artefact is larger than the policy allows.",
     "gpuvet scan --sizes tells what each target costs."},
    {"total", "The artefacts together are larger than the policy allows.",
     "gpuvet scan --sizes tells what each target costs."},
    {"gpu-code-found", "No artefact holds GPU code.",
     "Name the artefacts that do, or say [artefacts] gpu-code-optional = true."},
};

} // namespace

std::string check_json(const PolicyCheck& result) {
  Json json = json_object();
  set(json, "schema", json_of("gpuvet-check/1"));
  set(json, "gpuvet", json_of(GPUVET_VERSION));
  set(json, "policy", json_of(result.policy.file));
  set(json, "driver", result.policy.driver ? json_of(result.policy.driver->text) : Json{});
  set(json, "met", json_of(result.met()));
  set(json, "readable", json_of(result.readable));
  Json artefacts = json_list();
  for (const CheckedArtefact& artefact : result.artefacts) {
    Json one = json_object();
    set(one, "path", json_of(artefact.path));
    set(one, "bytes", json_of(artefact.bytes));
    set(one, "gpu_code_bytes", json_of(artefact.gpu_code));
    set(one, "files_with_gpu_code", json_of(uint64_t(artefact.files_with_code)));
    set(one, "requirements", requirements_json(result, artefact.requirements));
    Json errors = json_list();
    for (const Error& error : artefact.errors) {
      Json place = json_object();
      set(place, "what", json_of(error.what));
      set(place, "where", json_of(error.where));
      errors.items.push_back(std::move(place));
    }
    set(one, "errors", std::move(errors));
    set(one, "damaged", json_of(artefact.problems));
    artefacts.items.push_back(std::move(one));
  }
  set(json, "artefacts", std::move(artefacts));
  set(json, "together", requirements_json(result, result.overall));
  set(json, "run_time_code", json_of(result.compilers));
  set(json, "notes", json_of(result.policy.notes));
  return write_json(json);
}

std::string check_junit(const PolicyCheck& result, const std::vector<ErrorCode>& errors) {
  std::vector<JunitSuite> suites;
  for (const CheckedArtefact& artefact : result.artefacts) {
    JunitSuite suite{artefact.path, {}};
    for (const CheckedRequirement& checked : artefact.requirements)
      suite.cases.push_back(junit_case(result, checked, errors));
    for (const Error& error : artefact.errors)
      suite.cases.push_back(junit_error(error.where + ": " + error.what));
    for (const std::string& problem : artefact.problems)
      suite.cases.push_back(junit_error("damaged: " + problem));
    suites.push_back(std::move(suite));
  }
  if (!result.overall.empty()) {
    JunitSuite together{"all artefacts", {}};
    for (const CheckedRequirement& checked : result.overall)
      together.cases.push_back(junit_case(result, checked, errors));
    suites.push_back(std::move(together));
  }
  return render_junit("gpuvet check", suites);
}

std::string check_sarif(const PolicyCheck& result, const std::vector<ErrorCode>& errors) {
  std::vector<SarifRule> rules;
  for (const RuleText& rule : kRules)
    rules.push_back({std::string("check-") + rule.id, rule.summary, rule.help});
  rules.push_back(
      {"check-unreadable", "An artefact cannot be read in full.", "Get or build the file anew."});
  std::vector<SarifResult> results;
  // A finding is placed at the policy's line: the policy lies in the repository, artefacts do not.
  auto add = [&](const CheckedRequirement& checked, const std::string& path) {
    if (checked.met != Met::no) return;
    const PolicyRequirement& requirement = result.requirements[checked.requirement];
    std::string message = path.empty() ? requirement.name : path + ": " + requirement.name;
    message += ". " + checked.why;
    for (const std::string& line : evidence_of(requirement, checked, errors))
      message += "\n" + line;
    if (!checked.fix.empty()) message += "\nmend: " + checked.fix;
    results.push_back({rule_id(requirement), "error", std::move(message), result.policy.file,
                       requirement.line ? requirement.line : 1, 1});
  };
  for (const CheckedArtefact& artefact : result.artefacts) {
    for (const CheckedRequirement& checked : artefact.requirements)
      add(checked, artefact.path);
    for (const Error& error : artefact.errors)
      results.push_back({"check-unreadable", "error", error.what,
                         error.where.empty() ? artefact.path : error.where, 0, 0});
    for (const std::string& problem : artefact.problems)
      results.push_back({"check-unreadable", "error", "damaged: " + problem, artefact.path, 0, 0});
  }
  for (const CheckedRequirement& checked : result.overall)
    add(checked, {});
  return write_sarif("check", rules, results);
}

Result<void> write_report(const std::string& path, const std::string& text, std::string_view mark) {
  constexpr size_t most = 64 << 20; // bytes
  if (auto entry = file_entry(path)) {
    bool ours = entry->kind == EntryType::regular && entry->size == 0;
    if (entry->kind == EntryType::regular && !ours)
      if (auto old = read_whole_file(path, most)) ours = old->find(mark) != std::string::npos;
    if (!ours)
      return fail("the file is there already and is no report of gpuvet: it is left as it is",
                  path);
    if (unlink(path.c_str()) != 0)
      return fail(std::string("cannot be replaced: ") + std::strerror(errno), path);
  }
  return write_new_file(path, text);
}

} // namespace gpuvet
