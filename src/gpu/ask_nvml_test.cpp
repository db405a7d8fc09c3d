#include "gpu/nvml_api.hpp"
#include "gpu/testing/fakes.hpp"
#include "model/machine/gpu_fields.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <unistd.h>

namespace gpuvet {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Everything that a healthy fake tells of one GPU.
void expect_complete(const NvmlGpu& gpu, uint32_t index) {
  EXPECT_EQ(gpu.index, index);
  EXPECT_EQ(gpu.error, 0) << gpu.error_text;
  EXPECT_EQ(gpu.error_text, "");
  EXPECT_EQ(gpu.name, "NVIDIA H200");
  EXPECT_EQ(gpu.uuid, "GPU-0000000" + std::to_string(index) + "-0001-0203-0405-060708090a0b");
  EXPECT_EQ(gpu.pci_address, std::string("0000:1") + "bcdef"[index] + ":00.0");
  EXPECT_EQ(gpu.processes.value.value_or(std::vector<NvmlProcess>(1)).size(), 0u);
}

struct Unanswered { // names of the fields without a value
  std::vector<std::string> names;
  template <class T> void operator()(const char* name, const NvmlValue<T>& value) {
    if (!value) names.emplace_back(name + (":" + std::to_string(value.error)));
  }
  template <class T> void operator()(const char*, const T&) {}
};

TEST(AskNvml, TellsAllOfAHealthyMachine) {
  NvmlAnswers answers = ask_fake_nvml("gpus=2");
  EXPECT_EQ(answers.asked.state, AskState::answered);
  EXPECT_EQ(answers.asked.problem, "");
  EXPECT_EQ(answers.asked.error, 0);
  EXPECT_EQ(answers.asked.library, fake("current", "libnvidia-ml.so.580.65.06"));
  EXPECT_EQ(answers.asked.loader_problem, "");
  EXPECT_GT(answers.asked.seconds, 0);
  EXPECT_EQ(answers.library_version, "13.580.65.06");
  EXPECT_EQ(answers.driver_version, "580.65.06");
  EXPECT_EQ(answers.cuda_version, 13000u);
  EXPECT_EQ(answers.count, 2u);
  EXPECT_EQ(answers.confidential_computing, false);
  EXPECT_EQ(answers.confidential_ready, std::nullopt); // asked only where it applies
  ASSERT_EQ(answers.gpus.size(), 2u);
  expect_complete(answers.gpus[0], 0);
  expect_complete(answers.gpus[1], 1);
}

TEST(AskNvml, PutsEachValueInItsPlace) {
  NvmlAnswers answers = ask_fake_nvml("gpus=2,odd=1");
  EXPECT_EQ(answers.confidential_computing, true);
  EXPECT_EQ(answers.confidential_ready, true);
  ASSERT_EQ(answers.gpus.size(), 2u);
  const NvmlGpu& gpu = answers.gpus[1];
  EXPECT_EQ(gpu.serial, "1650424000001");
  EXPECT_EQ(gpu.vbios, "96.00.AF.00.01");
  EXPECT_EQ(gpu.brand, "NVIDIA");
  EXPECT_EQ(*gpu.minor, 1u);
  EXPECT_EQ(*gpu.capability, 90u);
  EXPECT_EQ(*gpu.memory_total, 150'000'000'000u);
  EXPECT_EQ(*gpu.memory_used, 400'000'000u);
  EXPECT_EQ(*gpu.memory_reserved, 600'000'000u);
  EXPECT_TRUE(*gpu.ecc);
  EXPECT_FALSE(*gpu.ecc_pending);
  EXPECT_EQ(*gpu.ecc_uncorrected, 10u);
  EXPECT_EQ(*gpu.ecc_uncorrected_aggregate, 11u);
  EXPECT_TRUE(*gpu.sram_threshold_exceeded);
  EXPECT_EQ(*gpu.remapped_correctable, 1u);
  EXPECT_EQ(*gpu.remapped_uncorrectable, 2u);
  EXPECT_TRUE(*gpu.remap_pending);
  EXPECT_FALSE(*gpu.remap_failed);
  EXPECT_EQ(*gpu.clock_sm, 345u);
  EXPECT_EQ(*gpu.clock_sm_max, 1980u);
  EXPECT_EQ(*gpu.clock_memory, 3201u);
  EXPECT_EQ(*gpu.clock_memory_max, 3202u);
  EXPECT_EQ(*gpu.clock_reasons, 1u);
  EXPECT_EQ(*gpu.power_mw, 76'000u);
  EXPECT_EQ(*gpu.power_limit_mw, 700'001u);
  EXPECT_EQ(*gpu.power_default_mw, 700'002u);
  EXPECT_EQ(*gpu.power_max_mw, 700'003u);
  EXPECT_EQ(*gpu.temperature_c, 31u);
  EXPECT_EQ(*gpu.temperature_slowdown_c, 87u);
  EXPECT_TRUE(*gpu.persistence);
  EXPECT_EQ(*gpu.compute_mode, 3u);
  EXPECT_EQ(*gpu.performance_state, 0u);
  EXPECT_FALSE(*gpu.mig);
  EXPECT_TRUE(*gpu.mig_pending);
  EXPECT_EQ(*gpu.link_generation, 3u);
  EXPECT_EQ(*gpu.link_generation_max, 4u);
  EXPECT_EQ(*gpu.link_generation_device_max, 5u);
  EXPECT_EQ(*gpu.link_width, 8u);
  EXPECT_EQ(*gpu.link_width_max, 16u);
  EXPECT_EQ(*gpu.replays, 11u);
  EXPECT_EQ(*gpu.nvlinks, 18u);
  EXPECT_EQ(*gpu.nvlinks_active, 17u);
  EXPECT_EQ(*gpu.fabric_state, 3u);
  EXPECT_EQ(*gpu.fabric_status, 0);
  EXPECT_EQ(*gpu.recovery_action, 1u);
  EXPECT_EQ(*gpu.virtualization, 0u);
  EXPECT_EQ(*gpu.gsp_firmware, "580.65.06");
}

TEST(AskNvml, WhatWasNotAskedOrNotSupportedSaysSo) {
  NvmlAnswers answers = ask_fake_nvml("");
  ASSERT_EQ(answers.gpus.size(), 1u);
  Unanswered unanswered;
  fields(unanswered, answers.gpus[0]);
  EXPECT_EQ(unanswered.names, (std::vector<std::string>{"retired_pending:3", "mig_devices:-1",
                                                        "inforom_ok:-1", "vgpu_licensed:-1"}));
}

TEST(AskNvml, AsksMoreWhereItAppliesOrIsWanted) {
  Steered steered("GPUVET_FAKE_NVML", "mig=3,virtualization=2,busy=42");
  AskOptions options = fake_options(fake("current", "libnvidia-ml.so.1"), 5);
  options.read_roms = true;
  NvmlAnswers answers = collect(start_nvml(options));
  ASSERT_EQ(answers.gpus.size(), 1u);
  EXPECT_EQ(answers.gpus[0].mig_devices.value, 3u);
  EXPECT_EQ(answers.gpus[0].vgpu_licensed.value, true);
  EXPECT_EQ(answers.gpus[0].utilisation_percent.value, 42u);
  EXPECT_EQ(answers.gpus[0].inforom_ok.value, true);
}

TEST(AskNvml, ReadsProcessListsOfAllEntrySizes) {
  for (const char* size : {"16", "24", "32"})
    for (unsigned number : {1u, 2u, 5u}) {
      NvmlAnswers answers =
          ask_fake_nvml("entry=" + std::string(size) + ",processes=" + std::to_string(number));
      ASSERT_EQ(answers.gpus.size(), 1u);
      const auto& processes = answers.gpus[0].processes;
      ASSERT_TRUE(processes);
      ASSERT_EQ((*processes).size(), number);
      EXPECT_EQ((*processes).back().pid, 1000u + number - 1) << size;
      EXPECT_EQ((*processes)[0].bytes, 1'000'000u) << size;
      if (number > 1) {
        EXPECT_EQ((*processes)[1].bytes, std::nullopt) << size;
      }
    }
}

TEST(AskNvml, AnOldLibraryTellsLess) {
  NvmlAnswers answers = ask_fake_nvml("gpus=1", 5, "old");
  EXPECT_EQ(answers.asked.state, AskState::answered);
  EXPECT_EQ(answers.driver_version, "580.65.06");
  ASSERT_EQ(answers.gpus.size(), 1u);
  EXPECT_EQ(answers.gpus[0].name, "NVIDIA H200");
  EXPECT_EQ(*answers.gpus[0].memory_used, 1'000'000'000u);
  EXPECT_EQ(answers.gpus[0].memory_reserved.error, -1);
  EXPECT_EQ(answers.gpus[0].ecc.error, 13);
  EXPECT_EQ(answers.gpus[0].nvlinks_active.error, 13);
  EXPECT_EQ(answers.gpus[0].processes.error, 13);
  EXPECT_EQ(answers.confidential_computing, std::nullopt);
}

TEST(AskNvml, AFailingInitGivesCodeTextAndVersion) {
  NvmlAnswers answers = ask_fake_nvml("error=nvmlInit_v2:18,driver=535.54.03");
  EXPECT_EQ(answers.asked.state, AskState::failed);
  EXPECT_EQ(answers.asked.error, 18);
  EXPECT_EQ(answers.asked.error_text, "Driver/library version mismatch");
  EXPECT_EQ(answers.library_version, "13.535.54.03");
  EXPECT_EQ(answers.count, std::nullopt);
  EXPECT_EQ(ask_fake_nvml("error=nvmlInit_v2:9", 5, "old").asked.error_text, "Driver Not Loaded");
  EXPECT_EQ(ask_fake_nvml("error=nvmlInit_v2:77", 5, "old").asked.error_text, "NVML error 77");
  EXPECT_EQ(ask_fake_nvml("error=nvmlDeviceGetCount_v2:999").asked.state, AskState::failed);
}

TEST(AskNvml, ALostGpuDoesNotSpoilTheOthers) {
  for (const char* words : {"gpus=4,lost=2", "gpus=4,error=2:15"}) {
    NvmlAnswers answers = ask_fake_nvml(words);
    EXPECT_EQ(answers.asked.state, AskState::answered);
    ASSERT_EQ(answers.gpus.size(), 4u);
    EXPECT_EQ(answers.gpus[2].error, 15);
    EXPECT_EQ(answers.gpus[2].ecc.error, -1);
    for (uint32_t index : {0u, 1u, 3u})
      expect_complete(answers.gpus[index], index);
  }
}

TEST(AskNvml, AGpuThatNeedsAResetIsToldAndStillAsked) {
  NvmlAnswers answers = ask_fake_nvml("gpus=2,error=1:nvmlDeviceGetEccMode:16");
  ASSERT_EQ(answers.gpus.size(), 2u);
  EXPECT_EQ(answers.gpus[0].error, 0);
  EXPECT_EQ(answers.gpus[1].error, 16);
  EXPECT_EQ(answers.gpus[1].ecc.error, 16);
  EXPECT_EQ(*answers.gpus[1].persistence, true);
}

TEST(AskNvml, ACrashOnOneGpuLeavesTheOthers) {
  NvmlAnswers answers = ask_fake_nvml("gpus=4,abort=2:nvmlDeviceGetUUID");
  EXPECT_EQ(answers.asked.state, AskState::crashed);
  EXPECT_EQ(answers.asked.call, "nvmlDeviceGetUUID(GPU 2)");
  EXPECT_EQ(answers.asked.signal, SIGABRT);
  EXPECT_EQ(answers.asked.problem, "the library crashed in nvmlDeviceGetUUID(GPU 2) (SIGABRT)");
  ASSERT_EQ(answers.gpus.size(), 4u);
  EXPECT_EQ(answers.gpus[2].error, -1);
  EXPECT_EQ(answers.gpus[2].error_text, answers.asked.problem);
  EXPECT_EQ(answers.gpus[2].name, "NVIDIA H200"); // told before
  for (uint32_t index : {0u, 1u, 3u})
    expect_complete(answers.gpus[index], index);
}

TEST(AskNvml, SeveralBadGpusAreEachGivenUp) {
  NvmlAnswers answers = ask_fake_nvml("gpus=4,segv=1,exit=3,error=0:15");
  EXPECT_EQ(answers.asked.state, AskState::crashed);
  EXPECT_EQ(answers.asked.signal, SIGSEGV);
  ASSERT_EQ(answers.gpus.size(), 4u);
  EXPECT_EQ(answers.gpus[0].error, 15);
  EXPECT_NE(answers.gpus[1].error_text.find("SIGSEGV"), std::string::npos);
  EXPECT_NE(answers.gpus[3].error_text.find("ended the process"), std::string::npos);
  expect_complete(answers.gpus[2], 2);
}

TEST(AskNvml, AHangOnOneGpuLeavesTheOthers) {
  auto start = std::chrono::steady_clock::now();
  NvmlAnswers answers = ask_fake_nvml("gpus=3,hang=1:nvmlDeviceGetMemoryInfo_v2", 0.5);
  EXPECT_LT(seconds_since(start), 0.6);
  EXPECT_EQ(answers.asked.state, AskState::hung);
  EXPECT_EQ(answers.asked.call, "nvmlDeviceGetMemoryInfo_v2(GPU 1)");
  ASSERT_EQ(answers.gpus.size(), 3u);
  expect_complete(answers.gpus[0], 0);
  expect_complete(answers.gpus[2], 2);
  EXPECT_EQ(answers.gpus[1].error, -1);
  EXPECT_EQ(answers.gpus[1].uuid, "GPU-00000001-0001-0203-0405-060708090a0b");
  EXPECT_NE(answers.gpus[1].error_text.find("no answer in nvmlDeviceGetMemoryInfo_v2(GPU 1)"),
            std::string::npos);
}

TEST(AskNvml, AHangInInitEndsAtTheDeadline) {
  auto start = std::chrono::steady_clock::now();
  NvmlAnswers answers = ask_fake_nvml("hang=nvmlInit_v2", 0.2);
  EXPECT_GE(seconds_since(start), 0.2);
  EXPECT_LT(seconds_since(start), 0.4);
  EXPECT_EQ(answers.asked.state, AskState::hung);
  EXPECT_EQ(answers.asked.call, "nvmlInit_v2");
  EXPECT_EQ(answers.library_version, "13.580.65.06"); // told before
  EXPECT_TRUE(answers.gpus.empty());
}

TEST(AskNvml, SleepingInTheKernelIsTold) {
  NvmlAnswers answers = ask_fake_nvml("sleep=nvmlInit_v2", 0.1);
  EXPECT_EQ(answers.asked.state, AskState::hung);
  EXPECT_TRUE(answers.asked.problem.starts_with("no answer in nvmlInit_v2 within 0.1"));
  EXPECT_TRUE(answers.asked.problem.ends_with("the process sleeps inside the kernel (state D)"))
      << answers.asked.problem;
}

TEST(AskNvml, GpusThatWereNotReachedAreNotHealthy) {
  NvmlAnswers answers = ask_fake_nvml("gpus=3,hang=0,hang=1,hang=2", 0.3);
  EXPECT_EQ(answers.asked.state, AskState::hung);
  ASSERT_EQ(answers.gpus.size(), 3u);
  for (const NvmlGpu& gpu : answers.gpus) {
    EXPECT_EQ(gpu.error, -1);
    EXPECT_FALSE(gpu.error_text.empty());
  }
}

TEST(AskNvml, ACrashAfterTheLastGpuIsToldToo) {
  NvmlAnswers answers = ask_fake_nvml("gpus=2,abort=nvmlSystemGetConfComputeState");
  EXPECT_EQ(answers.asked.state, AskState::crashed);
  EXPECT_EQ(answers.asked.call, "nvmlSystemGetConfComputeState");
  ASSERT_EQ(answers.gpus.size(), 2u);
  expect_complete(answers.gpus[1], 1);
}

TEST(AskNvml, WhatALibraryPrintsIsEvidenceAndStaysOffTheTerminal) {
  NvmlAnswers answers = ask_fake_nvml("print=out of cheese,abort=nvmlInit_v2");
  EXPECT_EQ(answers.asked.problem,
            "the library crashed in nvmlInit_v2 (SIGABRT); it printed: out of cheese");
  EXPECT_EQ(ask_fake_nvml("print=hello").asked.state, AskState::answered);
}

TEST(AskNvml, OversizedAnswersAreBounded) {
  NvmlAnswers answers = ask_fake_nvml("name=long,driver=a\nb\\n");
  EXPECT_EQ(answers.driver_version, "a\nb\\n");
  ASSERT_EQ(answers.gpus.size(), 1u);
  EXPECT_EQ(answers.gpus[0].name, std::string(256, 'x'));
  NvmlAnswers many = ask_fake_nvml("count=4000000000,error=nvmlDeviceGetHandleByIndex_v2:999");
  EXPECT_EQ(many.count, 4'000'000'000u);
  ASSERT_EQ(many.gpus.size(), 256u);
  EXPECT_EQ(many.gpus[255].error, 999);
}

TEST(AskNvml, WithoutALibraryTheLoaderSaysWhy) {
  NvmlAnswers missing = collect(start_nvml(fake_options("/nowhere/libnvidia-ml.so.1", 5)));
  EXPECT_EQ(missing.asked.state, AskState::no_library);
  EXPECT_EQ(missing.asked.problem, "/nowhere/libnvidia-ml.so.1: cannot open shared object file: "
                                   "No such file or directory");
  std::string path = ::testing::TempDir() + "not-a-library.so.1";
  std::ofstream(path) << std::string(8192, 'x');
  NvmlAnswers broken = collect(start_nvml(fake_options(path, 5)));
  EXPECT_EQ(broken.asked.state, AskState::no_library);
  EXPECT_NE(broken.asked.problem.find("invalid ELF header"), std::string::npos);
  unlink(path.c_str());
}

TEST(AskNvml, AnswersAreCollectedOnce) {
  NvmlQuestion question = start_nvml(fake_options(fake("current", "libnvidia-ml.so.1"), 5));
  std::vector<CallTime> times;
  EXPECT_EQ(collect(question, &times).asked.state, AskState::answered);
  EXPECT_GT(times.size(), 40u);
  EXPECT_EQ(collect(question).asked.state, AskState::skipped);
}

TEST(AskNvml, QuestionsRunBesideEachOtherAndWait) {
  Steered steered("GPUVET_FAKE_NVML", "gpus=8");
  auto options = fake_options(fake("current", "libnvidia-ml.so.1"), 5);
  NvmlQuestion first = start_nvml(options), second = start_nvml(options);
  { NvmlQuestion dropped = start_nvml(options); }
  EXPECT_EQ(collect(second).gpus.size(), 8u);
  EXPECT_EQ(collect(first).asked.state, AskState::answered);
}

} // namespace
} // namespace gpuvet
