// Reports as people paste them, made by ourselves after the layouts of each tool: what facts come
// out, and no others.
#include "judge/texts/testing/texts.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

using testing::facts_of;
using testing::values;
using Texts = std::vector<std::string>;

bool has(const Texts& facts, const std::string& fact) {
  return std::find(facts.begin(), facts.end(), fact) != facts.end();
}

// Each of these facts is there.
void expect_all(std::string_view text, const Texts& wanted) {
  Texts facts = facts_of(text);
  for (const std::string& fact : wanted)
    EXPECT_TRUE(has(facts, fact)) << fact << "\n in: " << ::testing::PrintToString(facts);
}

void expect_none(std::string_view text, const Texts& unwanted) {
  for (const std::string& fact : facts_of(text))
    for (const std::string& name : unwanted)
      EXPECT_FALSE(fact.starts_with(name)) << fact;
}

constexpr const char* kCollectEnv = R"(Collecting environment information...
PyTorch version: 2.1.0+cu118
Is debug build: False
CUDA used to build PyTorch: 11.8
ROCM used to build PyTorch: N/A

OS: Ubuntu 22.04.3 LTS (x86_64)
GCC version: (Ubuntu 11.4.0-1ubuntu1~22.04) 11.4.0
Clang version: Could not collect
CMake version: version 3.27.7
Libc version: glibc-2.35

Python version: 3.10.12 (main, Nov 20 2023, 15:14:05) [GCC 11.4.0] (64-bit runtime)
Python platform: Linux-5.15.0-91-generic-x86_64-with-glibc2.35
Is CUDA available: True
CUDA runtime version: 12.1.105
CUDA_MODULE_LOADING set to: LAZY
GPU models and configuration: 
GPU 0: NVIDIA A100-SXM4-80GB
GPU 1: NVIDIA A100-SXM4-80GB

Nvidia driver version: 535.104.05
cuDNN version: Probably one of the following:
/usr/lib/x86_64-linux-gnu/libcudnn.so.8.9.2
/usr/lib/x86_64-linux-gnu/libcudnn_adv_infer.so.8.9.2
HIP runtime version: N/A
Is XNNPACK available: True

CPU:
Architecture:                       x86_64
Model name:                         AMD EPYC 7742 64-Core Processor

Versions of relevant libraries:
[pip3] numpy==1.26.4
[pip3] nvidia-nccl-cu12==2.18.1
[pip3] torch==2.1.0+cu118
[pip3] torchvision==0.16.0+cu118
[conda] Could not collect
)";

TEST(Reports, CollectEnvOfTorch) {
  expect_all(kCollectEnv,
             {"torch.version=2.1.0+cu118", "torch.cuda=11.8", "os.name=ubuntu",
              "os.version=22.04.3", "gcc.version=11.4.0", "cmake.version=3.27.7",
              "glibc.version=2.35", "python.version=3.10.12", "kernel.version=5.15.0-91-generic",
              "torch.cuda_available=yes", "nvcc.version=12.1.105", "gpu.count=2",
              "gpu.name=NVIDIA A100-SXM4-80GB", "driver.version=535.104.05", "cudnn.version=8.9.2",
              "package.torchvision=0.16.0+cu118", "package.nvidia-nccl-cu12=2.18.1",
              "architecture=x86_64"});
  expect_none(kCollectEnv, {"driver.cuda", "wsl", "jetson", "cuda.said", "package.could"});
  EXPECT_EQ(values(kCollectEnv, "torch.version").size(), 1U);
}

TEST(Reports, CollectEnvOfOldTorch) {
  const char* text = R"(PyTorch version: 1.0.1.post2
Is debug build: No
CUDA used to build PyTorch: 9.0.176

OS: Ubuntu 16.04.5 LTS
GCC version: (Ubuntu 5.4.0-6ubuntu1~16.04.11) 5.4.0 20160609
CMake version: version 3.5.1

Python version: 3.6
Is CUDA available: Yes
CUDA runtime version: 9.0.176
GPU models and configuration: GPU 0: GeForce GTX 1080 Ti
Nvidia driver version: 390.87
cuDNN version: /usr/local/cuda-9.0/lib64/libcudnn.so.7.3.1

Versions of relevant libraries:
[pip] Could not collect
[conda] pytorch                   1.0.1           py3.6_cuda9.0.176_cudnn7.4.2_2    pytorch
)";
  expect_all(text, {"torch.version=1.0.1.post2", "torch.cuda=9.0", "os.version=16.04.5",
                    "gcc.version=5.4.0", "python.version=3.6", "nvcc.version=9.0.176",
                    "gpu.name=GeForce GTX 1080 Ti", "driver.version=390.87", "cudnn.version=7.3.1",
                    "package.pytorch=1.0.1"});
}

