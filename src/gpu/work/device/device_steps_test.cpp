#include "gpu/testing/steps.hpp"
#include "gpu/work/device/device_steps.hpp"
#include "os/child.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace gpuvet {
namespace {

StepResult run(const char* id, const std::string& words = "") {
  return run_fake_step(device_steps(), id, words);
}

double first_of(const StepResult& result, const char* reading) {
  auto found = result.readings.find(reading);
  return found == result.readings.end() ? -1 : found->second.samples.at(0);
}

TEST(DeviceContext, RunsAndCountsMultiprocessors) {
  StepResult result = run("device-context");
  EXPECT_EQ(result.state, StepState::done) << result.reason;
  EXPECT_GE(first_of(result, "context_s"), 0);
  EXPECT_EQ(result.readings.at("kernel_us").samples.size(), 10u);
  EXPECT_GT(first_of(result, "kernel_us"), 0);
  EXPECT_EQ(first_of(result, "multiprocessors_seen"), 132);
  EXPECT_EQ(result.words.at("image"), "PTX for compute capability 5.2");
}

TEST(DeviceContext, ALostBlockIsFound) {
  StepResult result = run("device-context", "corrupt=gv_mark");
  EXPECT_EQ(result.state, StepState::failed);
  EXPECT_NE(result.reason.find("counted themselves"), std::string::npos) << result.reason;
}

TEST(DeviceContext, SaysWhatRefusesIt) {
  StepResult result = run("device-context", "error=cuDevicePrimaryCtxRetain:46,attribute=20:3");
  EXPECT_EQ(result.state, StepState::failed);
  EXPECT_EQ(result.error, "CUDA_ERROR_DEVICE_UNAVAILABLE");
  EXPECT_EQ(result.words.at("compute_mode"), "exclusive process");
  EXPECT_EQ(run("device-context", "fault=gv_null:700").error, "CUDA_ERROR_ILLEGAL_ADDRESS");
}

// A container may lack libnvidia-ptxjitcompiler.so: that is no fault of the GPU, and device-jit
// says it.
TEST(DeviceContext, WithoutACompilerMachineCodeRuns) {
  for (const char* why : {"nojit=1", "oldptx=1"}) {
    StepResult result = run("device-context", why);
    EXPECT_EQ(result.state, StepState::done) << result.reason;
    EXPECT_EQ(result.words.at("image"), "machine code for compute capability 9.0");
  }
}

TEST(DeviceContext, WithoutACompilerNoKernelOfOursRunsOnOldGpus) {
  StepResult result = run("device-context", "oldptx=1,attribute=75:7,attribute=76:0");
  EXPECT_EQ(result.state, StepState::failed);
  EXPECT_EQ(result.code, 222);
  EXPECT_NE(result.reason.find("a newer driver is needed"), std::string::npos) << result.reason;
}

TEST(DeviceJit, CompilesAndChecks) {
  StepResult result = run("device-jit");
  EXPECT_EQ(result.state, StepState::done) << result.reason;
  EXPECT_GT(first_of(result, "jit_ms"), 0);
  EXPECT_EQ(result.words.at("ptx_isa"), "6.0");
}

TEST(DeviceJit, AWrongResultIsAFailure) {
  StepResult result = run("device-jit", "corrupt=gv_flip");
  EXPECT_EQ(result.state, StepState::failed);
  EXPECT_NE(result.reason.find("the compiled kernel made"), std::string::npos) << result.reason;
  EXPECT_EQ(first_of(result, "jit_ms"), -1);
}

TEST(DeviceJit, SaysWhatIsMissing) {
  StepResult result = run("device-jit", "nojit=1");
  EXPECT_EQ(result.state, StepState::failed);
  EXPECT_EQ(result.error, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND");
  EXPECT_NE(result.reason.find("libnvidia-ptxjitcompiler.so.1"), std::string::npos);

  for (const char* name : {"CUDA_DISABLE_PTX_JIT", "CUDA_DISABLE_JIT"})
    unsetenv(name);
  result = run("device-jit", "error=cuModuleLoadDataEx:223");
  EXPECT_EQ(result.state, StepState::unsupported);
  EXPECT_TRUE(result.reason.ends_with("nor CUDA_DISABLE_JIT is set")) << result.reason;
  setenv("CUDA_DISABLE_JIT", "1", 1);
  result = run("device-jit", "error=cuModuleLoadDataEx:223");
  unsetenv("CUDA_DISABLE_JIT");
  EXPECT_TRUE(result.reason.ends_with("; CUDA_DISABLE_JIT=1 is set")) << result.reason;
}

TEST(DeviceJit, EachTextIsNew) {
  EXPECT_NE(jit_text(1), jit_text(2));
}

TEST(DeviceJit, NvidiasAssemblerTakesTheText) {
  const char* assembler = "/usr/local/cuda/bin/ptxas";
  if (!std::filesystem::exists(assembler)) GTEST_SKIP() << "no ptxas is installed";
  std::string file = testing::TempDir() + "gpuvet-jit-" + std::to_string(getpid()) + ".ptx";
  std::ofstream(file) << jit_text(~uint64_t{0});
  auto result = run_command({assembler, "-arch=sm_75", "--output-file", file + ".cubin", file}, 60);
  std::filesystem::remove(file);
  std::filesystem::remove(file + ".cubin");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->end.status, 0) << result->errors << result->output;
}

TEST(DeviceClock, ComesFromTheGpusOwnClocks) {
  EXPECT_NEAR(first_of(run("device-clock"), "sm_clock"), 1980, 1);
  StepResult slow = run("device-clock", "sm_mhz=345");
  EXPECT_EQ(slow.state, StepState::done) << slow.reason;
  EXPECT_NEAR(first_of(slow, "sm_clock"), 345, 1);
  EXPECT_EQ(slow.readings.at("sm_clock").unit, "MHz");
  EXPECT_EQ(slow.readings.at("sm_clock").samples.size(), 3u);
}

TEST(DeviceSteps, AHangIsAResult) {
  std::vector<Step> steps = device_steps();
  for (Step& step : steps)
    step.deadline_s = 0.3;
  StepResult result = run_fake_step(steps, "device-clock", "hang=cuStreamSynchronize");
  EXPECT_EQ(result.state, StepState::hung);
  EXPECT_EQ(result.call, "cuStreamSynchronize");
}

} // namespace
} // namespace gpuvet
