#include "judge/arch/plan.hpp"

#include "base/text.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

Version version_of(const Toolkit& toolkit) {
  return parse_version(toolkit.version).value_or(Version{});
}

bool knows(const std::vector<Target>& targets, Target target) {
  return std::find(targets.begin(), targets.end(), target) != targets.end();
}

// The best of the candidates for a device: its own capability, else the highest that fits; of one
// capability the one with a suffix.
std::optional<Target> best_for(const LoadDevice& device, const std::vector<Target>& candidates,
                               const LoadRules& rules) {
  std::optional<Target> best;
  for (Target target : candidates)
    if ((!best || *best < target) && sass_fits(rules, target, device)) best = target;
  return best;
}

bool all_served(const std::vector<LoadDevice>& devices, const Toolkit& toolkit, bool exactly,
                const LoadRules& rules) {
  std::vector<Target> targets = plain_targets(toolkit);
  return std::all_of(devices.begin(), devices.end(), [&](const LoadDevice& device) {
    return exactly ? knows(targets, {device.sm, 0}) : best_for(device, targets, rules).has_value();
  });
}

// "CUDA 12.8 to 12.9", "CUDA 11.8 and newer"; empty when no toolkit serves them all.
std::string serving_toolkits(const std::vector<LoadDevice>& devices, const PlanFacts& facts) {
  const Toolkit *first = nullptr, *last = nullptr;
  for (const Toolkit& toolkit : *facts.toolkits) {
    if (!all_served(devices, toolkit, false, *facts.rules)) continue;
    if (!first) first = &toolkit;
    last = &toolkit;
  }
  if (!first) return {};
  if (last == &facts.toolkits->back()) return fmt::format("CUDA {} or newer", first->version);
  if (first == last) return "CUDA " + first->version;
  return fmt::format("CUDA {} to {}", first->version, last->version);
}

const SassRange* range_of(const LoadRules& rules, uint32_t sm) {
  for (const SassRange& range : rules.sass_ranges)
    if (range.target == Target{sm, 0}) return &range;
  return nullptr;
}

// What of the toolkit's history keeps it from serving the device.
std::string why_not(const LoadDevice& device, const Toolkit& toolkit, const LoadRules& rules) {
  const SassRange* range = range_of(rules, device.sm);
  if (!range) return fmt::format("no toolkit is known to compile for {}", device_text(device));
  auto last = parse_version(range->last_cuda);
  if (last && *last < version_of(toolkit))
    return fmt::format("CUDA {} has dropped {}: CUDA {} is the last that compiles for it",
                       toolkit.version, device_text(device), range->last_cuda);
  return fmt::format("CUDA {} does not know {}: CUDA {} is the first that compiles for it",
                     toolkit.version, device_text(device), range->first_cuda);
}

// PTX of this toolkit that a GPU newer than the toolkit could compile.
std::optional<Target> ptx_for(const LoadDevice& device, const Toolkit& toolkit,
                              const LoadRules& rules) {
  std::vector<Target> targets = plain_targets(toolkit);
  if (targets.empty() || !ptx_fits(rules, targets.back(), device)) return std::nullopt;
  return targets.back();
}

Shortcoming unserved(size_t index, const PlanRequest& request, const Plan& plan,
                     const PlanFacts& facts) {
  const LoadDevice& device = request.devices[index];
  Shortcoming shortcoming{why_not(device, *plan.toolkit, *facts.rules), {}};
  std::string all = serving_toolkits(request.devices, facts);
  std::string own = serving_toolkits({device}, facts);
  if (!all.empty())
    shortcoming.fixes.push_back(request.devices.size() > 1
                                    ? fmt::format("build with {}, which serves them all", all)
                                    : "build with " + all);
  else if (!own.empty())
    shortcoming.fixes.push_back(fmt::format(
        "no toolkit serves them all: build a second time with {}, for {}", own, device.name));
  if (auto newest = ptx_for(device, *plan.toolkit, *facts.rules))
    shortcoming.fixes.push_back(fmt::format("or give it PTX of {}, the newest of CUDA {}, which a "
                                            "driver that knows the GPU compiles at "
                                            "the first start: -gencode arch={},code={}",
                                            cc_name(newest->sm), plan.toolkit->version,
                                            compute_name(*newest), compute_name(*newest)));
  if (request.devices.size() > plan.unserved.size()) shortcoming.fixes.push_back("or leave it out");
  return shortcoming;
}

// No toolkit serves all of them, and nobody named one.
Shortcoming no_toolkit(const PlanRequest& request, const PlanFacts& facts) {
  std::vector<std::string> each;
  for (const LoadDevice& device : request.devices) {
    std::string own = serving_toolkits({device}, facts);
    each.push_back(fmt::format("{} takes {}", device_text(device), own.empty() ? "none" : own));
  }
  return {"no toolkit compiles for all of them: " + joined(each),
          {"build once with each of these toolkits, for the GPUs that it serves"}};
}

void add_toolkit_range(Plan& plan, const PlanFacts& facts) {
  for (const Toolkit& toolkit : *facts.toolkits) {
    bool all = std::all_of(plan.targets.begin(), plan.targets.end(),
                           [&](Target target) { return knows(toolkit.sass_targets, target); });
    if (!all) continue;
    if (plan.first_toolkit.empty()) plan.first_toolkit = toolkit.version;
    plan.last_toolkit = &toolkit == &facts.toolkits->back() ? "" : toolkit.version;
  }
}

} // namespace