TEST(Reports, CollectEnvWithoutGpu) {
  const char* text = R"(PyTorch version: 2.3.0+cpu
CUDA used to build PyTorch: None
OS: Microsoft Windows 11 Pro
Is CUDA available: False
CUDA runtime version: No CUDA
GPU models and configuration: No CUDA
Nvidia driver version: No CUDA
cuDNN version: No CUDA
)";
  EXPECT_EQ(facts_of(text), Texts({"os.name=windows", "os.version=11", "torch.cuda=none",
                                   "torch.cuda_available=no", "torch.version=2.3.0+cpu"}));
}

TEST(Reports, CollectEnvOfVllm) {
  const char* text = R"(==============================
        System Info
==============================
OS                           : Red Hat Enterprise Linux release 8.3 (Ootpa) (x86_64)
GCC version                  : (GCC) 8.5.0 20210514 (Red Hat 8.5.0-3)
Clang version                : Could not collect
CMake version                : version 3.31.5
Libc version                 : glibc-2.28

==============================
       PyTorch Info
==============================
PyTorch version              : 2.5.1+cu124
Is debug build               : False
CUDA used to build PyTorch   : 12.4
ROCM used to build PyTorch   : N/A

==============================
      Python Environment
==============================
Python version               : 3.10.16 | packaged by conda-forge | (main, Dec  5 2024, 14:16:10) [GCC 13.3.0] (64-bit runtime)
Python platform              : Linux-4.18.0-240.el8.x86_64-x86_64-with-glibc2.28

==============================
       CUDA / GPU Info
==============================
Is CUDA available            : True
CUDA runtime version         : Could not collect
GPU models and configuration : GPU 0: NVIDIA H100 80GB HBM3
Nvidia driver version        : 550.90.07
cuDNN version                : Could not collect

==============================
Versions of relevant libraries
==============================
[pip3] torch==2.5.1
[pip3] triton==3.1.0

==============================
         vLLM Info
==============================
vLLM Version                 : 0.7.2
vLLM Build Flags:
  CUDA Archs: Not Set; ROCm: Disabled; Neuron: Disabled
GPU Topology:
        GPU0    CPU Affinity    NUMA Affinity   GPU NUMA ID
GPU0     X      0-63    0               N/A

==============================
     Environment Variables
==============================
NCCL_SOCKET_IFNAME=eth0
LD_LIBRARY_PATH=/usr/local/cuda/lib64
CUDA_MODULE_LOADING=LAZY
)";
  expect_all(text,
             {"os.name=rhel", "os.version=8.3", "gcc.version=8.5.0", "torch.version=2.5.1+cu124",
              "torch.cuda=12.4", "python.version=3.10.16", "kernel.version=4.18.0-240.el8.x86_64",
              "glibc.version=2.28", "gpu.name=NVIDIA H100 80GB HBM3", "driver.version=550.90.07",
              "package.vllm=0.7.2", "package.triton=3.1.0", "env.NCCL_SOCKET_IFNAME=eth0",
              "env.LD_LIBRARY_PATH=/usr/local/cuda/lib64"});
  expect_none(text, {"nvcc.version", "cudnn.version", "gpu.link"});
}

TEST(Reports, TransformersAndAccelerate) {
  const char* text = R"(- `transformers` version: 4.36.0
- Platform: Linux-5.15.0-91-generic-x86_64-with-glibc2.35
- Python version: 3.10.12
- Huggingface_hub version: 0.20.1
- Safetensors version: 0.4.1
- PyTorch version (GPU?): 2.1.0+cu121 (True)
- Tensorflow version (GPU?): not installed (NA)
- Flax version (CPU?/GPU?/TPU?): not installed (NA)
- Jax version: not installed
- Using GPU in script?: yes

- `Accelerate` version: 0.25.0
- System RAM: 251.00 GB
- GPU type: NVIDIA GeForce RTX 3090
)";
  EXPECT_EQ(facts_of(text),
            Texts({"architecture=x86_64", "glibc.version=2.35", "gpu.name=NVIDIA GeForce RTX 3090",
                   "kernel.version=5.15.0-91-generic", "package.accelerate=0.25.0",
                   "package.huggingface_hub=0.20.1", "package.safetensors=0.4.1",
                   "package.transformers=4.36.0", "python.version=3.10.12", "torch.cuda=12.1",
                   "torch.cuda_available=yes", "torch.version=2.1.0+cu121"}));
}

