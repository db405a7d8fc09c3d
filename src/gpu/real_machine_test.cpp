// On a machine with a driver: are the answers complete, and where does the time go?
#include "gpu/ask.hpp"
#include "gpu/testing/sanitizer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <unistd.h>

namespace gpuvet {
namespace {

bool has_driver() {
  return access("/dev/nvidiactl", F_OK) == 0 || access("/dev/dxg", F_OK) == 0;
}

void print_slowest(std::vector<CallTime> times, double total_s) {
  auto slower = [](const CallTime& a, const CallTime& b) { return a.seconds > b.seconds; };
  std::stable_sort(times.begin(), times.end(), slower);
  std::printf("%8.3f ms in all, %zu calls; the slowest:\n", total_s * 1e3, times.size());
  for (size_t at = 0; at < times.size() && at < 25; ++at)
    std::printf("%8.3f ms %s\n", times[at].seconds * 1e3, times[at].call.c_str());
}

TEST(RealMachine, NvmlAnswers) {
  if (!has_driver()) GTEST_SKIP() << "no NVIDIA driver here";
  std::vector<CallTime> times;
  AskOptions options;
  options.read_roms = true;
  NvmlAnswers answers = collect(start_nvml(options), &times);
  EXPECT_EQ(answers.asked.state, AskState::answered) << answers.asked.problem;
  EXPECT_EQ(answers.gpus.size(), answers.count);
  for (const NvmlGpu& gpu : answers.gpus) {
    EXPECT_EQ(gpu.error, 0) << gpu.error_text;
    EXPECT_TRUE(gpu.uuid.starts_with("GPU-")) << gpu.uuid;
    EXPECT_EQ(access(("/sys/bus/pci/devices/" + gpu.pci_address).c_str(), F_OK), 0);
    EXPECT_TRUE(gpu.memory_total);
  }
  print_slowest(times, answers.asked.seconds);
}

TEST(RealMachine, CudaAgreesWithNvml) {
  if (!has_driver()) GTEST_SKIP() << "no NVIDIA driver here";
  if (kAddressSanitizer)
    GTEST_SKIP() << "CUDA wants the addresses that AddressSanitizer keeps for itself";
  std::vector<CallTime> times;
  CudaQuestion question = start_cuda({});
  NvmlAnswers nvml = collect(start_nvml({}));
  CudaAnswers answers = collect(question, &times);
  EXPECT_EQ(answers.asked.state, AskState::answered) << answers.asked.problem;
  for (const CudaDevice& device : answers.devices) {
    EXPECT_EQ(device.error, 0) << device.error_text;
    auto same = std::find_if(nvml.gpus.begin(), nvml.gpus.end(),
                             [&](const NvmlGpu& gpu) { return gpu.uuid == device.uuid; });
    if (device.uuid.starts_with("MIG-")) continue;
    ASSERT_NE(same, nvml.gpus.end()) << device.uuid;
    EXPECT_EQ(same->pci_address, device.pci_address);
    EXPECT_EQ(same->name, device.name);
  }
  print_slowest(times, answers.asked.seconds);
}

} // namespace
} // namespace gpuvet