std::string device_text(const LoadDevice& device) {
  std::string capability = cc_name(device.sm);
  return device.name == capability ? capability : fmt::format("{} ({})", device.name, capability);
}

bool runs_machine_code(const PlannedRun& run) {
  return run.verdict.outcome == LoadOutcome::native ||
         run.verdict.outcome == LoadOutcome::same_major;
}

std::vector<Target> candidates_of(const Toolkit& toolkit, char suffix) {
  std::vector<Target> targets;
  for (Target target : toolkit.sass_targets)
    if (target.suffix == 0 || target.suffix == suffix) targets.push_back(target);
  return targets;
}

std::vector<Target> plain_targets(const Toolkit& toolkit) {
  std::vector<Target> targets = candidates_of(toolkit, 0);
  std::sort(targets.begin(), targets.end());
  return targets;
}

const Toolkit* toolkit_for(const std::vector<LoadDevice>& devices,
                           const std::vector<Toolkit>& toolkits, const LoadRules& rules) {
  for (bool exactly : {true, false})
    for (size_t i = toolkits.size(); i-- > 0;)
      if (toolkits[i].confidence != "low" && all_served(devices, toolkits[i], exactly, rules))
        return &toolkits[i];
  return nullptr;
}

std::vector<Target> cover(const std::vector<LoadDevice>& devices,
                          const std::vector<Target>& candidates, bool min_size,
                          const LoadRules& rules) {
  std::vector<LoadDevice> ordered = devices;
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const LoadDevice& a, const LoadDevice& b) { return a.sm < b.sm; });
  std::vector<Target> chosen;
  for (const LoadDevice& device : ordered) {
    // The lowest GPU that nothing serves yet: what is best for it serves every later one that any
    // code for it could serve.
    bool served = min_size && std::any_of(chosen.begin(), chosen.end(), [&](Target target) {
                    return sass_fits(rules, target, device);
                  });
    if (served) continue;
    auto best = best_for(device, candidates, rules);
    if (best && !knows(chosen, *best)) chosen.push_back(*best);
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

std::vector<PlannedRun> prove(const CodeSet& codes, const std::vector<LoadDevice>& devices,
                              const Toolkit& toolkit, const LoadRules& rules) {
  Version isa = parse_version(toolkit.ptx_isa).value_or(Version{});
  Container container = planned_container(codes, isa);
  std::vector<PlannedRun> runs;
  for (const LoadDevice& device : devices) {
    PlannedRun run{load_container(container, device, nullptr, {}, rules), std::nullopt};
    if (run.verdict.image >= 0) run.code = codes[static_cast<size_t>(run.verdict.image)];
    runs.push_back(std::move(run));
  }
  return runs;
}

Plan choose_targets(const PlanRequest& request, const PlanFacts& facts) {
  Plan plan;
  plan.toolkit = request.toolkit;
  if (!plan.toolkit) plan.toolkit = toolkit_for(request.devices, *facts.toolkits, *facts.rules);
  // No toolkit serves them all: the newest one shows what is missing.
  for (size_t i = facts.toolkits->size(); !plan.toolkit && i-- > 0;)
    if ((*facts.toolkits)[i].confidence == "high") plan.toolkit = &(*facts.toolkits)[i];
  if (!plan.toolkit) return plan;
  plan.targets = cover(request.devices, candidates_of(*plan.toolkit, request.suffix),
                       request.min_size, *facts.rules);
  for (Target target : plan.targets)
    plan.codes.push_back(sass_code(target));
  if (request.ptx && !plan.targets.empty()) {
    plan.ptx = Target{plan.targets.back().sm, 0};
    plan.codes.push_back(ptx_code(*plan.ptx));
  }
  plan.codes = normalised(std::move(plan.codes));
  plan.runs = prove(plan.codes, request.devices, *plan.toolkit, *facts.rules);
  for (size_t i = 0; i < request.devices.size(); ++i)
    if (!runs_machine_code(plan.runs[i])) plan.unserved.push_back(i);
  return plan;
}

Plan make_plan(const PlanRequest& request, const PlanFacts& facts) {
  Plan plan = choose_targets(request, facts);
  if (!plan.toolkit) return plan;
  bool none = !request.toolkit && !toolkit_for(request.devices, *facts.toolkits, *facts.rules);
  if (none) plan.shortcomings.push_back(no_toolkit(request, facts));
  for (size_t index : plan.unserved)
    if (!none) plan.shortcomings.push_back(unserved(index, request, plan, facts));
  add_toolkit_range(plan, facts);
  if (!plan.shortcomings.empty()) return plan;
  for (const SystemChoice& choice : request.systems)
    plan.systems.push_back(plan_for_system(choice, request, plan, facts));
  return plan;
}

bool stands(const Plan& plan) {
  return plan.toolkit && plan.unserved.empty() &&
         std::all_of(plan.systems.begin(), plan.systems.end(),
                     [](const SystemPlan& system) { return system.shortcomings.empty(); });
}

} // namespace gpuvet
