// The same kernels, launched one by one and as a graph: what launching costs and what a graph
// saves.
#include "gpu/work/pieces.hpp"
#include "gpu/work/stress/steps.hpp"

#include <algorithm>

namespace gpuvet {
namespace {

constexpr unsigned kNodes = 2000;
constexpr unsigned kReplays = 20;

// A training step, as far as launching is concerned: many short kernels.
constexpr unsigned kStepKernels = 1500;
constexpr double kStepKernel_s = 8e-6;
constexpr uint64_t kStepBytes = 1 << 20;
constexpr unsigned kStepRuns = 5;
constexpr unsigned kFewRounds = 256, kManyRounds = 2048; // inside a kernel

template <class Work> double host_seconds(Bench& bench, Work&& work) {
  const double began = bench.tell.seconds();
  work();
  return bench.tell.seconds() - began;
}

void launch_graph(Bench& bench, const Graph& graph, const Stream& stream) {
  bench.quietly(bench.cuda.cuGraphLaunch, CudaGraphExec{graph}, CudaStream{stream});
}

// Before CUDA 11.1 there is no upload; the first launch, which is not told, does it then.
void upload(Bench& bench, const Graph& graph, const Stream& stream) {
  if (bench.cuda.cuGraphUpload.function)
    bench.call(bench.cuda.cuGraphUpload, CudaGraphExec{graph}, CudaStream{stream});
  launch_graph(bench, graph, stream);
  bench.call(bench.cuda.cuStreamSynchronize, CudaStream{stream});
}

void measure_chain(Bench& bench, const Stream& stream) {
  CudaFunction null = bench.kernel("core", "gv_null");
  Graph graph(bench, stream, [&] {
    for (unsigned at = 0; at < kNodes; ++at)
      launch(bench, null, 1, 1, 0, stream);
  });
  bench.tell.reading("instantiate_ms", "ms", graph.instantiate_s() * 1e3);
  upload(bench, graph, stream);
  for (unsigned at = 0; at < kReplays; ++at) {
    double host = 0;
    const double gpu = timed(bench, stream, [&] {
      host = host_seconds(bench, [&] { launch_graph(bench, graph, stream); });
    });
    bench.tell.reading("node_us", "us", gpu * 1e6 / kNodes);
    bench.tell.reading("launch_us", "us", host * 1e6);
  }
}

struct StepKernel {
  Bench& bench;
  const Stream& stream;
  CudaFunction function = nullptr;
  DeviceMemory data;
  uint64_t floats;
  unsigned blocks = 1, rounds = 1;

  void enqueue(unsigned times) const {
    for (unsigned at = 0; at < times; ++at)
      launch(bench, function, blocks, 256, 0, stream, data.at(), floats, uint32_t{rounds});
  }
};

// As many rounds as make one kernel last kStepKernel_s.
void calibrate(StepKernel& step) {
  auto seconds = [&](unsigned rounds) {
    step.rounds = rounds;
    step.enqueue(1);
    return timed(step.bench, step.stream, [&] { step.enqueue(8); }) / 8;
  };
  const double few = seconds(kFewRounds), many = seconds(kManyRounds);
  const double each = (many - few) / (kManyRounds - kFewRounds);
  const double rounds = each > 0 ? kFewRounds + (kStepKernel_s - few) / each : 1;
  step.rounds = static_cast<unsigned>(std::clamp(rounds, 1.0, 8.0 * kManyRounds));
}

uint64_t step_floats(Bench& bench) { // less on a GPU that has hardly any memory left
  size_t free = 0, total = 0;
  bench.call(bench.cuda.cuMemGetInfo_v2, &free, &total);
  return std::clamp<uint64_t>(free / 64, 1024, kStepBytes) / sizeof(float);
}

void measure_step(Bench& bench, const Stream& stream) {
  const uint64_t floats = step_floats(bench);
  StepKernel step{bench,
                  stream,
                  bench.kernel("core", "gv_step"),
                  DeviceMemory(bench, floats * sizeof(float)),
                  floats,
                  blocks_for(bench, floats),
                  1};
  bench.call(bench.cuda.cuMemsetD32Async, step.data.at(), 0u, size_t{floats}, CudaStream{stream});
  calibrate(step);
  Graph graph(bench, stream, [&] { step.enqueue(kStepKernels); });
  upload(bench, graph, stream);
  for (unsigned at = 0; at < kStepRuns; ++at) { // in turn, so that the clocks are the same for both
    const double launched = timed(bench, stream, [&] { step.enqueue(kStepKernels); });
    const double replayed = timed(bench, stream, [&] { launch_graph(bench, graph, stream); });
    bench.tell.reading("step_launched_ms", "ms", launched * 1e3);
    bench.tell.reading("step_graph_ms", "ms", replayed * 1e3);
  }
}

} // namespace

void run_graph(Bench& bench, const StepOptions&) {
  if (!bench.cuda.cuStreamBeginCapture_v2.function || !bench.cuda.cuGraphLaunch.function)
    Bench::unsupported("this driver has no graphs: they came with CUDA 10.1");
  Stream stream(bench);
  bench.tell.word("pattern", "none: empty kernels; a step of 1500 kernels of about 8 us");
  measure_chain(bench, stream);
  measure_step(bench, stream);
}

} // namespace gpuvet
