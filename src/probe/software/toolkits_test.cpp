#include "probe/probe.hpp"
#include "probe/software/cuda_library.hpp"
#include "probe/software/testing/build.hpp"
#include "probe/software/toolkits.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

using testing::RecordingBuilder;

const char* const kRelease = "Cuda compilation tools, release ";

Machine probed(const RecordingBuilder& builder) {
  Machine machine;
  probe_software(builder.source(), machine);
  return machine;
}

const InstalledToolkit* at(const Machine& machine, const std::string& folder) {
  for (const InstalledToolkit& toolkit : machine.toolkits.installed)
    if (toolkit.folder == folder) return &toolkit;
  return nullptr;
}

TEST(Toolkits, EachOnceUnderItsRealFolder) {
  RecordingBuilder builder;
  builder.link("/usr/local/cuda", "/etc/alternatives/cuda")
      .link("/etc/alternatives/cuda", "/usr/local/cuda-12.8")
      .link("/usr/local/cuda-12", "cuda-12.8")
      .text("/usr/local/cuda-12.8/version.json", R"({"cuda": {"version": "12.8.1"}})")
      .present("/usr/local/cuda-12.8/bin/nvcc")
      .present("/usr/local/cuda-12.8/bin/ptxas")
      .present("/usr/local/cuda-12.8/nvvm/libdevice/libdevice.10.bc")
      .text("/usr/local/cuda-12.8/targets/x86_64-linux/include/crt/host_config.h",
            "#if __GNUC__ > 14\n#error -- unsupported GNU version! gcc versions later than 14 are "
            "not supported! The nvcc flag\n#error -- unsupported clang version! clang version "
            "must be less than 20 and greater than 3.2 .\n")
      .text("/usr/local/cuda-10.2/version.txt", "CUDA Version 10.2.89\n")
      .present("/usr/local/cuda-10.2/bin/nvcc")
      .variable("PATH", "/usr/local/cuda/bin:/usr/local/cuda-12.8/bin:/usr/bin")
      .variable("CUDA_HOME", "/usr/local/cuda-11.8");
  builder.recording->texts["/usr/local/cuda-12.8/bin/nvcc"][kRelease] = "12.8, V12.8.93";
  Machine machine = probed(builder);
  ASSERT_EQ(machine.toolkits.installed.size(), 2u);
  const InstalledToolkit* toolkit = at(machine, "/usr/local/cuda-12.8");
  ASSERT_NE(toolkit, nullptr);
  EXPECT_EQ(toolkit->version, "12.8.1");
  EXPECT_TRUE(toolkit->has_nvcc && toolkit->has_ptxas && toolkit->has_libdevice);
  EXPECT_EQ(toolkit->host_config_gcc, "14");
  EXPECT_EQ(toolkit->host_config_clang, "19");
  EXPECT_EQ(at(machine, "/usr/local/cuda-10.2")->version, "10.2.89");
  ASSERT_EQ(machine.toolkits.nvcc.size(), 1u);
  EXPECT_EQ(machine.toolkits.nvcc[0].path, "/usr/local/cuda/bin/nvcc");
  EXPECT_EQ(machine.toolkits.nvcc[0].real_path, "/usr/local/cuda-12.8/bin/nvcc");
  EXPECT_EQ(machine.toolkits.nvcc[0].version, "12.8");
  ASSERT_TRUE(machine.toolkits.cuda_link);
  EXPECT_EQ(*machine.toolkits.cuda_link, "/usr/local/cuda-12.8");
  EXPECT_EQ(machine.toolkits.environment_missing, std::vector<std::string>{"CUDA_HOME"});
}

