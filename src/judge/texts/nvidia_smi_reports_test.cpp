// Output of nvidia-smi as people paste it, of several releases.
#include "judge/texts/testing/reports.hpp"

namespace gpuvet {
namespace {

using testing::expect_all;
using testing::facts_of;
using testing::Texts;
using testing::values;

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

TEST(NvidiaSmiReports, NvidiaSmi) {
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

TEST(NvidiaSmiReports, NvidiaSmiBeforeItToldCuda) {
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

TEST(NvidiaSmiReports, NvidiaSmiOf610) {
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

TEST(NvidiaSmiReports, NvidiaSmiWithMig) {
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

TEST(NvidiaSmiReports, NvidiaSmiQuery) {
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

TEST(NvidiaSmiReports, NvidiaSmiListsAndValues) {
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

TEST(NvidiaSmiReports, Topology) {
  const char* text = "        GPU0    GPU1    NIC0    CPU Affinity    NUMA Affinity\n"
                     "GPU0     X      NV12    SYS     0-31,64-95      0\n"
                     "GPU1    NV12     X      SYS     0-31,64-95      0\n"
                     "\nLegend:\n  SYS  = Connection traversing PCIe\n";
  expect_all(text, {"gpu.link=NV12"});
  EXPECT_EQ(
      values("        GPU0    GPU1    CPU Affinity\nGPU0     X      PHB     0-15\n", "gpu.link"),
      Texts({"PHB"}));
}

} // namespace
} // namespace gpuvet
