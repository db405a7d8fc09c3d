#include "gpu/testing/fakes.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <unistd.h>

namespace gpuvet {
namespace {

void expect_complete(const CudaDevice& device, int ordinal) {
  EXPECT_EQ(device.ordinal, ordinal);
  EXPECT_EQ(device.error, 0) << device.error_text;
  EXPECT_EQ(device.name, "NVIDIA H200");
  EXPECT_EQ(device.uuid, "GPU-0000000" + std::to_string(ordinal) + "-0001-0203-0405-060708090a0b");
  EXPECT_EQ(device.pci_address, std::string("0000:1") + "bcdef"[ordinal] + ":00.0");
  EXPECT_EQ(device.capability, 90u);
  EXPECT_EQ(device.memory_bytes, 150'000'000'000u);
  EXPECT_EQ(device.managed_memory, true);
  EXPECT_EQ(device.pageable_memory, false);
}

TEST(AskCuda, TellsAllOfAHealthyMachine) {
  CudaAnswers answers = ask_fake_cuda("gpus=2");
  EXPECT_EQ(answers.asked.state, AskState::answered);
  EXPECT_EQ(answers.asked.problem, "");
  EXPECT_EQ(answers.asked.library, fake("current", "libcuda.so.580.65.06"));
  EXPECT_EQ(answers.driver_api, 13000u);
  EXPECT_EQ(answers.count_error, std::nullopt);
  EXPECT_GT(answers.init_seconds, 0);
  EXPECT_GE(answers.asked.seconds, answers.init_seconds);
  ASSERT_EQ(answers.devices.size(), 2u);
  for (int ordinal : {0, 1}) {
    expect_complete(answers.devices[static_cast<size_t>(ordinal)], ordinal);
    EXPECT_EQ(answers.devices[static_cast<size_t>(ordinal)].context_error, std::nullopt);
  }
}

TEST(AskCuda, GivesCodeAndNameOfAFailingInit) {
  struct Case {
    int code;
    const char* name;
  };
  for (const Case& one : {Case{999, "CUDA_ERROR_UNKNOWN"}, Case{802, "CUDA_ERROR_SYSTEM_NOT_READY"},
                          Case{100, "CUDA_ERROR_NO_DEVICE"}, Case{34, "CUDA_ERROR_STUB_LIBRARY"},
                          Case{12345, "CUDA error 12345"}}) {
    CudaAnswers answers = ask_fake_cuda("init=" + std::to_string(one.code));
    EXPECT_EQ(answers.asked.state, AskState::failed);
    EXPECT_EQ(answers.asked.error, one.code);
    EXPECT_EQ(answers.asked.error_text, one.name);
    EXPECT_EQ(answers.driver_api, 13000u);
    EXPECT_TRUE(answers.devices.empty());
  }
}

TEST(AskCuda, AStubHasNothingElse) {
  CudaAnswers answers = ask_fake_cuda("", 5, "old");
  EXPECT_EQ(answers.asked.state, AskState::failed);
  EXPECT_EQ(answers.asked.error, 34);
  EXPECT_EQ(answers.asked.error_text, "CUDA_ERROR_STUB_LIBRARY");
  EXPECT_EQ(answers.driver_api, std::nullopt);
}

TEST(AskCuda, TheToolkitsStubSaysThatItIsOne) {
  const std::string stub = "/usr/local/cuda/lib64/stubs/libcuda.so";
  if (access(stub.c_str(), R_OK) != 0) GTEST_SKIP() << "no CUDA toolkit here";
  CudaAnswers answers = collect(start_cuda(fake_options(stub, 5)));
  EXPECT_EQ(answers.asked.state, AskState::failed);
  EXPECT_EQ(answers.asked.error_text, "CUDA_ERROR_STUB_LIBRARY");
}

TEST(AskCuda, AHangInInitEndsAtTheDeadline) {
  CudaAnswers answers = ask_fake_cuda("hang=cuInit", 0.2);
  EXPECT_EQ(answers.asked.state, AskState::hung);
  EXPECT_EQ(answers.asked.call, "cuInit");
  EXPECT_NEAR(answers.init_seconds, 0.2, 0.15);
}

TEST(AskCuda, ACrashInInitIsAnAnswer) {
  CudaAnswers answers = ask_fake_cuda("segv=cuInit");
  EXPECT_EQ(answers.asked.state, AskState::crashed);
  EXPECT_EQ(answers.asked.signal, SIGSEGV);
  EXPECT_EQ(answers.asked.call, "cuInit");
}

TEST(AskCuda, MakesContextsOnlyWhenAsked) {
  Steered steered("GPUVET_FAKE_CUDA", "gpus=3,error=1:cuDevicePrimaryCtxRetain:46,"
                                      "hang=0:cuDevicePrimaryCtxRetain");
  AskOptions options = fake_options(fake("current", "libcuda.so.1"), 0.4);
  options.contexts = true;
  CudaAnswers answers = collect(start_cuda(options));
  EXPECT_EQ(answers.asked.state, AskState::hung);
  EXPECT_EQ(answers.asked.call, "cuDevicePrimaryCtxRetain(GPU 0)");
  ASSERT_EQ(answers.devices.size(), 3u);
  EXPECT_EQ(answers.devices[0].error, -1);
  EXPECT_EQ(answers.devices[0].name, "NVIDIA H200");
  expect_complete(answers.devices[1], 1);
  EXPECT_EQ(answers.devices[1].context_error, 46);
  EXPECT_EQ(answers.devices[2].context_error, 0);
}

TEST(AskCuda, ABadDeviceDoesNotSpoilTheOthers) {
  CudaAnswers answers = ask_fake_cuda("gpus=2,error=0:cuDeviceGet:101,name=long");
  EXPECT_EQ(answers.asked.state, AskState::answered);
  ASSERT_EQ(answers.devices.size(), 2u);
  EXPECT_EQ(answers.devices[0].error, 101);
  EXPECT_EQ(answers.devices[0].error_text, "CUDA_ERROR_INVALID_DEVICE");
  EXPECT_EQ(answers.devices[1].name, std::string(256, 'x'));
}

TEST(AskCuda, ACountThatFailsIsNoDevices) {
  CudaAnswers answers = ask_fake_cuda("error=cuDeviceGetCount:3");
  EXPECT_EQ(answers.asked.state, AskState::answered);
  EXPECT_EQ(answers.count_error, 3);
  EXPECT_TRUE(ask_fake_cuda("gpus=-5").devices.empty());
}

TEST(AskCuda, APartOfAGpuHasAUuidOfItsOwn) {
  CudaAnswers answers = ask_fake_cuda("mig=1");
  ASSERT_EQ(answers.devices.size(), 1u);
  EXPECT_EQ(answers.devices[0].uuid, "MIG-ab000000-0001-0203-0405-060708090a0b");
}

} // namespace
} // namespace gpuvet
