#include "formats/json_read.hpp"
#include "formats/verify/fields.hpp"
#include "formats/verify/judged_lines.hpp"
#include "formats/verify/verify_lines.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace gpuvet {
namespace {

Measurements small_run() {
  Measurements run;
  run.version = "0.1.0";
  run.started = "2026-12-01T04:00:00Z";
  run.host_kind = "container";
  run.driver = "580.65.06";
  run.cuda = "13.0";
  run.quick = true;
  run.seed = 18446744073709551614ULL;
  run.seconds = 12.5;
  VerifiedGpu gpu;
  gpu.uuid = "GPU-1";
  gpu.name = "NVIDIA \"H200\"\n";
  gpu.ordinal = 0;
  gpu.nvml_index = 3;
  gpu.sm = 90;
  gpu.numbers = {{"multiprocessors", 132}, {"power_limit_w", 699.5}};
  gpu.words = {{"mig", "off"}};
  gpu.busy = "process 1 (x)";
  gpu.before.replays = 0;
  gpu.after.remap_pending = false;
  gpu.after.xids = 2;
  for (int i = 0; i < 600; ++i) {
    GpuMoment moment;
    moment.at_s = 0.1 * i;
    if (i % 2 == 0) moment.power_w = 100 + i;
    moment.power_ns = uint64_t{1000000007} * static_cast<uint64_t>(i);
    gpu.moments.push_back(moment);
  }
  run.gpus.push_back(gpu);
  StepResult step;
  step.id = "copy-to-gpu";
  step.gpu = "GPU-1";
  step.state = StepState::hung;
  step.reason = "no sign of life";
  step.call = "cuStreamSynchronize";
  step.code = -7;
  step.error = "CUDA_ERROR_UNKNOWN";
  step.begin_s = 1.25;
  step.end_s = 3.5;
  step.readings = {{"rate", {"GB/s", {55.4, 0.1, 1e-7}}}};
  step.words = {{"pattern", "random"}};
  run.steps.push_back(step);
  return run;
}

size_t lines_of(const std::string& text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(VerifyLines, WhatIsWrittenIsReadBack) {
  const std::string text = write_measurements(small_run());
  auto read = read_measurements(text, "run.jsonl");
  ASSERT_TRUE(read) << read.error().where << ": " << read.error().what;
  EXPECT_TRUE(read->complete);
  EXPECT_EQ(read->lines, lines_of(text));
  EXPECT_EQ(write_measurements(read->measured), text);
  const Measurements& run = read->measured;
  EXPECT_EQ(run.seed, 18446744073709551614ULL);
  EXPECT_EQ(run.gpus.at(0).name, "NVIDIA \"H200\"\n");
  EXPECT_EQ(run.gpus[0].nvml_index, 3U);
  EXPECT_EQ(run.gpus[0].after.remap_pending, false);
  EXPECT_EQ(run.gpus[0].before.remap_pending, std::nullopt);
  ASSERT_EQ(run.gpus[0].moments.size(), 600U);
  EXPECT_EQ(run.gpus[0].moments[599].power_w, std::nullopt);
  EXPECT_EQ(run.gpus[0].moments[598].power_w, 698);
  EXPECT_EQ(run.gpus[0].moments[599].power_ns, 599000004193ULL);
  EXPECT_EQ(run.steps.at(0).state, StepState::hung);
  EXPECT_EQ(run.steps[0].code, -7);
  EXPECT_EQ(run.steps[0].readings.at("rate").samples, (std::vector<double>{55.4, 0.1, 1e-7}));
}

TEST(VerifyLines, EveryLineIsOneJsonObject) {
  const std::string text = write_measurements(small_run());
  EXPECT_EQ(text.rfind("{\"type\": \"run\", \"schema\": \"gpuvet-verify/1\"", 0), 0U);
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    auto json = parse_json(line, "line");
    ASSERT_TRUE(json) << line;
    EXPECT_TRUE(json->has("type"));
    rest.remove_prefix(line.size() + 1);
  }
}

// Samples that are no numbers have no place in JSON.
TEST(VerifyLines, NeverNan) {
  Measurements run = small_run();
  run.steps[0].readings["rate"].samples = {1, std::nan(""), std::numeric_limits<double>::infinity(),
                                           2};
  auto read = read_measurements(write_measurements(run), "run.jsonl");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->measured.steps[0].readings["rate"].samples, (std::vector<double>{1, 2}));
}

