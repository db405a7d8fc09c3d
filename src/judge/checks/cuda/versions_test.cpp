#include "judge/checks/testing/machines.hpp"

#include <gtest/gtest.h>

namespace gpuvet::testing {
namespace {

Outcome ask_versions(std::string_view id, const Machine& machine) {
  return ask(cuda_version_checks(), id, machine);
}

Machine with_torch(const std::string& driver, const std::string& cuda) {
  Machine machine = with_driver(driver, 1, "10de:2335", "NVIDIA H200", 90);
  machine.cuda.driver_api.reset();
  machine.nvml.cuda_version.reset();
  PythonEnv env;
  env.executable = "/venv/bin/python3";
  env.torch = {{"version", "2.9.0"}, {"cuda", cuda}};
  machine.pythons.push_back(env);
  return machine;
}

TEST(CudaRuntime, MajorVersionAndFloor) {
  struct Case {
    const char *driver, *cuda;
    Answer too_new, newer_minor;
  };
  for (const Case& c : {Case{"570.86.15", "13.0", Answer::fires, Answer::ok},
                        Case{"580.65.06", "13.0", Answer::ok, Answer::ok},
                        Case{"525.60.13", "12.8", Answer::ok, Answer::fires},
                        Case{"470.86", "12.1", Answer::fires, Answer::ok},
                        Case{"450.51.05", "11.8", Answer::fires, Answer::ok},
                        Case{"450.80.02", "11.8", Answer::ok, Answer::fires},
                        Case{"384.111", "9.1", Answer::fires, Answer::ok},
                        Case{"550.54.14", "12.4", Answer::ok, Answer::ok}}) {
    Machine machine = with_torch(c.driver, c.cuda);
    EXPECT_EQ(ask_versions("cuda-runtime-too-new", machine).answer, c.too_new) << c.driver;
    EXPECT_EQ(ask_versions("cuda-runtime-newer-minor", machine).answer, c.newer_minor) << c.driver;
  }
}

TEST(CudaRuntime, EntryPointsOfTheRuntimesOwnVersion) {
  auto with = [](const char* driver, const char* cuda, std::vector<std::string> files) {
    Machine machine = with_torch(driver, cuda);
    machine.pythons[0].packages = known<std::vector<PythonPackage>>({}, "/venv");
    machine.pythons[0].unversioned_entry = std::move(files);
    return machine;
  };
  auto answer = [](const Machine& machine) {
    return ask_versions("cuda-entry-point-unversioned", machine);
  };
  Outcome outcome = answer(with("525.60.13", "12.8", {"/venv/a.so"}));
  EXPECT_EQ(outcome.answer, Answer::fires);
  EXPECT_FALSE(outcome.missing.empty());
  EXPECT_EQ(outcome.fields["runtime"], "12.8");
  EXPECT_EQ(outcome.fields["branch"], "570");
  EXPECT_EQ(answer(with("525.60.13", "12.8", {})).answer, Answer::ok);
  EXPECT_EQ(answer(with("570.86.15", "12.8", {"/venv/a.so"})).answer, Answer::ok);
  EXPECT_EQ(answer(with("525.60.13", "13.0", {"/venv/a.so"})).answer, Answer::not_applicable);
  EXPECT_EQ(answer(with("525.60.13", "None", {"/venv/a.so"})).answer, Answer::unknown);
  Machine unread = with("525.60.13", "12.8", {});
  unread.pythons[0].unversioned_entry.reset();
  EXPECT_EQ(answer(unread).answer, Answer::not_applicable);
}

TEST(CudaRuntime, SaysWhichDriverAndWhose) {
  Outcome outcome = ask_versions("cuda-runtime-too-new", with_torch("570.86.15", "13.0"));
  EXPECT_EQ(outcome.fields["driver"], "570.86.15");
  EXPECT_EQ(outcome.fields["api"], "12.8");
  EXPECT_EQ(outcome.fields["whose"], "torch 2.9.0");
  EXPECT_EQ(outcome.fields["needed"], "580.65.06");
  EXPECT_EQ(outcome.fields["major"], "12");
}

TEST(CudaRuntime, AToolkitThatNobodyUsesIsAWarning) {
  Machine machine = with_torch("570.86.15", "None");
  CudaLibrary library;
  library.kind = "cudart";
  library.file = library_file("/usr/local/cuda-13.0/lib64/libcudart.so.13", "13.0.88");
  machine.libraries.push_back(library);
  Outcome outcome = ask_versions("cuda-runtime-too-new", machine);
  EXPECT_EQ(outcome.answer, Answer::fires);
  EXPECT_EQ(outcome.severity, Severity::warning);
  machine.libraries[0].python = "/venv/lib/python3.12/site-packages";
  EXPECT_EQ(ask_versions("cuda-runtime-too-new", machine).severity, std::nullopt);
}

TEST(CudaRuntime, NotKnownAndNotApplicable) {
  Machine machine = with_torch("570.86.15", "13.0");
  machine.kernel.module_version = unknown<std::string>("not readable");
  machine.nvml.driver_version.clear();
  EXPECT_EQ(ask_versions("cuda-runtime-too-new", machine).answer, Answer::unknown);
  EXPECT_EQ(ask_versions("cuda-runtime-too-new", healthy_h100()).answer, Answer::not_applicable);
  machine.surroundings.jetson = true;
  EXPECT_EQ(ask_versions("cuda-runtime-too-new", machine).answer, Answer::not_applicable);
}

TEST(CudaRuntime, AWorkingCompatLibraryServesMore) {
  Machine machine = with_torch("570.86.15", "13.0");
  machine.cuda.driver_api = 13000U;
  EXPECT_EQ(ask_versions("cuda-runtime-too-new", machine).answer, Answer::ok);
}

// libcuda.so.1 comes from cuda-compat by LD_LIBRARY_PATH.
Machine with_compat(const std::string& driver, const std::string& compat,
                    const std::string& gpu = "10de:2335") {
  Machine machine = with_driver(driver, 1, gpu, "", 90);
  std::string path = "/usr/local/cuda/compat/libcuda.so.1";
  std::string real = "/usr/local/cuda-12.8/compat/libcuda.so." + compat;
  LibraryFile file = library_file(path, compat);
  file.real_path = real;
  file.compat = true;
  machine.driver.libcuda.push_back(file);
  machine.driver.resolved_libcuda = real;
  ResolvedSoname entry;
  entry.soname = "libcuda.so.1";
  entry.found.rule = FoundBy::ld_library_path;
  entry.found.path = path;
  entry.found.real_path = real;
  machine.loader.sonames.push_back(entry);
  machine.loader.library_path = {{.text = "/usr/local/cuda/compat", .exists = true},
                                 {.text = "/opt/lib", .exists = true}};
  return machine;
}

TEST(CudaCompat, NotForGeforce) {
  Outcome outcome =
      ask_versions("cuda-compat-consumer-gpu", with_compat("550.54.14", "570.86.15", "10de:2684"));
  EXPECT_EQ(outcome.answer, Answer::fires);
  EXPECT_EQ(outcome.fields["path_without"], "/opt/lib");
  EXPECT_EQ(ask_versions("cuda-compat-consumer-gpu", with_compat("550.54.14", "570.86.15")).answer,
            Answer::ok);
  EXPECT_EQ(ask_versions("cuda-compat-consumer-gpu", healthy_desktop_4090()).answer,
            Answer::not_applicable);
  EXPECT_EQ(
      ask_versions("cuda-compat-consumer-gpu", with_compat("550.54.14", "570.86.15", "10de:ffff"))
          .answer,
      Answer::unknown);
}

TEST(CudaCompat, OlderThanTheDriver) {
  Outcome outcome = ask_versions("cuda-compat-older", with_compat("580.65.06", "570.86.15"));
  EXPECT_EQ(outcome.answer, Answer::fires);
  EXPECT_EQ(outcome.fields["rule"], "LD_LIBRARY_PATH");
  EXPECT_EQ(outcome.fields["compat"], "570.86.15");
  EXPECT_EQ(ask_versions("cuda-compat-older", with_compat("550.54.14", "570.86.15")).answer,
            Answer::ok);
  Machine machine = with_compat("580.65.06", "570.86.15");
  machine.kernel.module_version = unknown<std::string>("not readable");
  machine.nvml.driver_version.clear();
  EXPECT_EQ(ask_versions("cuda-compat-older", machine).answer, Answer::unknown);
}

TEST(CudaCompat, OfAnotherBranchByItsNote) {
  Machine machine = with_compat("545.23.08", "570.86.15");
  EXPECT_EQ(ask_versions("cuda-compat-branch", machine).answer, Answer::unknown) << "no note";
  machine.driver.libcuda.back().forward_compatibility =
      R"({"Format": 1, "CUDA Version": "12.8", "Driver": [535, 550, 560, 565, 570], "Device": [7]})";
  Outcome outcome = ask_versions("cuda-compat-branch", machine);
  EXPECT_EQ(outcome.answer, Answer::fires);
  EXPECT_EQ(outcome.fields["branches"], "535, 550, 560, 565, 570");
  machine.driver.libcuda.back().forward_compatibility = // as in libcuda.so.580.95.05
      R"({"format":1,"CUDA version":"13.0","driver":[535,550,565,570,575,580],"device":[1,2,7]})";
  EXPECT_EQ(ask_versions("cuda-compat-branch", machine).answer, Answer::fires);
  machine.kernel.module_version = known<std::string>("550.54.14", "/sys/module/nvidia/version");
  EXPECT_EQ(ask_versions("cuda-compat-branch", machine).answer, Answer::ok);
}

TEST(CudaCompat, WithoutADriver) {
  Machine machine = with_compat("580.65.06", "570.86.15");
  EXPECT_EQ(ask_versions("cuda-compat-without-driver", machine).answer, Answer::ok);
  unload(machine, "nvidia");
  machine.kernel.module_version = unknown<std::string>("the nvidia module is not loaded");
  EXPECT_EQ(ask_versions("cuda-compat-without-driver", machine).answer, Answer::fires);
  machine.kernel.modules = unknown<std::vector<KernelModule>>("/proc/modules: not there");
  EXPECT_EQ(ask_versions("cuda-compat-without-driver", machine).answer, Answer::unknown);
}

TEST(CudaJit, MissingOrOfAnotherVersion) {
  Machine machine = healthy_h100();
  EXPECT_EQ(ask_versions("cuda-jit-missing", machine).answer, Answer::ok);
  EXPECT_EQ(ask_versions("cuda-jit-version", machine).answer, Answer::not_applicable);
  ResolvedSoname entry;
  entry.soname = "libnvidia-ptxjitcompiler.so.1";
  entry.found.rule = FoundBy::cache;
  entry.found.path = "/opt/old/libnvidia-ptxjitcompiler.so.1";
  entry.found.real_path = "/opt/old/libnvidia-ptxjitcompiler.so.550.54.14";
  machine.loader.sonames.push_back(entry);
  machine.loader.conf_folders = {{"/opt/old/", "/etc/ld.so.conf.d/old.conf:2", true, {}}};
  Outcome outcome = ask_versions("cuda-jit-version", machine);
  EXPECT_EQ(outcome.answer, Answer::fires);
  EXPECT_EQ(outcome.fields["conf_file"], "/etc/ld.so.conf.d/old.conf");
  EXPECT_EQ(outcome.fields["rule"], "/etc/ld.so.conf.d/old.conf:2");
  machine.driver.ptxjitcompiler.clear();
  EXPECT_EQ(ask_versions("cuda-jit-missing", machine).answer, Answer::fires);
  EXPECT_EQ(ask_versions("cuda-jit-missing", no_gpu()).answer, Answer::not_applicable);
}

TEST(CudaMps, PipeFolderOwnerAndMode) {
  Machine machine = healthy_h100();
  EXPECT_EQ(ask(mps_checks(), "cuda-mps-no-daemon", machine).answer, Answer::not_applicable);
  EXPECT_EQ(ask(mps_checks(), "cuda-mps-other-user", machine).answer, Answer::not_applicable);
  machine.environment["CUDA_MPS_PIPE_DIRECTORY"] = "/tmp/mine";
  MpsFacts& mps = machine.surroundings.mps;
  mps.pipe_folder = "/tmp/mine";
  EXPECT_EQ(ask(mps_checks(), "cuda-mps-no-daemon", machine).answer, Answer::unknown);
  mps.control_socket = mps.folder = false;
  EXPECT_EQ(ask(mps_checks(), "cuda-mps-no-daemon", machine).answer, Answer::fires);
  mps.control_socket = mps.folder = mps.daemon = true;
  EXPECT_EQ(ask(mps_checks(), "cuda-mps-no-daemon", machine).answer, Answer::ok);
  EXPECT_EQ(ask(mps_checks(), "cuda-mps-other-user", machine).answer, Answer::unknown);
  mps.owner = 1000U;
  EXPECT_EQ(ask(mps_checks(), "cuda-mps-other-user", machine).answer, Answer::ok);
  mps.owner = 1001U;
  EXPECT_EQ(ask(mps_checks(), "cuda-mps-other-user", machine).answer, Answer::fires);
  EXPECT_EQ(ask(mps_checks(), "cuda-mps-default-mode", machine).answer, Answer::fires);
  EXPECT_EQ(ask(mps_checks(), "cuda-mps-many-clients", machine).answer, Answer::ok);
  machine.nvml.gpus[0].processes.value = std::vector<NvmlProcess>(50);
  EXPECT_EQ(ask(mps_checks(), "cuda-mps-many-clients", machine).answer, Answer::fires);
  for (NvmlGpu& gpu : machine.nvml.gpus)
    gpu.compute_mode.value = 3U;
  EXPECT_EQ(ask(mps_checks(), "cuda-mps-default-mode", machine).answer, Answer::ok);
}

} // namespace
} // namespace gpuvet::testing
