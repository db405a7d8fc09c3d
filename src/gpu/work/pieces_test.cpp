#include "gpu/testing/steps.hpp"
#include "gpu/work/pieces.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

StepResult run(void (*work)(Bench&, const StepOptions&), const std::string& words = "",
               double deadline_s = 5) {
  return run_fake_step({{"it", deadline_s, work}}, "it", words);
}

double number(const StepResult& result, const char* reading) {
  auto found = result.readings.find(reading);
  return found == result.readings.end() ? -1 : found->second.samples.at(0);
}

constexpr size_t kBytes = 1 << 20;

void times_a_copy(Bench& bench, const StepOptions&) {
  Stream stream(bench);
  Gate gate(bench);
  HostMemory host(bench, kBytes);
  DeviceMemory device(bench, kBytes);
  auto copy = [&] {
    bench.quietly(bench.cuda.cuMemcpyHtoDAsync_v2, device.at(), host.as<const void>(), kBytes,
                  CudaStream{stream});
  };
  bench.tell.reading("plain", "s", timed(bench, stream, copy));
  bench.tell.reading("gated", "s", timed_behind(gate, bench, stream, copy));
  bench.tell.reading("again", "s", timed_behind(gate, bench, stream, copy));
}

TEST(Pieces, TimeIsTheGpusTime) {
  for (const char* words :
       {"pcie=50", "pcie=50,attribute=122:0", "pcie=50,error=cuStreamWaitValue32_v2:801"}) {
    StepResult result = run(times_a_copy, words);
    EXPECT_EQ(result.state, StepState::done) << words << ": " << result.reason;
    for (const char* reading : {"plain", "gated", "again"})
      EXPECT_NEAR(number(result, reading), kBytes / 50e9, kBytes / 50e9 * 0.3) << words;
  }
}

void forgets_to_open(Bench& bench, const StepOptions&) {
  Stream stream(bench);
  Gate gate(bench);
  gate.hold(stream);
  gate.open();
  bench.call(bench.cuda.cuStreamSynchronize, CudaStream{stream});
  bench.tell.word("opened", "once");
  gate.hold(stream);
  bench.call(bench.cuda.cuStreamSynchronize, CudaStream{stream});
}

TEST(Pieces, AGateHolds) {
  for (const char* words : {"", "attribute=122:0"}) {
    StepResult result = run(forgets_to_open, words, 0.3);
    EXPECT_EQ(result.state, StepState::hung) << words;
    EXPECT_EQ(result.call, "cuStreamSynchronize");
    EXPECT_EQ(result.words.count("opened"), 1u);
  }
}

void gives_up_behind_the_gate(Bench& bench, const StepOptions&) {
  Stream stream(bench);
  Gate gate(bench);
  timed_behind(gate, bench, stream, [&] { bench.unsupported("no wings"); });
}

TEST(Pieces, WhoGivesUpBehindAGateLeavesItOpen) {
  StepResult result = run(gives_up_behind_the_gate);
  EXPECT_EQ(result.state, StepState::unsupported);
  EXPECT_EQ(result.reason, "no wings");
}

void launches_a_graph(Bench& bench, const StepOptions&) {
  Stream stream(bench);
  DeviceMemory word(bench, 4);
  CudaFunction flip = bench.kernel("core", "gv_flip");
  bench.call(bench.cuda.cuMemsetD32Async, word.at(), 0u, size_t{1}, CudaStream{stream});
  Graph graph(bench, stream, [&] {
    launch(bench, flip, 1, 32, 0, stream, word.at(), 5u);
    launch(bench, flip, 1, 32, 0, stream, word.at(), 3u);
  });
  uint32_t got = 7;
  bench.call(bench.cuda.cuMemcpyDtoHAsync_v2, static_cast<void*>(&got), word.at(), sizeof(got),
             CudaStream{stream});
  bench.tell.reading("before", "1", got);
  bench.call(bench.cuda.cuGraphLaunch, CudaGraphExec{graph}, CudaStream{stream});
  bench.call(bench.cuda.cuMemcpyDtoHAsync_v2, static_cast<void*>(&got), word.at(), sizeof(got),
             CudaStream{stream});
  bench.call(bench.cuda.cuStreamSynchronize, CudaStream{stream});
  bench.tell.reading("after", "1", got);
}

