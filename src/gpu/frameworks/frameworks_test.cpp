#include "gpu/frameworks/frameworks.hpp"
#include "gpu/testing/fakes.hpp"

#include <gtest/gtest.h>

#include <filesystem>

namespace gpuvet {
namespace {

constexpr const char* kPython = "/usr/bin/python3";

StepResult try_torch(const std::string& words, double deadline_s = 60) {
  Steered torch("GPUVET_FAKE_TORCH", words);
  Steered path("PYTHONPATH", std::string(GPUVET_SOURCE_DIR) + "/tests/fakes/python");
  FrameworkRequest request{.python = kPython, .framework = "torch", .seed = 7};
  request.deadline_s = deadline_s;
  return run_framework(request, {std::chrono::steady_clock::now(), nullptr, nullptr, {}});
}

class Frameworks : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kPython)) GTEST_SKIP() << "no " << kPython;
  }
};

TEST_F(Frameworks, AllStagesAreReached) {
  const StepResult result = try_torch("");
  EXPECT_EQ(result.state, StepState::done) << result.reason;
  EXPECT_EQ(result.id, "framework-torch");
  EXPECT_EQ(result.peer, kPython);
  EXPECT_EQ(result.words.at("version"), "2.99.0+fake");
  EXPECT_EQ(result.words.at("built_for"), "13.0");
  EXPECT_EQ(result.words.at("stage"), "release");
  EXPECT_EQ(result.words.at("pattern"), "normal(0,1), seed 7");
  EXPECT_EQ(result.readings.at("matmul_error").samples, std::vector<double>{0});
  EXPECT_EQ(result.readings.at("memory_left").unit, "bytes");
}

TEST_F(Frameworks, AWrongAnswerFailsWithItsSize) {
  const StepResult product = try_torch("wrong=matmul");
  EXPECT_EQ(product.state, StepState::failed);
  EXPECT_EQ(product.call, "matmul");
  EXPECT_EQ(product.reason, "matmul differs from the CPU by 0.00444 (limit 0.0001)");
  EXPECT_EQ(try_torch("nan=matmul").state, StepState::failed);
  EXPECT_EQ(try_torch("wrong=convolution").call, "convolution");
}

TEST_F(Frameworks, AnErrorIsToldWithItsStageAndFirstLine) {
  const StepResult result = try_torch("raise=make");
  EXPECT_EQ(result.state, StepState::failed);
  EXPECT_EQ(result.call, "make");
  EXPECT_EQ(result.reason,
            "RuntimeError: CUDA error: no kernel image is available for execution on "
            "the device");
}

// Releases differ in how they tell it, and some do not.
TEST_F(Frameworks, MemoryThatIsNotToldIsNoFailure) {
  const StepResult result = try_torch("raise=memory");
  EXPECT_EQ(result.state, StepState::done) << result.reason;
  EXPECT_FALSE(result.readings.contains("memory_left"));
  EXPECT_NE(result.words.at("memory_left_unknown").find("RuntimeError"), std::string::npos);
}

TEST_F(Frameworks, ADeathSaysWhereAndWhatWasPrinted) {
  const StepResult result = try_torch("die=convolution");
  EXPECT_EQ(result.state, StepState::crashed);
  EXPECT_EQ(result.reason,
            "Python died of SIGSEGV at stage \"convolution\"; it printed: torch: about to die");
}

TEST_F(Frameworks, AHangEndsAtItsDeadline) {
  const StepResult result = try_torch("hang=import", 8);
  EXPECT_EQ(result.state, StepState::hung);
  EXPECT_EQ(result.reason, "no end within 8 s, at stage \"import\"");
}

TEST_F(Frameworks, WhatIsNotThereIsNoFailure) {
  EXPECT_EQ(try_torch("nocuda=1").reason, "this PyTorch is built without CUDA");
  EXPECT_EQ(try_torch("gpus=0").reason, "torch.cuda.device_count() is 0");
  FrameworkRequest request{.python = kPython, .framework = "cupy"};
  const StepResult result =
      run_framework(request, {std::chrono::steady_clock::now(), nullptr, nullptr, {}});
  if (result.state == StepState::unsupported) {
    EXPECT_EQ(result.reason, "cupy is not installed");
  }
  request.python = "/nonexistent/python3";
  EXPECT_EQ(run_framework(request, {std::chrono::steady_clock::now(), nullptr, nullptr, {}}).reason,
            "this Python cannot be started: No such file or directory");
}

// It must not reach the GPU before it is let go, however long that takes.
TEST_F(Frameworks, ItWaitsAfterTheImport) {
  Steered torch("GPUVET_FAKE_TORCH", "");
  Steered path("PYTHONPATH", std::string(GPUVET_SOURCE_DIR) + "/tests/fakes/python");
  std::atomic<bool> go = false;
  std::vector<std::string> before, after;
  FrameworkRun run{std::chrono::steady_clock::now(), &go, nullptr, {}};
  run.news = [&](const std::string&, const StepNews& news) {
    (go ? after : before).push_back(news.name.empty() ? news.step : news.name);
    if (before.size() == 2) go = true; // "import", "waiting"
  };
  FrameworkRequest request{.python = kPython, .framework = "torch", .seed = 7};
  const StepResult result = run_framework(request, run);
  EXPECT_EQ(result.state, StepState::done) << result.reason;
  EXPECT_EQ(before, (std::vector<std::string>{"import", "waiting"}));
  EXPECT_EQ(after.size(), 5u); // see, make, matmul, convolution, release
}

TEST_F(Frameworks, OneThatDiesInItsImportNeedNotBeLetGo) {
  Steered torch("GPUVET_FAKE_TORCH", "die=import");
  Steered path("PYTHONPATH", std::string(GPUVET_SOURCE_DIR) + "/tests/fakes/python");
  const std::atomic<bool> never = false;
  FrameworkRequest request{.python = kPython, .framework = "torch", .seed = 7};
  const StepResult result =
      run_framework(request, {std::chrono::steady_clock::now(), &never, nullptr, {}});
  EXPECT_EQ(result.state, StepState::crashed);
}

TEST_F(Frameworks, AnInterruptionEndsIt) {
  std::atomic<bool> interrupted = true;
  Steered torch("GPUVET_FAKE_TORCH", "hang=import");
  Steered path("PYTHONPATH", std::string(GPUVET_SOURCE_DIR) + "/tests/fakes/python");
  FrameworkRequest request{.python = kPython, .framework = "torch"};
  const StepResult result =
      run_framework(request, {std::chrono::steady_clock::now(), nullptr, &interrupted, {}});
  EXPECT_EQ(result.state, StepState::not_run);
  EXPECT_EQ(result.reason, "interrupted");
}

} // namespace
} // namespace gpuvet
