#include "judge/checks/hardware/parts.hpp"
#include "judge/checks/testing/machines.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

using namespace testing;
using Ids = std::vector<std::string>;

Ids fire(const Machine& machine) {
  return firing(hardware_checks(), machine);
}

Outcome asked(const Machine& machine, std::string_view id) {
  return ask(hardware_checks(), id, machine);
}

void make_busy(NvmlGpu& gpu) {
  gpu.utilisation_percent.value = 98U;
  gpu.performance_state.value = 0U;
  gpu.clock_reasons.value = 0U;
  gpu.clock_sm.value = *gpu.clock_sm_max;
  gpu.link_generation.value = *gpu.link_generation_max;
}

void xid(Machine& machine, uint32_t code, std::string address, std::string process = {},
         uint64_t count = 1) {
  XidEvent event;
  event.code = code;
  event.pci_address = std::move(address);
  event.process = std::move(process);
  event.count = count;
  machine.kernel.xids.push_back(event);
}

TEST(Hardware, HealthyMachinesAreQuiet) {
  for (const Machine& machine : {healthy_h100(), healthy_desktop_4090(), container(), no_gpu()})
    EXPECT_EQ(fire(machine), Ids{});
  Machine busy = healthy_h100();
  for (NvmlGpu& gpu : busy.nvml.gpus)
    make_busy(gpu);
  EXPECT_EQ(fire(busy), Ids{});
}

TEST(Hardware, SilentNvmlIsUnknownNeverOk) {
  Machine machine = healthy_h100();
  machine.nvml = {};
  machine.nvml.asked.state = AskState::hung;
  for (std::string_view id : {"row-remap-failed", "pcie-link-slow", "thermal-slowdown",
                              "gpu-does-not-answer", "inforom-corrupted", "power-limit-lowered"})
    EXPECT_EQ(asked(machine, id).answer, Answer::unknown) << id;
  EXPECT_EQ(asked(no_gpu(), "row-remap-failed").answer, Answer::not_applicable);
}

TEST(Hardware, WhatAGpuLacksIsNotApplicable) {
  Machine machine = healthy_desktop_4090();
  machine.nvml.gpus[0].remap_pending = {std::nullopt, hardware::kNvmlNotSupported};
  EXPECT_EQ(asked(machine, "row-remap-pending").answer, Answer::not_applicable);
  machine.nvml.gpus[0].remap_pending = {std::nullopt, -1};
  EXPECT_EQ(asked(machine, "row-remap-pending").answer, Answer::unknown);
}

TEST(Hardware, OneGpuFellOffTheBus) {
  Machine machine = healthy_h100();
  machine.nvml.gpus[3].error = 15;
  machine.nvml.gpus[3].error_text = "GPU is lost";
  machine.kernel.functions.value->at(3).config_all_ones = true;
  machine.kernel.log.lines.value->push_back({1.0, "NVRM: GPU at PCI:0000:40:00: GPU-x"});
  xid(machine, 79, "0000:40:00");
  xid(machine, 154, "0000:40:00");
  EXPECT_EQ(found(machine), Ids{"gpu-off-the-bus"});
  EXPECT_EQ(asked(machine, "gpu-off-the-bus").severity, Severity::error); // seven others work
  EXPECT_EQ(first_command(machine, "gpu-off-the-bus"), "sudo reboot");
  machine = healthy_desktop_4090();
  machine.nvml.gpus[0].error = 15;
  EXPECT_EQ(asked(machine, "gpu-off-the-bus").severity, Severity::blocker);
}

TEST(Hardware, OneGpuGivesNoHandle) {
  Machine machine = healthy_h100();
  machine.nvml.gpus[2].error = 999;
  machine.nvml.gpus[2].error_text = "Unknown Error";
  EXPECT_EQ(found(machine), Ids{"gpu-does-not-answer"});
  EXPECT_EQ(asked(machine, "gpu-does-not-answer").evidence[0],
            "nvmlDeviceGetHandleByIndex_v2, GPU 2 (0000:30:00.0): error 999, Unknown Error");
  machine.nvml.gpus[2].error = 4; // that is a matter of permissions
  EXPECT_EQ(fire(machine), Ids{});
}

