// Output of compilers, package managers and Docker as people paste it.
#include "judge/texts/testing/reports.hpp"

namespace gpuvet {
namespace {

using testing::facts_of;
using testing::Texts;

TEST(SoftwareReports, NvccAndCompilers) {
  EXPECT_EQ(facts_of("$ which nvcc\n/usr/local/cuda-12.1/bin/nvcc\n$ nvcc --version\n"
                     "nvcc: NVIDIA (R) Cuda compiler driver\n"
                     "Copyright (c) 2005-2023 NVIDIA Corporation\n"
                     "Built on Mon_Apr__3_17:16:06_PDT_2023\n"
                     "Cuda compilation tools, release 12.1, V12.1.105\n"
                     "Build cuda_12.1.r12.1/compiler.32688072_0\n"
                     "$ gcc --version\ngcc (Ubuntu 11.4.0-1ubuntu1~22.04) 11.4.0\n"),
            Texts({"gcc.version=11.4.0", "nvcc.path=/usr/local/cuda-12.1/bin/nvcc",
                   "nvcc.version=12.1.105"}));
}

TEST(SoftwareReports, CMakeConfigures) {
  const char* text = "-- The CXX compiler identification is GNU 11.4.0\n"
                     "-- The CUDA compiler identification is NVIDIA 12.4.131\n"
                     "-- Check for working CUDA compiler: /usr/local/cuda/bin/nvcc - skipped\n"
                     "-- Found CUDAToolkit: /usr/local/cuda/include (found version \"12.4.131\")\n"
                     "-- Found Python: /usr/bin/python3.10 (found version \"3.10.12\")\n";
  EXPECT_EQ(facts_of(text), Texts({"gcc.version=11.4.0", "nvcc.path=/usr/local/cuda/bin/nvcc",
                                   "nvcc.version=12.4.131", "python.version=3.10.12",
                                   "toolkit.path=/usr/local/cuda/include"}));
}

TEST(SoftwareReports, PackageLists) {
  EXPECT_EQ(facts_of("$ pip list\nPackage      Version\n------------ -----------\n"
                     "numpy        1.26.4\ntorch        2.1.0+cu118\n\nnot a package 1\n"),
            Texts({"package.numpy=1.26.4", "package.torch=2.1.0+cu118", "torch.cuda=11.8",
                   "torch.version=2.1.0+cu118"}));
  EXPECT_EQ(
      facts_of(
          "# packages in environment at /opt/conda:\n#\n"
          "# Name                    Version                   Build  Channel\n"
          "_libgcc_mutex             0.1                 conda_forge    conda-forge\n"
          "cudatoolkit               11.3.1               h2bc3f7f_2\n"
          "pytorch                   1.12.1          py3.9_cuda11.3_cudnn8.3.2_0    pytorch\n"),
      Texts({"package._libgcc_mutex=0.1", "package.cudatoolkit=11.3.1", "package.pytorch=1.12.1",
             "torch.cuda=11.3", "torch.version=1.12.1"}));
  EXPECT_EQ(facts_of("torch==2.1.0+cu118\nnvidia-cudnn-cu12==8.9.2.26\n"),
            Texts({"package.nvidia-cudnn-cu12=8.9.2.26 (said)", "package.torch=2.1.0+cu118 (said)",
                   "torch.cuda=11.8 (said)", "torch.version=2.1.0+cu118 (said)"}));
  EXPECT_EQ(facts_of("$ pip show torch\nName: torch\nVersion: 2.4.0\nSummary: Tensors\n"),
            Texts({"package.torch=2.4.0", "torch.version=2.4.0"}));
}

TEST(SoftwareReports, PipInstalls) {
  const char* text =
      "Collecting torch==2.5.1\n"
      "  Downloading torch-2.5.1-cp310-cp310-manylinux1_x86_64.whl (906.4 MB)\n"
      "Requirement already satisfied: numpy in /usr/lib/python3/dist-packages (1.21.5)\n"
      "Installing collected packages: nvidia-nccl-cu12, torch\n"
      "  Attempting uninstall: torch\n"
      "    Found existing installation: torch 2.0.1\n"
      "Successfully installed nvidia-nccl-cu12-2.21.5 torch-2.5.1\n";
  EXPECT_EQ(facts_of(text), Texts({"package.numpy=1.21.5", "package.nvidia-nccl-cu12=2.21.5",
                                   "package.torch=2.5.1", "torch.version=2.5.1"}));
}

TEST(SoftwareReports, WheelNames) {
  EXPECT_EQ(facts_of("flash_attn-2.8.2+cu12torch2.6cxx11abiFALSE-cp311-cp311-linux_x86_64.whl"),
            Texts({"flash_attn.cuda=12", "flash_attn.cxx11_abi=no", "flash_attn.python=3.11",
                   "flash_attn.torch=2.6", "flash_attn.wheel=2.8.2"}));
}

TEST(SoftwareReports, Docker) {
  const char* text = R"(Client: Docker Engine - Community
 Version:    24.0.7
Server:
 Containers: 3
 Server Version: 24.0.7
 Cgroup Driver: systemd
 Cgroup Version: 2
 Runtimes: io.containerd.runc.v2 runc
 Default Runtime: runc
 Kernel Version: 5.15.0-91-generic
 Operating System: Ubuntu 22.04.3 LTS
 Docker Root Dir: /var/snap/docker/common/var-lib-docker
)";
  EXPECT_EQ(facts_of(text),
            Texts({"docker.cgroup_driver=systemd", "docker.cgroup_version=2",
                   "docker.default_runtime=runc", "docker.nvidia_runtime=no", "docker.snap=yes",
                   "docker.version=24.0.7", "kernel.version=5.15.0-91-generic", "os.name=ubuntu",
                   "os.version=22.04.3"}));
}

} // namespace
} // namespace gpuvet
