#include "judge/checks/environment/left_on.hpp"
#include "judge/checks/testing/machines.hpp"

#include <gtest/gtest.h>

namespace gpuvet::testing {
namespace {

Outcome ask_here(std::string_view id, const Machine& machine) {
  return ask(environment_checks(), id, machine);
}
Outcome ask_frameworks(std::string_view id, const Machine& machine) {
  return ask(framework_variable_checks(), id, machine);
}

void run_with(Machine& machine, const std::string& name, const std::string& value) {
  GpuProcess process;
  process.pid = 4711;
  process.name = "python3";
  process.environment[name] = value;
  machine.processes.value->push_back(process);
}

// Each switch: the check, a value that matters, one that does not.
TEST(EnvironmentSwitches, OnAndOff) {
  struct Case {
    const char *id, *name, *on, *off;
  };
  for (const Case& c :
       {Case{"environment-launch-blocking", "CUDA_LAUNCH_BLOCKING", "1", "0"},
        Case{"environment-debugger", "CUDA_INJECTION64_PATH", "/x.so", ""},
        Case{"environment-waits-on-exception", "CUDA_DEVICE_WAITS_ON_EXCEPTION", "1", "0"},
        Case{"environment-coredump", "CUDA_ENABLE_COREDUMP_ON_EXCEPTION", "1", "0"},
        Case{"environment-profiler", "CUDA_PROFILE", "1", "0"},
        Case{"environment-force-jit", "CUDA_FORCE_PTX_JIT", "1", "0"},
        Case{"environment-disable-jit", "CUDA_DISABLE_PTX_JIT", "1", "0"},
        Case{"environment-jit-cache-off", "CUDA_CACHE_DISABLE", "1", "0"},
        Case{"environment-jit-cache-off", "CUDA_CACHE_MAXSIZE", "1000", "4294967296"},
        Case{"environment-eager-loading", "CUDA_MODULE_LOADING", "EAGER", "LAZY"},
        Case{"environment-tf32-off", "NVIDIA_TF32_OVERRIDE", "0", "1"},
        Case{"environment-mps-share", "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "50", "100"}}) {
    Machine machine = healthy_h100();
    EXPECT_EQ(ask_here(c.id, machine).answer, Answer::ok) << c.id;
    machine.environment[c.name] = c.off;
    EXPECT_EQ(ask_here(c.id, machine).answer, Answer::ok) << c.id << " " << c.off;
    machine.environment[c.name] = c.on;
    Outcome outcome = ask_here(c.id, machine);
    EXPECT_EQ(outcome.answer, Answer::fires) << c.id;
    EXPECT_EQ(outcome.fields["place"], "here");
    EXPECT_EQ(outcome.fields["variable"], c.name);
    EXPECT_EQ(outcome.fields.count("process"), 0U);
  }
}

TEST(EnvironmentSwitches, InARunningProcess) {
  Machine machine = healthy_h100();
  run_with(machine, "CUDA_LAUNCH_BLOCKING", "1");
  Outcome outcome = ask_here("environment-launch-blocking", machine);
  EXPECT_EQ(outcome.fields["place"], "in python3 (pid 4711)");
  EXPECT_EQ(outcome.evidence[0], "/proc/4711/environ: CUDA_LAUNCH_BLOCKING=1");
  EXPECT_EQ(outcome.fields.count("variable"), 0U) << "unset would not help";
}

TEST(EnvironmentSwitches, InAStartupFile) {
  for (const char* text :
       {"export CUDA_LAUNCH_BLOCKING=1", "CUDA_LAUNCH_BLOCKING=\"1\"",
        "setenv CUDA_LAUNCH_BLOCKING 1", "export A=2; export CUDA_LAUNCH_BLOCKING=1 # slow"}) {
    Machine machine = healthy_h100();
    machine.toolkits.settings = {{"/root/.bashrc", 12, text, {}}};
    Outcome outcome = ask_here("environment-launch-blocking", machine);
    EXPECT_EQ(outcome.fields["place"], "/root/.bashrc:12") << text;
    EXPECT_EQ(outcome.fields["value"], "1") << text;
  }
  for (const char* text : {"# export CUDA_LAUNCH_BLOCKING=1", "export MY_CUDA_LAUNCH_BLOCKING=1",
                           "echo $CUDA_LAUNCH_BLOCKING", "export CUDA_LAUNCH_BLOCKING=0"}) {
    Machine machine = healthy_h100();
    machine.toolkits.settings = {{"/root/.bashrc", 12, text, {}}};
    EXPECT_EQ(ask_here("environment-launch-blocking", machine).answer, Answer::ok) << text;
  }
}

TEST(EnvironmentFiles, MissingFoldersAndHiddenGpus) {
  Machine machine = healthy_h100();
  EXPECT_EQ(ask_here("environment-missing-folder", machine).answer, Answer::not_applicable);
  machine.toolkits.settings = {{"/root/.bashrc", 3, "export PATH=/usr/local/cuda/bin:$PATH", {}}};
  EXPECT_EQ(ask_here("environment-missing-folder", machine).answer, Answer::ok);
  machine.toolkits.settings.push_back({"/etc/profile.d/cuda.sh",
                                       1,
                                       "export PATH=/usr/local/cuda-11.0/bin:$PATH",
                                       {"/usr/local/cuda-11.0/bin"}});
  Outcome outcome = ask_here("environment-missing-folder", machine);
  EXPECT_EQ(outcome.fields["place"], "/etc/profile.d/cuda.sh:1");
  EXPECT_EQ(outcome.fields["folders"], "/usr/local/cuda-11.0/bin");

  EXPECT_EQ(ask_here("environment-startup-hides-gpus", machine).answer, Answer::ok);
  machine.toolkits.settings.push_back({"/etc/environment", 5, "CUDA_VISIBLE_DEVICES=0", {}});
  EXPECT_EQ(ask_here("environment-startup-hides-gpus", machine).fields["value"], "0");
}

TEST(EnvironmentPath, FoldersOfLibraries) {
  Machine machine = healthy_h100();
  EXPECT_EQ(ask_here("environment-library-folder-in-path", machine).answer, Answer::unknown);
  machine.environment["PATH"] = "/usr/local/cuda/bin:/usr/bin";
  EXPECT_EQ(ask_here("environment-library-folder-in-path", machine).answer, Answer::ok);
  machine.environment["PATH"] = "/venv/nvidia/cudnn/lib:/usr/bin";
  Outcome outcome = ask_here("environment-library-folder-in-path", machine);
  EXPECT_EQ(outcome.fields["folder"], "/venv/nvidia/cudnn/lib");
  EXPECT_EQ(outcome.severity, std::nullopt);
  machine.environment["LD_LIBRARY_PATH"] = "/opt:/venv/nvidia/cudnn/lib";
  EXPECT_EQ(ask_here("environment-library-folder-in-path", machine).severity, Severity::info);
}

TEST(EnvironmentContainer, VariablesForContainersOnTheHost) {
  Machine machine = healthy_h100();
  EXPECT_EQ(ask_here("environment-nvidia-variables-on-host", machine).answer, Answer::ok);
  machine.environment["NVIDIA_VISIBLE_DEVICES"] = "0";
  EXPECT_EQ(ask_here("environment-nvidia-variables-on-host", machine).answer, Answer::fires);
  EXPECT_EQ(ask_here("environment-nvidia-variables-on-host", container()).answer,
            Answer::not_applicable);
}

TEST(EnvironmentNccl, TransportsOnlyWhereTheyMatter) {
  Machine one = healthy_desktop_4090();
  one.environment["NCCL_P2P_DISABLE"] = "1";
  EXPECT_EQ(ask_frameworks("environment-nccl-transport-off", one).answer, Answer::not_applicable);
  Machine machine = healthy_h100();
  EXPECT_EQ(ask_frameworks("environment-nccl-transport-off", machine).answer, Answer::ok);
  machine.environment["NCCL_IB_DISABLE"] = "1";
  EXPECT_EQ(ask_frameworks("environment-nccl-transport-off", machine).answer, Answer::ok)
      << "there is no InfiniBand";
  machine.network.ports.push_back({"mlx5_0", "4: ACTIVE", "5: LinkUp", "400 Gb/sec", 1, {}, {}});
  EXPECT_EQ(ask_frameworks("environment-nccl-transport-off", machine).fields["name"],
            "NCCL_IB_DISABLE");
  machine.environment.clear();
  machine.environment["NCCL_NET"] = "Socket";
  EXPECT_EQ(ask_frameworks("environment-nccl-transport-off", machine).fields["name"], "NCCL_NET");
}

TEST(EnvironmentNccl, ItsOwnSettingsFileCounts) {
  Machine machine = healthy_h100();
  machine.network.nccl_settings = {"/etc/nccl.conf:2: NCCL_P2P_DISABLE=1"};
  Outcome outcome = ask_frameworks("environment-nccl-transport-off", machine);
  EXPECT_EQ(outcome.fields["place"], "/etc/nccl.conf:2");
  EXPECT_EQ(outcome.fields["file"], "/etc/nccl.conf");
  EXPECT_EQ(outcome.fields["line"], "2");
}

TEST(EnvironmentNccl, DebugAndBuffers) {
  Machine machine = healthy_h100();
  machine.environment["NCCL_DEBUG"] = "WARN";
  EXPECT_EQ(ask_frameworks("environment-nccl-debug", machine).answer, Answer::ok);
  machine.environment["NCCL_DEBUG"] = "INFO";
  EXPECT_EQ(ask_frameworks("environment-nccl-debug", machine).severity, std::nullopt);
  machine.environment["NCCL_DEBUG"] = "TRACE";
  EXPECT_EQ(ask_frameworks("environment-nccl-debug", machine).severity, Severity::warning);
  machine.environment["NCCL_BUFFSIZE"] = "8388608";
  EXPECT_EQ(ask_frameworks("environment-nccl-buffsize", machine).answer, Answer::ok);
  machine.environment["NCCL_BUFFSIZE"] = "1073741824";
  EXPECT_EQ(ask_frameworks("environment-nccl-buffsize", machine).answer, Answer::fires);
}

TEST(EnvironmentTorch, AllocatorSettings) {
  Machine machine = healthy_h100();
  EXPECT_EQ(ask_frameworks("environment-alloc-conf-key", machine).answer, Answer::not_applicable);
  machine.environment["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True";
  EXPECT_EQ(ask_frameworks("environment-alloc-conf-key", machine).answer, Answer::ok);
  EXPECT_EQ(ask_frameworks("environment-alloc-conf-value", machine).answer, Answer::ok);
  EXPECT_EQ(ask_frameworks("environment-alloc-conf-ignored", machine).answer, Answer::ok);
  machine.environment["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segment:True";
  EXPECT_EQ(ask_frameworks("environment-alloc-conf-key", machine).answer, Answer::fires);
  machine.environment["PYTORCH_CUDA_ALLOC_CONF"] = "something_new:7";
  EXPECT_FALSE(ask_frameworks("environment-alloc-conf-key", machine).missing.empty());
  machine.environment["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:true";
  EXPECT_EQ(ask_frameworks("environment-alloc-conf-value", machine).fields["setting"],
            "expandable_segments:true");
  machine.environment["PYTORCH_ALLOC_CONF"] = "max_split_size_mb:64";
  EXPECT_EQ(ask_frameworks("environment-alloc-conf-ignored", machine).fields["ignored"],
            "PYTORCH_CUDA_ALLOC_CONF");
  machine.environment.erase("PYTORCH_ALLOC_CONF");
  machine.environment["PYTORCH_CUDA_ALLOC_CONF"] = "backend:cudaMallocAsync,max_split_size_mb:64";
  EXPECT_EQ(ask_frameworks("environment-alloc-conf-ignored", machine).fields["ignored"],
            "max_split_size_mb");
}

TEST(EnvironmentTorch, SwitchesAndXla) {
  Machine machine = healthy_h100();
  for (const char* id :
       {"environment-no-caching-allocator", "environment-torch-debug", "environment-xla-allocator"})
    EXPECT_EQ(ask_frameworks(id, machine).answer, Answer::ok) << id;
  machine.environment = {{"PYTORCH_NO_CUDA_MEMORY_CACHING", "0"},
                         {"TORCH_NCCL_BLOCKING_WAIT", "1"},
                         {"XLA_PYTHON_CLIENT_ALLOCATOR", "platform"}};
  for (const char* id :
       {"environment-no-caching-allocator", "environment-torch-debug", "environment-xla-allocator"})
    EXPECT_EQ(ask_frameworks(id, machine).answer, Answer::fires) << id;
}

TEST(EnvironmentNames, MisspeltAndNotRead) {
  Machine machine = healthy_h100();
  machine.environment = {{"CUDA_VISIBLE_DEVICES", "0"}, {"NVIDIA_VISIBLE_DEVICES", "all"}};
  EXPECT_EQ(ask_frameworks("environment-variable-misspelt", machine).answer, Answer::ok);
  EXPECT_EQ(ask_frameworks("environment-variable-not-read", machine).answer, Answer::ok);
  machine.environment["CUDA_VISIBLE_DEVICE"] = "1";
  EXPECT_EQ(ask_frameworks("environment-variable-misspelt", machine).fields["right"],
            "CUDA_VISIBLE_DEVICES");
  machine.environment["DS_CUDA_ARCH"] = "9.0";
  EXPECT_EQ(ask_frameworks("environment-variable-not-read", machine).fields["name"],
            "DS_CUDA_ARCH");
}

// A shell with a toolkit in LD_LIBRARY_PATH, beside a service on a GPU.
Machine with_service() {
  Machine machine = healthy_h100();
  LoaderState::PathElement element;
  element.text = "/opt/cuda/lib64";
  element.exists = true;
  machine.loader.library_path = {element};
  ResolvedSoname here;
  here.soname = "libcudart.so.12";
  here.found.rule = FoundBy::ld_library_path;
  here.found.path = "/opt/cuda/lib64/libcudart.so.12";
  here.found.real_path = "/opt/cuda/lib64/libcudart.so.12.8.90";
  machine.loader.sonames = {here};
  GpuProcess process;
  process.pid = 4711;
  process.name = "python3";
  process.unit = "cron.service";
  process.libraries = {"/usr/lib/x86_64-linux-gnu/libcudart.so.12.0.146"};
  machine.processes.value->push_back(process);
  return machine;
}

TEST(EnvironmentPassedOn, AServiceWithoutTheLibraryPath) {
  auto answer = [](const Machine& machine) {
    return ask(passed_on_checks(), "environment-lost-in-service", machine);
  };
  EXPECT_EQ(answer(healthy_h100()).answer, Answer::not_applicable);
  Machine machine = with_service();
  EXPECT_EQ(answer(machine).answer, Answer::fires);
  EXPECT_EQ(answer(machine).fields["unit"], "cron.service");
  GpuProcess& process = machine.processes.value->back();
  process.libraries = {"/opt/cuda/lib64/libcudart.so.12.8.90"};
  EXPECT_EQ(answer(machine).answer, Answer::ok) << "the same file";
  process.libraries = {"/usr/lib/libcudart.so.13.0.96"};
  EXPECT_EQ(answer(machine).answer, Answer::ok) << "another library";
  process.libraries = {"/usr/lib/libcudart.so.12"};
  EXPECT_EQ(answer(machine).answer, Answer::fires);
  process.environment["LD_LIBRARY_PATH"] = "/usr/lib";
  EXPECT_EQ(answer(machine).answer, Answer::ok) << "it has one of its own";
  process.environment.clear();
  machine.loader.sonames[0].found.rule = FoundBy::cache;
  EXPECT_EQ(answer(machine).answer, Answer::ok) << "the path is not why";
  process.unit = "session-2.scope";
  EXPECT_EQ(answer(machine).answer, Answer::not_applicable);
  machine.processes = unknown<std::vector<GpuProcess>>("/proc is hidden");
  EXPECT_EQ(answer(machine).answer, Answer::unknown);
}

TEST(EnvironmentPassedOn, Sudo) {
  auto answer = [](const Machine& machine) {
    return ask(passed_on_checks(), "environment-lost-in-sudo", machine);
  };
  Machine machine = healthy_h100();
  machine.toolkits.settings = {
      {"/etc/profile.d/cuda.sh", 2, "export LD_LIBRARY_PATH=/opt/cuda/lib64", {}}};
  EXPECT_EQ(answer(machine).answer, Answer::not_applicable);
  machine.environment["SUDO_UID"] = "1000";
  EXPECT_EQ(answer(machine).answer, Answer::fires);
  EXPECT_EQ(answer(machine).fields["place"], "/etc/profile.d/cuda.sh:2");
  machine.environment["LD_LIBRARY_PATH"] = "/opt/cuda/lib64";
  EXPECT_EQ(answer(machine).answer, Answer::ok);
  machine.environment.erase("LD_LIBRARY_PATH");
  machine.toolkits.settings.clear();
  EXPECT_EQ(answer(machine).answer, Answer::ok);
}

} // namespace
} // namespace gpuvet::testing
