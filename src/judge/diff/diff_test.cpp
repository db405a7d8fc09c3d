#include "judge/diff/diff.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace gpuvet {
namespace {

std::vector<std::string> ids(const MachineDiff& diff) {
  std::vector<std::string> all;
  for (const Change& change : diff.changes)
    all.push_back(change.id);
  return all;
}

const Change* change(const MachineDiff& diff, const std::string& id) {
  for (const Change& one : diff.changes)
    if (one.id == id) return &one;
  return nullptr;
}

std::string line(const MachineDiff& diff, const std::string& id) {
  const Change* found = change(diff, id);
  return found ? found->subject + ": " + in_words(*found) : "";
}

NvmlGpu gpu(uint32_t index, const std::string& address) {
  NvmlGpu gpu;
  gpu.index = index;
  gpu.name = "NVIDIA H100";
  gpu.pci_address = "00000000:" + address.substr(5);
  gpu.uuid = "GPU-" + std::to_string(index);
  gpu.ecc.value = true;
  gpu.power_limit_mw.value = 700000;
  gpu.temperature_c.value = 30;
  return gpu;
}

Machine eight_gpus() {
  Machine machine;
  machine.seen = Seen::recording;
  machine.system.kernel_release = known<std::string>("6.8.0-45-generic", "uname");
  machine.kernel.module_version = known<std::string>("550.54.15", "/sys/module/nvidia/version");
  machine.kernel.flavour = known(Flavour::open, "x");
  machine.kernel.modules = known(std::vector<KernelModule>{{.name = "nvidia"}}, "x");
  machine.packages.relevant =
      known(std::vector<Package>{{.name = "libnccl2", .version = "2.20", .status = "ii"}}, "x");
  machine.surroundings.container = known(ContainerKind::none, "x");
  machine.nvml.asked.state = machine.cuda.asked.state = AskState::answered;
  std::vector<PciFunction> functions;
  for (uint32_t i = 0; i < 8; ++i) {
    const std::string address = "0000:" + std::to_string(i) + "0:00.0";
    functions.push_back(
        {.address = address, .id = "10de:2330", .device_class = 0x030200, .driver = "nvidia"});
    machine.nvml.gpus.push_back(gpu(i, address));
    machine.kernel.nodes.push_back({.path = "/dev/nvidia" + std::to_string(i),
                                    .exists = true,
                                    .character = true,
                                    .major = 195,
                                    .mode = 0666});
  }
  machine.kernel.functions = known(std::move(functions), "/sys");
  machine.environment = {{"LD_LIBRARY_PATH", "/a:/b"}};
  return machine;
}

TEST(Diff, TheSameMachineIsUnchanged) {
  Machine later = eight_gpus();
  later.nvml.gpus[0].temperature_c.value = 80;
  later.nvml.gpus[0].uuid = "GPU-of-another-name";
  later.nvml.gpus[0].memory_used.value = 5;
  later.nvml.asked.seconds = 3;
  const MachineDiff diff = diff_machines(eight_gpus(), later);
  EXPECT_TRUE(diff.changes.empty()) << line(diff, ids(diff).front());
  EXPECT_TRUE(diff.not_compared.empty());
  EXPECT_EQ(diff_report(diff, "a", "b", false).verdict, "Nothing changed (a -> b)");
  EXPECT_TRUE(diff_machines(Machine(), Machine()).changes.empty());
}

TEST(Diff, TheMostImportantComesFirst) {
  Machine later = eight_gpus();
  later.cuda.asked.state = AskState::failed;
  later.cuda.asked.error = 999;
  later.cuda.asked.error_text = "CUDA_ERROR_UNKNOWN";
  later.kernel.module_version = known<std::string>("580.65.06", "x");
  later.system.kernel_release = known<std::string>("6.8.0-47-generic", "uname");
  later.kernel.flavour = known(Flavour::proprietary, "x");
  later.packages.relevant.value->at(0).version = "2.27";
  later.kernel.nodes[0].mode = 0600;
  later.services = {{.name = "nvidia-persistenced.service"}};
  const MachineDiff diff = diff_machines(eight_gpus(), later);
  EXPECT_EQ(ids(diff), (std::vector<std::string>{"cuda-answer", "driver-version", "kernel",
                                                 "module-flavour", "package", "node", "service"}));
  EXPECT_EQ(line(diff, "cuda-answer"),
            "CUDA driver: cuInit works -> cuInit fails: 999 CUDA_ERROR_UNKNOWN");
  EXPECT_EQ(line(diff, "driver-version"), "driver (kernel module): 550.54.15 -> 580.65.06");
  EXPECT_EQ(line(diff, "package"), "package libnccl2: 2.20 -> 2.27");
  EXPECT_EQ(line(diff, "service"), "service nvidia-persistenced.service: new: installed");
  EXPECT_EQ(
      diff_report(diff, "a", "b", false).verdict,
      "Changed: CUDA driver, cuInit works -> cuInit fails: 999 CUDA_ERROR_UNKNOWN; and 6 more "
      "(a -> b)");
}

TEST(Diff, GpusComeGoAndAreLost) {
  Machine later = eight_gpus();
  later.kernel.functions.value->pop_back();
  later.nvml.gpus.pop_back();
  later.nvml.gpus[2].error = 15;
  later.nvml.gpus[2].error_text = "GPU is lost";
  later.nvml.gpus[2].name.clear(); // a name that is not told is no change
  const MachineDiff diff = diff_machines(eight_gpus(), later);
  EXPECT_EQ(line(diff, "gpu"), "GPU 0000:70:00.0: gone: NVIDIA H100");
  EXPECT_EQ(line(diff, "gpu-answer"),
            "GPU 0000:20:00.0: answers -> does not answer: 15 GPU is lost");
  EXPECT_EQ(diff.changes.size(), 2u);
  EXPECT_EQ(line(diff_machines(later, eight_gpus()), "gpu"), "GPU 0000:70:00.0: new: NVIDIA H100");
}

TEST(Diff, EqualChangesOfGpusAreOne) {
  Machine all = eight_gpus(), some = eight_gpus();
  for (NvmlGpu& one : all.nvml.gpus)
    one.ecc.value = false;
  some.nvml.gpus[1].power_limit_mw.value = some.nvml.gpus[3].power_limit_mw.value = 500000;
  EXPECT_EQ(line(diff_machines(eight_gpus(), all), "gpu-ecc"), "all 8 GPUs: ECC: on -> off");
  EXPECT_EQ(line(diff_machines(eight_gpus(), some), "gpu-power-limit"),
            "GPU 0000:10:00.0, 0000:30:00.0: power limit: 700 W -> 500 W");
  for (DeviceNode& node : some.kernel.nodes)
    node.mode = 0660;
  const MachineDiff diff = diff_machines(all, some);
  EXPECT_EQ(std::count_if(diff.changes.begin(), diff.changes.end(),
                          [](const Change& one) { return one.id == "node"; }),
            1);
}

TEST(Diff, WhatIsUnknownOnOneSideIsNoChange) {
  Machine later = eight_gpus();
  later.system.kernel_release = unknown<std::string>("no");
  later.packages.relevant = unknown<std::vector<Package>>("Permission denied");
  later.cuda.asked = {.state = AskState::skipped, .problem = "not asked (--no-cuda)"};
  const MachineDiff diff = diff_machines(eight_gpus(), later);
  EXPECT_TRUE(diff.changes.empty());
  ASSERT_EQ(diff.not_compared.size(), 3u);
  EXPECT_EQ(diff.not_compared[1].subject, "kernel");
  EXPECT_EQ(diff.not_compared[1].why, "not known now: no");
  EXPECT_EQ(diff_report(diff, "a", "b", false).verdict,
            "Nothing changed, as far as could be compared (a -> b)");
}

TEST(Diff, AProbeThatWasCutShortTakesNothingAway) {
  Machine later = eight_gpus();
  later.kernel = {};
  later.packages = {};
  later.surroundings = {};
  later.not_finished = {"what the kernel shows"};
  const MachineDiff diff = diff_machines(eight_gpus(), later);
  EXPECT_TRUE(diff.changes.empty()) << line(diff, ids(diff).front());
  EXPECT_EQ(diff.not_compared.back().subject, "what the kernel shows");
}

TEST(Diff, OfSearchPathsElementsAreCompared) {
  Machine later = eight_gpus();
  later.environment = {{"LD_LIBRARY_PATH", "/a:/c"}, {"CUDA_VISIBLE_DEVICES", ""}};
  const MachineDiff diff = diff_machines(eight_gpus(), later);
  ASSERT_EQ(diff.changes.size(), 3u);
  EXPECT_EQ(diff.changes[0].subject + " " + in_words(diff.changes[0]),
            "variable CUDA_VISIBLE_DEVICES new: (empty)");
  EXPECT_EQ(diff.changes[1].subject + " " + in_words(diff.changes[1]),
            "element of LD_LIBRARY_PATH gone: /b");
  EXPECT_EQ(in_words(diff.changes[2]), "new: /c");
  later.environment = {{"LD_LIBRARY_PATH", "/b:/a"}}; // the order counts
  EXPECT_EQ(line(diff_machines(eight_gpus(), later), "environment"),
            "variable LD_LIBRARY_PATH: /a:/b -> /b:/a");
}

TEST(Diff, PythonEnvironmentsSideBySide) {
  PythonEnv one{.python_version = "3.11"}, two{.python_version = "3.12"};
  one.packages = known(std::vector<PythonPackage>{{.name = "torch", .version = "2.5.1+cu124"},
                                                  {.name = "xformers", .version = "0.0.28"}},
                       "x");
  two.packages = known(std::vector<PythonPackage>{{.name = "torch", .version = "2.7.0+cpu"}}, "x");
  one.torch = {{"version", "2.5.1+cu124"}, {"cuda", "12.4"}};
  two.torch = {{"version", "2.7.0+cpu"}, {"cuda", "none"}};
  one.code = {{.package = "torch",
               .sass = known(std::vector<Target>{{90, 'a'}}, "x"),
               .ptx = known(std::vector<Target>{{90, 0}}, "x")}};
  two.code = {{.package = "torch", .sass = known(std::vector<Target>{{80, 0}}, "x")}};
  const MachineDiff diff = diff_pythons(one, two);
  EXPECT_EQ(ids(diff), (std::vector<std::string>{"python-version", "python-package",
                                                 "python-package", "torch", "gpu-code"}));
  EXPECT_EQ(in_words(diff.changes[1]), "2.5.1+cu124 -> 2.7.0+cpu");
  EXPECT_EQ(in_words(diff.changes[2]), "gone: 0.0.28");
  EXPECT_EQ(line(diff, "gpu-code"), "GPU code of torch: sm_90a compute_90 -> sm_80");
}

TEST(Diff, LongListsAreCutWithANote) {
  Machine later = eight_gpus();
  for (int i = 0; i < 30; ++i)
    later.packages.relevant.value->push_back(
        {.name = "cuda-part-" + std::to_string(i), .version = "12", .status = "ii"});
  const MachineDiff diff = diff_machines(eight_gpus(), later);
  EXPECT_EQ(diff_report(diff, "a", "b", false).tables.at(0).rows.size(), 12u);
  EXPECT_EQ(diff_report(diff, "a", "b", false).notes.at(0),
            "18 more of kind package: -v shows them");
  EXPECT_EQ(diff_report(diff, "a", "b", true).tables.at(0).rows.size(), 30u);
  EXPECT_TRUE(diff_report(diff, "a", "b", true).notes.empty());
}

} // namespace
} // namespace gpuvet