TEST(Reports, Xformers) {
  const char* text = R"(xFormers 0.0.22.post7
memory_efficient_attention.cutlassF:               available
pytorch.version:                                   2.1.0+cu121
pytorch.cuda:                                      available
gpu.compute_capability:                            8.6
gpu.name:                                          NVIDIA GeForce RTX 3090
build.info:                                        available
build.cuda_version:                                1201
build.python_version:                              3.10.13
build.torch_version:                               2.1.0+cu121
build.env.TORCH_CUDA_ARCH_LIST:                    5.0+PTX 6.0 6.1 7.0 7.5 8.0+PTX 9.0
)";
  EXPECT_EQ(facts_of(text),
            Texts({"gpu.capability=8.6", "gpu.name=NVIDIA GeForce RTX 3090",
                   "package.xformers=0.0.22.post7", "torch.cuda=12.1", "torch.version=2.1.0+cu121",
                   "xformers.cuda=12.1", "xformers.torch=2.1.0+cu121"}));
}

TEST(Reports, Bitsandbytes) {
  const char* recent = R"(=================== bitsandbytes v0.46.0 ===================
Platform: Linux-6.8.0-60-generic-x86_64-with-glibc2.39
  libc: glibc-2.39
Python: 3.12.3
PyTorch: 2.7.0+cu128
  CUDA: 12.8
  HIP: N/A
  XPU: N/A
Related packages:
  accelerate: 1.7.0
)";
  expect_all(recent,
             {"package.bitsandbytes=0.46.0", "torch.version=2.7.0+cu128", "torch.cuda=12.8",
              "python.version=3.12.3", "glibc.version=2.39", "kernel.version=6.8.0-60-generic"});
  const char* older =
      R"(CUDA SETUP: CUDA runtime path found: /home/u/miniconda3/envs/a/lib/libcudart.so
CUDA SETUP: Highest compute capability among GPUs detected: 7.0
CUDA SETUP: Detected CUDA version 117
CUDA SETUP: Required library version not found: libbitsandbytes_cuda117_nocublaslt.so.
)";
  EXPECT_EQ(facts_of(older), Texts({"gpu.capability=7.0"}));
}

TEST(Reports, JaxEnvironment) {
  const char* text = R"(jax:    0.4.26
jaxlib: 0.4.26
numpy:  1.26.4
python: 3.11.8 (main, Feb  7 2024, 04:56:21) [GCC 11.4.0]
device info: NVIDIA A100-SXM4-40GB-8, 8 local devices
process_count: 1
platform: uname_result(system='Linux', node='host', release='5.15.0-91-generic', version='#101-Ubuntu SMP', machine='x86_64')

$ nvidia-smi
Tue Apr 16 12:00:00 2024
+---------------------------------------------------------------------------------------+
| NVIDIA-SMI 535.104.12             Driver Version: 535.104.12   CUDA Version: 12.2     |
|-----------------------------------------+----------------------+----------------------+
)";
  expect_all(text,
             {"jax.version=0.4.26", "package.jaxlib=0.4.26", "package.numpy=1.26.4",
              "python.version=3.11.8", "gpu.name=NVIDIA A100-SXM4-40GB",
              "kernel.version=5.15.0-91-generic", "driver.version=535.104.12", "driver.cuda=12.2"});
}

TEST(Reports, TensorFlowIssueForm) {
  const char* text = R"(### Issue type

Bug

### TensorFlow version

tf 2.13.0

### OS platform and distribution

Linux Ubuntu 22.04

### Python version

3.10

### CUDA/cuDNN version

11.8/8.6

### GPU model and memory

RTX 3080 10 GB
)";
  EXPECT_EQ(facts_of(text),
            Texts({"cuda.said=11.8 (said)", "cudnn.version=8.6 (said)", "gpu.name=RTX 3080 (said)",
                   "os.name=ubuntu (said)", "os.version=22.04 (said)", "python.version=3.10 (said)",
                   "tensorflow.version=2.13.0 (said)"}));
}

