#include "gpu/work/telling.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <unistd.h>

namespace gpuvet {
namespace {

std::string told(const std::function<void(StepTeller&)>& tell) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  StepTeller teller(ends[1], std::chrono::steady_clock::now());
  tell(teller);
  close(ends[1]);
  std::string text(65536, ' ');
  ssize_t got = read(ends[0], text.data(), text.size());
  close(ends[0]);
  text.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return text;
}

StepResult result_of(std::string text) {
  StepResult result;
  for (const StepLine& line : take_step_lines(text))
    take_step_line(line, result);
  return result;
}

TEST(Telling, WhatIsToldArrives) {
  StepResult result = result_of(told([](StepTeller& tell) {
    tell.begin("copy-to-gpu");
    tell.ready();
    tell.about_to_call("cuMemAlloc_v2");
    tell.reading("rate", "GB/s", 1.0 / 3);
    tell.reading("rate", "GB/s", 1e-300);
    tell.reading("checked", "bytes", 18446744073709551615.0);
    tell.word("first place", "byte 5\nof \\ 7");
    tell.word("empty", "");
    tell.stopped(StepState::failed, "cuStreamSynchronize", 719, "CUDA_ERROR_LAUNCH_FAILED",
                 "a kernel ended\nabnormally");
  }));
  EXPECT_EQ(result.readings.at("rate").samples, (std::vector<double>{1.0 / 3, 1e-300}));
  EXPECT_EQ(result.readings.at("rate").unit, "GB/s");
  EXPECT_EQ(result.readings.at("checked").samples.at(0), 18446744073709551615.0);
  EXPECT_EQ(result.words.at("first_place"), "byte 5\nof \\ 7");
  EXPECT_EQ(result.words.at("empty"), "");
  EXPECT_EQ(result.state, StepState::failed);
  EXPECT_EQ(result.call, "cuStreamSynchronize");
  EXPECT_EQ(result.code, 719);
  EXPECT_EQ(result.error, "CUDA_ERROR_LAUNCH_FAILED");
  EXPECT_EQ(result.reason, "a kernel ended\nabnormally");
}

TEST(Telling, AReasonWithoutACallHasNone) {
  StepResult result = result_of(told(
      [](StepTeller& tell) { tell.stopped(StepState::unsupported, "", 0, "", "one NUMA node"); }));
  EXPECT_EQ(result.state, StepState::unsupported);
  EXPECT_EQ(result.call, "");
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.reason, "one NUMA node");
}

TEST(Telling, EverythingIsThereBeforeACall) {
  std::string text = told([](StepTeller& tell) {
    tell.word("a", "b");
    tell.about_to_call("cuInit");
  });
  std::string rest = text;
  auto lines = take_step_lines(rest);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[1].kind, 'c');
  EXPECT_EQ(lines[1].a, "cuInit");
  EXPECT_TRUE(number_of(lines[1]));
  EXPECT_EQ(rest, "");
}

TEST(Telling, HalfALineIsNoLine) {
  std::string text = "r rate GB/s - 5\nr rate GB/s - 6";
  EXPECT_EQ(take_step_lines(text).size(), 1u);
  EXPECT_EQ(text, "r rate GB/s - 6");
  text += "6\n";
  auto lines = take_step_lines(text);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(number_of(lines[0]), 66);
}

TEST(Telling, NonsenseIsNoLine) {
  for (const char* text : {"", "r", "r ", "r a b", "r a b ", "rr a b - 5", "r  b - 5", " r a b 5"})
    EXPECT_FALSE(parse_step_line(text)) << text;
  EXPECT_TRUE(parse_step_line("w a - - ")); // an empty text
}

TEST(Telling, WhatIsNoNumberIsNoReading) {
  for (double value : {std::numeric_limits<double>::infinity(), std::nan("")}) {
    StepResult result =
        result_of(told([&](StepTeller& tell) { tell.reading("rate", "GB/s", value); }));
    EXPECT_EQ(result.state, StepState::failed);
    EXPECT_TRUE(result.readings.empty());
    EXPECT_TRUE(result.reason.starts_with("the measurement of rate came out as")) << result.reason;
  }
  EXPECT_EQ(result_of("r rate GB/s - 5x\n").state, StepState::failed);
}

TEST(Telling, ProgressIsNotToldTooOften) {
  std::string text = told([](StepTeller& tell) {
    for (int at = 0; at < 1000; ++at)
      tell.progress(at / 1000.0, "rate", 5, "GB/s");
  });
  EXPECT_LT(take_step_lines(text).size(), 100u);
  StepLine line = *parse_step_line("p rate GB/s 0.25 55.5");
  EXPECT_EQ(line.c, "0.25");
  EXPECT_EQ(number_of(line), 55.5);
}

} // namespace
} // namespace gpuvet
