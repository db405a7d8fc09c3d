// Reports of Python frameworks as people paste them, made by ourselves after the layouts of each
// tool: what facts come out, and no others.
#include "judge/texts/testing/reports.hpp"

namespace gpuvet {
namespace {

using testing::expect_all;
using testing::expect_none;
using testing::facts_of;
using testing::Texts;
using testing::values;

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

TEST(PythonReports, CollectEnvOfTorch) {
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

TEST(PythonReports, CollectEnvOfOldTorch) {
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

TEST(PythonReports, CollectEnvWithoutGpu) {
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

TEST(PythonReports, CollectEnvOfVllm) {
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

TEST(PythonReports, TransformersAndAccelerate) {
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

TEST(PythonReports, Xformers) {
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

TEST(PythonReports, Bitsandbytes) {
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

TEST(PythonReports, JaxEnvironment) {
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

TEST(PythonReports, TensorFlowIssueForm) {
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

// The machine of a stranger is judged by the checks that the doctor has for one's own.
TEST(PythonReports, CollectEnvTextIsAsGoodAsTheMachine) {
  EXPECT_EQ(*testing::read_lines(kCollectEnv).machine().kernel.module_version, "535.104.05");
}

} // namespace
} // namespace gpuvet