constexpr const char* kSmi535 = R"(Mon Dec  4 10:00:00 2023
+---------------------------------------------------------------------------------------+
| NVIDIA-SMI 535.104.05             Driver Version: 535.104.05   CUDA Version: 12.2     |
|-----------------------------------------+----------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id        Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |         Memory-Usage | GPU-Util  Compute M. |
|                                         |                      |               MIG M. |
|=========================================+======================+======================|
|   0  NVIDIA A100-SXM4-40GB          On  | 00000000:07:00.0 Off |                    0 |
| N/A   35C    P0              55W / 400W |  38000MiB / 40960MiB |      0%      Default |
|                                         |                      |             Disabled |
+-----------------------------------------+----------------------+----------------------+
|   1  NVIDIA A100-SXM4-40GB          On  | 00000000:0F:00.0 Off |                    0 |
| N/A   34C    P0              51W / 400W |      4MiB / 40960MiB |      0%      Default |
|                                         |                      |             Disabled |
+-----------------------------------------+----------------------+----------------------+

+---------------------------------------------------------------------------------------+
| Processes:                                                                            |
|  GPU   GI   CI        PID   Type   Process name                            GPU Memory |
|        ID   ID                                                             Usage      |
|=======================================================================================|
|    0   N/A  N/A      4711      C   python                                   37990MiB |
+---------------------------------------------------------------------------------------+
)";

TEST(Reports, NvidiaSmi) {
  expect_all(kSmi535, {"driver.version=535.104.05", "driver.cuda=12.2", "gpu.count=2",
                       "gpu.name=NVIDIA A100-SXM4-40GB", "gpu.memory_bytes=42949672960",
                       "gpu.free_bytes=3103784960", "gpu.free_bytes=42945478656", "gpu.mig=no",
                       "gpu.process=4711 python 39835402240"});
  Machine machine = testing::read_lines(kSmi535).machine();
  ASSERT_EQ(machine.nvml.gpus.size(), 2U);
  EXPECT_EQ(machine.nvml.asked.state, AskState::answered);
  EXPECT_EQ(machine.nvml.count, 2U);
  EXPECT_EQ(*machine.nvml.gpus[0].memory_used, 38000ULL << 20);
  EXPECT_EQ(machine.nvml.gpus[1].pci_address, "00000000:0F:00.0");
}

TEST(Reports, NvidiaSmiBeforeItToldCuda) {
  const char* text =
      R"(+-----------------------------------------------------------------------------+
| NVIDIA-SMI 384.111                Driver Version: 384.111                   |
|-------------------------------+----------------------+----------------------+
| GPU  Name        Persistence-M| Bus-Id        Disp.A | Volatile Uncorr. ECC |
| Fan  Temp  Perf  Pwr:Usage/Cap|         Memory-Usage | GPU-Util  Compute M. |
|===============================+======================+======================|
|   0  GeForce GTX 108...  Off  | 00000000:01:00.0  On |                  N/A |
| 20%   45C    P8    10W / 250W |    350MiB / 11172MiB |      0%   E. Process |
+-------------------------------+----------------------+----------------------+
|  GPU       PID   Type   Process name                             Usage      |
|    0      1234      G   /usr/lib/xorg/Xorg                           200MiB |
)";
  EXPECT_EQ(facts_of(text),
            Texts({"driver.version=384.111", "gpu.compute_mode=E. Process", "gpu.count=1",
                   "gpu.free_bytes=11347689472", "gpu.memory_bytes=11714691072",
                   "gpu.process=1234 /usr/lib/xorg/Xorg 209715200"}));
}

TEST(Reports, NvidiaSmiOf610) {
  const char* text =
      R"(+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 610.57.04              KMD Version: 610.57.04     CUDA UMD Version: 13.3     |
+-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
|=========================================+========================+======================|
|   0  NVIDIA GeForce RTX 5090        Off |   00000000:01:00.0  On |                  N/A |
|  0%   40C    P8             20W /  575W |     500MiB /  32607MiB |      1%      Default |
)";
  expect_all(text, {"driver.version=610.57.04", "driver.cuda=13.3",
                    "gpu.name=NVIDIA GeForce RTX 5090", "gpu.memory_bytes=34190917632"});
}