TEST(Toolkits, DanglingLinkAndLeftovers) {
  RecordingBuilder builder;
  builder.link("/usr/local/cuda", "/usr/local/cuda-11.8")
      .present("/usr/local/cuda-11.7/lib64/libcudnn.so.8.9.7")
      .text("/usr/local/cuda-12.4/compat/README", "x")
      .folder("/usr/local/cuda-9.0")
      .text("/var/lib/dpkg/status", "Package: cuda-compat-12-4\nStatus: install ok installed\n"
                                    "Version: 1\nArchitecture: amd64\n")
      .text("/var/lib/dpkg/info/cuda-compat-12-4.list",
            "/usr/local/cuda-12.4\n/usr/local/cuda-12.4/compat\n");
  Machine machine = probed(builder);
  EXPECT_TRUE(machine.toolkits.cuda_link_dangling);
  EXPECT_EQ(*machine.toolkits.cuda_link, "/usr/local/cuda-11.8");
  ASSERT_EQ(machine.toolkits.installed.size(), 2u); // the empty one is none
  const InstalledToolkit* leftover = at(machine, "/usr/local/cuda-11.7");
  ASSERT_NE(leftover, nullptr);
  EXPECT_TRUE(leftover->leftover);
  EXPECT_EQ(leftover->files,
            std::vector<std::string>{"/usr/local/cuda-11.7/lib64/libcudnn.so.8.9.7"});
  EXPECT_FALSE(at(machine, "/usr/local/cuda-12.4")->leftover);
  EXPECT_EQ(at(machine, "/usr/local/cuda-12.4")->owner, "cuda-compat-12-4");
  ASSERT_EQ(machine.libraries.size(), 1u);
  EXPECT_EQ(machine.libraries[0].file.version, "8.9.7");
  EXPECT_EQ(machine.libraries[0].file.origin, Origin::copied);
}

TEST(Toolkits, DebiansIsSpreadOverUsr) {
  RecordingBuilder builder;
  builder.text("/usr/bin/nvcc", "#!/bin/sh\nexec /usr/lib/nvidia-cuda-toolkit/bin/nvcc \"$@\"\n")
      .holds("/usr/lib/nvidia-cuda-toolkit/bin/nvcc", kRelease, "11.5, V11.5.119")
      .folder("/usr/lib/cuda/nvvm")
      .text("/var/lib/dpkg/status",
            "Package: nvidia-cuda-toolkit\nStatus: install ok installed\nArchitecture: amd64\n"
            "Version: 11.5.1-1ubuntu1\nMaintainer: Ubuntu Developers\n")
      .text("/var/lib/dpkg/info/nvidia-cuda-toolkit.list",
            "/usr/bin/nvcc\n/usr/lib/cuda\n/usr/lib/cuda/nvvm\n"
            "/usr/lib/nvidia-cuda-toolkit/bin/nvcc\n")
      .variable("PATH", "/usr/bin");
  Machine machine = probed(builder);
  ASSERT_EQ(machine.toolkits.installed.size(), 1u);
  EXPECT_EQ(machine.toolkits.installed[0].folder, "/usr/lib/cuda");
  EXPECT_EQ(machine.toolkits.installed[0].version, "11.5");
  EXPECT_EQ(machine.toolkits.installed[0].origin, Origin::distribution);
  EXPECT_TRUE(machine.toolkits.installed[0].has_nvcc);
  ASSERT_EQ(machine.toolkits.nvcc.size(), 1u);
  EXPECT_EQ(machine.toolkits.nvcc[0].version, "11.5");
  EXPECT_EQ(machine.toolkits.nvcc[0].owner, "nvidia-cuda-toolkit");
}

TEST(Toolkits, VersionFromWhatIsThere) {
  RecordingBuilder builder;
  builder.holds("/opt/cuda/bin/nvcc", kRelease, "12.6, V12.6.20")
      .holds("/opt/cuda-11/include/cuda.h", "#define CUDA_VERSION ", "11080")
      .present("/usr/local/cuda-12.4/lib64/libcudart.so.12.4.127");
  Machine machine = probed(builder);
  EXPECT_EQ(at(machine, "/opt/cuda")->version, "12.6");
  EXPECT_EQ(at(machine, "/opt/cuda-11")->version, "11.8");
  EXPECT_EQ(at(machine, "/usr/local/cuda-12.4")->version, "12.4");
  EXPECT_FALSE(at(machine, "/usr/local/cuda-12.4")->leftover);
}

