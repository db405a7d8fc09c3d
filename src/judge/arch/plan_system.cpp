// One build system's part of a plan: its value, what it makes of it, and what it cannot do.
#include "base/text.hpp"
#include "judge/arch/plan.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

std::vector<Target> accepted(const ArchSystem& system, const std::vector<Target>& targets,
                             const ArchContext& context) {
  std::vector<Target> taken;
  std::copy_if(targets.begin(), targets.end(), std::back_inserter(taken),
               [&](Target target) { return accepts(system, target, context); });
  return taken;
}

// Value and what is built from it; an error says what the system cannot do.
Result<bool> fill(SystemPlan& made, std::vector<Target> targets, const PlanRequest& request,
                  const Plan& plan, const ArchContext& context, const LoadRules& rules) {
  std::sort(targets.begin(), targets.end());
  auto value = write_wish(*made.system, targets, request.ptx, context);
  if (!value) return tl::unexpected(value.error());
  auto builds = read_value(*made.system, *value, context);
  if (!builds) return tl::unexpected(builds.error());
  made.value = *value;
  made.builds = *builds;
  made.runs = prove(made.builds, request.devices, *plan.toolkit, rules);
  return true;
}

// A rewritten entry may serve fewer GPUs than the one that was asked for (120 as 120a): those get
// an entry of their own.
std::vector<Target> own_entries(const SystemPlan& made, const PlanRequest& request,
                                const std::vector<Target>& candidates,
                                std::vector<Target> targets) {
  for (size_t i = 0; i < request.devices.size(); ++i) {
    Target own{request.devices[i].sm, 0};
    bool known = std::find(candidates.begin(), candidates.end(), own) != candidates.end();
    bool listed = std::find(targets.begin(), targets.end(), own) != targets.end();
    if (!runs_machine_code(made.runs[i]) && known && !listed) targets.push_back(own);
  }
  return targets;
}

// "torch 2.7 and newer": the releases that take all of the targets.
std::string releases_for(const ArchSystem& system, const CodeSet& builds,
                         const ArchContext& context) {
  const ArchAccept *first = nullptr, *last = nullptr;
  for (const ArchAccept& accept : context.tables->accepts) {
    if (accept.product != system.product || !accept.first_release) continue;
    bool all = std::all_of(builds.begin(), builds.end(), [&](const Code& code) {
      return std::find(accept.targets.begin(), accept.targets.end(), code.target) !=
             accept.targets.end();
    });
    if (!all) continue;
    if (!first) first = &accept;
    last = &accept;
  }
  if (!first) return {};
  std::string from = to_string(*first->first_release);
  if (!last->last_release) return fmt::format("{} {} and newer", system.product, from);
  return fmt::format("{} {} to {}", system.product, from, to_string(*last->last_release));
}

// What to do where the system takes nothing for a GPU: another release, or what the row says.
std::vector<std::string> ways_out(const ArchSystem& system, const LoadDevice& device,
                                  const ArchContext& context) {
  std::vector<std::string> ways;
  std::string releases = releases_for(system, {sass_code({device.sm, 0})}, context);
  if (context.release && !releases.empty())
    ways.push_back(fmt::format("{} take {}", releases, cc_name(device.sm)));
  if (ways.empty() && !system.otherwise.empty()) ways.push_back(system.otherwise);
  return ways;
}

void add_unserved(SystemPlan& made, const PlanRequest& request, const ArchContext& context) {
  std::string with = made.system->tool;
  if (context.release) with += " " + to_string(*context.release);
  for (size_t i = 0; i < request.devices.size(); ++i) {
    if (runs_machine_code(made.runs[i])) continue;
    const LoadDevice& device = request.devices[i];
    made.shortcomings.push_back(
        {fmt::format("{} makes no machine code for {}", with, device_text(device)),
         ways_out(*made.system, device, context)});
  }
}

void add_releases(SystemPlan& made, const ArchContext& context) {
  const ArchSystem& system = *made.system;
  bool has_releases = std::any_of(
      context.tables->accepts.begin(), context.tables->accepts.end(), [&](const ArchAccept& row) {
        return row.product == system.product && row.first_release.has_value();
      });
  if (context.release || !has_releases) return;
  std::string releases = releases_for(system, made.builds, context);
  if (!releases.empty())
    made.notes.push_back("for " + releases);
  else
    made.shortcomings.push_back(
        {fmt::format("no release of {} takes all of {}", system.product, codes_text(made.builds)),
         {system.otherwise}});
}

