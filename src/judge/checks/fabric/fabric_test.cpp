#include "judge/checks/fabric/parts.hpp"
#include "judge/checks/testing/machines.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

using namespace testing;
using Ids = std::vector<std::string>;

Ids fire(const Machine& machine) {
  return firing(fabric_checks(), machine);
}

Outcome asked(const Machine& machine, std::string_view id) {
  return ask(fabric_checks(), id, machine);
}

// CUDA error 802, links down, GPUs not registered.
Machine not_set_up() {
  Machine machine = healthy_h100();
  for (NvmlGpu& gpu : machine.nvml.gpus) {
    gpu.fabric_state.value = 1U;
    gpu.fabric_status.value.reset();
    gpu.nvlinks_active.value = 0U;
  }
  machine.cuda = {};
  machine.cuda.asked.state = AskState::failed;
  machine.cuda.asked.error = 802;
  return machine;
}

void stop_manager(Machine& machine) {
  machine.services.back() = service("nvidia-fabricmanager.service", true, false);
}

TEST(Fabric, HealthyMachinesAreQuiet) {
  for (const Machine& machine : {healthy_h100(), healthy_desktop_4090(), container(), no_gpu()})
    EXPECT_EQ(fire(machine), Ids{});
  EXPECT_EQ(asked(healthy_desktop_4090(), "fabricmanager-missing").answer, Answer::not_applicable);
}

TEST(Fabric, ManagerIsMissing) {
  Machine machine = not_set_up();
  machine.services.pop_back();
  machine.packages.relevant.value->pop_back();
  machine.fabric_manager = {};
  EXPECT_EQ(found(machine), Ids{"fabricmanager-missing"});
  EXPECT_EQ(first_command(machine, "fabricmanager-missing"),
            "sudo apt install 'nvidia-fabricmanager-580=580.65.06*' && sudo systemctl enable --now "
            "nvidia-fabricmanager");
}

TEST(Fabric, ManagerDoesNotRun) {
  Machine machine = not_set_up();
  stop_manager(machine);
  EXPECT_EQ(found(machine), Ids{"fabricmanager-not-running"});
  EXPECT_EQ(first_command(machine, "fabricmanager-not-running"),
            "sudo systemctl enable --now nvidia-fabricmanager");
  machine.services.back().state.clear();
  machine.services.back().running = unknown<bool>("the processes cannot be seen");
  EXPECT_EQ(asked(machine, "fabricmanager-not-running").answer, Answer::unknown);
}

TEST(Fabric, ManagerOfAnotherRelease) {
  Machine machine = not_set_up();
  stop_manager(machine);
  machine.fabric_manager.version = known<std::string>("580.82.07", "/var/log/fabricmanager.log");
  EXPECT_EQ(found(machine), Ids{"fabricmanager-version-differs"});
  EXPECT_EQ(first_command(machine, "fabricmanager-version-differs"),
            "sudo apt install 'nvidia-fabricmanager-580=580.65.06*' && sudo systemctl restart "
            "nvidia-fabricmanager");
  // The package speaks when the log cannot be read.
  machine.fabric_manager.version = unknown<std::string>("the log cannot be read");
  machine.packages.relevant.value->back().version = "580.82.07-1";
  EXPECT_EQ(found(machine), Ids{"fabricmanager-version-differs"});
  machine.packages.relevant.value->back().version = "580.65.06-1";
  EXPECT_EQ(found(machine), Ids{"fabricmanager-not-running"});
}

TEST(Fabric, ManagerDiedLater) {
  Machine machine = healthy_h100();
  stop_manager(machine);
  EXPECT_EQ(found(machine), Ids{"fabricmanager-died"});
}

TEST(Fabric, WithoutSwitchesTheManagerIsNoFault) {
  Machine machine = healthy_desktop_4090();
  machine.services.push_back(service("nvidia-fabricmanager.service", true, false));
  machine.services.back().state = "failed";
  machine.fabric_manager.log_file = "/var/log/fabricmanager.log";
  machine.fabric_manager.lines = {"request to query NVSwitch device information failed with error: "
                                  "NV_WARN_NOTHING_TO_DO"};
  EXPECT_EQ(fire(machine), Ids{"fabricmanager-not-needed"});
  EXPECT_EQ(found(machine), Ids{});
}

TEST(Fabric, GpusStayUnregistered) {
  Machine machine = not_set_up();
  EXPECT_EQ(found(machine), Ids{"fabric-not-registered"});
  machine.nvml.asked.state = AskState::failed;
  EXPECT_EQ(asked(machine, "fabric-not-registered").answer, Answer::unknown);
}

TEST(Fabric, OnlyTheProviderCanMendARentedMachine) {
  Machine machine = container();
  machine.nvml.gpus[0].fabric_state.value = 2U;
  machine.cuda.asked.state = AskState::failed;
  machine.cuda.asked.error = 802;
  EXPECT_EQ(found(machine), Ids{"fabric-not-registered-outside"});
  // A virtual machine without switches.
  machine = not_set_up();
  std::erase_if(*machine.kernel.functions.value,
                [](const PciFunction& function) { return function.device_class == 0x068000; });
  machine.surroundings.hypervisor = known<std::string>("KVM", "DMI");
  machine.services.pop_back();
  EXPECT_EQ(found(machine), Ids{"fabric-not-registered-outside"});
}

TEST(Fabric, RegistrationWasRefused) {
  Machine machine = healthy_h100();
  machine.nvml.gpus[2].fabric_status.value = 999;
  EXPECT_EQ(fire(machine), Ids{"fabric-registration-failed"});
}

