#include "judge/checks/testing/machines.hpp"
#include "judge/setup/parts.hpp"
#include "judge/setup/setup.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace gpuvet {
namespace {

using testing::facts;

SetupAnswer answer(const SetupWish& wish, const Machine* machine = nullptr) {
  auto found = plan_setup(machine, wish, facts());
  if (!found) throw std::runtime_error(found.error().where + ": " + found.error().what);
  return *found;
}

SetupPlan plan(const SetupWish& wish, const Machine* machine = nullptr) {
  SetupAnswer found = answer(wish, machine);
  if (!found.plan) throw std::runtime_error(found.refusal.why);
  return *found.plan;
}

std::string refusal(const SetupWish& wish, const Machine* machine = nullptr) {
  SetupAnswer found = answer(wish, machine);
  return found.plan ? "" : found.refusal.why;
}

SetupWish wish(const std::string& toolkit, const std::string& distribution,
               const std::string& gpu = {}) {
  SetupWish made;
  made.toolkit = toolkit;
  made.distribution = distribution;
  made.gpu = gpu;
  return made;
}

bool has_step(const SetupPlan& plan, std::string_view id) {
  return std::any_of(plan.steps.begin(), plan.steps.end(),
                     [&](const SetupAction& step) { return step.id == id; });
}

std::string commands(const SetupPlan& plan) {
  std::string text;
  for (const SetupAction& step : plan.steps)
    for (const std::string& line : step.lines)
      text += line + "\n";
  return text;
}

size_t place_of(const SetupPlan& plan, std::string_view id) {
  for (size_t i = 0; i < plan.steps.size(); ++i)
    if (plan.steps[i].id == id) return i;
  return SIZE_MAX;
}

// --- toolkits -----------------------------------------------------------------------------------

TEST(SetupToolkit, WhatARepositoryHas) {
  PackagedToolkits row;
  row.first = "12.5";
  row.seen = "13.0";
  auto at = [&](const char* version) { return setup::offered_by(&row, *parse_version(version)); };
  EXPECT_EQ(at("12.4"), setup::Offered::no);
  EXPECT_EQ(at("12.5"), setup::Offered::yes);
  EXPECT_EQ(at("13.0"), setup::Offered::yes);
  EXPECT_EQ(at("13.1"), setup::Offered::unsure);
  row.unsure = "12.3";
  EXPECT_EQ(at("12.4"), setup::Offered::unsure);
  EXPECT_EQ(at("12.2"), setup::Offered::no);
  row.last = "13.0";
  EXPECT_EQ(at("13.1"), setup::Offered::no);
  EXPECT_EQ(setup::offered_by(nullptr, *parse_version("12.5")), setup::Offered::no);
}

TEST(SetupToolkit, NeverPackagedIsRefusedWithTheWayOut) {
  SetupAnswer found = answer(wish("11.8", "ubuntu24.04"));
  ASSERT_FALSE(found.plan);
  EXPECT_NE(found.refusal.why.find("never packaged CUDA 11.8 for Ubuntu 24.04"), std::string::npos);
  ASSERT_EQ(found.refusal.ways.size(), 3U);
  EXPECT_NE(found.refusal.ways[0].find("--toolkit 12.5"), std::string::npos);
  EXPECT_NE(found.refusal.ways[1].find("--runfile"), std::string::npos);
  EXPECT_EQ(refusal(wish("11.8", "ubuntu22.04")), "");
}

TEST(SetupToolkit, NotEstablishedIsSaid) {
  SetupPlan made = plan(wish("13.0", "debian13"));
  EXPECT_EQ(made.packaged, "not established");
  ASSERT_FALSE(made.notes.empty());
  EXPECT_NE(made.notes.back().find("Not established"), std::string::npos);
  EXPECT_EQ(plan(wish("13.1", "debian13")).packaged, "yes");
}

TEST(SetupToolkit, UnknownNamesAreErrors) {
  EXPECT_FALSE(plan_setup(nullptr, wish("12.7", "debian12"), facts()));
  EXPECT_FALSE(plan_setup(nullptr, wish("99.0", "debian12"), facts()));
  EXPECT_FALSE(plan_setup(nullptr, wish("12", "debian12"), facts()));
  EXPECT_FALSE(plan_setup(nullptr, wish("12.8", "plan9"), facts()));
  EXPECT_FALSE(plan_setup(nullptr, wish("12.8", "debian12", "RTX 9999"), facts()));
}

TEST(SetupToolkit, RunfileOfTheNamedRelease) {
  SetupWish wanted = wish("12.8", "debian12");
  wanted.runfile = true;
  EXPECT_NE(commands(plan(wanted)).find("cuda_12.8.1_570.124.06_linux.run"), std::string::npos);
  wanted.toolkit = "12.8.0";
  EXPECT_NE(commands(plan(wanted)).find("cuda_12.8.0_570.86.10_linux.run"), std::string::npos);
  wanted.arch = "aarch64";
  EXPECT_NE(commands(plan(wanted)).find("_linux_sbsa.run"), std::string::npos);
  wanted.toolkit = "13.5";
  EXPECT_NE(refusal(wanted).find("not established"), std::string::npos);
}

TEST(SetupToolkit, OverrideOnlyWhereTheCompilerIsTooNew) {
  SetupWish wanted = wish("11.8", "ubuntu24.04");
  wanted.runfile = true;
  SetupPlan newer = plan(wanted);
  EXPECT_NE(commands(newer).find("--override --tmpdir"), std::string::npos);
  EXPECT_TRUE(has_step(newer, "compiler-older-apt"));
  wanted.distribution = "ubuntu22.04"; // its g++ 11 is what CUDA 11.8 takes
  SetupPlan fitting = plan(wanted);
  EXPECT_EQ(commands(fitting).find("--override"), std::string::npos);
  EXPECT_TRUE(has_step(fitting, "compiler"));
}

// --- places -------------------------------------------------------------------------------------

TEST(SetupPlace, NamesOfReleases) {
  for (const char* name : {"ubuntu2404", "ubuntu24.04", "Ubuntu 24.04", "ubuntu-24.04"})
    EXPECT_EQ(plan(wish("12.8", name)).repository, "ubuntu2404") << name;
  for (const char* name : {"rhel9", "rocky9", "rocky9.4", "almalinux 9", "RHEL 9.2"})
    EXPECT_EQ(plan(wish("12.8", name)).repository, "rhel9") << name;
  EXPECT_EQ(plan(wish("13.2", "sles16")).repository, "suse16");
  EXPECT_EQ(plan(wish("12.8", "amzn2023")).repository, "amzn2023");
  for (const char* name : {"debian1", "debian123", "ubuntu24", "rocky", ""})
    EXPECT_FALSE(plan_setup(nullptr, wish("12.8", name), facts())) << name;
}

TEST(SetupPlace, WslGetsTheToolkitAlone) {
  SetupWish wanted = wish("12.4", "ubuntu24.04", "RTX 4070");
  wanted.wsl = wanted.cudnn = true;
  SetupPlan made = plan(wanted);
  EXPECT_EQ(made.repository, "wsl-ubuntu");
  EXPECT_EQ(made.package, "cuda-toolkit-12-4");
  EXPECT_EQ(made.driver_branch, "");
  EXPECT_FALSE(has_step(made, "driver-open"));
  EXPECT_TRUE(has_step(made, "check-wsl"));
  wanted.distribution = "fedora42";
  EXPECT_NE(refusal(wanted).find("packages of apt only"), std::string::npos);
  wanted.distribution = "ubuntu24.04";
  wanted.driver_only = true;
  EXPECT_NE(refusal(wanted).find("Windows"), std::string::npos);
}

TEST(SetupPlace, ContainersGetNoDriver) {
  SetupWish wanted = wish("12.8", "debian12", "H100");
  wanted.container = true;
  SetupPlan made = plan(wanted);
  EXPECT_EQ(made.driver_branch, "");
  EXPECT_TRUE(has_step(made, "check-container"));
  EXPECT_FALSE(has_step(made, "check-gpu"));
}

TEST(SetupPlace, OtherMachinesAreRefused) {
  Machine jetson = testing::healthy_h100();
  jetson.surroundings.jetson = true;
  EXPECT_NE(refusal(wish("12.8", ""), &jetson).find("JetPack"), std::string::npos);
  Machine arch = testing::healthy_h100();
  arch.distribution.id = known<std::string>("arch", "/etc/os-release");
  arch.distribution.version.clear();
  arch.distribution.name = "Arch Linux";
  EXPECT_NE(refusal(wish("12.8", ""), &arch).find("no repository for Arch Linux"),
            std::string::npos);
  SetupWish arm = wish("13.3", "fedora44");
  arm.arch = "aarch64";
  EXPECT_NE(refusal(arm).find("no CUDA toolkit in packages for Fedora 44 on aarch64"),
            std::string::npos);
}

// The script asks for the machine's own name where another release is named for it.
TEST(SetupPlace, ADerivedDistributionKeepsItsName) {
  Machine mint = testing::healthy_h100();
  mint.distribution.id = known<std::string>("linuxmint", "/etc/os-release");
  mint.distribution.version = "22";
  SetupPlan made = plan(wish("12.8", "ubuntu24.04"), &mint);
  EXPECT_NE(commands(made).find("  linuxmint:22) ;;"), std::string::npos);
}

// --- drivers ------------------------------------------------------------------------------------

TEST(SetupDriver, KernelModuleByGeneration) {
  struct Expected {
    const char *gpu, *module, *branch;
  };
  for (const Expected& row : {Expected{"GTX 1080 Ti", "proprietary", "580"},
                              {"Tesla V100-SXM2-16GB", "proprietary", "580"},
                              {"Tesla T4", "open", "newest"},
                              {"A100", "open", "newest"},
                              {"H100", "open", "newest"},
                              {"RTX 5090", "open", "newest"},
                              {"B200", "open", "newest"}}) {
    SetupPlan made = plan(wish("12.8", "ubuntu24.04", row.gpu));
    EXPECT_EQ(made.driver_module, row.module) << row.gpu;
    EXPECT_EQ(made.driver_branch, row.branch) << row.gpu;
  }
}

TEST(SetupDriver, BranchIsHeldByEachPackageSystem) {
  std::string v100 = "Tesla V100-SXM2-16GB";
  EXPECT_NE(commands(plan(wish("12.8", "debian12", v100))).find("nvidia-driver-pinning-580"),
            std::string::npos);
  std::string rhel = commands(plan(wish("12.8", "rocky9", v100)));
  EXPECT_NE(rhel.find("module enable -y nvidia-driver:580-dkms"), std::string::npos);
  EXPECT_NE(rhel.find("install_packages cuda-drivers"), std::string::npos);
  std::string fedora = commands(plan(wish("12.9", "fedora41", v100)));
  EXPECT_NE(fedora.find("versionlock add '*nvidia*580*'"), std::string::npos);
  EXPECT_NE(commands(plan(wish("12.6", "sles15", v100))).find("'cuda-drivers<590'"),
            std::string::npos);
  EXPECT_NE(commands(plan(wish("12.8", "rocky9", "H100"))).find("nvidia-driver:open-dkms"),
            std::string::npos);
}

TEST(SetupDriver, WhatCannotBeIsRefused) {
  // The toolkit has no code for the GPU.
  EXPECT_NE(refusal(wish("13.0", "ubuntu24.04", "Tesla V100-SXM2-16GB")).find("no longer compiles"),
            std::string::npos);
  // The repository began with a newer branch than the last of this GPU.
  SetupWish driver = wish("", "fedora44", "GTX 1080 Ti");
  driver.driver_only = true;
  EXPECT_NE(refusal(driver).find("no driver older than 610"), std::string::npos);
  EXPECT_NE(refusal(wish("12.6", "ubuntu22.04", "Tesla K80")), "");
  // Which driver depends on the GPU.
  driver.gpu.clear();
  EXPECT_NE(refusal(driver).find("depends on the GPU"), std::string::npos);
  EXPECT_EQ(plan(wish("12.8", "debian12")).driver_branch, "");
}

TEST(SetupDriver, NeedsOfTheToolkit) {
  SetupPlan made = plan(wish("12.4", "debian12", "H100"));
  EXPECT_EQ(made.driver_needed, "525.60.13");
  ASSERT_FALSE(made.notes.empty());
  EXPECT_NE(made.notes[0].find("came with driver 550.54.14"), std::string::npos);
  EXPECT_NE(made.notes[0].find("525.60.13 or newer"), std::string::npos);
}

TEST(SetupDriver, AGoodDriverIsLeftAlone) {
  Machine machine = testing::healthy_h100();
  SetupPlan made = plan(wish("12.8", ""), &machine);
  EXPECT_EQ(made.driver_branch, "");
  EXPECT_NE(made.driver.find("left alone"), std::string::npos);
  // 580 does not start programs of a toolkit whose floor is newer; the floor of 13 is 580.65.06.
  machine.kernel.module_version = known<std::string>("470.256.02", "/sys/module/nvidia/version");
  EXPECT_EQ(plan(wish("12.8", ""), &machine).driver_branch, "newest");
}

TEST(SetupDriver, TwoGpusThatNoDriverServes) {
  Machine machine = testing::healthy_desktop_4090();
  machine.kernel.functions.value->at(0).id = "10de:1b06"; // GTX 1080 Ti
  machine.kernel.functions.value->push_back(
      testing::pci_function("0000:02:00.0", "10de:2b85", "", 0x030000)); // RTX 5090
  machine.kernel.module_version = unknown<std::string>("no driver");
  machine.kernel.module_files = known<std::vector<ModuleFile>>({}, "/lib/modules");
  EXPECT_NE(refusal(wish("12.8", ""), &machine).find("no one driver serves both"),
            std::string::npos);
}

TEST(SetupDriver, SomebodyElseBringsIt) {
  Machine machine = testing::healthy_h100();
  machine.container_host.driver_root = "/run/nvidia/driver";
  machine.kernel.module_version = unknown<std::string>("no driver");
  machine.kernel.module_files = known<std::vector<ModuleFile>>({}, "/lib/modules");
  SetupPlan made = plan(wish("12.8", ""), &machine);
  EXPECT_EQ(made.driver_branch, "");
  EXPECT_NE(made.driver.find("GPU operator"), std::string::npos);
  machine.container_host.driver_root.clear();
  made = plan(wish("12.8", ""), &machine);
  EXPECT_EQ(made.driver_branch, "newest");
  EXPECT_TRUE(std::any_of(made.notes.begin(), made.notes.end(), [](const std::string& note) {
    return note.find("nvidia-fabricmanager") != std::string::npos; // it has NVSwitches
  }));
}

// --- leftovers ----------------------------------------------------------------------------------

TEST(SetupLeftovers, PackagesGoBeforeAnythingIsInstalledAndAfterTheRepository) {
  Machine machine = testing::healthy_h100();
  machine.packages.relevant.value->push_back({"libcudnn8", "8.9", "rc", "amd64", ""});
  machine.packages.relevant.value->push_back({"nvidia-$(x)", "1", "rc", "amd64", ""});
  machine.packages.relevant.value->push_back({"-o", "1", "rc", "amd64", ""});
  SetupPlan made = plan(wish("12.8", ""), &machine);
  size_t removal = place_of(made, "remove-packages-residual-config");
  ASSERT_NE(removal, SIZE_MAX);
  EXPECT_LT(place_of(made, "offered"), removal);
  EXPECT_LT(removal, place_of(made, "toolkit-packages"));
  EXPECT_EQ(made.steps[removal].items, std::vector<std::string>{"libcudnn8"});
  EXPECT_EQ(made.steps[removal].lines, std::vector<std::string>{"remove_packages libcudnn8"});
  EXPECT_EQ(commands(made).find("nvidia-$(x)"), std::string::npos);
}

TEST(SetupLeftovers, OnlyFoldersForProgramsAreRemoved) {
  Machine machine = testing::healthy_h100();
  for (const char* folder :
       {"/usr/local/cuda-11.8", "/home/user/cuda-11.8", "/usr/local/../etc", "/opt/it's $(here)"}) {
    InstalledToolkit toolkit;
    toolkit.folder = toolkit.real_folder = folder;
    toolkit.leftover = true;
    toolkit.files = {"lib64/libnvblas.so.11"};
    machine.toolkits.installed.push_back(toolkit);
  }
  SetupPlan made = plan(wish("12.8", ""), &machine);
  size_t removal = place_of(made, "remove-toolkit-leftover");
  ASSERT_NE(removal, SIZE_MAX);
  EXPECT_EQ(made.steps[removal].lines,
            std::vector<std::string>{"remove_paths /usr/local/cuda-11.8 '/opt/it'\\''s $(here)'"});
  size_t told = static_cast<size_t>(
      std::count_if(made.notes.begin(), made.notes.end(), [](const std::string& note) {
        return note.find("Not touched") != std::string::npos;
      }));
  EXPECT_EQ(told, 2U);
}

TEST(SetupLeftovers, AnotherMachineHasNone) {
  Machine machine = testing::healthy_h100();
  machine.packages.relevant.value->push_back({"libcudnn8", "8.9", "rc", "amd64", ""});
  SetupWish container = wish("12.8", "");
  container.container = true; // planned on the host
  EXPECT_FALSE(has_step(plan(container, &machine), "remove-packages-residual-config"));
}

} // namespace
} // namespace gpuvet
