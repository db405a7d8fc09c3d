#include "gpu/testing/sanitizer.hpp"
#include "gpu/testing/steps.hpp"
#include "gpu/work/pieces.hpp"
#include "gpu/work/runner.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <limits>
#include <stdexcept>
#include <thread>
#include <unistd.h>

namespace gpuvet {
namespace {

// Steps that need no kernel.
void measures(Bench& bench, const StepOptions& options) {
  bench.tell.word("pattern", "none\nat all");
  bench.tell.reading("rate", "GB/s", 55.5);
  bench.tell.reading("rate", "GB/s", static_cast<double>(options.seed));
  bench.tell.progress(0.5, "rate", 55.5, "GB/s");
}
void crashes(Bench& bench, const StepOptions&) {
  bench.tell.reading("rate", "GB/s", 1);
  bench.tell.about_to_call("cuMemAlloc_v2");
  std::raise(SIGSEGV);
}
void hangs(Bench& bench, const StepOptions&) {
  bench.tell.reading("rate", "GB/s", 1);
  bench.tell.about_to_call("cuEventSynchronize");
  for (;;)
    pause();
}
void exits(Bench&, const StepOptions&) {
  _exit(7);
}
void cannot(Bench& bench, const StepOptions&) {
  bench.unsupported("this GPU has no wings");
}
void is_wrong(Bench& bench, const StepOptions&) {
  bench.wrong("3 words differ");
}
void divides_by_zero(Bench& bench, const StepOptions&) {
  bench.tell.reading("rate", "GB/s", std::numeric_limits<double>::infinity());
}
void throws(Bench&, const StepOptions&) {
  throw std::runtime_error("out of luck");
}
void tells_its_process(Bench& bench, const StepOptions&) {
  bench.tell.reading("process", "1", getpid());
}

constexpr Step kMeasures = {"measures", 60, measures}, kCrashes = {"crashes", 60, crashes},
               kHangs = {"hangs", 0.3, hangs}, kExits = {"exits", 60, exits},
               kCannot = {"cannot", 60, cannot}, kIsWrong = {"is-wrong", 60, is_wrong},
               kDivides = {"divides", 60, divides_by_zero}, kThrows = {"throws", 60, throws},
               kProcess = {"process", 60, tells_its_process};

std::vector<StepRequest> requests(const std::vector<const Step*>& steps) {
  std::vector<StepRequest> all;
  for (const Step* step : steps) {
    StepRequest request;
    request.step = step;
    request.options.seed = 7;
    request.gpu = "GPU-1";
    request.peer = "GPU-2";
    all.push_back(request);
  }
  return all;
}

std::vector<StepResult> run(const std::vector<const Step*>& steps, const std::string& words = "",
                            RunnerOptions options = fake_runner()) {
  Steered steered("GPUVET_FAKE_CUDA", words);
  return run_steps(0, requests(steps), options);
}

double process_of(const StepResult& result) {
  auto found = result.readings.find("process");
  return found == result.readings.end() ? 0 : found->second.samples.at(0);
}

TEST(Runner, GivesWhatAStepMeasured) {
  RunnerOptions options = fake_runner();
  std::vector<StepNews> news;
  std::vector<std::string> finished;
  options.news = [&](const std::string& gpu, const StepNews& one) {
    EXPECT_EQ(gpu, "GPU-1");
    news.push_back(one);
  };
  options.finished = [&](const StepResult& one) { finished.push_back(one.id); };
  auto results = run({&kMeasures, &kProcess}, "", options);
  ASSERT_EQ(results.size(), 2u);
  const StepResult& first = results[0];
  EXPECT_EQ(first.state, StepState::done) << first.reason;
  EXPECT_EQ(first.reason, "");
  EXPECT_EQ(first.id, "measures");
  EXPECT_EQ(first.gpu, "GPU-1");
  EXPECT_EQ(first.peer, "GPU-2");
  EXPECT_EQ(first.words.at("pattern"), "none\nat all");
  EXPECT_EQ(first.readings.at("rate").unit, "GB/s");
  EXPECT_EQ(first.readings.at("rate").samples, (std::vector<double>{55.5, 7}));
  EXPECT_LE(first.begin_s, first.end_s);
  EXPECT_LE(first.end_s, results[1].begin_s + 0.1);
  ASSERT_EQ(news.size(), 1u);
  EXPECT_EQ(news[0].step, "measures");
  EXPECT_EQ(news[0].fraction, 0.5);
  EXPECT_EQ(news[0].value, 55.5);
  EXPECT_EQ(finished, (std::vector<std::string>{"measures", "process"}));
}

TEST(Runner, OneChildRunsAllThatGoesWell) {
  auto results = run({&kProcess, &kCannot, &kProcess});
  EXPECT_EQ(results[1].state, StepState::unsupported);
  EXPECT_EQ(results[1].reason, "this GPU has no wings");
  EXPECT_NE(process_of(results[0]), getpid());
  EXPECT_EQ(process_of(results[0]), process_of(results[2]));
}

TEST(Runner, AHangCostsOnlyItself) {
  auto results = run({&kProcess, &kHangs, &kProcess});
  EXPECT_EQ(results[1].state, StepState::hung);
  EXPECT_EQ(results[1].call, "cuEventSynchronize");
  EXPECT_TRUE(results[1].reason.starts_with("no answer in cuEventSynchronize within 0.3"))
      << results[1].reason;
  EXPECT_EQ(results[1].readings.at("rate").samples.size(), 1u); // what it told before stays
  EXPECT_GE(results[1].end_s - results[1].begin_s, 0.29);
  EXPECT_EQ(results[2].state, StepState::done);
  EXPECT_NE(process_of(results[0]), process_of(results[2]));
}

TEST(Runner, SecondsThatATestMayMeasureAreNotAHang) {
  auto all = requests({&kHangs});
  all[0].options.seconds = 0.4;
  auto results = run_steps(0, all, fake_runner());
  EXPECT_GE(results[0].end_s - results[0].begin_s, 0.69);
}

TEST(Runner, ACrashCostsOnlyItself) {
  auto results = run({&kCrashes, &kProcess, &kExits, &kThrows, &kProcess});
  EXPECT_EQ(results[0].state, StepState::crashed);
  EXPECT_EQ(results[0].call, "cuMemAlloc_v2");
  EXPECT_EQ(results[0].reason, "the process crashed in cuMemAlloc_v2 (SIGSEGV)");
  EXPECT_EQ(results[0].readings.count("rate"), 1u);
  EXPECT_EQ(results[1].state, StepState::done);
  EXPECT_EQ(results[2].state, StepState::crashed);
  EXPECT_TRUE(results[2].reason.ends_with("with status 7")) << results[2].reason;
  EXPECT_EQ(results[3].state, StepState::failed);
  EXPECT_EQ(results[3].reason, "the test ended by: out of luck");
  EXPECT_EQ(results[4].state, StepState::done);
}

TEST(Runner, AfterAFailureTheRestGoesOnInANewChild) {
  auto results = run({&kProcess, &kIsWrong, &kProcess});
  EXPECT_EQ(results[1].state, StepState::failed);
  EXPECT_EQ(results[1].reason, "3 words differ");
  EXPECT_EQ(results[1].code, 0);
  EXPECT_NE(process_of(results[0]), process_of(results[2]));
}

TEST(Runner, WhatIsNoNumberIsAFailure) {
  auto results = run({&kDivides, &kMeasures});
  EXPECT_EQ(results[0].state, StepState::failed);
  EXPECT_EQ(results[0].reason, "the measurement of rate came out as inf");
  EXPECT_TRUE(results[0].readings.empty());
  EXPECT_EQ(results[1].state, StepState::done);
}

TEST(Runner, AnErrorThatShowsOnlyLaterBelongsToItsStep) {
  auto results = run({&kMeasures, &kMeasures, &kMeasures}, "error=cuCtxSynchronize:719");
  for (const StepResult& result : results) {
    EXPECT_EQ(result.state, StepState::failed);
    EXPECT_EQ(result.call, "cuCtxSynchronize");
    EXPECT_EQ(result.code, 719);
    EXPECT_EQ(result.error, "CUDA_ERROR_LAUNCH_FAILED");
    EXPECT_EQ(result.readings.at("rate").samples.size(), 2u);
  }
}

void launches(Bench& bench, const StepOptions&) {
  launch(bench, bench.kernel("core", "gv_null"), 1, 1, 0, nullptr);
  bench.call(bench.cuda.cuStreamSynchronize, CudaStream{nullptr});
}

TEST(Runner, AStickyErrorDoesNotReachTheNextStep) {
  const Step breaks = {"breaks", 60, launches};
  auto results = run({&kProcess, &breaks, &kMeasures}, "fault=gv_null:700");
  EXPECT_EQ(results[1].state, StepState::failed);
  EXPECT_EQ(results[1].call, "cuStreamSynchronize");
  EXPECT_EQ(results[1].error, "CUDA_ERROR_ILLEGAL_ADDRESS");
  EXPECT_NE(results[1].reason.find("an address that is not its own"), std::string::npos);
  EXPECT_EQ(results[2].state, StepState::done) << results[2].reason;
}

TEST(Runner, AGpuThatCannotBeUsedIsGivenUpAfterTwo) {
  for (const char* words : {"init=100", "error=cuDevicePrimaryCtxRetain:100"}) {
    auto results = run({&kMeasures, &kMeasures, &kMeasures, &kMeasures}, words);
    EXPECT_EQ(results[0].state, StepState::failed);
    EXPECT_EQ(results[0].error, "CUDA_ERROR_NO_DEVICE");
    EXPECT_EQ(results[0].code, 100);
    EXPECT_EQ(results[1].state, StepState::failed);
    for (size_t at : {size_t{2}, size_t{3}}) {
      EXPECT_EQ(results[at].state, StepState::not_run);
      EXPECT_NE(results[at].reason.find("twice in a row: "), std::string::npos);
      EXPECT_NE(results[at].reason.find("CUDA_ERROR_NO_DEVICE"), std::string::npos)
          << results[at].reason;
    }
  }
}

TEST(Runner, OnlyFailuresInARowGiveAGpuUp) {
  RunnerOptions options = fake_runner();
  std::vector<const char*> next = {"", "init=100", "", ""}; // after each step, for the next child
  size_t at = 0;
  options.finished = [&](const StepResult&) {
    setenv("GPUVET_FAKE_CUDA", next[std::min(at++, next.size() - 1)], 1);
  };
  auto results = run({&kMeasures, &kIsWrong, &kMeasures, &kMeasures}, "init=100", options);
  EXPECT_EQ(results[0].state, StepState::failed);
  EXPECT_EQ(results[1].reason, "3 words differ"); // it got a context
  EXPECT_EQ(results[2].code, 100);
  EXPECT_EQ(results[3].state, StepState::done) << results[3].reason;
}

TEST(Runner, ADriverThatHangsWhileStartingIsNotWaitedForByEachStep) {
  RunnerOptions options = fake_runner();
  options.start_deadline_s = 0.3;
  auto results = run({&kMeasures, &kMeasures, &kMeasures}, "hang=cuInit", options);
  EXPECT_EQ(results[0].state, StepState::hung);
  EXPECT_EQ(results[0].call, "cuInit");
  EXPECT_EQ(results[2].state, StepState::not_run);
  EXPECT_NE(results[2].reason.find("in cuInit"), std::string::npos) << results[2].reason;
  EXPECT_LT(seconds_since(options.start), 20);
}

TEST(Runner, WithoutADriverNothingIsRun) {
  RunnerOptions options = fake_runner();
  options.library = "/nowhere/libcuda.so.1";
  auto results = run({&kMeasures, &kMeasures, &kMeasures}, "", options);
  EXPECT_EQ(results[0].state, StepState::failed);
  EXPECT_EQ(results[0].call, "dlopen");
  EXPECT_NE(results[0].reason.find("/nowhere/libcuda.so.1"), std::string::npos);
  EXPECT_EQ(results[2].state, StepState::not_run);
}

TEST(Runner, AnInterruptionKeepsWhatWasTold) {
  std::atomic<bool> interrupted = false, interrupted_soon = false;
  RunnerOptions options = fake_runner();
  options.interrupted = &interrupted;
  Step patient = kHangs;
  patient.deadline_s = 60;
  options.finished = [&](const StepResult& result) {
    if (result.id == kMeasures.id) interrupted_soon.store(true);
  };
  std::thread user([&] { // while the second step waits
    while (!interrupted_soon)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    interrupted = true;
  });
  auto results = run({&kMeasures, &patient, &kMeasures}, "", options);
  user.join();
  EXPECT_EQ(results[0].state, StepState::done);
  EXPECT_EQ(results[1].state, StepState::not_run);
  EXPECT_EQ(results[1].reason, "interrupted");
  EXPECT_EQ(results[1].readings.at("rate").samples.size(), 1u);
  EXPECT_EQ(results[2].state, StepState::not_run);
  EXPECT_EQ(results[2].reason, "interrupted");
  EXPECT_LT(seconds_since(options.start), 40);
}

TEST(Runner, EightGpusAtOnce) {
  Steered steered("GPUVET_FAKE_CUDA", "gpus=8,hang=3:cuDevicePrimaryCtxRetain");
  RunnerOptions options = fake_runner();
  options.start_deadline_s = 5; // a busy machine starts a sound one later than at once
  std::vector<std::vector<StepResult>> results(8);
  std::vector<std::thread> threads;
  for (int gpu = 0; gpu < 8; ++gpu) {
    threads.emplace_back([&, gpu] {
      results[static_cast<size_t>(gpu)] =
          run_steps(gpu, requests({&kMeasures, &kCrashes, &kMeasures}), options);
    });
    if (!kAddressSanitizer) continue;
    threads.back().join(); // the sanitizer's allocator may be locked by a thread when another forks
    threads.pop_back();
  }
  for (std::thread& thread : threads)
    thread.join();
  for (size_t gpu = 0; gpu < 8; ++gpu) {
    EXPECT_EQ(results[gpu][0].state, gpu == 3 ? StepState::hung : StepState::done) << gpu;
    EXPECT_EQ(results[gpu][1].state, gpu == 3 ? StepState::hung : StepState::crashed);
    EXPECT_EQ(results[gpu][2].state, gpu == 3 ? StepState::not_run : StepState::done);
  }
}

TEST(Runner, NamesTheComputeModeThatRefuses) {
  auto results = run({&kMeasures}, "error=cuDevicePrimaryCtxRetain:46,attribute=20:3");
  EXPECT_EQ(results[0].state, StepState::failed);
  EXPECT_EQ(results[0].call, "cuDevicePrimaryCtxRetain");
  EXPECT_EQ(results[0].words["compute_mode"], "exclusive process");
}

} // namespace
} // namespace gpuvet
