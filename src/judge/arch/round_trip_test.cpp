// Conversions there and back. What a system can say at all, it says exactly: the value is read back
// to the same code. That makes every pair of systems exact for what both can say, and the pairs are
// tried as well, through the function that the command calls.
#include "judge/arch/convert.hpp"
#include "judge/arch/testing/arch_facts.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace gpuvet {
namespace {

using testing::plan_facts;
using testing::with;

// Every target since 5.0, with its suffixes.
std::vector<Target> targets() {
  std::vector<Target> all;
  for (const SassRange& range : plan_facts().rules->sass_ranges)
    if (range.target.sm >= 50) all.push_back(range.target);
  return all;
}

// Sets of up to three of the targets: machine code, with PTX of each subset that systems
// distinguish (none, the highest, all, the lowest), and PTX alone.
std::vector<CodeSet> code_sets(const std::vector<Target>& all, size_t most) {
  std::set<CodeSet> sets;
  auto add = [&](const std::vector<Target>& chosen) {
    CodeSet sass, ptx;
    for (Target target : chosen) {
      sass.push_back(sass_code(target));
      ptx.push_back(ptx_code(target));
    }
    std::vector<CodeSet> kinds = {sass, ptx, sass, sass, sass};
    kinds[2].push_back(ptx.back());
    kinds[3].push_back(ptx.front());
    kinds[4].insert(kinds[4].end(), ptx.begin(), ptx.end());
    for (CodeSet& codes : kinds)
      sets.insert(normalised(std::move(codes)));
  };
  for (size_t a = 0; a < all.size(); ++a) {
    add({all[a]});
    for (size_t b = a + 1; b < all.size() && most > 1; ++b) {
      add({all[a], all[b]});
      for (size_t c = b + 1; c < all.size() && most > 2; ++c)
        add({all[a], all[b], all[c]});
    }
  }
  return {sets.begin(), sets.end()};
}

// Do the system's words depend on the toolkit? The others are tried with one only.
bool depends_on_toolkit(const ArchSystem& system) {
  const ArchTables& tables = *plan_facts().tables;
  return std::any_of(tables.rewrites.begin(), tables.rewrites.end(),
                     [&](const ArchRewrite& row) {
                       return row.system == system.id && row.first_toolkit.has_value();
                     }) ||
         std::any_of(tables.accepts.begin(), tables.accepts.end(), [&](const ArchAccept& row) {
           return row.product == system.product && (row.first_toolkit || row.last_toolkit);
         });
}

TEST(RoundTrip, EachSystemReadsBackWhatItWrites) {
  std::vector<CodeSet> sets = code_sets(targets(), 2);
  std::map<std::string, size_t> said;
  for (const std::string& version :
       {std::string("12.9"), std::string("12.8"), std::string("13.0")}) {
    ArchContext context = with(version);
    for (const ArchSystem& system : plan_facts().tables->systems) {
      if (version != "12.9" && !depends_on_toolkit(system)) continue;
      for (const CodeSet& codes : sets) {
        auto value = write_value(system, codes, context);
        if (!value) {
          ASSERT_FALSE(value.error().what.empty()) << system.id << " " << codes_text(codes);
          continue;
        }
        ++said[system.id];
        auto back = read_value(system, *value, context);
        ASSERT_TRUE(back) << system.id << " " << *value << ": " << back.error().what;
        ASSERT_EQ(*back, codes) << system.id << " " << *value;
      }
    }
  }
  for (const ArchSystem& system : plan_facts().tables->systems)
    EXPECT_EQ(said[system.id] > 0, system.form != "none") << system.id << " says nothing";
  EXPECT_EQ(said["nvcc"], sets.size()); // nvcc's own flags say everything
  EXPECT_EQ(said["cupy"], sets.size());
  EXPECT_EQ(said["cmake"], sets.size());
}

TEST(RoundTrip, EveryPairOfSystemsThereAndBack) {
  ArchContext context = with("12.9");
  std::vector<Target> some;
  for (Target target : targets())
    if (std::find(context.toolkit->sass_targets.begin(), context.toolkit->sass_targets.end(),
                  target) != context.toolkit->sass_targets.end())
      some.push_back(target);
  size_t pairs = 0;
  for (const CodeSet& codes : code_sets(some, 1))
    for (const ArchSystem& from : plan_facts().tables->systems) {
      auto given = write_value(from, codes, context);
      if (!given) continue;
      for (const ArchSystem& to : plan_facts().tables->systems) {
        auto there = convert_value(from, to, *given, context);
        if (!there) continue;
        ++pairs;
        auto back = convert_value(to, from, there->value, context);
        ASSERT_TRUE(back) << from.id << " " << *given << " -> " << to.id << " " << there->value
                          << ": " << back.error().what;
        ASSERT_EQ(back->value, *given) << from.id << " -> " << to.id << " " << there->value;
        ASSERT_EQ(back->codes, codes);
      }
    }
  EXPECT_GT(pairs, 10000U);
}

// A plan's value, of every system for every GPU alone and every toolkit: read back, it serves the
// GPU, and it names no target that the toolkit rejects.
TEST(RoundTrip, APlansValueServesItsGpu) {
  for (const Toolkit& toolkit : *plan_facts().toolkits)
    for (Target target : toolkit.sass_targets) {
      if (target.suffix || target.sm < 50) continue;
      PlanRequest request;
      request.devices = {testing::capability(target.sm)};
      request.toolkit = &toolkit;
      for (const ArchSystem& system : plan_facts().tables->systems)
        request.systems.push_back({&system, std::nullopt});
      Plan plan = make_plan(request, plan_facts());
      ASSERT_EQ(plan.systems.size(), request.systems.size());
      for (const SystemPlan& made : plan.systems) {
        ASSERT_EQ(made.value.empty(), made.builds.empty()) << made.system->id;
        if (!made.shortcomings.empty()) continue;
        ArchContext context{plan_facts().tables, plan_facts().rules, &toolkit, std::nullopt};
        auto builds = read_value(*made.system, made.value, context);
        ASSERT_TRUE(builds) << made.value;
        ASSERT_EQ(*builds, made.builds);
        auto refused = unknown_target(*builds, context);
        ASSERT_FALSE(refused) << made.system->id << " " << made.value << ": " << refused->what;
        ASSERT_TRUE(runs_machine_code(made.runs[0])) << made.system->id << " " << made.value;
      }
    }
}

} // namespace
} // namespace gpuvet