TEST(Hardware, TheDriverAsksForARecovery) {
  Machine machine = healthy_h100();
  EXPECT_EQ(asked(machine, "gpu-wants-recovery").answer, Answer::unknown);
  machine.nvml.gpus[1].recovery_action.value = 1U;
  EXPECT_EQ(first_command(machine, "gpu-wants-recovery"),
            "sudo nvidia-smi --gpu-reset -i 0000:20:00.0");
  machine.nvml.gpus[1].recovery_action.value = 2U;
  EXPECT_EQ(first_command(machine, "gpu-wants-recovery"), "sudo reboot");
  machine.nvml.gpus[1].recovery_action.value = 0U;
  EXPECT_EQ(asked(machine, "gpu-wants-recovery").answer, Answer::ok);
}

TEST(Hardware, PowerCable) {
  Machine machine = healthy_desktop_4090();
  log_line(machine, "NVRM: GPU 0000:10:00.0: GPU does not have the necessary power cables "
                    "connected.");
  log_line(machine, "NVRM: GPU 0000:10:00.0: RmInitAdapter failed! (0x24:0x1c:1589)");
  machine.nvml.gpus.clear();
  machine.nvml.count = 0U;
  EXPECT_EQ(found(machine, {"driver", "hardware"}), Ids{"gpu-power-cable-missing"});
  machine.kernel.log.lines = unknown<std::vector<LogLine>>("permission denied");
  EXPECT_EQ(asked(machine, "gpu-power-cable-missing").answer, Answer::unknown);
}

TEST(Hardware, MemoryErrors) {
  Machine machine = healthy_h100();
  machine.nvml.gpus[4].remap_pending.value = true;
  EXPECT_EQ(found(machine), Ids{"row-remap-pending"});
  EXPECT_EQ(first_command(machine, "row-remap-pending"),
            "sudo nvidia-smi --gpu-reset -i 0000:50:00.0");
  machine.nvml.gpus[4].remap_failed.value = true;
  EXPECT_EQ(found(machine), Ids{"row-remap-failed"});
  machine = healthy_h100();
  machine.nvml.gpus[4].remapped_uncorrectable.value = 2U;
  EXPECT_EQ(fire(machine), Ids{"rows-remapped"});
  EXPECT_EQ(found(machine), Ids{});
  machine.nvml.gpus[4].remapped_uncorrectable.value = 513U;
  EXPECT_EQ(found(machine), Ids{"rows-remapped"});
  machine = healthy_h100();
  machine.nvml.gpus[4].ecc_uncorrected.value = 1U;
  EXPECT_EQ(fire(machine), Ids{"ecc-uncorrected"});
  machine = healthy_h100();
  machine.nvml.gpus[4].sram_threshold_exceeded.value = true;
  EXPECT_EQ(found(machine), Ids{"sram-threshold-exceeded"});
  machine = healthy_h100();
  machine.nvml.gpus[4].retired_pending.value = true;
  machine.nvml.gpus[5].inforom_ok.value = false;
  EXPECT_EQ(fire(machine), (Ids{"page-retirement-pending", "inforom-corrupted"}));
}

TEST(Hardware, AnInfoRomThatWasNotReadIsUnknownAndSaysWhatReadsIt) {
  Machine machine = healthy_h100();
  for (NvmlGpu& gpu : machine.nvml.gpus)
    gpu.inforom_ok = {std::nullopt, hardware::kNvmlNotAsked};
  Outcome outcome = asked(machine, "inforom-corrupted");
  EXPECT_EQ(outcome.answer, Answer::unknown);
  EXPECT_NE(outcome.why.find("doctor -v"), std::string::npos) << outcome.why;
  machine.nvml.gpus[5].inforom_ok.value = false; // one that was read counts
  EXPECT_EQ(asked(machine, "inforom-corrupted").answer, Answer::fires);
}

