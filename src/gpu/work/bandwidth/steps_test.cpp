// The tests of bandwidth on the fake driver, whose memory is this machine's and whose time is
// counted: a steered rate has to come out, and a steered fault has to be found.
#include "base/trend.hpp"
#include "gpu/testing/fakes.hpp"
#include "gpu/work/bandwidth/steps.hpp"
#include "gpu/work/runner.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace gpuvet {
namespace {

const Step& step_of(const std::string& id) {
  for (const auto* list : {&bandwidth_steps(), &pair_steps(), &machine_steps()})
    for (const Step& step : *list)
      if (step.id == id) return step;
  throw std::out_of_range(id);
}

struct Ask {
  double seconds = 0.05;
  Fault fault = Fault::none;
  std::vector<int> all = {};
};

// Little memory makes the fake quick; an instant launch makes small buffers as fast as large ones.
StepResult run(const std::string& id, const std::string& words, const Ask& ask = {}) {
  Steered steered("GPUVET_FAKE_CUDA", "free=4,launch_us=0,gpus=4,attribute=16:4," + words);
  StepRequest request;
  request.step = &step_of(id);
  request.options.seconds = ask.seconds;
  request.options.seed = 4711;
  request.options.peer = 1;
  request.options.all = ask.all;
  request.options.fault = ask.fault;
  RunnerOptions options;
  options.library = fake("current", "libcuda.so.1");
  options.start = std::chrono::steady_clock::now();
  return run_steps(0, {request}, options).at(0);
}

std::vector<double> samples(const StepResult& result, const std::string& name) {
  auto found = result.readings.find(name);
  return found == result.readings.end() ? std::vector<double>() : found->second.samples;
}

double median(const StepResult& result, const std::string& name) {
  return median_of(samples(result, name));
}

void expect_rate(const StepResult& result, const std::string& name, double wanted) {
  ASSERT_EQ(result.state, StepState::done) << result.id << ": " << result.reason;
  EXPECT_NEAR(median(result, name), wanted, wanted * 1e-3) << result.id << " " << name;
  EXPECT_EQ(result.readings.at(name).unit, "GB/s");
}

// Found, failed, and said where: bit 4 in the middle of the data.
void expect_wrong(const StepResult& result, const std::string& what) {
  EXPECT_EQ(result.state, StepState::failed) << result.id << ": " << result.reason;
  EXPECT_NE(result.reason.find(what), std::string::npos) << result.reason;
  EXPECT_NE(result.reason.find("differ"), std::string::npos) << result.reason;
  EXPECT_NE(result.reason.find("at byte "), std::string::npos) << result.reason;
  EXPECT_EQ(result.words.count("first_place"), 1u);
}

TEST(BandwidthSteps, ListsHoldTheIdsOnce) {
  std::vector<std::string> ids;
  for (const auto* list : {&bandwidth_steps(), &pair_steps(), &machine_steps()})
    for (const Step& step : *list) {
      ids.emplace_back(step.id);
      EXPECT_GE(step.deadline_s, 10) << step.id;
    }
  std::vector<std::string> sorted = ids;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(std::unique(sorted.begin(), sorted.end()), sorted.end());
  EXPECT_EQ(ids.front(), "copy-to-gpu");
  EXPECT_EQ(pair_steps().front().id, std::string("peer-check")); // before any speed
}

TEST(BandwidthSteps, TheSteeredLinkComesOut) {
  for (const char* id : {"copy-to-gpu", "copy-from-gpu"}) {
    expect_rate(run(id, "pcie=55.4"), "rate", 55.4); // generation 5, 16 lanes
    expect_rate(run(id, "pcie=6.6"), "rate", 6.6);   // generation 3, 8 lanes
    expect_rate(run(id, "pcie=0.2"), "rate", 0.2);   // generation 1, one lane
  }
}

TEST(BandwidthSteps, ACopyTellsItsCircumstances) {
  StepResult result = run("copy-to-gpu", "", {0.5});
  EXPECT_GE(samples(result, "rate").size(), 3u);
  EXPECT_EQ(samples(result, "half_size"), std::vector<double>{4096}); // the fake has no overhead
  EXPECT_EQ(result.readings.at("half_size").unit, "bytes");
  EXPECT_TRUE(result.words.at("memory").starts_with("pinned, ")) << result.words.at("memory");
  EXPECT_EQ(result.words.count("numa_wanted"), 1u);
  EXPECT_NE(result.words.at("buffer").find("since the GPU has"), std::string::npos);
  EXPECT_NE(result.words.at("pattern"), "");
  // Either where the pages are, or why that is not known.
  EXPECT_EQ(result.readings.count("numa_node") + result.words.count("numa_problem"), 1u);
}

TEST(BandwidthSteps, MoreTimeGivesMoreSamplesUntilTheyAreQuiet) {
  StepResult result = run("copy-from-gpu", "pcie=5", {2.0});
  EXPECT_EQ(samples(result, "rate").size(), 10u); // all the same: ten are enough
}

TEST(BandwidthSteps, AWrongByteIsFoundOnEachWay) {
  expect_wrong(run("copy-to-gpu", "corrupt=cuMemcpyHtoDAsync_v2"), "to the GPU");
  expect_wrong(run("copy-from-gpu", "corrupt=cuMemcpyDtoHAsync_v2"), "from the GPU");
  expect_wrong(run("copy-both-ways", "corrupt=cuMemcpyHtoDAsync_v2"), "to the GPU");
  expect_wrong(run("copy-both-ways", "corrupt=cuMemcpyDtoHAsync_v2"), "from the GPU");
  expect_wrong(run("copy-pageable", "corrupt=cuMemcpyHtoDAsync_v2"), "from pageable memory");
  expect_wrong(run("copy-pageable", "corrupt=cuMemcpyDtoHAsync_v2"), "to pageable memory");
  expect_wrong(run("copy-by-kernel", "corrupt=gv_copy"), "to the GPU");
}

TEST(BandwidthSteps, APlantedBitAndAPlantedDelayAreFound) {
  StepResult bit = run("copy-to-gpu", "", {0.05, Fault::wrong_bit});
  expect_wrong(bit, "to the GPU");
  EXPECT_NE(bit.reason.find("1 word of 8 bytes differs"), std::string::npos) << bit.reason;
  expect_rate(run("copy-to-gpu", "pcie=40", {0.05, Fault::slow_link}), "rate", 10);
  EXPECT_EQ(run("memory-check", "", {0.05, Fault::wrong_bit}).state, StepState::failed);
}

TEST(BandwidthSteps, BothWaysAtOnce) {
  StepResult result = run("copy-both-ways", "pcie=40");
  expect_rate(result, "to_gpu", 40);
  expect_rate(result, "from_gpu", 40);
  expect_rate(result, "sum", 80);
}

TEST(BandwidthSteps, PageableByTheHostsClock) {
  StepResult result = run("copy-pageable", "");
  ASSERT_EQ(result.state, StepState::done) << result.reason;
  EXPECT_GT(median(result, "to_gpu"), 0);
  EXPECT_GT(median(result, "from_gpu"), 0);
  EXPECT_EQ(result.words.at("memory"), "pageable");
}

TEST(BandwidthSteps, FarMemoryOnlyWhereThereIsSome) {
  StepResult result = run("copy-far-node", "pcie=30");
  if (result.state == StepState::done) { // a machine with several nodes and known distances
    expect_rate(result, "to_gpu", 30);
    return;
  }
  EXPECT_EQ(result.state, StepState::unsupported) << result.reason;
  EXPECT_NE(result.reason.find("NUMA node"), std::string::npos) << result.reason;
}

TEST(BandwidthSteps, KernelsThatReachHostMemory) {
  StepResult result = run("copy-by-kernel", "");
  ASSERT_EQ(result.state, StepState::done) << result.reason;
  EXPECT_GT(median(result, "to_gpu"), 0);
  EXPECT_GT(median(result, "from_gpu"), 0);
}

TEST(BandwidthSteps, DeviceMemoryByFourKernels) {
  StepResult result = run("memory-bandwidth", "memory=3300");
  for (const char* name : {"read", "write", "copy", "triad"}) {
    expect_rate(result, name, 3300);
    const std::string& shape = result.words.at(std::string(name) + "_shape");
    EXPECT_TRUE(shape.ends_with(" blocks per multiprocessor") || shape.ends_with("block per piece"))
        << shape;
  }
  EXPECT_NE(result.words.at("buffer").find("less than 256 MiB since the GPU has"),
            std::string::npos)
      << result.words.at("buffer");
}

TEST(BandwidthSteps, AKernelOfDeviceMemoryThatErrsIsFound) {
  StepResult read = run("memory-bandwidth", "corrupt=gv_read"); // what it reads the next time
  EXPECT_EQ(read.state, StepState::failed);
  EXPECT_NE(read.reason.find("the sum over what the read kernel read is wrong"), std::string::npos)
      << read.reason;

  expect_wrong(run("memory-bandwidth", "corrupt=gv_write"), "the write kernel");
  expect_wrong(run("memory-bandwidth", "corrupt=gv_copy"), "the copy kernel");
  expect_wrong(run("memory-bandwidth", "corrupt=gv_triad"), "the triad kernel");
  expect_wrong(run("memory-bandwidth", "corrupt=gv_fill"), "the filling kernel");
}

TEST(BandwidthSteps, MemoryThatForgets) {
  StepResult good = run("memory-check", "");
  ASSERT_EQ(good.state, StepState::done) << good.reason;
  EXPECT_EQ(samples(good, "mismatches"), std::vector<double>{0});
  EXPECT_GE(median(good, "checked"), 3 * 2.0e6);
  StepResult bad = run("memory-check", "corrupt=gv_fill");
  expect_wrong(bad, "did not keep");
  EXPECT_EQ(bad.words.at("bits"), "0x0000000000000010");
  EXPECT_GE(median(bad, "mismatches"), 1);
}

TEST(BandwidthSteps, PeersThatSeeEachOthersMemory) {
  StepResult check = run("peer-check", "");
  ASSERT_EQ(check.state, StepState::done) << check.reason;
  EXPECT_EQ(samples(check, "mismatches"), std::vector<double>{0});
  EXPECT_GT(median(check, "checked"), 0);
  EXPECT_EQ(check.words.at("access"), "direct");
  EXPECT_EQ(check.words.count("atomics"), 0u);

  StepResult copy = run("peer-copy", "peer=25");
  expect_rate(copy, "write", 25);
  expect_rate(copy, "read", 25);
  expect_rate(copy, "both", 50);
  EXPECT_EQ(copy.words.at("access"), "direct");

  StepResult latency = run("peer-latency", "");
  ASSERT_EQ(latency.state, StepState::done) << latency.reason;
  EXPECT_EQ(latency.readings.at("hop_ns").unit, "ns");
  EXPECT_GT(median(latency, "hop_ns"), 0);
}

TEST(BandwidthSteps, WritesThatTheOwnerNeverSees) {
  StepResult check = run("peer-check", "corrupt=peer-write");
  expect_wrong(check, "what a kernel wrote into the other GPU's memory is not what the owner has");
  EXPECT_GT(median(check, "mismatches"), 0);
  expect_wrong(run("peer-check", "corrupt=cuMemcpyPeerAsync"), "what was copied");
  expect_wrong(run("peer-copy", "corrupt=cuMemcpyPeerAsync"), "what was copied to the other GPU");
}

TEST(BandwidthSteps, WithoutDirectAccessCopiesAreStaged) {
  StepResult check = run("peer-check", "nopeer=1");
  ASSERT_EQ(check.state, StepState::done) << check.reason;
  EXPECT_TRUE(check.words.at("access").starts_with("staged")) << check.words.at("access");
  EXPECT_EQ(check.words.at("atomics"), "not run: no direct access");
  StepResult copy = run("peer-copy", "nopeer=1");
  ASSERT_EQ(copy.state, StepState::done) << copy.reason;
  EXPECT_EQ(copy.words.at("access"), "staged");
  for (const char* name : {"write", "read", "both"})
    EXPECT_GT(median(copy, name), 0) << name;
  StepResult latency = run("peer-latency", "nopeer=1");
  EXPECT_EQ(latency.state, StepState::unsupported);
  EXPECT_NE(latency.reason.find("no direct access from GPU 0 to GPU 1"), std::string::npos);
}

TEST(BandwidthSteps, AllGpusAtOnceInTheirOrder) {
  StepResult result = run("copy-all-gpus", "pcie=55,pcie=2:12", {0.05, Fault::none, {0, 2, 1}});
  ASSERT_EQ(result.state, StepState::done) << result.reason;
  for (const char* name : {"to_gpu", "from_gpu"}) {
    auto rates = samples(result, name);
    ASSERT_EQ(rates.size(), 3u);
    EXPECT_NEAR(rates[0], 55, 0.1);
    EXPECT_NEAR(rates[1], 12, 0.1);
    EXPECT_NEAR(rates[2], 55, 0.1);
  }
  EXPECT_EQ(run("copy-all-gpus", "", {0.05, Fault::none, {0}}).state, StepState::unsupported);
  expect_wrong(run("copy-all-gpus", "corrupt=1:cuMemcpyHtoDAsync_v2", {0.05, Fault::none, {0, 1}}),
               "to the GPU");
}

TEST(BandwidthSteps, AlmostNoMemory) {
  expect_rate(run("copy-to-gpu", "free=0.5,pcie=3"), "rate", 3);
  EXPECT_EQ(run("memory-check", "free=0.5").state, StepState::done);
  StepResult none = run("copy-to-gpu", "free=0.01");
  EXPECT_EQ(none.state, StepState::failed);
  EXPECT_EQ(none.error, "CUDA_ERROR_OUT_OF_MEMORY");
  EXPECT_EQ(none.call, "cuMemAlloc_v2");
}

TEST(BandwidthSteps, ADriverThatFailsInTheMiddle) {
  StepResult event = run("copy-to-gpu", "error=cuEventElapsedTime:999");
  EXPECT_EQ(event.state, StepState::failed);
  EXPECT_EQ(event.call, "cuEventElapsedTime");
  EXPECT_EQ(event.code, 999);
  StepResult kernel = run("memory-bandwidth", "fault=gv_triad:719");
  EXPECT_EQ(kernel.state, StepState::failed);
  EXPECT_EQ(kernel.code, 719);
  EXPECT_GE(samples(kernel, "copy").size(), 1u); // what came before stays
  EXPECT_EQ(kernel.readings.count("triad"), 0u);
  EXPECT_EQ(run("copy-both-ways", "error=cuMemHostAlloc:2").error, "CUDA_ERROR_OUT_OF_MEMORY");
  EXPECT_EQ(run("copy-all-gpus", "error=1:cuEventRecord:700", {0.05, Fault::none, {0, 1}}).code,
            700);
  EXPECT_EQ(run("peer-copy", "error=1:cuDevicePrimaryCtxRetain:2").call,
            "cuDevicePrimaryCtxRetain");
}

} // namespace
} // namespace gpuvet
