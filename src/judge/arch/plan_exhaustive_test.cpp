// All subsets of up to four of the architectures since 5.0, for every toolkit: laws that hold
// whatever the list is. Toolkits that know the same targets give the same plans (the test says so
// for each of them), so one of each kind goes through all subsets.
#include "judge/arch/testing/arch_facts.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace gpuvet {
namespace {

using testing::capability;
using testing::plan_facts;

std::vector<uint32_t> capabilities() {
  std::vector<uint32_t> all;
  for (const SassRange& range : plan_facts().rules->sass_ranges)
    if (range.target.sm >= 50 && range.target.suffix == 0) all.push_back(range.target.sm);
  return all;
}

// The toolkits, by the targets that they know.
std::map<std::vector<Target>, std::vector<const Toolkit*>> kinds() {
  std::map<std::vector<Target>, std::vector<const Toolkit*>> by_targets;
  for (const Toolkit& toolkit : *plan_facts().toolkits)
    by_targets[plain_targets(toolkit)].push_back(&toolkit);
  return by_targets;
}

template <class Visit> void for_each_subset(size_t count, size_t most, Visit&& visit) {
  std::vector<size_t> chosen;
  auto extend = [&](auto& self, size_t from) -> void {
    if (!chosen.empty()) visit(chosen);
    if (chosen.size() == most) return;
    for (size_t i = from; i < count; ++i) {
      chosen.push_back(i);
      self(self, i + 1);
      chosen.pop_back();
    }
  };
  extend(extend, 0);
}

bool serves(const std::vector<Target>& targets, const LoadDevice& device) {
  return std::any_of(targets.begin(), targets.end(),
                     [&](Target target) { return sass_fits(*plan_facts().rules, target, device); });
}

CodeSet without(const CodeSet& codes, const Code& left_out) {
  CodeSet rest;
  for (const Code& code : codes)
    if (code != left_out) rest.push_back(code);
  return rest;
}

// Every named GPU runs machine code, or the toolkit has none for it; its own where the toolkit has
// it.
void check_served(const Plan& plan, const PlanRequest& request, const std::vector<Target>& known) {
  const std::set<size_t> unserved(plan.unserved.begin(), plan.unserved.end());
  for (size_t i = 0; i < request.devices.size(); ++i) {
    const LoadDevice& device = request.devices[i];
    ASSERT_EQ(unserved.count(i) == 0, serves(known, device)) << device.name;
    bool own = std::find(known.begin(), known.end(), Target{device.sm, 0}) != known.end();
    if (own && !request.min_size) {
      ASSERT_EQ(plan.runs[i].verdict.outcome, LoadOutcome::native) << device.name;
    }
  }
}

// Taking any entry away leaves a named GPU worse off: with older code or none, and with `min_size`
// without machine code.
void check_needed(const Plan& plan, const PlanRequest& request) {
  for (Target target : plan.targets) {
    Code entry = sass_code(target);
    CodeSet rest = without(plan.codes, entry);
    bool breaks = false;
    for (size_t i = 0; i < request.devices.size() && !breaks; ++i) {
      if (plan.runs[i].code != entry) continue;
      PlannedRun then =
          prove(rest, {request.devices[i]}, *plan.toolkit, *plan_facts().rules).front();
      bool older = then.code && then.code->target < target && !request.min_size;
      breaks = !runs_machine_code(then) || older;
    }
    ASSERT_TRUE(breaks) << sm_name(target) << " is not needed in " << codes_text(plan.codes);
  }
}

void check_all(bool min_size, size_t most) {
  std::vector<LoadDevice> devices;
  for (uint32_t sm : capabilities())
    devices.push_back(capability(sm));
  size_t plans = 0;
  for (const auto& [known, toolkits] : kinds()) {
    PlanRequest request;
    request.toolkit = toolkits[0];
    request.min_size = min_size;
    const std::vector<Target>& targets = known;
    for_each_subset(devices.size(), most, [&](const std::vector<size_t>& chosen) {
      request.devices.clear();
      for (size_t index : chosen)
        request.devices.push_back(devices[index]);
      Plan plan = choose_targets(request, plan_facts());
      ++plans;
      check_served(plan, request, targets);
      if (::testing::Test::HasFatalFailure()) return;
      for (const Code& code : plan.codes)
        ASSERT_TRUE(std::binary_search(targets.begin(), targets.end(), code.target))
            << "CUDA " << request.toolkit->version << " rejects " << code_name(code);
      ASSERT_EQ(plan.ptx.has_value(), !plan.targets.empty());
      check_needed(plan, request);
    });
    if (::testing::Test::HasFatalFailure()) return;
  }
  ::testing::Test::RecordProperty("plans", static_cast<int>(plans));
}

} // namespace

TEST(PlanExhaustive, AllSubsetsOfUpToFour) {
  check_all(false, 4);
}

TEST(PlanExhaustive, AllSubsetsOfUpToFourWithMinSize) {
  check_all(true, 4);
}

TEST(PlanExhaustive, ToolkitsThatKnowTheSameTargetsGiveTheSamePlan) {
  for (const auto& [targets, toolkits] : kinds())
    for (const Toolkit* toolkit : toolkits)
      for (uint32_t sm : capabilities()) {
        PlanRequest one, other;
        one.devices = other.devices = {capability(sm)};
        one.toolkit = toolkits[0];
        other.toolkit = toolkit;
        Plan a = choose_targets(one, plan_facts()), b = choose_targets(other, plan_facts());
        ASSERT_EQ(a.codes, b.codes);
        ASSERT_EQ(a.runs[0].verdict.outcome, b.runs[0].verdict.outcome) << toolkit->version;
      }
}

// Where a plan falls short, it says why and names a toolkit that really serves.
TEST(PlanExhaustive, EachRefusalNamesAToolkitThatServes) {
  std::vector<uint32_t> all = capabilities();
  for (const Toolkit& toolkit : *plan_facts().toolkits)
    for_each_subset(all.size(), 2, [&](const std::vector<size_t>& chosen) {
      PlanRequest request;
      request.toolkit = &toolkit;
      for (size_t index : chosen)
        request.devices.push_back(capability(all[index]));
      Plan plan = choose_targets(request, plan_facts());
      if (plan.unserved.empty()) return;
      plan = make_plan(request, plan_facts());
      ASSERT_EQ(plan.shortcomings.size(), plan.unserved.size());
      for (const Shortcoming& shortcoming : plan.shortcomings) {
        bool why = shortcoming.what.find("is the first that compiles") != std::string::npos ||
                   shortcoming.what.find("is the last that compiles") != std::string::npos;
        ASSERT_TRUE(why) << shortcoming.what;
        ASSERT_GE(shortcoming.fixes.size(), 1U);
        size_t at = shortcoming.fixes[0].find("CUDA ");
        ASSERT_NE(at, std::string::npos) << shortcoming.fixes[0];
        std::string version = shortcoming.fixes[0].substr(at + 5);
        version = version.substr(0, version.find_first_of(" ,"));
        std::vector<Target> then = plain_targets(testing::toolkit(version));
        bool second = shortcoming.fixes[0].find("a second time") != std::string::npos;
        for (size_t index : plan.unserved)
          if (!second || plan.unserved.size() == 1) {
            ASSERT_TRUE(serves(then, request.devices[index])) << shortcoming.fixes[0];
          }
      }
    });
}

} // namespace gpuvet
