// The tables test themselves: unique, sorted, every reference resolves, and spot checks of facts
// that people get wrong.
#include "facts/facts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

namespace gpuvet {
namespace {

const Facts& facts() {
  static const Facts all;
  return all;
}

Version v(const std::string& text) {
  return parse_version(text).value_or(Version{});
}

const LoadRules& rules() {
  auto result = facts().load_rules();
  if (!result) throw std::runtime_error(result.error().where + ": " + result.error().what);
  return **result;
}

const std::vector<Gpu>& gpus() {
  auto result = facts().gpus();
  if (!result) throw std::runtime_error(result.error().where + ": " + result.error().what);
  return **result;
}

const std::vector<Toolkit>& toolkits() {
  auto result = facts().toolkits();
  if (!result) throw std::runtime_error(result.error().where + ": " + result.error().what);
  return **result;
}

const Toolkit& toolkit(const std::string& version) {
  for (const Toolkit& t : toolkits())
    if (t.version == version) return t;
  throw std::runtime_error("no toolkit " + version);
}

const SassRange& range(Target target) {
  for (const SassRange& r : rules().sass_ranges)
    if (r.target == target) return r;
  throw std::runtime_error("no target " + sm_name(target));
}

bool has(const std::vector<Target>& targets, Target target) {
  return std::find(targets.begin(), targets.end(), target) != targets.end();
}

TEST(GpuTable, SortedWithoutDuplicates) {
  auto key = [](const Gpu& g) { return std::pair(g.sm, normalised_name(g.name)); };
  for (size_t i = 1; i < gpus().size(); ++i)
    EXPECT_LT(key(gpus()[i - 1]), key(gpus()[i])) << gpus()[i].name;
}

TEST(GpuTable, IsComplete) {
  EXPECT_EQ(gpus().size(), 816u);
  std::set<std::string> ids;
  size_t without_id = 0;
  for (const Gpu& gpu : gpus()) {
    ids.insert(gpu.pci_ids.begin(), gpu.pci_ids.end());
    without_id += gpu.pci_ids.empty();
  }
  EXPECT_EQ(ids.size(), 1036u);
  EXPECT_EQ(without_id, 21u);
}

TEST(GpuTable, EveryRowHasWhatAnAnswerNeeds) {
  const std::set<std::string> segments = {"geforce", "workstation", "datacenter", "tegra",
                                          "mining",  "soc-pc",      "automotive"};
  for (const Gpu& gpu : gpus()) {
    EXPECT_FALSE(gpu.architecture.empty()) << gpu.name;
    EXPECT_FALSE(gpu.source.empty()) << gpu.name;
    EXPECT_TRUE(segments.count(gpu.segment)) << gpu.name;
    EXPECT_EQ(gpu.segment == "tegra", gpu.tegra) << gpu.name;
    bool has_specs = !gpu.memory_sizes_gb.empty() || gpu.memory_bandwidth_gb_s || gpu.fp32_tflops ||
                     gpu.tdp_w || gpu.sm_count;
    EXPECT_EQ(has_specs, !gpu.spec_source.empty()) << gpu.name;
    EXPECT_EQ(has_specs, !gpu.confidence.empty()) << gpu.name;
    for (const std::string& id : gpu.pci_ids) {
      EXPECT_EQ(id.size(), 9u) << gpu.name;
      EXPECT_EQ(id.find_first_not_of("0123456789abcdef", 5), std::string::npos) << gpu.name;
    }
  }
}

TEST(GpuTable, APciIdHasOneCapability) {
  std::map<std::string, uint32_t> capability;
  for (const Gpu& gpu : gpus())
    for (const std::string& id : gpu.pci_ids)
      EXPECT_EQ(capability.emplace(id, gpu.sm).first->second, gpu.sm) << id;
}

TEST(GpuTable, EveryCapabilityCanBeCompiledForOrIsOlderThan20) {
  for (const Gpu& gpu : gpus()) {
    if (gpu.sm < 20) continue;
    auto compiles = [&](const Toolkit& t) { return has(t.sass_targets, {gpu.sm, 0}); };
    EXPECT_TRUE(std::any_of(toolkits().begin(), toolkits().end(), compiles)) << gpu.name;
  }
}

TEST(GpuTable, LastDriverBranch) {
  auto branch = [](std::string_view name) {
    return find_gpu(gpus(), name).gpu->last_driver_branch;
  };
  EXPECT_EQ(branch("K80"), 470u);
  EXPECT_EQ(branch("GTX 1080 Ti"), 580u);
  EXPECT_EQ(branch("V100"), 580u);
  EXPECT_FALSE(branch("T4"));
  EXPECT_FALSE(branch("Jetson TX2")) << "its driver comes with JetPack";
}

TEST(LoadRules, TargetsSortedAndUsed) {
  const auto& ranges = rules().sass_ranges;
  for (size_t i = 1; i < ranges.size(); ++i)
    EXPECT_LT(ranges[i - 1].target, ranges[i].target);
  for (const SassRange& r : ranges) {
    EXPECT_FALSE(r.source.empty());
    if (!r.last_cuda.empty()) {
      EXPECT_LE(v(r.first_cuda), v(r.last_cuda)) << sm_name(r.target);
    }
    if (r.target.suffix) {
      EXPECT_NO_THROW(range({r.target.sm, 0})) << sm_name(r.target);
    }
  }
}

TEST(LoadRules, FirstAndLastToolkit) {
  EXPECT_EQ(range({86, 0}).first_cuda, "11.1");
  EXPECT_EQ(range({80, 0}).first_cuda, "11.0");
  EXPECT_EQ(range({87, 0}).first_cuda, "11.4");
  EXPECT_EQ(range({89, 0}).first_cuda, "11.8");
  EXPECT_EQ(range({90, 'a'}).first_cuda, "12.0");
  EXPECT_EQ(range({120, 0}).first_cuda, "12.8");
  EXPECT_EQ(range({121, 0}).first_cuda, "12.9");
  EXPECT_EQ(range({37, 0}).last_cuda, "11.8");
  for (uint32_t sm : {50u, 52u, 53u, 60u, 61u, 62u, 70u, 72u})
    EXPECT_EQ(range({sm, 0}).last_cuda, "12.9") << sm;
  EXPECT_TRUE(range({75, 0}).last_cuda.empty());
}

TEST(LoadRules, FamiliesResolve) {
  for (const Family& family : rules().families) {
    EXPECT_EQ(range({family.sm, 'f'}).first_cuda, family.first_cuda) << family.sm;
    EXPECT_EQ(range({family.sm, 'f'}).last_cuda, family.last_cuda) << family.sm;
    ASSERT_FALSE(family.devices.empty());
    EXPECT_EQ(family.devices[0], family.sm);
    EXPECT_TRUE(std::is_sorted(family.devices.begin(), family.devices.end()));
    for (uint32_t device : family.devices) {
      EXPECT_EQ(cc_major(device), cc_major(family.sm));
      EXPECT_NO_THROW(range({device, 0})) << device;
    }
  }
  for (const SassRange& r : rules().sass_ranges) {
    auto is_it = [&](const Family& f) { return f.sm == r.target.sm; };
    if (r.target.suffix == 'f') {
      EXPECT_TRUE(std::any_of(rules().families.begin(), rules().families.end(), is_it));
    }
  }
}

TEST(LoadRules, PtxIsaAndDriversAscend) {
  const auto& isas = rules().ptx_isas;
  for (size_t i = 1; i < isas.size(); ++i) {
    EXPECT_LT(isas[i - 1].isa, isas[i].isa);
    EXPECT_LT(isas[i - 1].cuda, isas[i].cuda);
  }
  const auto& branches = rules().branches;
  for (size_t i = 0; i < branches.size(); ++i) {
    if (i) {
      EXPECT_LT(branches[i - 1].branch, branches[i].branch);
    }
    if (i) {
      EXPECT_LE(branches[i - 1].cuda, branches[i].cuda);
    }
    // A driver reads the newest ISA that its CUDA version knows.
    Version newest;
    for (const PtxIsa& isa : isas)
      if (isa.cuda <= branches[i].cuda) newest = isa.isa;
    EXPECT_EQ(branches[i].ptx_isa, newest) << branches[i].branch;
  }
  for (const PtxIsa& isa : isas) {
    auto is_it = [&](const Toolkit& t) { return v(t.version) == isa.cuda; };
    EXPECT_EQ(std::any_of(toolkits().begin(), toolkits().end(), is_it), isa.has_toolkit);
  }
}

TEST(LoadRules, EndsAndFloors) {
  for (const ArchitectureEnd& end : rules().ends)
    EXPECT_LE(end.first_sm, end.last_sm);
  ASSERT_EQ(rules().floors.size(), 3u);
  EXPECT_EQ(rules().floors[1].min_linux, "525.60.13");
  EXPECT_EQ(rules().floors[1].min_windows, "527.41");
  EXPECT_TRUE(rules().floors[2].min_windows.empty()) << "not established";
}

TEST(LoadRules, Tegra) {
  EXPECT_EQ(rules().tegra, (std::vector<uint32_t>{32, 53, 62, 72, 87, 101, 110}));
}

TEST(ToolkitTable, SortedAndComplete) {
  size_t releases = 0;
  for (size_t i = 0; i < toolkits().size(); ++i) {
    const Toolkit& t = toolkits()[i];
    if (i) {
      EXPECT_LT(v(toolkits()[i - 1].version), v(t.version));
    }
    EXPECT_FALSE(t.sources.empty()) << t.version;
    EXPECT_FALSE(t.sass_targets.empty()) << t.version;
    auto default_arch = parse_target(t.default_arch);
    ASSERT_TRUE(default_arch) << t.version;
    EXPECT_TRUE(has(t.sass_targets, *default_arch)) << t.version;
    for (size_t r = 1; r < t.releases.size(); ++r)
      EXPECT_LT(v(t.releases[r - 1].version), v(t.releases[r].version));
    releases += t.releases.size();
    Version newest;
    for (const PtxIsa& isa : rules().ptx_isas)
      if (isa.cuda <= v(t.version)) newest = isa.isa;
    EXPECT_EQ(v(t.ptx_isa), newest) << t.version;
  }
  EXPECT_EQ(toolkits().size(), 33u);
  EXPECT_EQ(releases, 67u);
}

TEST(ToolkitTable, DriverBranchesResolve) {
  for (const Toolkit& t : toolkits()) {
    if (t.driver_branch.empty()) continue;
    auto is_it = [&](const DriverBranch& b) { return std::to_string(b.branch) == t.driver_branch; };
    auto branch = std::find_if(rules().branches.begin(), rules().branches.end(), is_it);
    ASSERT_NE(branch, rules().branches.end()) << t.version;
    EXPECT_EQ(branch->cuda, v(t.version));
  }
}

TEST(ToolkitTable, TargetsOf130AsItsNvccListsThem) {
  std::string names;
  for (Target t : toolkit("13.0").sass_targets)
    names += sm_name(t) + " ";
  EXPECT_EQ(names, "sm_75 sm_80 sm_86 sm_87 sm_88 sm_89 sm_90 sm_90a sm_100 sm_100a sm_100f "
                   "sm_103 sm_103a sm_103f sm_110 sm_110a sm_110f sm_120 sm_120a sm_120f sm_121 "
                   "sm_121a sm_121f ");
}

TEST(ToolkitTable, FactsThatPeopleGetWrong) {
  EXPECT_FALSE(has(toolkit("11.0").sass_targets, {86, 0}));
  EXPECT_TRUE(has(toolkit("11.1").sass_targets, {86, 0}));
  EXPECT_FALSE(has(toolkit("10.2").sass_targets, {80, 0}));
  EXPECT_TRUE(has(toolkit("12.9").sass_targets, {50, 0}));
  EXPECT_FALSE(has(toolkit("13.0").sass_targets, {70, 0}));
  EXPECT_FALSE(has(toolkit("13.0").sass_targets, {101, 0}));
  EXPECT_EQ(toolkit("12.4").releases[0].driver_linux, "550.54.14");
  EXPECT_EQ(toolkit("12.4").minor_driver_linux, "525.60.13");
  EXPECT_EQ(toolkit("12.6").ptx_isa, "8.5");
  EXPECT_TRUE(toolkit("10.2").minor_driver_linux.empty());
  EXPECT_EQ(toolkit("13.5").targets_from, "13.4");
  EXPECT_FALSE(has(toolkit("8.0").ptx_targets, {21, 0})) << "sm_21 is built from compute_20";
}

} // namespace
} // namespace gpuvet