TEST(Reports, NvidiaSmiWithMig) {
  const char* text =
      R"(| NVIDIA-SMI 535.104.05             Driver Version: 535.104.05   CUDA Version: 12.2     |
|   0  NVIDIA A100-SXM4-40GB          On  | 00000000:07:00.0 Off |                   On |
| N/A   35C    P0              55W / 400W |     20MiB / 40960MiB |     N/A      Default |
|                                         |                      |              Enabled |
+---------------------------------------------------------------------------------------+
| MIG devices:                                                                          |
+------------------+--------------------------------+-----------+-----------------------+
| GPU  GI  CI  MIG |                   Memory-Usage |        Vol|      Shared           |
|      ID  ID  Dev |                     BAR1-Usage | SM     Unc| CE ENC DEC OFA JPG    |
|==================+================================+===========+=======================|
|  0    1   0   0  |              10MiB / 20096MiB  | 42      0 |  3   0    2    0    0 |
|                  |               0MiB / 32767MiB  |           |                       |
)";
  expect_all(text, {"gpu.mig=yes", "gpu.mig_memory_bytes=21072183296", "gpu.count=1"});
  EXPECT_EQ(values(text, "gpu.memory_bytes"), Texts({"42949672960"}));
}

TEST(Reports, NvidiaSmiQuery) {
  const char* text = R"(==============NVSMI LOG==============

Timestamp                                 : Sat Oct 10 17:02:53 2020
Driver Version                            : 450.66
CUDA Version                              : 11.0

Attached GPUs                             : 2
GPU 00000000:01:00.0
    Product Name                          : GeForce RTX 2080 Ti
    Product Brand                         : GeForce
    Compute Mode                          : Default
    MIG Mode
        Current                           : N/A
    FB Memory Usage
        Total                             : 11019 MiB
        Used                              : 19 MiB
        Free                              : 11000 MiB
    BAR1 Memory Usage
        Total                             : 256 MiB
        Free                              : 250 MiB
GPU 00000000:02:00.0
    Product Name                          : Tesla T4
    FB Memory Usage
        Total                             : 15109 MiB
        Free                              : 15109 MiB
)";
  EXPECT_EQ(values(text, "gpu.name"), Texts({"GeForce RTX 2080 Ti", "Tesla T4"}));
  EXPECT_EQ(values(text, "gpu.memory_bytes"), Texts({"11554258944", "15842934784"}));
  expect_all(text, {"driver.version=450.66", "driver.cuda=11.0", "gpu.count=2"});
  Machine machine = testing::read_lines(text).machine();
  ASSERT_EQ(machine.nvml.gpus.size(), 2U);
  EXPECT_EQ(machine.nvml.gpus[1].name, "Tesla T4");
}

TEST(Reports, NvidiaSmiListsAndValues) {
  EXPECT_EQ(facts_of("$ nvidia-smi -L\n"
                     "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-0f1e)\n"
                     "  MIG 3g.40gb     Device  0: (UUID: MIG-77)\n"),
            Texts({"gpu.count=1", "gpu.mig=yes", "gpu.mig_profile=3g.40gb",
                   "gpu.name=NVIDIA H100 80GB HBM3"}));
  EXPECT_EQ(facts_of("name, driver_version, memory.total [MiB], compute_cap\n"
                     "NVIDIA L40S, 550.54.14, 46068 MiB, 8.9\n"
                     "NVIDIA L40S, 550.54.14, 46068 MiB, 8.9\n"),
            Texts({"driver.version=550.54.14", "gpu.capability=8.9", "gpu.memory_bytes=48305799168",
                   "gpu.name=NVIDIA L40S"}));
}

TEST(Reports, Topology) {
  const char* text = "        GPU0    GPU1    NIC0    CPU Affinity    NUMA Affinity\n"
                     "GPU0     X      NV12    SYS     0-31,64-95      0\n"
                     "GPU1    NV12     X      SYS     0-31,64-95      0\n"
                     "\nLegend:\n  SYS  = Connection traversing PCIe\n";
  expect_all(text, {"gpu.link=NV12"});
  EXPECT_EQ(
      values("        GPU0    GPU1    CPU Affinity\nGPU0     X      PHB     0-15\n", "gpu.link"),
      Texts({"PHB"}));
}

