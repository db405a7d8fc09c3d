#include "judge/oom/holders.hpp"
#include "judge/oom/testing/logs.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

using testing::oom_tables;

constexpr uint64_t kGi = uint64_t{1} << 30U;

Machine machine_with(uint64_t used, std::vector<NvmlProcess> listed, std::vector<GpuProcess> open) {
  Machine machine;
  machine.nvml.asked.state = AskState::answered;
  NvmlGpu gpu;
  gpu.name = "NVIDIA H100 PCIe";
  gpu.minor.value = 0;
  gpu.memory_total.value = 80 * kGi;
  gpu.memory_used.value = used;
  gpu.memory_reserved.value = kGi / 2;
  gpu.processes.value = std::move(listed);
  machine.nvml.gpus.push_back(std::move(gpu));
  machine.processes = known(std::move(open), "/proc");
  machine.system.user = known<uint64_t>(0, "geteuid");
  machine.surroundings.container = known(ContainerKind::none, "/proc/1");
  return machine;
}

GpuProcess process(uint64_t pid, const char* name, const char* state, bool ours = true) {
  GpuProcess made;
  made.pid = pid;
  made.name = name;
  made.state = state;
  made.nodes = {"/dev/nvidia0"};
  made.ours = ours;
  return made;
}

OomHolders holders_of(const Machine& machine) {
  auto made = judge_holders(machine, oom_tables(), std::nullopt, std::nullopt);
  EXPECT_TRUE(made.has_value());
  return made ? *made : OomHolders{};
}

TEST(OomHolders, WhatIsListedIsExplained) {
  const OomHolders holders =
      holders_of(machine_with(31 * kGi, {{.pid = 9, .bytes = 31 * kGi - kGi / 8}},
                              {process(9, "python3", "S (sleeping)")}));
  ASSERT_EQ(holders.gpus.size(), 1U);
  EXPECT_TRUE(holders.verdicts.empty());
  EXPECT_TRUE(holders.gpus[0].complete);
  EXPECT_EQ(holders.gpus[0].holders.front().name, "python3");
  EXPECT_EQ(holders.report.verdict, "GPU 0: 31 GiB of 80 GiB in use, most of it by python3 (9).");
}

// A forked worker that outlived its trainer has the device open and is in no list.
TEST(OomHolders, OrphansThatOnlyHaveTheDeviceOpen) {
  const OomHolders holders =
      holders_of(machine_with(30 * kGi, {}, {process(4711, "pt_data_worker", "S (sleeping)")}));
  ASSERT_EQ(holders.verdicts.size(), 1U);
  EXPECT_EQ(holders.outcome, OomOutcome::found);
  EXPECT_EQ(holders.gpus[0].unexplained, 30 * kGi);
  EXPECT_NE(holders.verdicts[0].fixes.front().find("4711"), std::string::npos);
  EXPECT_NE(holders.verdicts[0].fixes.front().find("whose"), std::string::npos);
}

TEST(OomHolders, NobodyAtAll) {
  const OomHolders holders = holders_of(machine_with(30 * kGi, {}, {}));
  EXPECT_EQ(holders.outcome, OomOutcome::open);
}

TEST(OomHolders, ALittleIsNobodysMemory) {
  EXPECT_TRUE(holders_of(machine_with(kGi / 2, {}, {})).verdicts.empty()); // under 1 % of the GPU
  EXPECT_FALSE(holders_of(machine_with(kGi, {}, {})).verdicts.empty());
}

TEST(OomHolders, MemoryThatIsNotToldExplainsNothing) {
  const OomHolders holders =
      holders_of(machine_with(30 * kGi, {{.pid = 9, .bytes = std::nullopt}}, {}));
  EXPECT_TRUE(holders.verdicts.empty());
  EXPECT_FALSE(holders.gpus[0].unexplained.has_value());
  EXPECT_FALSE(holders.gpus[0].complete);
}

TEST(OomHolders, AContainerSeesOnlyItself) {
  Machine machine = machine_with(30 * kGi, {}, {});
  machine.surroundings.container = known(ContainerKind::docker, "/.dockerenv");
  const OomHolders holders = holders_of(machine);
  EXPECT_FALSE(holders.gpus[0].complete);
  EXPECT_NE(joined(holders.report.notes).find("container"), std::string::npos);
}

TEST(OomHolders, OneProcessOneGpu) {
  const Machine machine = machine_with(31 * kGi, {{.pid = 9, .bytes = 30 * kGi}},
                                       {process(9, "python3", "S (sleeping)")});
  EXPECT_TRUE(judge_holders(machine, oom_tables(), 9, std::nullopt).has_value());
  EXPECT_FALSE(judge_holders(machine, oom_tables(), 10, std::nullopt).has_value());
  EXPECT_TRUE(judge_holders(machine, oom_tables(), std::nullopt, 0).has_value());
  EXPECT_FALSE(judge_holders(machine, oom_tables(), std::nullopt, 1).has_value());
}

TEST(OomHolders, WithoutNvmlNothingIsKnown) {
  Machine machine;
  machine.nvml.asked.state = AskState::hung;
  machine.nvml.asked.call = "nvmlInit_v2";
  const OomHolders holders = holders_of(machine);
  EXPECT_NE(holders.why_unknown.find("nvmlInit_v2"), std::string::npos);
  EXPECT_EQ(holders.report.state, State::unknown);
}

} // namespace
} // namespace gpuvet