// PTX that a system adds or lacks, whatever was asked for.
void add_ptx_notes(SystemPlan& made, const PlanRequest& request, const Plan& plan) {
  bool carries = std::any_of(made.builds.begin(), made.builds.end(),
                             [](const Code& code) { return code.ptx && code.target.suffix == 0; });
  if (plan.ptx && !carries) {
    std::string what =
        fmt::format("{} makes no PTX that newer GPUs could compile", made.system->tool);
    if (request.ptx_wanted)
      made.shortcomings.push_back({what, {"leave --future out to do without it"}});
    else
      made.notes.push_back(what);
  }
  bool same = made.builds == plan.codes;
  if (!same) made.notes.push_back("builds " + codes_text(made.builds));
}

void add_cmake(SystemPlan& made, const PlanRequest& request, const PlanFacts& facts) {
  bool through_cmake = made.system->cmake || made.system->set_by == "cmake";
  if (!request.cmake || !through_cmake || made.value.empty()) return;
  std::string why = cmake_complaint(*made.system, made.value, *request.cmake, *facts.cmake);
  if (why.empty()) return;
  made.shortcomings.push_back(
      {why, {"a newer CMake: pip install -U cmake", "or give nvcc's flags: --for nvcc"}});
}

} // namespace

SystemPlan plan_for_system(const SystemChoice& choice, const PlanRequest& request, const Plan& plan,
                           const PlanFacts& facts) {
  SystemPlan made;
  made.system = choice.system;
  ArchContext context{facts.tables, facts.rules, plan.toolkit, choice.release};
  if (choice.system->form == "none") {
    made.shortcomings.push_back({choice.system->cannot, {}});
    return made;
  }
  std::vector<Target> candidates =
      accepted(*choice.system, candidates_of(*plan.toolkit, request.suffix), context);
  std::vector<Target> targets = cover(request.devices, candidates, request.min_size, *facts.rules);
  auto filled = fill(made, targets, request, plan, context, *facts.rules);
  if (filled) {
    std::vector<Target> more = own_entries(made, request, candidates, targets);
    if (more.size() > targets.size())
      filled = fill(made, more, request, plan, context, *facts.rules);
  }
  if (!filled) {
    made.value.clear();
    if (targets.empty()) {
      made.runs.assign(request.devices.size(), PlannedRun{});
      add_unserved(made, request, context);
      return made;
    }
    std::vector<std::string> fixes;
    if (!choice.system->otherwise.empty() && choice.system->takes.empty())
      fixes.push_back(choice.system->otherwise);
    made.shortcomings.push_back({filled.error().what, fixes});
    return made;
  }
  add_unserved(made, request, context);
  add_ptx_notes(made, request, plan);
  add_releases(made, context);
  add_cmake(made, request, facts);
  return made;
}

namespace {

// Releases of several lines: "3.31.8" and "4.0.2" mean 3.31.8 and newer of 3.31, and 4.0.2 and
// newer.
bool cmake_has(const CMakeFeature& feature, const Version& cmake) {
  for (size_t i = 0; i < feature.versions.size(); ++i) {
    auto since = parse_version(feature.versions[i]);
    if (!since || cmake < *since) continue;
    bool same_line = cmake.major() == since->major() && cmake.minor() == since->minor();
    if (same_line || i + 1 == feature.versions.size()) return true;
  }
  return false;
}

// "90a-real" has the suffix a.
bool has_suffix(std::string_view value, char suffix) {
  for (size_t i = 1; i < value.size(); ++i)
    if (value[i] == suffix && value[i - 1] >= '0' && value[i - 1] <= '9') return true;
  return false;
}

const CMakeFeature* feature_of(const std::vector<CMakeFeature>& features, std::string_view name) {
  for (const CMakeFeature& feature : features)
    if (feature.feature == name) return &feature;
  return nullptr;
}

} // namespace

std::string cmake_complaint(const ArchSystem& system, std::string_view value, const Version& cmake,
                            const std::vector<CMakeFeature>& features) {
  auto lacks = [&](std::string_view name) {
    const CMakeFeature* feature = feature_of(features, name);
    return feature && !cmake_has(*feature, cmake);
  };
  for (const char* variable : {"CMAKE_CUDA_ARCHITECTURES", "CUDAARCHS"})
    if (system.variable == variable && lacks(variable))
      return fmt::format("CMake {} does not read {}, {} is the first that does", to_string(cmake),
                         variable, joined(feature_of(features, variable)->versions, " or "));
  // Without a check every value is passed on to nvcc.
  if (!system.cmake || lacks("check of the value")) return {};
  for (char suffix : {'a', 'f'}) {
    std::string name = std::string("suffix ") + suffix;
    if (has_suffix(value, suffix) && lacks(name))
      return fmt::format("CMake {} refuses the {}, which {} and newer take", to_string(cmake), name,
                         joined(feature_of(features, name)->versions, " and "));
  }
  return {};
}

} // namespace gpuvet