TEST(Pieces, AGraphRunsWhenItIsLaunched) {
  for (const char* words : {"", "error=cuGraphInstantiateWithFlags:0"}) {
    StepResult result = run(launches_a_graph, words);
    EXPECT_EQ(result.state, StepState::done) << result.reason;
    EXPECT_EQ(number(result, "before"), 0);
    EXPECT_EQ(number(result, "after"), 6);
  }
  StepResult refused = run(launches_a_graph, "error=cuGraphInstantiateWithFlags:2");
  EXPECT_EQ(refused.state, StepState::failed);
  EXPECT_EQ(refused.error, "CUDA_ERROR_OUT_OF_MEMORY");
}

void asks_for_too_much(Bench& bench, const StepOptions&) {
  DeviceMemory all(bench, size_t{1} << 50);
}

TEST(Pieces, RefusedMemoryIsAReason) {
  StepResult result = run(asks_for_too_much);
  EXPECT_EQ(result.state, StepState::failed);
  EXPECT_EQ(result.call, "cuMemAlloc_v2");
  EXPECT_EQ(result.code, kCudaOutOfMemory);
  EXPECT_NE(result.reason.find("uses the GPU's memory"), std::string::npos) << result.reason;
}

void wants_a_missing_kernel(Bench& bench, const StepOptions&) {
  bench.kernel("core", "gv_nothing");
}
void wants_missing_kernels(Bench& bench, const StepOptions&) {
  bench.kernel("nothing", "gv_null");
}

TEST(Pieces, AMissingKernelIsNamed) {
  StepResult result = run(wants_a_missing_kernel);
  EXPECT_EQ(result.state, StepState::failed);
  EXPECT_EQ(result.reason, "cuModuleGetFunction gave CUDA_ERROR_NOT_FOUND for kernel gv_nothing of "
                           "PTX for compute capability 5.2");
  result = run(wants_missing_kernels);
  EXPECT_EQ(result.state, StepState::unsupported);
  EXPECT_EQ(result.reason, "gpuvet carries no kernels named nothing");
}

TEST(Pieces, BlocksFillTheGpuAndNoMore) {
  auto blocks = [](Bench& bench, const StepOptions&) {
    bench.tell.reading("many", "1", blocks_for(bench, uint64_t{1} << 40));
    bench.tell.reading("few", "1", blocks_for(bench, 257));
    bench.tell.reading("none", "1", blocks_for(bench, 0));
  };
  StepResult result = run(blocks);
  EXPECT_EQ(number(result, "many"), 132 * 8);
  EXPECT_EQ(number(result, "few"), 2);
  EXPECT_EQ(number(result, "none"), 1);
}

TEST(Mismatches, AreDescribedByTheirFirstPlace) {
  Mismatches found{};
  EXPECT_EQ(describe(found), "");
  found.count = 3;
  found.bits = 0x11;
  found.places[0] = {900, 1, 0, 5, 0};
  found.places[1] = {4, 0x10, 0, 17, 0};
  found.places[2] = {800, 0x10, 0, 3, 0};
  EXPECT_EQ(describe(found), "3 words of 8 bytes differ in bits 0x11; the first known at byte 32: "
                             "0x0000000000000010 instead of 0x0000000000000000, seen by "
                             "multiprocessor 17");
  found.count = 1;
  EXPECT_TRUE(describe(found).starts_with("1 word of 8 bytes differs in bits 0x11"));
  EXPECT_NE(describe(found).find("byte 7200:"), std::string::npos); // the others were not kept
}

} // namespace
} // namespace gpuvet
