#include "judge/checks/testing/machines.hpp"

#include <gtest/gtest.h>

namespace gpuvet::testing {
namespace {

Outcome ask_libraries(std::string_view id, const Machine& machine) {
  return ask(library_checks(), id, machine);
}
Outcome ask_cudnn(std::string_view id, const Machine& machine) {
  return ask(cudnn_checks(), id, machine);
}

const std::string kSite = "/venv/lib/python3.12/site-packages";

CudaLibrary& add_library(Machine& machine, const std::string& kind, const std::string& path,
                         const std::string& version, const std::string& part = {}) {
  CudaLibrary library;
  library.kind = kind;
  library.part = part;
  library.file = library_file(path, version);
  library.file.size = 1000;
  if (path.starts_with(kSite)) library.python = kSite;
  machine.libraries.push_back(library);
  return machine.libraries.back();
}

void resolve(Machine& machine, const std::string& soname, FoundBy rule, const std::string& path) {
  ResolvedSoname entry;
  entry.soname = soname;
  entry.found.rule = rule;
  entry.found.path = entry.found.real_path = path;
  machine.loader.sonames.push_back(entry);
}

// LD_LIBRARY_PATH names a toolkit, and a wheel brings the same library.
Machine with_two(const std::string& kind, const std::string& soname, const std::string& system,
                 const std::string& wheel) {
  Machine machine = healthy_h100();
  const std::string folder = "/usr/local/cuda-12.1/lib64";
  machine.loader.library_path = {{.text = folder, .exists = true}};
  add_library(machine, kind, folder + "/" + soname, system);
  add_library(machine, kind, kSite + "/nvidia/" + kind + "/lib/" + soname, wheel);
  resolve(machine, soname, FoundBy::ld_library_path, folder + "/" + soname);
  return machine;
}

TEST(LibrariesShadowed, AnOlderNvJitLink) {
  Machine machine = with_two("nvjitlink", "libnvJitLink.so.12", "12.1.105", "12.4.127");
  Outcome outcome = ask_libraries("libraries-nvjitlink-shadowed", machine);
  EXPECT_EQ(outcome.answer, Answer::fires);
  EXPECT_EQ(outcome.fields["taken"], "12.1.105");
  EXPECT_EQ(outcome.fields["wheel"], "12.4.127");
  EXPECT_EQ(outcome.fields["unset_path"], "LD_LIBRARY_PATH");
  EXPECT_EQ(ask_libraries("libraries-nvjitlink-shadowed",
                          with_two("nvjitlink", "libnvJitLink.so.12", "12.8.93", "12.4.127"))
                .answer,
            Answer::ok);
  EXPECT_EQ(ask_libraries("libraries-nvjitlink-shadowed", healthy_h100()).answer,
            Answer::not_applicable);
  // The cache comes after the wheel's run path.
  machine.loader.sonames[0].found.rule = FoundBy::cache;
  EXPECT_EQ(ask_libraries("libraries-nvjitlink-shadowed", machine).answer, Answer::ok);
}

TEST(LibrariesShadowed, TheVersionComesFromThePackage) {
  Machine machine = with_two("nvjitlink", "libnvJitLink.so.12", "12.1.105", "");
  EXPECT_EQ(ask_libraries("libraries-nvjitlink-shadowed", machine).answer, Answer::ok);
  PythonEnv env;
  PythonPackage package;
  package.name = "nvidia-nvjitlink-cu12";
  package.version = "12.6.85";
  package.folder = kSite;
  env.packages = known<std::vector<PythonPackage>>({package}, kSite);
  machine.pythons.push_back(env);
  EXPECT_EQ(ask_libraries("libraries-nvjitlink-shadowed", machine).fields["wheel"], "12.6.85");
}

TEST(LibrariesShadowed, CudnnCublasNcclCudart) {
  EXPECT_EQ(ask_libraries("libraries-cudnn-shadowed",
                          with_two("cudnn", "libcudnn.so.9", "9.10.1", "9.1.0"))
                .answer,
            Answer::fires);
  EXPECT_EQ(ask_libraries("libraries-cudnn-shadowed",
                          with_two("cudnn", "libcudnn.so.9", "9.1.0", "9.1.0"))
                .answer,
            Answer::ok);
  EXPECT_EQ(ask_libraries("libraries-cublas-shadowed",
                          with_two("cublas", "libcublas.so.12", "12.1.3", "12.4.5"))
                .severity,
            std::nullopt);
  EXPECT_EQ(ask_libraries("libraries-cublas-shadowed",
                          with_two("cublas", "libcublas.so.12", "12.8.3", "12.4.5"))
                .severity,
            Severity::warning);
  Outcome nccl = ask_libraries("libraries-nccl-shadowed",
                               with_two("nccl", "libnccl.so.2", "2.18.1", "2.27.3"));
  EXPECT_EQ(nccl.answer, Answer::fires);
  EXPECT_FALSE(nccl.missing.empty());
  EXPECT_EQ(ask_libraries("libraries-cudart-shadowed",
                          with_two("cudart", "libcudart.so.12", "12.1.55", "12.4.127"))
                .answer,
            Answer::fires);
}

TEST(LibrariesCublas, PartsOfTwoReleases) {
  Machine machine = healthy_h100();
  EXPECT_EQ(ask_libraries("libraries-cublas-parts", machine).answer, Answer::not_applicable);
  add_library(machine, "cublas", "/a/libcublas.so.12", "12.4.5");
  add_library(machine, "cublas", "/b/libcublasLt.so.12", "12.1.3", "Lt");
  resolve(machine, "libcublas.so.12", FoundBy::cache, "/a/libcublas.so.12");
  resolve(machine, "libcublasLt.so.12", FoundBy::cache, "/b/libcublasLt.so.12");
  EXPECT_EQ(ask_libraries("libraries-cublas-parts", machine).answer, Answer::fires);
  machine.libraries[1].file.version = "12.4.5";
  EXPECT_EQ(ask_libraries("libraries-cublas-parts", machine).answer, Answer::ok);
}

TEST(LibrariesFiles, Empty) {
  Machine machine = no_gpu();
  EXPECT_EQ(ask_libraries("libraries-empty-file", machine).answer, Answer::not_applicable);
  add_library(machine, "cudnn", "/a/libcudnn.so.9", "9.1.0");
  EXPECT_EQ(ask_libraries("libraries-empty-file", machine).answer, Answer::ok);
  add_library(machine, "nccl", "/a/libnccl.so.2", "").file.size = 0;
  EXPECT_EQ(ask_libraries("libraries-empty-file", machine).fields["path"], "/a/libnccl.so.2");
  machine.libraries[0].file.size = 0;
  EXPECT_EQ(ask_libraries("libraries-empty-file", machine).answer, Answer::unknown);
}

TEST(LibrariesLoaded, MajorsCopiesReplaced) {
  Machine machine = healthy_h100();
  GpuProcess process;
  process.pid = 4711;
  process.name = "python3";
  process.libraries = {"/a/libcudart.so.12", "/a/libnccl.so.2"};
  machine.processes.value->push_back(process);
  EXPECT_EQ(ask_libraries("libraries-two-majors-loaded", machine).answer, Answer::ok);
  EXPECT_EQ(ask_libraries("libraries-loaded-twice", machine).answer, Answer::ok);
  EXPECT_EQ(ask_libraries("libraries-replaced-while-loaded", machine).answer, Answer::ok);
  std::vector<std::string>& libraries = machine.processes.value->back().libraries;
  libraries.emplace_back("/b/libcudart.so.11.0");
  libraries.emplace_back("/b/libnccl.so.2.23.4");
  libraries.emplace_back("/usr/lib/libcuda.so.570.86.15 (deleted)");
  EXPECT_EQ(ask_libraries("libraries-two-majors-loaded", machine).fields["majors"],
            "CUDA 11 and CUDA 12");
  EXPECT_EQ(ask_libraries("libraries-loaded-twice", machine).fields["name"], "libnccl.so.2");
  EXPECT_EQ(ask_libraries("libraries-replaced-while-loaded", machine).fields["processes"],
            "python3 (pid 4711)");
  machine.processes = unknown<std::vector<GpuProcess>>("/proc is not there");
  EXPECT_EQ(ask_libraries("libraries-loaded-twice", machine).answer, Answer::unknown);
}

TEST(Cudnn, PartsOfTwoReleasesInOneFolder) {
  Machine machine = healthy_h100();
  EXPECT_EQ(ask_cudnn("libraries-cudnn-parts-differ", machine).answer, Answer::not_applicable);
  add_library(machine, "cudnn", "/usr/lib/libcudnn.so.9", "9.10.1");
  add_library(machine, "cudnn", "/usr/lib/libcudnn_ops.so.9", "9.10.1", "ops");
  add_library(machine, "cudnn", "/usr/lib/libcudnn.so.8", "8.9.7");
  EXPECT_EQ(ask_cudnn("libraries-cudnn-parts-differ", machine).answer, Answer::ok);
  add_library(machine, "cudnn", "/usr/lib/libcudnn_cnn.so.9", "9.1.0", "cnn");
  EXPECT_EQ(ask_cudnn("libraries-cudnn-parts-differ", machine).fields["versions"],
            "9.1.0 and 9.10.1");
}

TEST(Cudnn, PartsFromTwoFolders) {
  Machine machine = healthy_h100();
  add_library(machine, "cudnn", "/a/libcudnn.so.9", "9.10.1");
  add_library(machine, "cudnn", "/b/libcudnn_ops.so.9", "9.1.0", "ops");
  resolve(machine, "libcudnn.so.9", FoundBy::cache, "/a/libcudnn.so.9");
  EXPECT_EQ(ask_cudnn("libraries-cudnn-mixed", machine).answer, Answer::ok);
  resolve(machine, "libcudnn_ops.so.9", FoundBy::ld_library_path, "/b/libcudnn_ops.so.9");
  EXPECT_EQ(ask_cudnn("libraries-cudnn-mixed", machine).fields["part"], "libcudnn_ops.so.9");
  EXPECT_EQ(ask_cudnn("libraries-cudnn-mixed", healthy_h100()).answer, Answer::not_applicable);
}

TEST(Cudnn, AWheelWithoutAPartThatTheSystemHas) {
  Machine machine = healthy_h100();
  const std::string wheel = kSite + "/nvidia/cudnn/lib/";
  add_library(machine, "cudnn", wheel + "libcudnn.so.9", "9.20.0");
  add_library(machine, "cudnn", "/usr/lib/libcudnn.so.9", "9.19.0");
  EXPECT_EQ(ask_cudnn("libraries-cudnn-part-missing", machine).answer, Answer::ok);
  add_library(machine, "cudnn", "/usr/lib/libcudnn_engines_tensor_ir.so.9", "9.19.0",
              "engines_tensor_ir");
  Outcome outcome = ask_cudnn("libraries-cudnn-part-missing", machine);
  EXPECT_EQ(outcome.answer, Answer::fires);
  EXPECT_EQ(outcome.fields["part"], "libcudnn_engines_tensor_ir.so.9");
  machine.libraries[0].file.version = "9.1.0"; // an older release never asks for it
  EXPECT_EQ(ask_cudnn("libraries-cudnn-part-missing", machine).answer, Answer::ok);
}

TEST(Cudnn, EightIsNotNine) {
  Machine machine = healthy_h100();
  EXPECT_EQ(ask_cudnn("libraries-cudnn-major", machine).answer, Answer::not_applicable);
  PythonEnv env;
  env.extensions.push_back({"foo", "/venv/foo/_C.so", {}, {}, {"libcudnn.so.8"}});
  machine.pythons.push_back(env);
  add_library(machine, "cudnn", "/usr/lib/libcudnn.so.9", "9.1.0");
  Outcome outcome = ask_cudnn("libraries-cudnn-major", machine);
  EXPECT_EQ(outcome.answer, Answer::fires);
  EXPECT_EQ(outcome.fields["wants"], "8");
  EXPECT_EQ(outcome.fields["has"], "cuDNN 9");
  add_library(machine, "cudnn", "/usr/lib/libcudnn.so.8", "8.9.7");
  EXPECT_EQ(ask_cudnn("libraries-cudnn-major", machine).answer, Answer::ok);
}

TEST(Cudnn, CTranslate2LoadsItByName) {
  Machine machine = healthy_h100();
  PythonEnv env;
  PythonPackage package;
  package.name = "ctranslate2";
  package.version = "4.4.0";
  env.packages = known<std::vector<PythonPackage>>({package}, kSite);
  machine.pythons.push_back(env);
  EXPECT_EQ(ask_cudnn("libraries-cudnn-major", machine).answer, Answer::ok) << "no cuDNN at all";
  add_library(machine, "cudnn", "/usr/lib/libcudnn.so.9", "9.1.0");
  EXPECT_EQ(ask_cudnn("libraries-cudnn-major", machine).fields["package"], "ctranslate2 4.4.0");
  machine.pythons[0].packages.value->at(0).version = "4.5.0";
  EXPECT_EQ(ask_cudnn("libraries-cudnn-major", machine).answer, Answer::ok);
}

TEST(Cudnn, TensorFlowWantsTheSameMinorOrNewer) {
  Machine machine = healthy_h100();
  PythonEnv env;
  env.tensorflow = {{"cudnn_version", "8.6"}};
  machine.pythons.push_back(env);
  EXPECT_EQ(ask_cudnn("libraries-cudnn-tensorflow", machine).answer, Answer::not_applicable);
  add_library(machine, "cudnn", "/usr/lib/libcudnn.so.8", "8.5.0");
  EXPECT_EQ(ask_cudnn("libraries-cudnn-tensorflow", machine).answer, Answer::fires);
  machine.libraries[0].file.version = "8.9.7";
  EXPECT_EQ(ask_cudnn("libraries-cudnn-tensorflow", machine).answer, Answer::ok);
  machine.libraries[0].file = library_file("/usr/lib/libcudnn.so.9", "9.1.0");
  EXPECT_EQ(ask_cudnn("libraries-cudnn-tensorflow", machine).answer, Answer::fires);
}

TEST(Cudnn, Headers) {
  Machine machine = healthy_h100();
  EXPECT_EQ(ask_cudnn("libraries-cudnn-headers", machine).answer, Answer::not_applicable);
  machine.cudnn_headers = {{"/usr/include/cudnn_version.h", "8.9.7"}};
  EXPECT_EQ(ask_cudnn("libraries-cudnn-headers", machine).answer, Answer::ok);
  add_library(machine, "cudnn", "/usr/lib/x86_64-linux-gnu/libcudnn.so.9", "9.1.0");
  EXPECT_EQ(ask_cudnn("libraries-cudnn-headers", machine).answer, Answer::fires);
  machine.cudnn_headers[0].version = "9.1.0";
  EXPECT_EQ(ask_cudnn("libraries-cudnn-headers", machine).answer, Answer::ok);
  machine.cudnn_headers = {{"/usr/local/cuda/include/cudnn_version.h", "8.9.7"}};
  EXPECT_EQ(ask_cudnn("libraries-cudnn-headers", machine).answer, Answer::ok);
}

TEST(Cudnn, NvrtcUnderItsShortName) {
  Machine machine = healthy_h100();
  EXPECT_EQ(ask_cudnn("libraries-cudnn-nvrtc", machine).answer, Answer::not_applicable);
  add_library(machine, "cudnn", kSite + "/nvidia/cudnn/lib/libcudnn.so.8", "8.9.7");
  EXPECT_EQ(ask_cudnn("libraries-cudnn-nvrtc", machine).answer, Answer::not_applicable);
  add_library(machine, "nvrtc", kSite + "/nvidia/cuda_nvrtc/lib/libnvrtc.so.12", "12.1.105");
  EXPECT_EQ(ask_cudnn("libraries-cudnn-nvrtc", machine).answer, Answer::fires);
  resolve(machine, "libnvrtc.so", FoundBy::cache, "/usr/local/cuda/lib64/libnvrtc.so");
  EXPECT_EQ(ask_cudnn("libraries-cudnn-nvrtc", machine).answer, Answer::ok);
}

TEST(Cudnn, OldGpus) {
  Machine machine = with_driver("580.65.06", 1, "10de:1db6", "Tesla V100-PCIE-32GB", 70);
  EXPECT_EQ(ask_cudnn("libraries-cudnn-gpu", machine).answer, Answer::not_applicable);
  add_library(machine, "cudnn", "/usr/lib/libcudnn.so.9", "9.10.2");
  EXPECT_EQ(ask_cudnn("libraries-cudnn-gpu", machine).answer, Answer::ok);
  machine.libraries[0].file.version = "9.13.0";
  EXPECT_EQ(ask_cudnn("libraries-cudnn-gpu", machine).fields["capability"], "7.0");
  machine.nvml.gpus.clear();
  EXPECT_EQ(ask_cudnn("libraries-cudnn-gpu", machine).answer, Answer::fires) << "by PCI id";
  machine.kernel.functions = unknown<std::vector<PciFunction>>("no /sys");
  EXPECT_EQ(ask_cudnn("libraries-cudnn-gpu", machine).answer, Answer::unknown);
}

} // namespace
} // namespace gpuvet::testing