TEST(Toolkits, FoundThroughPathButNotThroughWrappers) {
  RecordingBuilder builder;
  builder.text("/usr/local/bin/nvcc", "#!/bin/sh\n")
      .present("/usr/local/bin/ptxas")
      .holds("/apps/cuda/12.3/bin/nvcc", kRelease, "12.3, V12.3.107")
      .present("/apps/cuda/12.3/bin/ptxas")
      .variable("PATH", "/usr/local/bin:/apps/cuda/12.3/bin");
  Machine machine = probed(builder);
  ASSERT_EQ(machine.toolkits.installed.size(), 1u);
  EXPECT_EQ(machine.toolkits.installed[0].folder, "/apps/cuda/12.3");
  ASSERT_EQ(machine.toolkits.nvcc.size(), 2u);
  EXPECT_EQ(machine.toolkits.nvcc[0].version, "");
  EXPECT_EQ(machine.toolkits.nvcc[1].version, "12.3");
}

TEST(HostCompilers, ToldWithoutRunning) {
  RecordingBuilder builder;
  builder.link("/usr/bin/gcc", "gcc-12")
      .link("/usr/bin/gcc-12", "x86_64-linux-gnu-gcc-12")
      .present("/usr/bin/x86_64-linux-gnu-gcc-12")
      .present("/usr/bin/g++-9")
      .present("/usr/bin/g++-12")
      .link("/usr/lib/ccache/gcc", "../../bin/ccache")
      .present("/usr/bin/ccache")
      .link("/usr/bin/clang", "../lib/llvm-14/bin/clang")
      .present("/usr/lib/llvm-14/bin/clang")
      .variable("PATH", "/usr/lib/ccache:/usr/bin")
      .variable("NVCC_CCBIN", "/opt/gcc11/bin")
      .present("/opt/gcc11/bin/gcc")
      .folder("/opt/gcc11/lib/gcc/x86_64-redhat-linux/11");
  Machine machine = probed(builder);
  EXPECT_EQ(*machine.toolkits.gcc, "12");
  EXPECT_EQ(*machine.toolkits.clang, "14");
  EXPECT_EQ(*machine.toolkits.host_compiler, "gcc 11");
  EXPECT_EQ(machine.toolkits.other_gcc, (std::vector<std::string>{"9", "12"}));
}

TEST(HostCompilers, AskedWhereFilesDoNotTell) {
  RecordingBuilder builder;
  builder.present("/usr/bin/gcc").variable("PATH", "/usr/bin");
  EXPECT_FALSE(probed(builder).toolkits.gcc);
  builder.answer({"/usr/bin/gcc", "-dumpfullversion"}, "13.2.0\n");
  EXPECT_EQ(*probed(builder).toolkits.gcc, "13.2.0");
}

TEST(Settings, LinesAndFoldersThatAreGone) {
  RecordingBuilder builder;
  builder.variable("HOME", "/home/u")
      .folder("/usr/local/cuda-12.8/bin")
      .text("/etc/environment", "PATH=\"/usr/bin:/usr/local/cuda-11.8/bin\"\nEDITOR=vi\n")
      .text("/etc/profile.d/cuda.sh",
            "# export PATH=/usr/local/cuda-9.0/bin:$PATH\n"
            "export PATH=/usr/local/cuda-12.8/bin${PATH:+:${PATH}}\n"
            "[ -d /usr/local/cuda-10 ] && export CUDA_HOME=/usr/local/cuda-10\n")
      .text("/home/u/.bashrc", "export CUDA_HOME=~/cuda-12.1/\nexport PATH=$CUDA_HOME/bin:$PATH\n"
                               "export LD_LIBRARY_PATH=\"$HOME/cudnn/lib\"\n");
  auto settings = probed(builder).toolkits.settings;
  ASSERT_EQ(settings.size(), 6u);
  EXPECT_EQ(settings[0].file, "/etc/environment");
  EXPECT_EQ(settings[0].line, 1u);
  EXPECT_EQ(settings[0].missing_folders, std::vector<std::string>{"/usr/local/cuda-11.8/bin"});
  EXPECT_EQ(settings[1].line, 2u);
  EXPECT_TRUE(settings[1].missing_folders.empty());
  EXPECT_TRUE(settings[2].missing_folders.empty());
  EXPECT_EQ(settings[3].missing_folders, std::vector<std::string>{"/home/u/cuda-12.1"});
  EXPECT_TRUE(settings[4].missing_folders.empty());
  EXPECT_EQ(settings[5].missing_folders, std::vector<std::string>{"/home/u/cudnn/lib"});
}

