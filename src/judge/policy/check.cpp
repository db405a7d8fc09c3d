#include "judge/policy/check.hpp"

#include "base/units.hpp"
#include "judge/load/driver_needs.hpp"
#include "judge/scan/scan_result.hpp"
#include "judge/scan/words.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>

namespace gpuvet {
namespace {

LoadEnvironment without_jit() {
  LoadEnvironment environment;
  environment.disable_ptx_jit = true;
  return environment;
}

const LoadDevice& future_device() {
  static const LoadDevice device{"cards to come", kFutureSm, false};
  return device;
}

bool falls_short(Coverage coverage) {
  return coverage == Coverage::none || coverage == Coverage::partial ||
         coverage == Coverage::may_fail;
}

// The loader's words for a JIT that is switched off, in the policy's: nobody switched it off, but
// machine code is required.
void say_not_native(FileVerdict& verdict) {
  constexpr std::string_view off = " and its compilation is switched off";
  auto mend = [&](std::string& text) {
    size_t at = text.find(off);
    if (at != std::string::npos) text.replace(at, off.size(), ": the driver has to compile it");
  };
  mend(verdict.reason);
  for (Shortfall& shortfall : verdict.shortfalls)
    mend(shortfall.reason);
}

// The first driver on which programs of the file's CUDA start.
std::optional<Version> first_version_for(const Binary& binary, const LoadRules& rules) {
  if (!binary.toolkit) return std::nullopt;
  for (const MinorFloor& floor : rules.floors)
    if (floor.cuda_major == binary.toolkit->major()) return parse_version(floor.min_linux);
  for (const DriverBranch& branch : rules.branches)
    if (branch.cuda >= *binary.toolkit) return Version{{branch.branch}};
  return std::nullopt;
}

FileVerdict judge_for(const Binary& binary, const PolicyRequirement& requirement,
                      const LoadRules& rules) {
  if (requirement.id == "future-gpus")
    return judge_file(binary, future_device(), nullptr, {}, rules);
  const PolicyGpu& gpu = *requirement.gpu;
  LoadEnvironment environment = gpu.native ? without_jit() : LoadEnvironment{};
  std::optional<LoadDriver> driver = gpu.driver;
  // Whether the program's CUDA starts on the driver is a requirement of its own: here the driver
  // counts for the GPU and for the PTX that it reads.
  if (driver && !toolkit_refuses(binary, *driver, rules).reason.empty())
    driver->version = first_version_for(binary, rules).value_or(driver->version);
  FileVerdict verdict =
      judge_file(binary, gpu.device, driver ? &*driver : nullptr, environment, rules);
  if (gpu.native) say_not_native(verdict);
  return verdict;
}

CheckedRequirement check_driver(const Artefact& artefact, size_t index, const Policy& policy,
                                const LoadRules& rules) {
  CheckedRequirement checked;
  checked.requirement = index;
  size_t with_code = 0;
  for (const Binary& binary : artefact.binaries) {
    with_code += binary.containers.empty() ? 0U : 1U;
    Refusal refusal = toolkit_refuses(binary, *policy.driver, rules);
    if (refusal.reason.empty()) continue;
    FileVerdict verdict;
    verdict.coverage = Coverage::none;
    verdict.error = 35;
    verdict.reason = refusal.reason;
    verdict.driver_fix = refusal.fix;
    checked.files.push_back({binary.path, std::move(verdict)});
  }
  if (with_code == 0) {
    checked.why = "no GPU code";
    return checked;
  }
  checked.met = checked.files.empty() ? Met::yes : Met::no;
  checked.why = "its CUDA starts on it";
  if (checked.met == Met::yes) return checked;
  checked.why = checked.files.front().verdict.reason;
  checked.fix = checked.files.front().verdict.driver_fix + "; or raise [run] driver";
  return checked;
}

std::string fix_for(const PolicyRequirement& requirement, const FileVerdict& verdict) {
  if (!verdict.driver_fix.empty()) return verdict.driver_fix;
  if (requirement.id == "future-gpus")
    return "rebuild with PTX of the highest target: -gencode arch=compute_XY,code=compute_XY "
           "(CMake XY, PyTorch X.Y+PTX)";
  if (verdict.error == 222)
    return verdict.needs_driver.empty()
               ? std::string("build the PTX with an older CUDA, or add machine code")
               : fmt::format("add machine code, or raise [run] driver to {}", verdict.needs_driver);
  if (verdict.error == 209 || verdict.error == 223) return rebuild_fix(requirement.gpu->device, {});
  if (verdict.error == 200 || verdict.error == 218 || verdict.error == 999)
    return "build the file anew: its GPU code is damaged";
  return {};
}

CheckedRequirement check_code(const Artefact& artefact, size_t index,
                              const PolicyRequirement& requirement, const LoadRules& rules) {
  CheckedRequirement checked;
  checked.requirement = index;
  size_t with_code = 0;
  for (const Binary& binary : artefact.binaries) {
    FileVerdict verdict = judge_for(binary, requirement, rules);
    if (verdict.coverage == Coverage::no_code) continue;
    ++with_code;
    if (falls_short(verdict.coverage)) checked.files.push_back({binary.path, std::move(verdict)});
  }
  if (with_code == 0) {
    checked.why = "no GPU code";
    return checked;
  }
  checked.met = checked.files.empty() ? Met::yes : Met::no;
  if (checked.met == Met::yes) {
    checked.why = fmt::format("{} file{} with GPU code", with_code, with_code == 1 ? "" : "s");
    return checked;
  }
  const FileVerdict& first = checked.files.front().verdict;
  checked.why = checked.files.size() == 1 ? first.reason
                                          : fmt::format("{} of {} files: {}", checked.files.size(),
                                                        with_code, first.reason);
  checked.fix = fix_for(requirement, first);
  return checked;
}

CheckedRequirement check_size(size_t index, uint64_t bytes, const SizeLimit& limit) {
  CheckedRequirement checked;
  checked.requirement = index;
  checked.met = bytes <= limit.bytes ? Met::yes : Met::no;
  checked.why = fmt::format("{} of {}", human_bytes(bytes), human_bytes(limit.bytes));
  if (checked.met == Met::no) {
    // The rounded figures can look alike.
    if (human_bytes(bytes) == human_bytes(limit.bytes))
      checked.why = fmt::format("{} of {} bytes", bytes, limit.bytes);
    checked.fix = "gpuvet scan --sizes tells what each target costs";
  }
  return checked;
}

CheckedArtefact check_one(const Artefact& artefact, const PolicyCheck& result,
                          const LoadRules& rules) {
  CheckedArtefact checked;
  checked.path = artefact.path;
  checked.bytes = artefact.bytes;
  checked.errors = artefact.errors;
  for (const Binary& binary : artefact.binaries) {
    checked.gpu_code += gpu_code_bytes(binary);
    checked.files_with_code += binary.containers.empty() ? 0U : 1U;
    for (const std::string& problem : binary.problems)
      checked.problems.push_back(binary.path + ": " + problem);
  }
  for (size_t i = 0; i < result.requirements.size(); ++i) {
    const PolicyRequirement& requirement = result.requirements[i];
    if (requirement.gpu || requirement.id == "future-gpus")
      checked.requirements.push_back(check_code(artefact, i, requirement, rules));
    else if (requirement.id == "driver")
      checked.requirements.push_back(check_driver(artefact, i, result.policy, rules));
    else if (requirement.id == "gpu-code")
      checked.requirements.push_back(check_size(i, checked.gpu_code, *result.policy.gpu_code));
    else if (requirement.id == "file")
      checked.requirements.push_back(check_size(i, checked.bytes, *result.policy.file_size));
  }
  return checked;
}

void check_overall(PolicyCheck& result) {
  uint64_t bytes = 0;
  size_t with_code = 0;
  for (const CheckedArtefact& artefact : result.artefacts) {
    bytes += artefact.bytes;
    with_code += artefact.files_with_code;
  }
  for (size_t i = 0; i < result.requirements.size(); ++i) {
    if (result.requirements[i].id == "total")
      result.overall.push_back(check_size(i, bytes, *result.policy.total));
    if (result.requirements[i].id != "gpu-code-found") continue;
    CheckedRequirement found;
    found.requirement = i;
    found.met = with_code ? Met::yes : Met::no;
    found.why = with_code
                    ? fmt::format("{} file{} with GPU code", with_code, with_code == 1 ? "" : "s")
                    : "none of the artefacts holds GPU code";
    if (!with_code)
      found.fix = "name the artefacts that do, or say [artefacts] gpu-code-optional = true";
    result.overall.push_back(std::move(found));
  }
}

bool all_met(const std::vector<CheckedRequirement>& list) {
  return std::none_of(list.begin(), list.end(),
                      [](const CheckedRequirement& one) { return one.met == Met::no; });
}

template <class Use> void each_device(const Policy& policy, Use use) {
  std::vector<LoadDevice> native, others;
  for (const PolicyGpu& gpu : policy.gpus)
    (gpu.native ? native : others).push_back(gpu.device);
  if (policy.future_line) others.push_back(future_device());
  use(native, without_jit());
  use(others, LoadEnvironment{});
}

} // namespace

bool PolicyCheck::met() const {
  return all_met(overall) &&
         std::all_of(artefacts.begin(), artefacts.end(), [](const CheckedArtefact& artefact) {
           return all_met(artefact.requirements);
         });
}

std::vector<PolicyRequirement> requirements_of(const Policy& policy) {
  std::vector<PolicyRequirement> list;
  for (const PolicyGpu& gpu : policy.gpus) {
    std::string name = gpu.name == cc_name(gpu.device.sm)
                           ? gpu.name
                           : fmt::format("{} ({})", gpu.name, cc_name(gpu.device.sm));
    if (gpu.driver && gpu.driver->text != policy.driver->text)
      name += ", driver " + gpu.driver->text;
    list.push_back({gpu.native ? "native" : "jit",
                    name + (gpu.native ? ": machine code" : ": machine code or PTX"), gpu.line,
                    &gpu});
  }
  if (policy.driver)
    list.push_back(
        {"driver", "starts on driver " + policy.driver->text, policy.driver_line, nullptr});
  if (policy.future_line)
    list.push_back({"future-gpus", "cards to come: PTX", *policy.future_line, nullptr});
  auto limit = [&](const char* id, const char* what, const std::optional<SizeLimit>& size) {
    if (size)
      list.push_back(
          {id, fmt::format("{}: at most {}", what, human_bytes(size->bytes)), size->line, nullptr});
  };
  limit("gpu-code", "GPU code of an artefact", policy.gpu_code);
  limit("file", "size of an artefact", policy.file_size);
  limit("total", "size of all artefacts", policy.total);
  if (!policy.code_optional) list.push_back({"gpu-code-found", "GPU code is there", 0, nullptr});
  return list;
}

PolicyCheck check_artefacts(const Policy& policy, const std::vector<Artefact>& artefacts,
                            const LoadRules& rules) {
  PolicyCheck result;
  result.policy = policy;
  result.requirements = requirements_of(result.policy); // points into the result's own policy
  for (const Artefact& artefact : artefacts) {
    result.artefacts.push_back(check_one(artefact, result, rules));
    const CheckedArtefact& checked = result.artefacts.back();
    result.readable = result.readable && checked.errors.empty() && checked.problems.empty();
    result.compilers.insert(result.compilers.end(), artefact.compilers.begin(),
                            artefact.compilers.end());
  }
  check_overall(result);
  return result;
}

std::vector<size_t> containers_to_name(const std::vector<Container>& containers,
                                       const Policy& policy, const LoadRules& rules) {
  std::set<size_t> wanted;
  each_device(policy,
              [&](const std::vector<LoadDevice>& devices, const LoadEnvironment& environment) {
                for (size_t index : containers_to_name(containers, devices, rules, environment))
                  wanted.insert(index);
              });
  return {wanted.begin(), wanted.end()};
}

bool names_would_help(const Container& container, const Policy& policy, const LoadRules& rules) {
  bool help = false;
  each_device(policy,
              [&](const std::vector<LoadDevice>& devices, const LoadEnvironment& environment) {
                help = help || names_would_help(container, devices, rules, environment);
              });
  return help;
}

} // namespace gpuvet