TEST(Hardware, EccOffMattersInTheDataCentreOnly) {
  Machine machine = healthy_h100();
  machine.nvml.gpus[0].ecc.value = machine.nvml.gpus[0].ecc_pending.value = false;
  EXPECT_EQ(fire(machine), Ids{"ecc-off"});
  machine.nvml.gpus[0].ecc_pending.value = true;
  EXPECT_EQ(fire(machine), Ids{"ecc-change-pending"});
  machine = healthy_desktop_4090();
  machine.nvml.gpus[0].ecc.value = machine.nvml.gpus[0].ecc_pending.value = false;
  EXPECT_EQ(fire(machine), Ids{});
}

TEST(Hardware, LessMemoryThanSold) {
  Machine machine = healthy_h100();
  machine.nvml.gpus[0].memory_total.value = 60ULL << 30U;
  EXPECT_EQ(fire(machine), Ids{"gpu-memory-smaller-than-sold"});
  machine.nvml.gpus[0].virtualization.value = 2U; // a slice of a card
  EXPECT_EQ(fire(machine), Ids{});
}

TEST(Hardware, IdleLinksStepDownAndThatIsNoFault) {
  Machine machine = healthy_h100(); // idle, generation 1 of 4
  EXPECT_EQ(asked(machine, "pcie-link-stuck-at-gen1").answer, Answer::ok);
  EXPECT_NE(asked(machine, "pcie-link-slow").why.find("idle"), std::string::npos);
  for (NvmlGpu& gpu : machine.nvml.gpus)
    make_busy(gpu);
  machine.nvml.gpus[6].link_generation.value = 1U;
  EXPECT_EQ(found(machine), Ids{"pcie-link-stuck-at-gen1"});
  machine.nvml.gpus[6].link_generation.value = 3U;
  EXPECT_EQ(found(machine), Ids{"pcie-link-slow"});
}

TEST(Hardware, NarrowLinks) {
  Machine machine = healthy_h100();
  machine.nvml.gpus[6].link_width.value = 8U;
  EXPECT_NE(asked(machine, "pcie-width-reduced").missing, ""); // idle
  EXPECT_EQ(asked(machine, "pcie-width-reduced").severity, Severity::warning);
  make_busy(machine.nvml.gpus[6]);
  EXPECT_EQ(asked(machine, "pcie-width-reduced").missing, "");
  EXPECT_EQ(found(machine), Ids{"pcie-width-reduced"});
}

TEST(Hardware, SlowSlot) {
  Machine machine = healthy_desktop_4090();
  machine.kernel.functions.value->at(0).port_speed_max = "8.0 GT/s PCIe";
  machine.kernel.functions.value->at(0).port_width_max = 4U;
  EXPECT_EQ(fire(machine), Ids{"pcie-slot-limits"});
  EXPECT_EQ(asked(machine, "pcie-slot-limits").fields["port"], "8.0 GT/s PCIe x4");
  PciFunction& gpu = machine.kernel.functions.value->at(0);
  gpu.port_speed_max.clear();
  gpu.port_width_max.reset();
  EXPECT_EQ(asked(machine, "pcie-slot-limits").answer, Answer::unknown);
}

TEST(Hardware, ErrorsOnTheBus) {
  Machine machine = healthy_desktop_4090();     // up for 100 000 s, 1 667 minutes
  machine.nvml.gpus[0].replays.value = 20'000U; // generation 4, 16 lanes: 16 a minute are normal
  EXPECT_EQ(fire(machine), Ids{});
  machine.nvml.gpus[0].replays.value = 100'000U;
  EXPECT_EQ(fire(machine), Ids{"pcie-replays"});
  machine = healthy_desktop_4090();
  machine.kernel.functions.value->at(0).aer_correctable = 3000U;
  EXPECT_EQ(fire(machine), Ids{});
  machine.kernel.functions.value->at(0).aer_nonfatal = 2U;
  EXPECT_EQ(fire(machine), Ids{"pcie-errors"});
  machine.kernel.functions.value->at(0).port_runtime_power = "auto";
  EXPECT_EQ(fire(machine), (Ids{"pcie-errors", "pcie-port-saves-power"}));
  PciFunction& gpu = machine.kernel.functions.value->at(0);
  gpu.aer_correctable = gpu.aer_nonfatal = gpu.aer_fatal = std::nullopt;
  EXPECT_EQ(asked(machine, "pcie-errors").answer, Answer::unknown);
}

