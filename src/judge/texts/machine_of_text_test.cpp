// A stranger's report as the doctor's machine: the same checks fire as on the machine itself, and
// what a report does not tell makes none fire.
#include "judge/checks/testing/machines.hpp"
#include "judge/texts/known_facts.hpp"
#include "judge/texts/machine_of_text.hpp"
#include "judge/texts/testing/texts.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

using Texts = std::vector<std::string>;

Machine machine_of(std::string_view text) {
  FactsInText reader = testing::read_lines(text);
  Machine machine = reader.machine();
  EXPECT_TRUE(add_capabilities(machine, testing::facts()));
  return machine;
}

// Checks that fire, infos left out.
Texts found(std::string_view text) {
  return testing::found(machine_of(text));
}

std::string smi(const std::string& driver, const std::string& cuda, const std::string& gpu) {
  return "| NVIDIA-SMI " + driver + "  Driver Version: " + driver + "   CUDA Version: " + cuda +
         "     |\n|   0  " + gpu +
         "   Off | 00000000:01:00.0 Off |                  N/A |\n"
         "|  0%   40C    P8    20W / 300W |      1MiB / 24564MiB |      0%      Default |\n";
}

std::string collect_env(const std::string& torch, const std::string& cuda) {
  return "PyTorch version: " + torch + "\nCUDA used to build PyTorch: " + cuda +
         "\nOS: Ubuntu 22.04.3 LTS (x86_64)\nGCC version: (Ubuntu 11.4.0-1ubuntu1~22.04) 11.4.0\n"
         "Libc version: glibc-2.35\n"
         "Python version: 3.10.12 (main, Nov 20 2023, 15:14:05) [GCC 11.4.0] (64-bit runtime)\n"
         "Python platform: Linux-5.15.0-91-generic-x86_64-with-glibc2.35\n"
         "[pip3] torch==" +
         torch + "\n";
}

TEST(MachineOfText, TorchNewerThanTheDriver) {
  std::string text =
      collect_env("2.9.0+cu130", "13.0") + smi("535.104.05", "12.2", "NVIDIA GeForce RTX 4090");
  EXPECT_EQ(found(text), Texts{"torch-needs-newer-driver"});
  // The recorded way to the same: its facts, from probes.
  Machine machine = machine_of(text);
  EXPECT_EQ(testing::firing(python_checks(), machine), Texts{"torch-needs-newer-driver"});
  machine.nvml.driver_version = "580.95.05";
  machine.kernel.module_version = known(std::string("580.95.05"), "NVRM version");
  EXPECT_EQ(testing::firing(python_checks(), machine), Texts{});
}

TEST(MachineOfText, AHealthyReportFiresNothing) {
  EXPECT_EQ(found(collect_env("2.1.0+cu121", "12.1") +
                  smi("535.104.05", "12.2", "NVIDIA GeForce RTX 4090")),
            Texts{});
  EXPECT_EQ(found(smi("580.95.05", "13.0", "NVIDIA GeForce RTX 4090")), Texts{});
  EXPECT_EQ(found(collect_env("2.1.0+cu118", "11.8")), Texts{});
  EXPECT_EQ(found("Linux host 5.15.133.1-microsoft-standard-WSL2 #1 SMP Thu 2023 x86_64\n" +
                  smi("551.88", "12.4", "NVIDIA GeForce RTX 4070")),
            Texts{});
  EXPECT_EQ(found("GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-1)\n"), Texts{});
  EXPECT_EQ(found("Cuda compilation tools, release 12.1, V12.1.105\n"), Texts{});
  EXPECT_EQ(found("jax:    0.4.26\njaxlib: 0.4.26\nNVIDIA-SMI 535.104.12  Driver Version: "
                  "535.104.12 CUDA Version: 12.2\n"),
            Texts{});
  EXPECT_EQ(found("Package    Version\n---------- -------\ntorch      2.1.0\nnumpy      1.26.4\n" +
                  smi("535.104.05", "12.2", "NVIDIA GeForce RTX 4090")),
            Texts{});
  EXPECT_EQ(found(""), Texts{});
}

TEST(MachineOfText, ABuildForCpusBesideAGpu) {
  Texts ids = found(collect_env("2.3.0+cpu", "None") +
                    smi("535.104.05", "12.2", "NVIDIA GeForce RTX 4090"));
  EXPECT_EQ(ids, Texts{"torch-cpu-build"});
  EXPECT_EQ(found(collect_env("2.3.0+cpu", "None")), Texts{}); // no GPU is told of
}

TEST(MachineOfText, LinesOfTheKernelLog) {
  Texts ids =
      found("17:00.0 3D controller [0302]: NVIDIA Corporation GH100 [H100 PCIe] [10de:2331]\n"
            "NVRM: Xid (PCI:0000:17:00): 79, pid=1, name=python, GPU has fallen off the bus.\n");
  EXPECT_EQ(std::count(ids.begin(), ids.end(), "xid-79"), 1) << ::testing::PrintToString(ids);
}

TEST(MachineOfText, UnknownSaysWhy) {
  Machine machine = machine_of("driver 470.57.02\n| NVIDIA-SMI 535.104.05  Driver Version: "
                               "535.104.05 |\nNvidia driver version: 550.54.14\n");
  EXPECT_FALSE(machine.kernel.module_version);
  EXPECT_EQ(machine.kernel.module_version.why_unknown,
            "the text tells several: 535.104.05 (line 2), 550.54.14 (line 3)");
  EXPECT_TRUE(machine.nvml.driver_version.empty()); // two that contradict each other
  EXPECT_EQ(machine.kernel.modules.why_unknown, "not in the text");
  EXPECT_EQ(machine.cuda.asked.problem, "not in the text");
}

TEST(MachineOfText, KnownFactsOfIt) {
  std::vector<std::string> facts = testing::shown(known_facts(machine_of(
      collect_env("2.1.0+cu118", "11.8") + smi("535.104.05", "12.2", "NVIDIA GeForce RTX 4090"))));
  for (const char* fact :
       {"driver.version=535.104.05", "driver.cuda=12.2", "gpu.name=NVIDIA GeForce RTX 4090",
        "gpu.capability=8.9", "gpu.memory_bytes=25757220864", "torch.version=2.1.0+cu118",
        "torch.cuda=11.8", "python.version=3.10.12", "os.name=ubuntu", "os.version=22.04.3",
        "kernel.version=5.15.0-91-generic", "glibc.version=2.35", "gcc.version=11.4.0",
        "package.torch=2.1.0+cu118", "wsl=no"})
    EXPECT_EQ(std::count(facts.begin(), facts.end(), fact), 1)
        << fact << ::testing::PrintToString(facts);
}

} // namespace
} // namespace gpuvet