// Wherever a crash cuts it: what was whole stays, and nothing else is an error.
TEST(VerifyLines, ARunThatIsCutAnywhereIsReadUpToThere) {
  Measurements run = small_run();
  run.gpus[0].moments.resize(3);
  const std::string text = write_measurements(run);
  const size_t first = text.find('\n');
  for (size_t length = first; length < text.size(); ++length) {
    auto read = read_measurements(std::string_view(text).substr(0, length), "run.jsonl");
    ASSERT_TRUE(read) << length << ": " << read.error().where << ": " << read.error().what;
    EXPECT_EQ(read->complete, length + 1 == text.size()) << length;
    EXPECT_EQ(read->why_not.find("cut off") != std::string::npos, !read->complete);
    EXPECT_LE(read->measured.steps.size(), 1U);
  }
}

// A soak that died in the middle of a line, and was taken up again twenty seconds in.
TEST(VerifyLines, ASoakThatWasTakenUpAgainIsOneRun) {
  Measurements first = small_run(), second = small_run();
  first.gpus[0].moments.resize(2);
  second.gpus[0].moments.resize(2);
  second.continued_s = 20;
  second.gpus[0].before.replays = 5;
  second.gpus[0].after.replays = 7;
  std::string text = write_measurements(first);
  text.erase(text.size() - 30); // in its last line
  text += "\n" + write_measurements(second);
  auto read = read_measurements(text, "soak.jsonl");
  ASSERT_TRUE(read) << read.error().where << ": " << read.error().what;
  EXPECT_TRUE(read->complete);
  EXPECT_EQ(read->measured.seconds, 32.5);
  ASSERT_EQ(read->measured.steps.size(), 2U);
  EXPECT_EQ(read->measured.steps[0].begin_s, 1.25);
  EXPECT_EQ(read->measured.steps[1].begin_s, 21.25);
  ASSERT_EQ(read->measured.gpus.size(), 1U);
  EXPECT_EQ(read->measured.gpus[0].before.replays, 0U);
  EXPECT_EQ(read->measured.gpus[0].after.replays, 7U);
  EXPECT_EQ(read->measured.gpus[0].moments[3].at_s, 20.1);
}

TEST(VerifyLines, NonsenseInTheMiddleIsNoCrash) {
  std::string text = write_measurements(small_run());
  text.insert(text.find('\n') + 1, "{\"type\": \"st\n");
  auto read = read_measurements(text, "run.jsonl");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().where, "run.jsonl:2");
}

TEST(VerifyLines, AGpuMayBeToldAgain) {
  Measurements run = small_run();
  std::string text =
      run_line(run) + gpu_line(run.gpus[0]) + moment_lines(run.gpus[0].uuid, run.gpus[0].moments);
  run.gpus[0].after.replays = 9;
  text += gpu_line(run.gpus[0]) + end_line(run);
  auto read = read_measurements(text, "run.jsonl");
  ASSERT_TRUE(read);
  ASSERT_EQ(read->measured.gpus.size(), 1U);
  EXPECT_EQ(read->measured.gpus[0].after.replays, 9U);
  EXPECT_EQ(read->measured.gpus[0].moments.size(), 600U);
}

TEST(VerifyLines, LinesWithVerdictsAreSkipped) {
  const Measurements run = small_run();
  JudgedStep step;
  step.id = "copy-to-gpu";
  step.value = 55.4;
  step.theoretical = 63;
  step.least = std::nan("");
  const std::string text =
      write_measurements(run) + judged_line(step) + verdict_line("x", 0, {step});
  auto read = read_measurements(text, "run.jsonl");
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_TRUE(read->complete);
  auto judged = parse_json(judged_line(step), "line");
  ASSERT_TRUE(judged);
  EXPECT_EQ((*judged)["verdict"].text, "unknown");
  EXPECT_NEAR((*judged)["fraction"].number, 0.879, 0.001);
  EXPECT_EQ((*judged)["min"].kind, Json::Kind::null);
}

void expect_refused(const std::string& text, const std::string& what, const std::string& where) {
  auto read = read_measurements(text, "f");
  ASSERT_FALSE(read) << text;
  EXPECT_NE(read.error().what.find(what), std::string::npos) << read.error().what;
  EXPECT_EQ(read.error().where, where) << read.error().what;
}