TEST(Hardware, SmallWindow) {
  Machine machine = healthy_desktop_4090();
  machine.kernel.functions.value->at(0).bars[1].size = 256ULL << 20U;
  EXPECT_EQ(fire(machine), Ids{"bar1-small"});
  EXPECT_EQ(found(machine), Ids{});
}

TEST(Hardware, IommuFault) {
  Machine machine = healthy_desktop_4090();
  log_line(machine, "DMAR: [DMA Write NO_PASID] Request device [02:00.0] fault addr 0xf000");
  EXPECT_EQ(fire(machine), Ids{}); // another device
  log_line(machine, "DMAR: [DMA Write NO_PASID] Request device [10:00.0] fault addr 0xf000");
  EXPECT_EQ(fire(machine), Ids{"iommu-fault"});
}

TEST(Hardware, ClockLimits) {
  auto with_reasons = [](uint64_t reasons) {
    Machine machine = healthy_h100();
    make_busy(machine.nvml.gpus[0]);
    machine.nvml.gpus[0].clock_reasons.value = reasons;
    return fire(machine);
  };
  EXPECT_EQ(with_reasons(0x4), Ids{}); // the power cap is normal under load
  EXPECT_EQ(with_reasons(0x48), Ids{"thermal-slowdown"});
  EXPECT_EQ(with_reasons(0x88), Ids{"power-brake"});
  EXPECT_EQ(with_reasons(0x8), Ids{"hardware-slowdown"});
  EXPECT_EQ(with_reasons(0x2), Ids{"application-clocks"});
  Machine machine = healthy_h100();
  machine.nvml.gpus[0].clock_reasons.value = 0x20U;
  EXPECT_EQ(asked(machine, "thermal-slowdown").severity, Severity::warning);
}

TEST(Hardware, HeatPowerAndLockedClocks) {
  Machine machine = healthy_h100();
  machine.nvml.gpus[0].temperature_c.value = 86U;
  EXPECT_EQ(fire(machine), Ids{"temperature-high"});
  machine = healthy_desktop_4090();
  machine.nvml.gpus[0].power_limit_mw.value = 300'000U;
  EXPECT_EQ(fire(machine), Ids{"power-limit-lowered"});
  EXPECT_EQ(first_command(machine, "power-limit-lowered"),
            "sudo nvidia-smi -i 0000:10:00.0 -pl 450");
  machine = healthy_h100();
  make_busy(machine.nvml.gpus[0]);
  machine.nvml.gpus[0].clock_sm.value = 900U;
  EXPECT_EQ(fire(machine), Ids{"clocks-locked"});
  EXPECT_NE(asked(machine, "clocks-locked").missing, "");
}

TEST(Hardware, DifferencesAndDisplays) {
  Machine machine = healthy_h100();
  machine.nvml.gpus[7].vbios = "96.00.89.00.01";
  machine.nvml.gpus[0].processes.value->push_back({1, 1U << 20U, true});
  EXPECT_EQ(fire(machine), (Ids{"gpu-vbios-differs", "display-on-compute-gpu"}));
  EXPECT_EQ(found(machine), Ids{});
}

TEST(Hardware, XidPatterns) {
  Machine machine = healthy_h100();
  for (const char* process : {"pid=1, name=a", "pid=2, name=b", "pid=3, name=c"})
    xid(machine, 13, "0000:40:00", process);
  EXPECT_EQ(found(machine), Ids{"gpu-suspicious"});
  xid(machine, 31, "0000:50:00", "pid=4, name=d"); // two GPUs: the programs
  EXPECT_EQ(fire(machine), Ids{});
  xid(machine, 31, "0000:50:00", "pid=5, name=e", 250'000);
  EXPECT_EQ(fire(machine), Ids{"xid-storm"});
}

} // namespace
} // namespace gpuvet