TEST(Libraries, NamesTellKindPartAndVersion) {
  auto name = [](const char* text) {
    auto parsed = parse_library_name(text);
    return parsed ? parsed->kind + "/" + parsed->part + "/" + parsed->version : std::string("-");
  };
  EXPECT_EQ(name("libcudnn.so.9.1.0"), "cudnn//9.1.0");
  EXPECT_EQ(name("libcudnn_cnn_infer.so.8"), "cudnn/cnn_infer/8");
  EXPECT_EQ(name("libcublasLt.so.12"), "cublas/Lt/12");
  EXPECT_EQ(name("libnvrtc-builtins.so.12.8.93"), "nvrtc/builtins/12.8.93");
  EXPECT_EQ(name("libnvrtc.so"), "nvrtc//");
  EXPECT_EQ(name("libcudart-d0da41ae.so.11.0"), "cudart//11.0");
  EXPECT_EQ(name("libnvinfer_plugin.so.10"), "tensorrt/plugin/10");
  EXPECT_EQ(name("libnccl.so.2.21.5"), "nccl//2.21.5");
  for (const char* other :
       {"libnccl-net.so", "libcudart_static.a", "libcudnn.so.9.dist-info", "libcudnnfrontend.so",
        "cudnn.so", "libnvrtc.alt.so.12", "libnvrtc-builtins.alt.so.13.0"})
    EXPECT_EQ(name(other), "-") << other;
}

TEST(Libraries, OneEntryAFileWithAllItsNames) {
  RecordingBuilder builder;
  const std::string folder = "/usr/lib/x86_64-linux-gnu/";
  builder.present(folder + "libcudnn.so.9.1.0", 5000)
      .link(folder + "libcudnn.so.9", "libcudnn.so.9.1.0")
      .link(folder + "libcudnn.so", "/etc/alternatives/libcudnn_so")
      .link("/etc/alternatives/libcudnn_so", folder + "libcudnn.so.9")
      .present(folder + "libcudnn_ops.so.9.0.0")
      .holds("/usr/local/lib/libnccl.so.2", "NCCL version ", "2.21.5+cuda12.4")
      .link(folder + "libnvrtc.so.12", "gone")
      .link("/lib", "usr/lib")
      .text("/usr/include/cudnn_version.h",
            "#define CUDNN_MAJOR 9\n#define CUDNN_MINOR 1\n#define CUDNN_PATCHLEVEL 0\n"
            "#define CUDNN_VERSION (CUDNN_MAJOR * 10000)\n");
  Machine machine = probed(builder);
  ASSERT_EQ(machine.libraries.size(), 3u);
  const CudaLibrary& cudnn = machine.libraries[0];
  EXPECT_EQ(cudnn.file.path, folder + "libcudnn.so.9");
  EXPECT_EQ(cudnn.file.real_path, folder + "libcudnn.so.9.1.0");
  EXPECT_EQ(cudnn.file.version, "9.1.0");
  EXPECT_EQ(cudnn.file.size, 5000u);
  EXPECT_TRUE(cudnn.plain_name);
  EXPECT_EQ(machine.libraries[1].part, "ops");
  EXPECT_FALSE(machine.libraries[1].plain_name);
  EXPECT_EQ(machine.libraries[2].file.version, "2.21.5");
  ASSERT_EQ(machine.cudnn_headers.size(), 1u);
  EXPECT_EQ(machine.cudnn_headers[0].version, "9.1.0");
}

} // namespace
} // namespace gpuvet