TEST(VerifyLines, WhatIsNoRunIsRefusedWithItsPlace) {
  const std::string run = "{\"type\": \"run\", \"schema\": \"gpuvet-verify/1\"}\n";
  expect_refused("", "this file is empty", "f");
  expect_refused("x\n", "this is not JSON", "f:1");
  expect_refused("{}\n", "no saved run", "f:1");
  expect_refused("{\"type\": \"run\", \"schema\": \"gpuvet-verify/2\"}\n", "another schema", "f:1");
  expect_refused(run + "x\n", "this is not JSON", "f:2");
  expect_refused(run + "[]\n", "an object is expected", "f:2");
  expect_refused(run + "{\"type\": \"rum\"}\n", "no line of a saved run has this type",
                 "f:2, type");
  expect_refused(run + run, "a second run", "f:2");
  expect_refused(run + "{\"type\": \"gpu\"}\n", "a GPU needs its UUID", "f:2");
  expect_refused(run + "{\"type\": \"step\", \"gpu\": \"a\"}\n", "a step needs its id", "f:2");
  expect_refused(run + "{\"type\": \"step\", \"id\": \"a\", \"state\": \"ready\"}\n",
                 "none of done, failed", "f:2, state");
  expect_refused(run + "{\"type\": \"moments\", \"gpu\": \"a\", \"at_s\": []}\n",
                 "a GPU that has no line before", "f:2");
}

TEST(VerifyLines, ColumnsHaveOneLength) {
  const std::string head = "{\"type\": \"run\", \"schema\": \"gpuvet-verify/1\"}\n"
                           "{\"type\": \"gpu\", \"uuid\": \"a\"}\n";
  expect_refused(
      head + "{\"type\": \"moments\", \"gpu\": \"a\", \"at_s\": [1, 2], \"power_w\": [1]}\n",
      "another length", "f:3, power_w");
  expect_refused(
      head + "{\"type\": \"moments\", \"gpu\": \"a\", \"at_s\": [1], \"power_w\": [\"x\"]}\n",
      "a number is expected", "f:3, power_w[0]");
}

TEST(VerifyLines, HostileSizesAreRefused) {
  const std::string run = "{\"type\": \"run\", \"schema\": \"gpuvet-verify/1\"}\n";
  std::string many = run;
  for (int i = 0; i < 300; ++i)
    many += "{\"type\": \"gpu\", \"uuid\": \"" + std::to_string(i) + "\"}\n";
  expect_refused(many, "more than 256 GPUs", "f:258");
  many = run;
  for (int i = 0; i < 20'002; ++i)
    many += "{\"type\": \"step\", \"id\": \"a\"}\n";
  expect_refused(many, "more than 20000 steps", "f:20002");
  const std::string longest(17U << 20U, ' ');
  expect_refused(run + longest + "\n", "longer than any", "f:2");
  std::string nested = run;
  for (int i = 0; i < 100'000; ++i)
    nested += '[';
  expect_refused(nested + "\n", "nested too deeply", "f:2");
}

// A field that is added to a struct must be added to the lines too.
struct Counter {
  size_t count = 0;
  template <class T> void operator()(std::string_view, T&&) { ++count; }
};

TEST(VerifyLines, EveryFieldIsWritten) {
  Counter moments;
  columns(moments);
  EXPECT_EQ(moments.count, 16U);
  // 17 fields: the time and the columns. A new one makes this fail to compile.
  auto& [at, sm, memory, power, celsius, memory_celsius, generation, width, reasons, power_ns,
         thermal, board, reliability, software, hardware, brake, energy] =
      static_cast<const GpuMoment&>(GpuMoment{});
  (void)at, (void)sm, (void)memory, (void)power, (void)celsius, (void)memory_celsius;
  (void)generation, (void)width, (void)reasons, (void)power_ns, (void)thermal, (void)board;
  (void)reliability, (void)software, (void)hardware, (void)brake, (void)energy;
  StepResult step;
  Counter steps;
  fields(steps, step);
  auto& [id, gpu, peer, state, reason, call, code, error, begin, end, readings, words] = step;
  (void)id, (void)gpu, (void)peer, (void)state, (void)reason, (void)call, (void)code;
  (void)error, (void)begin, (void)end, (void)readings, (void)words;
  EXPECT_EQ(steps.count, 12U);
  GpuCounters counters;
  Counter counted;
  fields(counted, counters);
  auto& [replays, corrected, uncorrected, rows, links, pending, failed, xids] = counters;
  (void)replays, (void)corrected, (void)uncorrected, (void)rows, (void)links, (void)pending;
  (void)failed, (void)xids;
  EXPECT_EQ(counted.count, 8U);
}

} // namespace
} // namespace gpuvet
