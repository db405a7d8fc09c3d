// Programs on the GPU and what watches them.
#include "judge/checks/testing/rows.hpp"
#include "judge/doctor/log_checks.hpp"

namespace gpuvet::testing {
namespace {

GpuProcess process(uint64_t pid, const std::string& name) {
  GpuProcess made;
  made.pid = pid;
  made.name = name;
  made.state = "S (sleeping)";
  made.nodes = {"/dev/nvidia0"};
  made.libraries = {"/usr/lib/x86_64-linux-gnu/libcuda.so.580.65.06"};
  return made;
}

Machine as_root(Machine machine) {
  machine.system.user = known<uint64_t>(0, "geteuid");
  return machine;
}

TEST(Processes, MemoryThatNobodyHolds) {
  Machine machine = as_root(healthy_h100());
  EXPECT_TRUE(is_ok("gpu-memory-without-process", machine));
  machine.nvml.gpus[2].memory_used.value = 40ULL << 30U;
  EXPECT_TRUE(fires("gpu-memory-without-process", machine));
  EXPECT_TRUE(ask("gpu-memory-without-process", machine).missing.empty());
  machine.system.user = known<uint64_t>(1000, "geteuid");
  EXPECT_FALSE(ask("gpu-memory-without-process", machine).missing.empty()); // likely only
  Machine held = machine;
  held.processes.value->push_back(process(7, "python"));
  held.processes.value->back().nodes = {"/dev/nvidia2"};
  EXPECT_TRUE(is_ok("gpu-memory-without-process", held));
  machine.nvml.gpus[2].processes.value->push_back({7, 40ULL << 30U, false});
  EXPECT_TRUE(is_ok("gpu-memory-without-process", machine));
  machine.nvml.asked.state = AskState::hung;
  EXPECT_TRUE(is_unknown("gpu-memory-without-process", machine));
  EXPECT_TRUE(is_none("gpu-memory-without-process", no_gpu()));
}

// nvmlMemory_v2_t tells what is reserved apart from `used`: nothing is to be taken off it.
TEST(Processes, ReservedMemoryIsNotPartOfWhatTheSecondVersionCallsUsed) {
  Machine machine = as_root(healthy_h100());
  NvmlGpu& gpu = machine.nvml.gpus[2];
  gpu.memory_reserved.value = 1ULL << 30U;
  gpu.memory_used.value = 64ULL << 10U; // an idle GPU
  EXPECT_TRUE(is_ok("gpu-memory-without-process", machine));
  gpu.memory_used.value = 1ULL << 30U;
  EXPECT_TRUE(fires("gpu-memory-without-process", machine));
  EXPECT_EQ(ask("gpu-memory-without-process", machine).fields["used"], "1.07 GB");
  gpu.memory_used.value = (1ULL << 30U) - 1;
  EXPECT_TRUE(is_ok("gpu-memory-without-process", machine));
}

// nvmlMemory_t: "sum of reserved and allocated", so an idle GPU's own part is in it.
TEST(Processes, ReservedMemoryIsPartOfWhatTheFirstVersionCallsUsed) {
  Machine machine = as_root(healthy_h100());
  NvmlGpu& gpu = machine.nvml.gpus[2];
  gpu.memory_reserved = {};
  gpu.memory_used.value = 1ULL << 30U; // an idle GPU
  EXPECT_TRUE(is_ok("gpu-memory-without-process", machine));
  gpu.memory_used.value = 2ULL << 30U;
  EXPECT_TRUE(fires("gpu-memory-without-process", machine));
}

TEST(Processes, MemoryOfOneProcessIsNotTold) {
  Machine machine = healthy_h100();
  EXPECT_TRUE(is_ok("process-memory-unknown", machine));
  machine.nvml.gpus[0].processes.value->push_back({7, std::nullopt, false});
  EXPECT_TRUE(fires("process-memory-unknown", machine));
}

TEST(Processes, Zombies) {
  Machine machine = healthy_h100();
  EXPECT_TRUE(is_ok("gpu-process-zombie", machine));
  machine.processes.value->push_back(process(7, "python"));
  EXPECT_TRUE(is_ok("gpu-process-zombie", machine));
  machine.processes.value->at(0).state = "Z (zombie)";
  EXPECT_TRUE(fires("gpu-process-zombie", machine));
  EXPECT_EQ(ask("gpu-process-zombie", machine).severity, Severity::warning);
  machine.nvml.gpus[0].memory_used.value = 40ULL << 30U;
  EXPECT_FALSE(ask("gpu-process-zombie", machine).severity.has_value());
  machine.processes = unknown<std::vector<GpuProcess>>("/proc is hidden");
  for (const char* id : {"gpu-process-zombie", "process-older-than-driver"})
    EXPECT_TRUE(is_unknown(id, machine));
}

TEST(Processes, StartedBeforeTheDriver) {
  Machine machine = healthy_h100();
  GpuProcess ollama = process(7, "ollama");
  ollama.nodes.clear();
  ollama.unit = "ollama.service";
  ollama.started = *machine.system.booted + 5;
  machine.processes.value->push_back(ollama);
  EXPECT_TRUE(is_unknown("process-older-than-driver", machine)); // when was it loaded?
  machine.kernel.log.lines.value->push_back(
      {30.0, "NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  580.65.06"});
  EXPECT_TRUE(fires("process-older-than-driver", machine));
  EXPECT_EQ(ask("process-older-than-driver", machine).fields["unit"], "ollama.service");
  machine.processes.value->at(0).started = *machine.system.booted + 60;
  EXPECT_TRUE(is_ok("process-older-than-driver", machine));
  machine.processes.value->at(0).nodes = {"/dev/nvidia0"};
  EXPECT_TRUE(is_ok("process-older-than-driver", machine));
}

TEST(Processes, MonitorsThatWakeTheGpu) {
  Machine machine = healthy_h100();
  EXPECT_TRUE(is_ok("nvidia-smi-loop", machine));
  machine.periodic = {{"/etc/cron.d/gpu:3", "nvidia-smi -q > /var/log/gpu", 60.0}};
  EXPECT_TRUE(is_ok("nvidia-smi-loop", machine)); // persistence is on
  machine.nvml.gpus[0].persistence.value = false;
  EXPECT_TRUE(fires("nvidia-smi-loop", machine));
  machine.periodic[0].period_s = 3600;
  EXPECT_TRUE(is_ok("nvidia-smi-loop", machine));
  machine.periodic[0].period_s = 10;
  for (NvmlGpu& gpu : machine.nvml.gpus)
    gpu.persistence.value.reset();
  EXPECT_TRUE(is_unknown("nvidia-smi-loop", machine));
}

TEST(Processes, BusyWithoutPower) {
  Machine machine = healthy_h100();
  EXPECT_TRUE(is_ok("utilisation-misleads", machine));
  machine.nvml.gpus[0].utilisation_percent.value = 100U; // 70 W of 450 W
  EXPECT_TRUE(fires("utilisation-misleads", machine));
  machine.nvml.gpus[0].power_mw.value = 400'000U;
  EXPECT_TRUE(is_ok("utilisation-misleads", machine));
}

TEST(Processes, MemoryLimitOfTheCgroup) {
  Machine machine = healthy_h100();
  EXPECT_TRUE(is_unknown("cgroup-memory-exhausted", machine));
  machine.surroundings.oom_kills = 0U;
  EXPECT_TRUE(is_ok("cgroup-memory-exhausted", machine));
  machine.surroundings.oom_kills = 2U;
  machine.surroundings.memory_max_bytes = 16ULL << 30U;
  EXPECT_TRUE(fires("cgroup-memory-exhausted", machine));
  EXPECT_TRUE(is_none("cgroup-memory-exhausted", container()));
}

TEST(Processes, Dcgm) {
  Machine machine = healthy_h100();
  EXPECT_TRUE(is_none("dcgm-other-cuda", machine));
  EXPECT_TRUE(is_none("dcgm-service-failed", machine));
  machine.packages.relevant.value->push_back(
      {"datacenter-gpu-manager-4-cuda12", "1:4.4.1", "ii", "amd64", {}});
  EXPECT_TRUE(fires("dcgm-other-cuda", machine));
  machine.packages.relevant.value->push_back(
      {"datacenter-gpu-manager-4-cuda13", "1:4.4.1", "ii", "amd64", {}});
  EXPECT_TRUE(is_ok("dcgm-other-cuda", machine));
  machine.services.push_back(service("nvidia-dcgm.service", true, true));
  EXPECT_TRUE(is_ok("dcgm-service-failed", machine));
  machine.services.back().state = "failed";
  EXPECT_TRUE(fires("dcgm-service-failed", machine));
  machine.services.back().state.clear();
  machine.services.back().running = unknown<bool>("/proc is hidden");
  EXPECT_TRUE(is_unknown("dcgm-service-failed", machine));
}

// Rows that a pattern decides, on lines as kernels write them.
TEST(Processes, LinesOfTheKernelLog) {
  struct Line {
    const char *id, *text, *field, *value;
  };
  for (const Line& line : {
           Line{"host-memory-exhausted",
                "Out of memory: Killed process 4242 (python3) total-vm:9999kB, anon-rss:1kB",
                "name", "python3"},
           Line{"host-memory-exhausted",
                "Memory cgroup out of memory: Killed process 4242 (pt_data_worker) total-vm:9999kB",
                "pid", "4242"},
           Line{"open-files-exhausted", "VFS: file-max limit 65536 reached", "limit", "65536"},
           Line{"task-blocked", "INFO: task python3:4242 blocked for more than 120 seconds.",
                "seconds", "120"},
           Line{"nfs-not-responding", "nfs: server 10.0.0.5 not responding, still trying", "server",
                "10.0.0.5"},
       }) {
    Machine machine = healthy_h100();
    log_line(machine, "usb 1-1: new high-speed USB device");
    EXPECT_EQ(log_outcome(row(line.id), machine).answer, Answer::ok) << line.id;
    log_line(machine, line.text);
    Outcome outcome = log_outcome(row(line.id), machine);
    EXPECT_EQ(outcome.answer, Answer::fires) << line.text;
    EXPECT_EQ(outcome.fields[line.field], line.value) << line.text;
  }
}

} // namespace
} // namespace gpuvet::testing
