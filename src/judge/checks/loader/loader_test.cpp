#include "judge/checks/testing/machines.hpp"

#include <gtest/gtest.h>

namespace gpuvet::testing {
namespace {

Outcome ask_loader(std::string_view id, const Machine& machine) {
  return ask(loader_checks(), id, machine);
}
Outcome ask_settings(std::string_view id, const Machine& machine) {
  return ask(loader_setting_checks(), id, machine);
}

ResolvedSoname& resolve(Machine& machine, const std::string& soname, FoundBy rule,
                        const std::string& path, const std::string& real_path) {
  ResolvedSoname entry;
  entry.soname = soname;
  entry.found.name = soname;
  entry.found.rule = rule;
  entry.found.path = path;
  entry.found.real_path = real_path.empty() ? path : real_path;
  machine.loader.sonames.push_back(entry);
  return machine.loader.sonames.back();
}

// libcuda.so.1 is nowhere on the loader's path.
Machine without_libcuda() {
  Machine machine = healthy_h100();
  machine.driver.libcuda.clear();
  machine.driver.resolved_libcuda.clear();
  machine.cuda = {};
  machine.cuda.asked.state = AskState::no_library;
  machine.cuda.asked.problem = "libcuda.so.1: cannot open shared object file";
  resolve(machine, "libcuda.so.1", FoundBy::not_found, "", "");
  machine.loader.cache_sonames = known<std::vector<std::string>>({}, "/etc/ld.so.cache");
  return machine;
}

TEST(LoaderLibcuda, OffThePath) {
  Machine machine = without_libcuda();
  EXPECT_EQ(ask_loader("loader-libcuda-off-path", machine).answer, Answer::not_applicable);
  machine.loader.sonames[0].found.elsewhere = {"/usr/local/cuda/lib64/stubs/libcuda.so.1",
                                               "/usr/local/nvidia/lib64/libcuda.so.1"};
  Outcome outcome = ask_loader("loader-libcuda-off-path", machine);
  EXPECT_EQ(outcome.answer, Answer::fires);
  EXPECT_EQ(outcome.fields["folder"], "/usr/local/nvidia/lib64");
  EXPECT_EQ(ask_loader("loader-libcuda-absent", machine).answer, Answer::not_applicable);
  EXPECT_EQ(ask_loader("loader-libcuda-off-path", healthy_h100()).answer, Answer::ok);
  Machine unseen = healthy_h100();
  unseen.driver = {};
  unseen.cuda.asked.state = AskState::skipped;
  EXPECT_EQ(ask_loader("loader-libcuda-off-path", unseen).answer, Answer::unknown);
}

TEST(LoaderLibcuda, OffThePathAsTheProbeSaw) {
  Machine machine = healthy_h100();
  machine.cuda.asked.loader_problem = "libcuda.so.1: cannot open shared object file";
  machine.cuda.asked.library = "/run/opengl-driver/lib/libcuda.so.1";
  Outcome outcome = ask_loader("loader-libcuda-off-path", machine);
  EXPECT_EQ(outcome.answer, Answer::fires);
  EXPECT_EQ(outcome.fields["folder"], "/run/opengl-driver/lib");
}

TEST(LoaderLibcuda, Absent) {
  Machine machine = without_libcuda();
  Outcome outcome = ask_loader("loader-libcuda-absent", machine);
  EXPECT_EQ(outcome.answer, Answer::fires);
  EXPECT_EQ(outcome.fields["branch"], "580");
  machine.surroundings.container = known(ContainerKind::docker, "/.dockerenv");
  EXPECT_EQ(ask_loader("loader-libcuda-absent", machine).answer, Answer::not_applicable);
  EXPECT_EQ(ask_loader("loader-libcuda-absent", no_gpu()).answer, Answer::not_applicable);
  EXPECT_EQ(ask_loader("loader-libcuda-absent", healthy_h100()).answer, Answer::ok);
}

TEST(LoaderNvml, AbsentOrOffThePath) {
  Machine machine = healthy_h100();
  machine.driver.libnvidia_ml.clear();
  machine.driver.resolved_libnvidia_ml.clear();
  machine.nvml.asked.state = AskState::no_library;
  EXPECT_EQ(ask_loader("loader-nvml-absent", machine).answer, Answer::fires);
  machine.driver.libnvidia_ml = {library_file("/opt/nvidia/libnvidia-ml.so.1", "580.65.06")};
  EXPECT_EQ(ask_loader("loader-nvml-absent", machine).answer, Answer::not_applicable);
  EXPECT_EQ(ask_loader("loader-nvml-off-path", machine).fields["folder"], "/opt/nvidia");
  EXPECT_EQ(ask_loader("loader-nvml-off-path", healthy_h100()).answer, Answer::ok);
}

TEST(LoaderLibcuda, OnlyForAnotherProcessor) {
  Machine machine = without_libcuda();
  EXPECT_EQ(ask_loader("loader-libcuda-wrong-machine", machine).answer, Answer::not_applicable);
  machine.loader.sonames[0].found.tried = {{"/usr/lib/i386-linux-gnu/libcuda.so.1", FoundBy::cache,
                                            "a 32-bit library, and the program has 64 bits"}};
  EXPECT_EQ(ask_loader("loader-libcuda-wrong-machine", machine).answer, Answer::fires);
  EXPECT_EQ(ask_loader("loader-libcuda-wrong-machine", healthy_h100()).answer, Answer::unknown);
}

TEST(LoaderLibcuda, Unreadable) {
  Machine machine = healthy_h100();
  EXPECT_EQ(ask_loader("loader-libcuda-unreadable", machine).answer, Answer::ok);
  machine.cuda.asked.state = AskState::no_library;
  EXPECT_EQ(ask_loader("loader-libcuda-unreadable", machine).answer, Answer::ok);
  machine.driver.libcuda[0].readable = false;
  EXPECT_EQ(ask_loader("loader-libcuda-unreadable", machine).answer, Answer::fires);
  machine.driver.libcuda[0].readable.reset();
  EXPECT_EQ(ask_loader("loader-libcuda-unreadable", machine).answer, Answer::unknown);
}

TEST(LoaderStub, LoadedOrOnlyOnThePath) {
  Machine machine = healthy_h100();
  machine.loader.library_path = {
      {.text = "/usr/local/cuda/lib64/stubs", .exists = true, .stubs = true}};
  EXPECT_EQ(ask_loader("loader-libcuda-stub", machine).answer, Answer::ok);
  EXPECT_EQ(ask_loader("loader-stubs-on-path", machine).answer, Answer::fires);
  resolve(machine, "libcuda.so.1", FoundBy::ld_library_path,
          "/usr/local/cuda/lib64/stubs/libcuda.so.1", "/usr/local/cuda/lib64/stubs/libcuda.so");
  Outcome outcome = ask_loader("loader-libcuda-stub", machine);
  EXPECT_EQ(outcome.answer, Answer::fires);
  EXPECT_EQ(outcome.fields["unset_path"], "LD_LIBRARY_PATH");
  EXPECT_EQ(outcome.fields.count("path_without"), 0U);
  EXPECT_EQ(ask_loader("loader-stubs-on-path", machine).answer, Answer::not_applicable);
  EXPECT_EQ(ask_loader("loader-stubs-on-path", healthy_h100()).answer, Answer::ok);
}

// The article's case: a stale line of ld.so.conf.d loads an old driver's libraries.
TEST(LoaderOldDriver, ByTheLoadersSettings) {
  Machine machine = healthy_h100();
  machine.driver.libcuda.push_back(library_file("/usr/lib/nvidia-550/libcuda.so.1", "550.54.14"));
  machine.driver.resolved_libcuda = "/usr/lib/nvidia-550/libcuda.so.550.54.14";
  machine.driver.user_version = known<std::string>("550.54.14", "libcuda");
  resolve(machine, "libcuda.so.1", FoundBy::cache, "/usr/lib/nvidia-550/libcuda.so.1",
          "/usr/lib/nvidia-550/libcuda.so.550.54.14");
  machine.loader.conf_folders = {
      {"/usr/lib/nvidia-550", "/etc/ld.so.conf.d/nvidia.conf:1", true, {}}};
  Outcome outcome = ask_loader("loader-conf-old-driver", machine);
  EXPECT_EQ(outcome.answer, Answer::fires);
  EXPECT_EQ(outcome.fields["rule"], "/etc/ld.so.conf.d/nvidia.conf:1");
  EXPECT_EQ(outcome.fields["conf_file"], "/etc/ld.so.conf.d/nvidia.conf");
  EXPECT_EQ(outcome.fields["old"], "550.54.14");
  EXPECT_EQ(ask_loader("loader-path-old-driver", machine).answer, Answer::not_applicable);
  EXPECT_EQ(ask_loader("loader-driver-link-stale", machine).answer, Answer::not_applicable);

  machine.loader.sonames[0].found.rule = FoundBy::ld_library_path;
  machine.loader.library_path = {{.text = "/usr/lib/nvidia-550/", .exists = true}};
  EXPECT_EQ(ask_loader("loader-path-old-driver", machine).fields["unset_path"], "LD_LIBRARY_PATH");
  EXPECT_EQ(ask_loader("loader-conf-old-driver", machine).answer, Answer::not_applicable);

  EXPECT_EQ(ask_loader("loader-conf-old-driver", healthy_h100()).answer, Answer::ok);
  machine.kernel.module_version = unknown<std::string>("not readable");
  EXPECT_EQ(ask_loader("loader-path-old-driver", machine).answer, Answer::unknown);
}

TEST(LoaderOldDriver, NothingBetterOnDiskIsNoMatterOfOrder) {
  Machine machine = healthy_h100();
  machine.kernel.module_version = known<std::string>("575.57.08", "/sys/module/nvidia/version");
  EXPECT_EQ(ask_loader("loader-conf-old-driver", machine).answer, Answer::ok);
}

TEST(LoaderOldDriver, ALinkThatWasNotRenewed) {
  Machine machine = healthy_h100();
  const std::string folder = "/usr/lib/x86_64-linux-gnu/";
  resolve(machine, "libcuda.so.1", FoundBy::cache, folder + "libcuda.so.1",
          folder + "libcuda.so.550.54.14");
  Outcome outcome = ask_loader("loader-driver-link-stale", machine);
  EXPECT_EQ(outcome.answer, Answer::fires);
  EXPECT_EQ(outcome.fields["right_name"], "libcuda.so.580.65.06");
  EXPECT_EQ(ask_loader("loader-conf-old-driver", machine).answer, Answer::not_applicable);
}

TEST(LoaderNames, UnversionedAndCache) {
  Machine machine = healthy_h100();
  EXPECT_EQ(ask_loader("loader-libcuda-unversioned", machine).answer, Answer::ok);
  CudaLibrary cudnn;
  cudnn.kind = "cudnn";
  cudnn.file = library_file("/venv/nvidia/cudnn/lib/libcudnn_ops_infer.so.8", "8.9.7");
  machine.libraries.push_back(cudnn);
  EXPECT_EQ(ask_loader("loader-libcuda-unversioned", machine).answer, Answer::fires);
  machine.driver.libcuda_unversioned = true;
  EXPECT_EQ(ask_loader("loader-libcuda-unversioned", machine).answer, Answer::ok);

  EXPECT_EQ(ask_loader("loader-libcuda-not-in-cache", machine).answer, Answer::unknown);
  machine.loader.cache_sonames = known<std::vector<std::string>>({"libc.so.6"}, "/etc/ld.so.cache");
  EXPECT_EQ(ask_loader("loader-libcuda-not-in-cache", machine).answer, Answer::fires);
  machine.loader.cache_sonames.value->emplace_back("libcuda.so.1");
  EXPECT_EQ(ask_loader("loader-libcuda-not-in-cache", machine).answer, Answer::ok);
}

TEST(LoaderPath, Defects) {
  Machine machine = healthy_h100();
  for (const char* id :
       {"loader-path-empty", "loader-path-relative", "loader-path-tilde", "loader-path-missing"})
    EXPECT_EQ(ask_settings(id, machine).answer, Answer::not_applicable) << id;
  machine.loader.library_path = {{.text = "/usr/local/cuda/lib64", .exists = true}};
  for (const char* id :
       {"loader-path-empty", "loader-path-relative", "loader-path-tilde", "loader-path-missing"})
    EXPECT_EQ(ask_settings(id, machine).answer, Answer::ok) << id;
  machine.environment["LD_LIBRARY_PATH"] = "/usr/local/cuda/lib64::lib:~/x:/usr/local/cuda-11.0";
  machine.toolkits.settings = {
      {"/root/.bashrc", 9, "export LD_LIBRARY_PATH=/usr/local/cuda/lib64::lib", {}}};
  machine.loader.library_path.push_back({.text = "", .relative = true, .empty = true});
  machine.loader.library_path.push_back({.text = "lib", .relative = true});
  machine.loader.library_path.push_back({.text = "~/x", .relative = true, .tilde = true});
  machine.loader.library_path.push_back({.text = "/usr/local/cuda-11.0", .exists = false});
  Outcome empty = ask_settings("loader-path-empty", machine);
  EXPECT_EQ(empty.answer, Answer::fires);
  EXPECT_EQ(empty.evidence.at(1),
            "/root/.bashrc:9: export LD_LIBRARY_PATH=/usr/local/cuda/lib64::lib");
  EXPECT_EQ(empty.fields["path_without"], "/usr/local/cuda/lib64") << "all that is in order";
  EXPECT_EQ(ask_settings("loader-path-relative", machine).fields["elements"], "lib");
  EXPECT_EQ(ask_settings("loader-path-tilde", machine).fields["elements"], "~/x");
  EXPECT_EQ(ask_settings("loader-path-missing", machine).fields["elements"],
            "/usr/local/cuda-11.0");
}

TEST(LoaderConf, MissingFolderAndOldCache) {
  Machine machine = healthy_h100();
  machine.loader.cache_time = 1000;
  machine.loader.conf_folders = {{"/usr/lib/cuda", "/etc/ld.so.conf.d/a.conf:1", true, 900},
                                 {"/usr/lib/other", "/etc/ld.so.conf.d/b.conf:1", false, 1200}};
  EXPECT_EQ(ask_settings("loader-conf-missing", machine).answer, Answer::ok);
  EXPECT_EQ(ask_settings("loader-cache-outdated", machine).answer, Answer::ok);
  machine.loader.conf_folders[0].exists = false;
  Outcome outcome = ask_settings("loader-conf-missing", machine);
  EXPECT_EQ(outcome.fields["line"], "/etc/ld.so.conf.d/a.conf:1");
  machine.loader.conf_folders[0].exists = true;
  machine.loader.conf_folders[0].conf_time = 1300;
  EXPECT_EQ(ask_settings("loader-cache-outdated", machine).answer, Answer::fires);
  machine.loader.cache_time.reset();
  EXPECT_EQ(ask_settings("loader-cache-outdated", machine).answer, Answer::unknown);
}

TEST(LoaderConf, AnOlderLibraryShadowsANewerOne) {
  Machine machine = healthy_h100();
  machine.loader.conf_folders = {
      {"/usr/local/cuda-12.1/lib64", "/etc/ld.so.conf.d/000_cuda.conf:1", true, {}}};
  ResolvedSoname& entry = resolve(machine, "libnvJitLink.so.12", FoundBy::cache,
                                  "/usr/local/cuda-12.1/lib64/libnvJitLink.so.12",
                                  "/usr/local/cuda-12.1/lib64/libnvJitLink.so.12.1.105");
  EXPECT_EQ(ask_settings("loader-conf-shadows-newer", machine).answer, Answer::ok);
  entry.shadowed = {"/usr/local/cuda-12.4/lib64/libnvJitLink.so.12.4.127"};
  Outcome outcome = ask_settings("loader-conf-shadows-newer", machine);
  EXPECT_EQ(outcome.answer, Answer::fires);
  EXPECT_EQ(outcome.fields["old"], "12.1.105");
  EXPECT_EQ(outcome.fields["new"], "12.4.127");
  entry.shadowed = {"/usr/local/cuda-11.8/lib64/libnvJitLink.so.11.8.89"};
  EXPECT_EQ(ask_settings("loader-conf-shadows-newer", machine).answer, Answer::ok);
}

TEST(LoaderPreload, ShimsAndMissingFiles) {
  Machine machine = healthy_h100();
  EXPECT_EQ(ask_settings("loader-preload-shim", machine).answer, Answer::ok);
  EXPECT_EQ(ask_settings("loader-preload-missing", machine).answer, Answer::not_applicable);
  machine.loader.preload = {"/usr/local/vgpu/libvgpu.so"};
  Outcome outcome = ask_settings("loader-preload-shim", machine);
  EXPECT_EQ(outcome.answer, Answer::fires);
  EXPECT_EQ(outcome.fields["from"], "/etc/ld.so.preload");
  EXPECT_EQ(outcome.fields.count("variable"), 0U);
  machine.environment["LD_PRELOAD"] = "/usr/local/vgpu/libvgpu.so";
  EXPECT_EQ(ask_settings("loader-preload-shim", machine).fields["variable"], "LD_PRELOAD");
  machine.surroundings.container = known(ContainerKind::kubernetes, "cgroup");
  EXPECT_EQ(ask_settings("loader-preload-shim", machine).severity, Severity::info);
  machine.loader.preload_missing = machine.loader.preload;
  EXPECT_EQ(ask_settings("loader-preload-missing", machine).answer, Answer::fires);
}

TEST(LoaderVersions, GapsByLibrary) {
  Machine machine = healthy_h100();
  for (const char* id : {"loader-glibc-old", "loader-libstdcxx-old", "loader-library-old"})
    EXPECT_EQ(ask_settings(id, machine).answer, Answer::ok) << id;
  machine.loader.version_gaps = {
      {"/venv/torch/lib/libtorch.so", "libc.so.6", "GLIBC_2.28", "/lib64/libc.so.6", "GLIBC_2.17"}};
  EXPECT_EQ(ask_settings("loader-glibc-old", machine).fields["file"], "libtorch.so");
  EXPECT_EQ(ask_settings("loader-libstdcxx-old", machine).answer, Answer::ok);
  machine.loader.version_gaps[0] = {"/venv/x.so", "libstdc++.so.6", "GLIBCXX_3.4.30",
                                    "/opt/conda/lib/libstdc++.so.6", "GLIBCXX_3.4.28"};
  EXPECT_EQ(ask_settings("loader-libstdcxx-old", machine).fields["folder"], "/opt/conda/lib");
  machine.loader.version_gaps[0] = {
      "/venv/nvidia/cusparse/lib/libcusparse.so.12", "libnvJitLink.so.12", "libnvJitLink.so.12.4",
      "/usr/local/cuda-12.1/lib64/libnvJitLink.so.12", "libnvJitLink.so.12.1"};
  resolve(machine, "libnvJitLink.so.12", FoundBy::ld_library_path,
          "/usr/local/cuda-12.1/lib64/libnvJitLink.so.12", "");
  machine.loader.library_path = {{.text = "/usr/local/cuda-12.1/lib64", .exists = true}};
  Outcome outcome = ask_settings("loader-library-old", machine);
  EXPECT_EQ(outcome.answer, Answer::fires);
  EXPECT_EQ(outcome.fields["unset_path"], "LD_LIBRARY_PATH");
}

TEST(LoaderExtensions, AnotherCudaMajor) {
  Machine machine = healthy_h100();
  EXPECT_EQ(ask_settings("loader-extension-other-major", machine).answer, Answer::not_applicable);
  PythonEnv env;
  env.executable = "/venv/bin/python3";
  env.torch = {{"cuda", "12.6"}};
  PythonEnv::Extension extension;
  extension.package = "vllm";
  extension.file = "/venv/vllm/_C.abi3.so";
  extension.abi = "cxx11";
  extension.missing_needed = {"libfoo.so.1"};
  env.extensions.push_back(extension);
  machine.pythons.push_back(env);
  EXPECT_EQ(ask_settings("loader-extension-other-major", machine).answer, Answer::ok);
  machine.pythons[0].extensions[0].missing_needed = {"libcudart.so.13"};
  Outcome outcome = ask_settings("loader-extension-other-major", machine);
  EXPECT_EQ(outcome.answer, Answer::fires);
  EXPECT_EQ(outcome.fields["wants"], "13");
  EXPECT_EQ(outcome.fields["major"], "12");
}

TEST(LoaderExtensions, ARunPathOfTheBuildMachine) {
  Machine machine = healthy_h100();
  EXPECT_EQ(ask_settings("loader-run-path-lost", machine).answer, Answer::not_applicable);
  PythonEnv env;
  env.executable = "/venv/bin/python3";
  env.packages = known<std::vector<PythonPackage>>({PythonPackage{.name = "flash-attn"}}, "/venv");
  PythonEnv::Extension extension;
  extension.package = "flash-attn";
  extension.file = "/venv/flash_attn_2_cuda.so";
  extension.lost_run_paths = {"/home/build/cuda/lib64"};
  env.extensions = {extension};
  machine.pythons = {env};
  auto answer = [&] { return ask_settings("loader-run-path-lost", machine).answer; };
  EXPECT_EQ(answer(), Answer::ok) << "nothing is missed";
  PythonEnv::Extension& one = machine.pythons[0].extensions[0];
  one.missing_needed = {"libcudart.so.12"};
  EXPECT_EQ(answer(), Answer::ok) << "the library is nowhere";
  one.elsewhere = {"/opt/cuda/lib64/libcudart.so.12"};
  EXPECT_EQ(ask_settings("loader-run-path-lost", machine).fields["there"], "/opt/cuda/lib64");
  machine.pythons[0].torch = {{"cuda", "13.0"}};
  EXPECT_EQ(answer(), Answer::ok) << "loader-extension-other-major tells";
  machine.pythons[0].torch = {{"cuda", "12.6"}};
  EXPECT_EQ(answer(), Answer::fires);
  one.lost_run_paths.clear();
  EXPECT_EQ(answer(), Answer::ok) << "the file never had a run path";
}

TEST(LoaderCudart, SeveralOnThePath) {
  Machine machine = healthy_h100();
  EXPECT_EQ(ask_settings("loader-several-cudart", machine).answer, Answer::not_applicable);
  PythonEnv env;
  env.packages =
      known<std::vector<PythonPackage>>({PythonPackage{.name = "bitsandbytes"}}, "/venv");
  machine.pythons.push_back(env);
  resolve(machine, "libcudart.so.12", FoundBy::cache, "/usr/local/cuda-12.8/lib64/libcudart.so.12",
          "");
  EXPECT_EQ(ask_settings("loader-several-cudart", machine).answer, Answer::ok);
  resolve(machine, "libcudart.so.11.0", FoundBy::ld_library_path, "/opt/cuda/libcudart.so.11.0",
          "");
  EXPECT_EQ(ask_settings("loader-several-cudart", machine).answer, Answer::fires);
}

} // namespace
} // namespace gpuvet::testing