TEST(Reports, NvccAndCompilers) {
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

TEST(Reports, CMakeConfigures) {
  const char* text = "-- The CXX compiler identification is GNU 11.4.0\n"
                     "-- The CUDA compiler identification is NVIDIA 12.4.131\n"
                     "-- Check for working CUDA compiler: /usr/local/cuda/bin/nvcc - skipped\n"
                     "-- Found CUDAToolkit: /usr/local/cuda/include (found version \"12.4.131\")\n"
                     "-- Found Python: /usr/bin/python3.10 (found version \"3.10.12\")\n";
  EXPECT_EQ(facts_of(text), Texts({"gcc.version=11.4.0", "nvcc.path=/usr/local/cuda/bin/nvcc",
                                   "nvcc.version=12.4.131", "python.version=3.10.12",
                                   "toolkit.path=/usr/local/cuda/include"}));
}

TEST(Reports, PackageLists) {
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

TEST(Reports, PipInstalls) {
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

TEST(Reports, WheelNames) {
  EXPECT_EQ(facts_of("flash_attn-2.8.2+cu12torch2.6cxx11abiFALSE-cp311-cp311-linux_x86_64.whl"),
            Texts({"flash_attn.cuda=12", "flash_attn.cxx11_abi=no", "flash_attn.python=3.11",
                   "flash_attn.torch=2.6", "flash_attn.wheel=2.8.2"}));
}

TEST(Reports, Docker) {
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

TEST(Reports, KernelLog) {
  const char* text =
      "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 UTC 2023\n"
      "NVRM: GPU at PCI:0000:17:00: GPU-0f1e\n"
      "NVRM: Xid (PCI:0000:17:00): 119, pid=2001, name=nvidia-smi, Timeout waiting for RPC\n"
      "NVRM: API mismatch: the client has the version 550.54.14, but\n"
      "NVRM: this kernel module has the version 535.104.05.  Please\n";
  EXPECT_EQ(facts_of(text), Texts({"driver.library=550.54.14", "driver.module=535.104.05",
                                   "driver.open=no", "xid=119"}));
  Machine machine = testing::read_lines(text).machine();
  ASSERT_EQ(machine.kernel.xids.size(), 1U);
  EXPECT_EQ(machine.kernel.xids[0].pci_address, "0000:17:00");
  ASSERT_TRUE(machine.kernel.log.lines);
  EXPECT_EQ(machine.kernel.log.lines->size(), 5U);
}

TEST(Reports, ModulesAndNodes) {
  const char* text = "$ lsmod | grep nvidia\n"
                     "nvidia_uvm           1523712  0\n"
                     "nvidia_drm             77824  5\n"
                     "nvidia              56823808  150 nvidia_uvm,nvidia_modeset\n"
                     "$ cat /proc/driver/nvidia/version\n"
                     "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.16  Release "
                     "Build  (archlinux-builder)\n"
                     "GCC version:  gcc version 14.2.1 20250128 (GCC)\n"
                     "$ mokutil --sb-state\nSecureBoot enabled\n"
                     "$ ls -l /dev/nvidia*\n"
                     "crw-rw-rw- 1 root root 195,   0 Nov 20 10:00 /dev/nvidia0\n";
  EXPECT_EQ(facts_of(text),
            Texts({"driver.module=570.86.16", "driver.open=yes", "module.loaded=nvidia",
                   "module.loaded=nvidia_drm", "module.loaded=nvidia_uvm",
                   "node./dev/nvidia0=crw-rw-rw- root root 195:0", "secure_boot=yes"}));
}

TEST(Reports, Modinfo) {
  const char* text = "filename:       /lib/modules/6.8.0-45-generic/updates/dkms/nvidia.ko.zst\n"
                     "version:        550.107.02\nsupported:      external\n"
                     "license:        Dual MIT/GPL\nvermagic:       6.8.0-45-generic SMP\n";
  EXPECT_EQ(facts_of(text), Texts({"driver.module_file=550.107.02", "driver.open=yes"}));
}

TEST(Reports, Lspci) {
  const char* text =
      "17:00.0 3D controller [0302]: NVIDIA Corporation GH100 [H100 PCIe] [10de:2331] (rev a1)\n"
      "        Subsystem: NVIDIA Corporation Device [10de:1626]\n"
      "        Kernel driver in use: nouveau\n"
      "        Kernel modules: nvidiafb, nouveau\n"
      "65:00.0 Audio device [0403]: NVIDIA Corporation GA102 High Definition Audio [10de:1aef]\n";
  EXPECT_EQ(facts_of(text),
            Texts({"gpu.kernel_driver=nouveau", "gpu.name=H100 PCIe", "gpu.pci_id=10de:2331"}));
  Machine machine = testing::read_lines(text).machine();
  ASSERT_TRUE(machine.kernel.functions);
  ASSERT_EQ(machine.kernel.functions->size(), 1U);
  EXPECT_EQ(machine.kernel.functions->front().address, "0000:17:00.0");
  EXPECT_EQ(machine.kernel.functions->front().device_class, 0x030200U);
}

TEST(Reports, LimitsOfAContainer) {
  EXPECT_EQ(
      facts_of(
          "root@3f2a1b4c5d6e:/workspace# df -h /dev/shm\n"
          "Filesystem      Size  Used Avail Use% Mounted on\n"
          "shm              64M     0   64M   0% /dev/shm\n"
          "$ ulimit -l\n64\n"
          "               total        used        free      shared  buff/cache   available\n"
          "Mem:           251Gi        12Gi       200Gi       1.0Gi        38Gi       236Gi\n"),
      Texts({"container=docker", "memlock=65536", "ram.bytes=269509197824", "shm.bytes=67108864"}));
}

TEST(Reports, Wsl) {
  expect_all("Linux host 5.15.133.1-microsoft-standard-WSL2 #1 SMP Thu Oct 5 2023 x86_64 GNU/Linux",
             {"wsl=yes", "kernel.version=5.15.133.1-microsoft-standard-WSL2"});
  Machine machine =
      testing::read_lines("WSL version: 2.0.9.0\nNvidia driver version: 551.88\n").machine();
  EXPECT_TRUE(machine.surroundings.wsl);
  EXPECT_FALSE(machine.kernel.module_version); // it is the driver of Windows
}

TEST(Reports, Messages) {
  expect_all(
      "RuntimeError:\n    The detected CUDA version (12.2) mismatches the version that was "
      "used to compile\n    PyTorch (11.3). Please make sure to use the same CUDA versions.\n",
      {"nvcc.version=12.2", "torch.cuda=11.3"});
  expect_all(
      "NVIDIA GeForce RTX 5090 with CUDA capability sm_120 is not compatible with the "
      "current PyTorch installation.\nThe current PyTorch install supports CUDA capabilities "
      "sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90.\n",
      {"gpu.capability=12.0", "torch.archs=sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90"});
  expect_all("Failed to initialize NVML: Driver/library version mismatch\n"
             "NVML library version: 535.161\n",
             {"nvml.error=18", "driver.library=535.161"});
}

TEST(Reports, WordsOfPeople) {
  EXPECT_EQ(
      facts_of("torch 2.2.0 cu118 (pip), Python 3.8"),
      Texts({"python.version=3.8 (said)", "torch.cuda=11.8 (said)", "torch.version=2.2.0 (said)"}));
  EXPECT_EQ(facts_of("RTX 3050 Laptop, Ubuntu 21.04, driver 470.86"),
            Texts({"driver.version=470.86 (said)", "gpu.name=RTX 3050 Laptop (said)",
                   "os.name=ubuntu (said)", "os.version=21.04 (said)"}));
  EXPECT_EQ(facts_of("Driver 384.111, CUDA toolkit 9.1"),
            Texts({"driver.version=384.111 (said)", "nvcc.version=9.1 (said)"}));
  EXPECT_EQ(facts_of("vllm: 0.3.2"), Texts({"package.vllm=0.3.2 (said)"}));
}

// The machine of a stranger is judged by the checks that the doctor has for one's own.
TEST(Reports, CollectEnvTextIsAsGoodAsTheMachine) {
  EXPECT_EQ(*testing::read_lines(kCollectEnv).machine().kernel.module_version, "535.104.05");
}

} // namespace
} // namespace gpuvet
