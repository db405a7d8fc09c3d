// Machines with one fault each: it must be found, named, and be the cause that is told first.
#include "judge/verify/testing/runs.hpp"

#include <gtest/gtest.h>

#include <set>

namespace gpuvet {
namespace {

using testing::find;
using testing::healthy;
using testing::judge;
using testing::proved_on;
using testing::RunMaker;

Verdict verdict_of(const VerifyReport& report, const std::string& id, int ordinal = 0) {
  const JudgedStep* step = find(report, id, ordinal);
  return step ? step->verdict : Verdict::skipped;
}

bool says(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

void set_link(Measurements& run, uint32_t generation, uint32_t width) {
  for (GpuMoment& moment : run.gpus[0].moments) {
    moment.link_generation = generation;
    moment.link_width = width;
  }
}

TEST(VerifyFaults, ASlowCopyOnAGoodLink) {
  RunMaker made = healthy();
  made.step("copy-to-gpu").readings["rate"].samples = {40, 40.2, 40.1};
  const VerifyReport report = judge(made.run);
  EXPECT_EQ(verdict_of(report, "copy-to-gpu"), Verdict::fail);
  EXPECT_EQ(verdict_of(report, "pcie-link"), Verdict::pass);
  EXPECT_EQ(report.exit_status, 1);
  EXPECT_TRUE(says(report.report.verdict, "40.1 of 63.0 GB/s (64 %), 82 % are asked for"))
      << report.report.verdict;
  EXPECT_TRUE(says(report.report.verdict, "Next: ")) << report.report.verdict;
}

// The rate is right for such a link; the link is what is wrong.
TEST(VerifyFaults, ALinkThatStaysAtGenerationOne) {
  RunMaker made = healthy();
  set_link(made.run, 1, 16);
  made.step("copy-to-gpu").readings["rate"].samples = {3.2};
  made.step("copy-from-gpu").readings["rate"].samples = {3.2};
  made.remove("copy-both-ways");
  const VerifyReport report = judge(made.run);
  EXPECT_EQ(verdict_of(report, "pcie-link"), Verdict::fail);
  EXPECT_NE(verdict_of(report, "copy-to-gpu"), Verdict::fail);
  EXPECT_TRUE(says(report.report.verdict, "PCIe 1.0 x16 instead of 5.0 x16"))
      << report.report.verdict;
}

TEST(VerifyFaults, HalfTheLanesAndASmallSlotAreNotTheSame) {
  RunMaker made = healthy();
  set_link(made.run, 5, 8);
  for (const char* id : {"copy-to-gpu", "copy-from-gpu"})
    made.step(id).readings["rate"].samples = {27.7};
  for (const char* reading : {"to_gpu", "from_gpu"})
    made.step("copy-both-ways").readings[reading].samples = {20};
  EXPECT_EQ(verdict_of(judge(made.run), "pcie-link"), Verdict::fail);
  made.run.gpus[0].numbers["slot_width_max"] = 8;
  const VerifyReport slot = judge(made.run);
  EXPECT_EQ(verdict_of(slot, "pcie-link"), Verdict::warn);
  EXPECT_EQ(verdict_of(slot, "copy-to-gpu"), Verdict::pass);
  EXPECT_EQ(slot.exit_status, 0);
  VerifyPolicy strict;
  strict.strict = true;
  EXPECT_EQ(judge(made.run, testing::tables(), strict).exit_status, 4);
}

void slow_clock(RunMaker& made) {
  for (const char* id : {"gemm", "gemm-library"}) {
    for (double& clock : made.step(id).readings["sm_clock"].samples)
      clock *= 0.7;
    for (double& rate : made.step(id).readings["rate"].samples)
      rate *= 0.7;
  }
}

// Nanoseconds that rise by `share` of the time.
void hold(RunMaker& made, std::optional<uint64_t> GpuMoment::*counter, double share) {
  for (GpuMoment& moment : made.run.gpus[0].moments)
    moment.*counter = static_cast<uint64_t>(moment.at_s * share * 1e9);
}

TEST(VerifyFaults, APowerLimitBelowTheDefault) {
  RunMaker made = healthy();
  slow_clock(made);
  made.run.gpus[0].numbers["power_limit_w"] = 400;
  const VerifyReport report = judge(made.run);
  EXPECT_EQ(verdict_of(report, "clocks"), Verdict::warn);
  EXPECT_EQ(verdict_of(report, "gemm-library-delivered"), Verdict::warn);
  EXPECT_EQ(find(report, "gemm-library-delivered")->follows, "clocks");
  EXPECT_TRUE(says(find(report, "clocks")->why, "(400 of 700 W)")) << find(report, "clocks")->why;
  EXPECT_EQ(find(report, "clocks")->action, Action::fix_software);
  EXPECT_EQ(report.exit_status, 0);
  made.run.gpus[0].numbers["power_limit_w"] = 700; // the same at the default is how it works
  EXPECT_EQ(verdict_of(judge(made.run), "gemm-library-delivered"), Verdict::pass);
}

TEST(VerifyFaults, ThermalSlowdownAndPowerBrake) {
  struct Case {
    std::optional<uint64_t> GpuMoment::*counter;
    Verdict verdict;
    const char* words;
  };
  for (const Case& one :
       {Case{&GpuMoment::hardware_thermal_ns, Verdict::fail, "the hardware's thermal limit"},
        Case{&GpuMoment::brake_ns, Verdict::fail, "an external power brake"},
        Case{&GpuMoment::software_thermal_ns, Verdict::warn, "the driver's thermal limit"}}) {
    RunMaker made = healthy();
    slow_clock(made);
    hold(made, one.counter, 0.3);
    const VerifyReport report = judge(made.run);
    EXPECT_EQ(verdict_of(report, "clocks"), one.verdict) << one.words;
    EXPECT_TRUE(says(find(report, "clocks")->why, one.words)) << find(report, "clocks")->why;
    EXPECT_TRUE(says(find(report, "clocks")->why, "30 % of the time"));
    EXPECT_EQ(verdict_of(report, "gemm-library-delivered"), one.verdict);
  }
}

// Without counters the bits at each look tell the same, less exactly.
TEST(VerifyFaults, ABrakeIsSeenByItsBitToo) {
  RunMaker made = healthy();
  for (GpuMoment& moment : made.run.gpus[0].moments) {
    moment.brake_ns.reset();
    moment.reasons = *moment.reasons | 0x80U;
  }
  EXPECT_EQ(verdict_of(judge(made.run), "clocks"), Verdict::fail);
}

TEST(VerifyFaults, ALowClockWithoutAnyReason) {
  RunMaker made = healthy();
  slow_clock(made);
  hold(made, &GpuMoment::power_ns, 0);
  for (GpuMoment& moment : made.run.gpus[0].moments)
    moment.reasons = 0;
  EXPECT_EQ(verdict_of(judge(made.run), "gemm-library-delivered"), Verdict::warn);
  made.run.gpus[0].moments.clear();
  EXPECT_EQ(verdict_of(judge(made.run), "gemm-library-delivered"), Verdict::unknown);
}

TEST(VerifyFaults, ARateThatFallsWhileItBecomesWarmer) {
  RunMaker made = healthy();
  StepResult& gemm = made.step("gemm");
  std::vector<double>& rates = gemm.readings["rate"].samples;
  for (size_t i = rates.size() / 2; i < rates.size(); ++i)
    rates[i] *= 0.85;
  EXPECT_EQ(verdict_of(judge(made.run), "gemm-drift"), Verdict::unknown);
  for (GpuMoment& moment : made.run.gpus[0].moments)
    moment.temperature_c = 40 + moment.at_s / 3;
  EXPECT_EQ(verdict_of(judge(made.run), "gemm-drift"), Verdict::warn);
}

// --- wrong answers: four cases of two engines, each with a kernel that is proved or not --------

enum class Engine { right, wrong };

RunMaker answers(Engine own, Engine library) {
  RunMaker made = healthy();
  if (own == Engine::wrong) made.step("gemm").readings["mismatches"].samples = {3};
  if (library == Engine::wrong) made.step("gemm-library").readings["mismatches"].samples = {3};
  return made;
}

TEST(VerifyAnswers, BothRight) {
  EXPECT_EQ(judge(answers(Engine::right, Engine::right).run).exit_status, 0);
}

TEST(VerifyAnswers, TheOwnKernelWrongAndNotProved) {
  const VerifyReport report = judge(answers(Engine::wrong, Engine::right).run, proved_on({}));
  EXPECT_EQ(verdict_of(report, "gemm"), Verdict::unknown);
  EXPECT_TRUE(says(find(report, "gemm")->why, "gemm_sm90a of gpuvet is not yet proved") ||
              says(find(report, "gemm")->why, "kernel gemm_sm90a is not yet proved"))
      << find(report, "gemm")->why;
  EXPECT_EQ(report.exit_status, 3);
}

TEST(VerifyAnswers, TheOwnKernelWrongAndProved) {
  RunMaker pairs = answers(Engine::wrong, Engine::right);
  pairs.step("gemm").words["engine"] = "own kernel sm_90a, pairs of blocks";
  EXPECT_EQ(judge(pairs.run, proved_on({90})).exit_status, 1);
  const VerifyReport report = judge(answers(Engine::wrong, Engine::right).run, proved_on({90}));
  EXPECT_EQ(verdict_of(report, "gemm"), Verdict::fail);
  EXPECT_EQ(find(report, "gemm")->action, Action::isolate);
  EXPECT_EQ(report.exit_status, 1);
  // ... but on another capability
  EXPECT_EQ(judge(answers(Engine::wrong, Engine::right).run, proved_on({80})).exit_status, 3);
}

TEST(VerifyAnswers, TheLibraryAloneWrong) {
  const VerifyReport report = judge(answers(Engine::right, Engine::wrong).run);
  EXPECT_EQ(verdict_of(report, "gemm-library"), Verdict::fail);
  EXPECT_EQ(find(report, "gemm-library")->action, Action::fix_software);
  EXPECT_TRUE(says(find(report, "gemm-library")->why, "library or its version"));
}

TEST(VerifyAnswers, BothWrong) {
  EXPECT_EQ(judge(answers(Engine::wrong, Engine::wrong).run, proved_on({})).exit_status, 3);
  const VerifyReport proved = judge(answers(Engine::wrong, Engine::wrong).run, proved_on({90}));
  EXPECT_EQ(verdict_of(proved, "gemm"), Verdict::fail);
  EXPECT_EQ(verdict_of(proved, "gemm-library"), Verdict::fail);
  EXPECT_EQ(find(proved, "gemm-library")->action, Action::isolate);
}

// What is right on seven GPUs is no fault of the kernel on the eighth.
TEST(VerifyAnswers, RightOnTheOtherGpusIsProofEnough) {
  RunMaker made = healthy({}, 2);
  made.step("gemm", 1).readings["mismatches"].samples = {1};
  const VerifyReport report = judge(made.run, proved_on({}));
  EXPECT_EQ(verdict_of(report, "gemm", 0), Verdict::pass);
  EXPECT_EQ(verdict_of(report, "gemm", 1), Verdict::fail);
  EXPECT_TRUE(says(report.report.verdict, "GPU 1")) << report.report.verdict;
}

TEST(VerifyAnswers, NothingCheckedIsNoPass) {
  RunMaker made = healthy();
  made.step("memory-check").readings["checked"].samples = {0};
  EXPECT_EQ(verdict_of(judge(made.run), "memory-check"), Verdict::unknown);
  made.step("memory-check").readings.clear();
  EXPECT_EQ(verdict_of(judge(made.run), "memory-check"), Verdict::unknown);
}

// A copy that delivered other data than were sent failed without a call.
TEST(VerifyAnswers, WrongDataInACopy) {
  RunMaker made = healthy();
  StepResult& copy = made.step("copy-to-gpu");
  copy.state = StepState::failed;
  copy.reason = "word 17 is 5, not 4";
  EXPECT_EQ(verdict_of(judge(made.run, proved_on({})), "copy-to-gpu"), Verdict::unknown);
  const VerifyReport report = judge(made.run, proved_on({90}));
  EXPECT_EQ(verdict_of(report, "copy-to-gpu"), Verdict::fail);
  EXPECT_TRUE(says(find(report, "copy-to-gpu")->why, "word 17 is 5, not 4"))
      << find(report, "copy-to-gpu")->why;
}

// Slow own kernel, fast library: the kernel's fault. Never a failure while it is not proved.
TEST(VerifyAnswers, ASlowOwnKernel) {
  RunMaker made = healthy();
  for (double& rate : made.step("gemm").readings["rate"].samples)
    rate = 200;
  EXPECT_EQ(verdict_of(judge(made.run, proved_on({})), "gemm-pipe"), Verdict::info);
  EXPECT_EQ(verdict_of(judge(made.run, proved_on({90})), "gemm-pipe"), Verdict::info);
  made.remove("gemm-library");
  EXPECT_EQ(verdict_of(judge(made.run, proved_on({})), "gemm-pipe"), Verdict::unknown);
  EXPECT_EQ(verdict_of(judge(made.run, proved_on({90})), "gemm-pipe"), Verdict::fail);
  for (auto& [name, reading] : made.step("memory-bandwidth").readings)
    reading.samples = {1000};
  EXPECT_EQ(verdict_of(judge(made.run, proved_on({})), "memory-bandwidth"), Verdict::unknown);
  EXPECT_EQ(verdict_of(judge(made.run, proved_on({90})), "memory-bandwidth"), Verdict::fail);
}

// --- steps that do not end ----------------------------------------------------------------------

TEST(VerifyStopped, AHangNamesItsCall) {
  RunMaker made = healthy();
  StepResult& step = made.step("memory-check");
  step.state = StepState::hung;
  step.call = "cuStreamSynchronize";
  const VerifyReport report = judge(made.run);
  EXPECT_EQ(verdict_of(report, "memory-check"), Verdict::fail);
  EXPECT_TRUE(says(find(report, "memory-check")->why, "hangs in cuStreamSynchronize"));
  EXPECT_EQ(report.exit_status, 1);
}

// Seen on an H200 that another program kept busy: thousands of launches, each waiting for a slice.
TEST(VerifyStopped, AHangWhereOthersComputeIsNoFault) {
  RunMaker made = healthy();
  made.run.gpus[0].busy = "process 13089 (python3); busy 100 %";
  StepResult& step = made.step("launch");
  step.state = StepState::hung;
  step.call = "cuLaunchKernel";
  const VerifyReport report = judge(made.run);
  EXPECT_EQ(verdict_of(report, "launch-submit"), Verdict::unknown);
  EXPECT_TRUE(says(find(report, "launch-submit")->why, "process 13089"));
  EXPECT_EQ(find(report, "launch-submit")->action, Action::none);
  EXPECT_EQ(report.exit_status, 3);
}

// A tensor kernel that nobody has seen on this GPU may hang by itself.
TEST(VerifyStopped, AHangOfAKernelThatIsNotProved) {
  RunMaker made = healthy();
  made.step("gemm").state = StepState::hung;
  EXPECT_EQ(verdict_of(judge(made.run, proved_on({})), "gemm"), Verdict::unknown);
  EXPECT_EQ(find(judge(made.run, proved_on({})), "gemm-delivered")->follows, "gemm");
  EXPECT_EQ(verdict_of(judge(made.run, proved_on({90})), "gemm"), Verdict::fail);
}

TEST(VerifyStopped, ALostGpuMakesTheLaterLayersVoid) {
  RunMaker made = healthy({}, 2);
  StepResult& context = made.step("device-context", 1);
  context.state = StepState::failed;
  context.call = "cuDevicePrimaryCtxRetain";
  context.code = 46;
  context.error = "CUDA_ERROR_DEVICE_UNAVAILABLE";
  const VerifyReport report = judge(made.run);
  EXPECT_EQ(verdict_of(report, "device-context", 0), Verdict::pass);
  EXPECT_EQ(verdict_of(report, "device-context", 1), Verdict::fail);
  EXPECT_EQ(verdict_of(report, "gemm", 0), Verdict::pass);
  for (const JudgedStep& step : report.steps) {
    if (step.gpu != testing::uuid_of(1) || step.layer == "device") continue;
    EXPECT_EQ(step.verdict, Verdict::skipped) << step.id;
  }
  EXPECT_TRUE(says(report.report.verdict, "CUDA_ERROR_DEVICE_UNAVAILABLE (46)"))
      << report.report.verdict;
}

TEST(VerifyStopped, AGpuOnWhichNothingRan) {
  RunMaker made = healthy({}, 2);
  made.run.gpus[1].why_unusable = "the CUDA driver: no device";
  auto& steps = made.run.steps;
  steps.erase(std::remove_if(steps.begin(), steps.end(),
                             [](const auto& step) {
                               return step.gpu == testing::uuid_of(1) ||
                                      step.peer == testing::uuid_of(1);
                             }),
              steps.end());
  const VerifyReport report = judge(made.run);
  EXPECT_EQ(verdict_of(report, "device-context", 1), Verdict::fail);
  EXPECT_EQ(report.exit_status, 1);
}

TEST(VerifyStopped, NoDriver) {
  Measurements run;
  run.no_gpu_why = "no driver: libcuda.so.1 cannot be loaded";
  const VerifyReport report = judge(run);
  EXPECT_EQ(report.exit_status, 3);
  EXPECT_EQ(report.report.verdict, "Skipped: no driver: libcuda.so.1 cannot be loaded.");
  EXPECT_FALSE(report.steps.empty());
  for (const JudgedStep& step : report.steps)
    EXPECT_EQ(step.verdict, Verdict::skipped) << step.id;
}

TEST(VerifyStopped, NothingRunIsNoPass) {
  EXPECT_EQ(judge({}).exit_status, 3);
  RunMaker made = healthy();
  made.run.steps.clear();
  EXPECT_EQ(judge(made.run).exit_status, 3);
  VerifyPolicy all; // even when every step may be missed
  for (const VerifyRow& row : testing::tables().rows)
    all.allowed_skips.insert(row.id);
  made.run.gpus.clear();
  EXPECT_EQ(judge(made.run, testing::tables(), all).exit_status, 3);
}

TEST(VerifyStopped, InterruptedKeepsWhatWasDone) {
  RunMaker made = healthy();
  made.run.interrupted = true;
  made.remove("memory-patterns");
  const VerifyReport report = judge(made.run);
  EXPECT_EQ(report.exit_status, 130);
  EXPECT_EQ(verdict_of(report, "gemm"), Verdict::pass);
  EXPECT_EQ(find(report, "memory-patterns")->why, "the run was interrupted before.");
}

// --- others -------------------------------------------------------------------------------------

TEST(VerifyFaults, ABusyGpuIsNotJudged) {
  RunMaker made = healthy();
  made.run.gpus[0].busy = "process 4711 (python3)";
  made.step("copy-to-gpu").readings["rate"].samples = {20};
  const VerifyReport report = judge(made.run);
  EXPECT_EQ(verdict_of(report, "copy-to-gpu"), Verdict::unknown);
  EXPECT_EQ(verdict_of(report, "copy-from-gpu"), Verdict::unknown); // not far above its limit
  EXPECT_EQ(verdict_of(report, "memory-bandwidth"), Verdict::pass);
  EXPECT_EQ(verdict_of(report, "memory-check"), Verdict::pass);           // right is right
  EXPECT_EQ(verdict_of(report, "device-multiprocessors"), Verdict::pass); // and all are all
  EXPECT_EQ(report.exit_status, 3);
  EXPECT_TRUE(says(report.report.verdict, "process 4711 (python3)")) << report.report.verdict;
}

TEST(VerifyFaults, OneOfEightIsSlow) {
  RunMaker made = healthy({}, 8);
  for (double& rate : made.step("gemm-library", 5).readings["rate"].samples)
    rate *= 0.88;
  const VerifyReport report = judge(made.run);
  EXPECT_EQ(verdict_of(report, "gemm-library-delivered", 4), Verdict::pass);
  EXPECT_EQ(verdict_of(report, "gemm-library-delivered", 5), Verdict::fail);
  EXPECT_TRUE(says(find(report, "gemm-library-delivered", 5)->why,
                   "12 % below the median of 8 NVIDIA H200"))
      << find(report, "gemm-library-delivered", 5)->why;
  EXPECT_EQ(report.exit_status, 1);
  bool told = false;
  for (const Table& table : report.report.tables)
    for (const auto& row : table.rows)
      told = told || row.back().text == "fail GPU 5";
  EXPECT_TRUE(told);
}

TEST(VerifyFaults, EachCounterIsJudgedByItsRow) {
  struct Case {
    const char* name;
    void (*set)(GpuCounters& after);
    Verdict verdict;
    Action action;
  };
  const Case cases[] = {
      {"xids", [](GpuCounters& c) { c.xids = 1; }, Verdict::fail, Action::isolate},
      {"ecc", [](GpuCounters& c) { c.ecc_uncorrected = 1; }, Verdict::fail, Action::reset},
      {"corrected", [](GpuCounters& c) { c.ecc_corrected = 2; }, Verdict::warn, Action::monitor},
      {"pending", [](GpuCounters& c) { c.remap_pending = true; }, Verdict::fail, Action::reset},
      {"failed", [](GpuCounters& c) { c.remap_failed = true; }, Verdict::fail, Action::isolate},
      {"few replays", [](GpuCounters& c) { c.replays = 5; }, Verdict::warn, Action::monitor},
      {"replays", [](GpuCounters& c) { c.replays = 200; }, Verdict::fail, Action::monitor},
      {"nvlink", [](GpuCounters& c) { c.nvlink_errors = 7; }, Verdict::warn, Action::monitor},
  };
  for (const Case& one : cases) {
    RunMaker made = healthy();
    one.set(made.run.gpus[0].after);
    const VerifyReport report = judge(made.run);
    EXPECT_EQ(verdict_of(report, "errors-during-run"), one.verdict) << one.name;
    EXPECT_EQ(find(report, "errors-during-run")->action, one.action) << one.name;
  }
  RunMaker made = healthy();
  made.run.gpus[0].before = made.run.gpus[0].after = {};
  EXPECT_EQ(verdict_of(judge(made.run), "errors-during-run"), Verdict::unknown);
}

TEST(VerifyFaults, ADetectorThatIsBlindMakesPassesVoid) {
  RunMaker made = healthy();
  made.step("self-test-bit").readings["caught"].samples = {2};
  const VerifyReport report = judge(made.run);
  EXPECT_EQ(verdict_of(report, "self-test-bit"), Verdict::unknown);
  EXPECT_EQ(verdict_of(report, "gemm"), Verdict::unknown);
  EXPECT_EQ(verdict_of(report, "memory-check"), Verdict::unknown);
  EXPECT_EQ(verdict_of(report, "copy-to-gpu"), Verdict::pass);
  EXPECT_EQ(report.exit_status, 3);
}

// A detector that itself breaks is as blind as one that finds nothing, and no fault of the machine.
TEST(VerifyFaults, ADetectorThatDoesNotComeToItsEndIsNoFailureAndVoidsPasses) {
  for (StepState state : {StepState::failed, StepState::hung, StepState::crashed}) {
    RunMaker made = healthy();
    made.step("self-test-link").state = state;
    made.step("self-test-link").reason = "a copy came out otherwise";
    const VerifyReport report = judge(made.run);
    EXPECT_EQ(verdict_of(report, "self-test-link"), Verdict::unknown);
    EXPECT_EQ(verdict_of(report, "copy-to-gpu"), Verdict::unknown);
    EXPECT_EQ(verdict_of(report, "memory-check"), Verdict::pass);
    EXPECT_EQ(report.exit_status, 3);
  }
}

TEST(VerifyFaults, PeersThatReadZeros) {
  RunMaker made = healthy({}, 2);
  StepResult& peer = made.step("peer-check", 1);
  peer.readings["mismatches"].samples = {4096};
  EXPECT_EQ(verdict_of(judge(made.run, proved_on({})), "peer-check", 1),
            Verdict::fail); // right the other way
  const VerifyReport report = judge(made.run, proved_on({90}));
  EXPECT_EQ(verdict_of(report, "peer-check", 1), Verdict::fail);
  EXPECT_EQ(find(report, "peer-check", 1)->action, Action::fix_software);
}

TEST(VerifyFaults, WhatIsToBeDoneNamesThePythonAndTheLibrary) {
  RunMaker made = healthy();
  StepResult torch;
  torch.id = "framework-torch";
  torch.peer = "/home/a b/bin/python";
  torch.state = StepState::failed;
  torch.reason = "RuntimeError: no kernel image";
  StepResult library;
  library.id = "library-cudnn";
  library.gpu = made.run.gpus[0].uuid;
  library.state = StepState::failed;
  library.reason = "cudnnCreate gave 1001";
  library.call = "cudnnCreate";
  library.code = 1001;
  library.words["library"] = "/venv/libcudnn.so.9";
  made.run.steps.push_back(torch);
  made.run.steps.push_back(library);
  const VerifyReport report = judge(made.run);
  std::set<std::string> next;
  for (const JudgedStep& step : report.steps)
    next.insert(step.next);
  EXPECT_TRUE(next.count("gpuvet doctor --python '/home/a b/bin/python'"));
  EXPECT_TRUE(next.count(
      "gpuvet ldd /venv/libcudnn.so.9; install the framework anew into an empty environment"));
}

TEST(VerifyFaults, FrameworksAreJudgedByTheirResults) {
  RunMaker made = healthy();
  StepResult& torch = made.add("framework-torch", testing::uuid_of(0), "/venv/bin/python3",
                               {{"matmul_error", {"1", {2e-6}}}, {"conv_error", {"1", {4e-4}}}});
  EXPECT_EQ(verdict_of(judge(made.run), "framework-torch"), Verdict::pass);
  torch.readings["matmul_error"].samples = {0.3};
  EXPECT_EQ(verdict_of(judge(made.run), "framework-torch"), Verdict::fail);
  made.run.steps.back().readings.clear();
  EXPECT_EQ(verdict_of(judge(made.run), "framework-torch"), Verdict::unknown);
  made.run.steps.back().state = StepState::failed;
  made.run.steps.back().reason = "no kernel image is available";
  made.run.steps.back().words["stage"] = "matmul";
  const VerifyReport report = judge(made.run);
  EXPECT_EQ(verdict_of(report, "framework-torch"), Verdict::fail);
  EXPECT_EQ(find(report, "framework-torch")->action, Action::fix_software);
  EXPECT_EQ(report.exit_status, 1);
}

} // namespace
} // namespace gpuvet