TEST(Fabric, TheManagersOwnWords) {
  Machine machine = not_set_up();
  stop_manager(machine);
  machine.fabric_manager.lines = {
      "detected number of NVSwitches don't match with any supported system topology, aborting "
      "fabric manager"};
  machine.kernel.functions.value->pop_back();
  EXPECT_EQ(found(machine), Ids{"nvswitch-topology-unknown"});
  machine = healthy_h100();
  machine.fabric_manager.lines = {
      "failed to find the GPU handle 18446744073709551615 in the multicast team request setup 55"};
  EXPECT_EQ(fire(machine), Ids{"nvlink-multicast-failed"});
  machine.fabric_manager.log_file.clear();
  EXPECT_EQ(asked(machine, "nvlink-multicast-failed").answer, Answer::unknown);
}

TEST(Fabric, ConfidentialComputing) {
  Machine machine = not_set_up();
  machine.nvml.confidential_computing = true;
  machine.nvml.confidential_ready = false;
  machine.surroundings.hypervisor = known<std::string>("KVM", "DMI");
  machine.surroundings.confidential_guest = "TDX";
  EXPECT_EQ(found(machine), Ids{"confidential-gpu-not-ready"});
  EXPECT_EQ(first_command(machine, "confidential-gpu-not-ready"),
            "sudo nvidia-smi conf-compute -srs 1");
  machine.nvml.confidential_ready.reset();
  EXPECT_EQ(asked(machine, "confidential-gpu-not-ready").answer, Answer::unknown);
  machine = healthy_h100();
  machine.nvml.confidential_computing = true;
  machine.nvml.confidential_ready = true;
  EXPECT_EQ(fire(machine), Ids{}); // bare metal: a host for such guests
  machine.surroundings.hypervisor = known<std::string>("KVM", "DMI");
  EXPECT_EQ(fire(machine), Ids{"confidential-mode-differs"});
}

TEST(Fabric, RackScaleSystems) {
  Machine machine = with_driver("580.65.06", 4, "10de:2941", "NVIDIA GB200", 100);
  machine.services.push_back(service("nvidia-fabricmanager.service", true, true));
  (*machine.kernel.char_majors.value)["nvidia-caps-imex-channels"] = 505;
  EXPECT_EQ(fire(machine), (Ids{"fabricmanager-not-needed", "fabricmanager-on-compute-tray",
                                "imex-channel-missing"}));
  machine.kernel.nodes.push_back(device_node("/dev/nvidia-caps-imex-channels/channel0", 505, 0));
  machine.services.pop_back();
  EXPECT_EQ(fire(machine), Ids{});
}

TEST(Fabric, CardsWithoutABridgeHaveNoLinksAndThatIsFine) {
  Machine machine = with_driver("580.65.06", 2, "10de:20f1", "NVIDIA A100-PCIE-40GB", 80);
  for (NvmlGpu& gpu : machine.nvml.gpus) {
    gpu.nvlinks.value = 12U;
    gpu.nvlinks_active.value = 0U;
  }
  EXPECT_EQ(asked(machine, "nvlinks-down").answer, Answer::not_applicable);
  machine.nvml.gpus[0].nvlinks_active.value = machine.nvml.gpus[1].nvlinks_active.value = 4U;
  EXPECT_EQ(asked(machine, "nvlinks-down").answer, Answer::ok); // one bridge of three
  machine.nvml.gpus[1].nvlinks_active.value = 3U;
  EXPECT_EQ(fire(machine), Ids{"nvlinks-down"});
}

TEST(Fabric, LinksToSwitchesMustAllBeUp) {
  Machine machine = healthy_h100();
  machine.nvml.gpus[5].nvlinks_active.value = 17U;
  EXPECT_EQ(found(machine), Ids{"nvlinks-down"});
  EXPECT_EQ(asked(machine, "nvlinks-down").evidence[0],
            "nvmlDeviceGetNvLinkState, GPU 5 (0000:60:00.0): 17 of 18 links up");
}

TEST(Fabric, ErrorsOfSwitches) {
  Machine machine = healthy_h100();
  XidEvent event;
  event.code = 12028;
  event.sxid = true;
  event.pci_address = "0000:c1:00.0";
  event.detail = "Non-fatal, Link 32 egress non-posted PRIV error (First)";
  machine.kernel.xids.push_back(event);
  EXPECT_EQ(fire(machine), Ids{"nvswitch-error"});
  event.code = 20034;
  event.detail = "Fatal, Link 30 LTSSM Fault Up";
  machine.kernel.xids.push_back(event);
  EXPECT_EQ(found(machine), Ids{"nvswitch-fatal-error"});
  EXPECT_EQ(asked(machine, "nvswitch-fatal-error").fields["codes"], "20034");
}

TEST(Fabric, SwitchesThatAreNotThere) {
  Machine machine = not_set_up();
  stop_manager(machine);
  machine.kernel.functions.value->back().driver.clear();
  EXPECT_EQ(asked(machine, "nvswitch-without-driver").answer, Answer::fires);
  machine.kernel.functions.value->pop_back();
  Outcome outcome = asked(machine, "nvswitch-missing");
  EXPECT_EQ(outcome.answer, Answer::fires);
  EXPECT_EQ(outcome.fields["seen"], "3");
  EXPECT_EQ(outcome.fields["expected"], "4");
}

} // namespace
} // namespace gpuvet
