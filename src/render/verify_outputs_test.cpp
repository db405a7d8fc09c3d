#include "render/verify_outputs.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace gpuvet {
namespace {

JudgedStep made(const std::string& id, Verdict verdict, std::optional<double> value = {}) {
  JudgedStep step;
  step.id = id;
  step.layer = "bandwidth";
  step.gpu = "GPU-1";
  step.verdict = verdict;
  step.value = value;
  step.unit = "GB/s";
  return step;
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(VerifyOutputs, JunitHasASuiteForEachLayer) {
  JudgedStep slow = made("copy-to-gpu", Verdict::fail, 20);
  slow.why = "20 of 63 GB/s";
  slow.evidence = {"16 samples"};
  JudgedStep other = made("gemm", Verdict::unknown);
  other.layer = "stress";
  const std::string xml = verify_junit({slow, made("memory-check", Verdict::pass), other});
  EXPECT_TRUE(holds(xml, "<testsuites name=\"gpuvet verify\" tests=\"3\" failures=\"1\" "
                         "errors=\"1\" skipped=\"0\">"))
      << xml;
  EXPECT_TRUE(holds(xml, "<testsuite name=\"stress\""));
  EXPECT_TRUE(holds(xml, "name=\"copy-to-gpu GPU-1\""));
  EXPECT_TRUE(holds(xml, "<failure message=\"20 of 63 GB/s\">16 samples"));
}

TEST(VerifyOutputs, ASkipIsNoPassInJunit) {
  EXPECT_TRUE(holds(verify_junit({made("a", Verdict::skipped)}), "skipped=\"1\""));
}

TEST(VerifyOutputs, PrometheusHasBaseUnitsAndEachFamilyOnce) {
  Measurements run;
  run.seconds = 12.5;
  run.driver = "580 \"x\"\\\n";
  JudgedStep copy = made("copy-to-gpu", Verdict::pass, 55.4);
  copy.theoretical = 63;
  JudgedStep gap = made("launch-gap", Verdict::warn, 6);
  gap.unit = "us";
  const std::string text = verify_prometheus(run, {copy, gap, copy}, 0);
  EXPECT_TRUE(holds(text,
                    "gpuvet_verify_bytes_per_second{check=\"copy-to-gpu\",layer=\"bandwidth\","
                    "gpu=\"GPU-1\"} 55400000000\n"))
      << text;
  EXPECT_TRUE(holds(text,
                    "gpuvet_verify_seconds{check=\"launch-gap\",layer=\"bandwidth\",gpu=\"GPU-1\"} "
                    "6e-06\n") ||
              holds(text, "0.000006"))
      << text;
  EXPECT_TRUE(holds(text, "verdict=\"warn\"} 1\n"));
  EXPECT_TRUE(holds(text, "gpuvet_verify_exit_status 0\n"));
  EXPECT_TRUE(holds(text, "driver=\"580 \\\"x\\\"\\\\\\n\""));
  size_t times = 0;
  for (size_t at = text.find("# TYPE gpuvet_verify_verdict "); at != std::string::npos;
       at = text.find("# TYPE gpuvet_verify_verdict ", at + 1))
    ++times;
  EXPECT_EQ(times, 1U);
  const std::string series = "gpuvet_verify_fraction{check=\"copy-to-gpu\"";
  EXPECT_EQ(text.find(series), text.rfind(series)); // a series may stand only once
}

TEST(VerifyOutputs, PrometheusNeverSaysNan) {
  JudgedStep step = made("copy-to-gpu", Verdict::unknown, std::nan(""));
  step.theoretical = 0;
  const std::string text = verify_prometheus({}, {step}, 3);
  EXPECT_FALSE(holds(text, "nan"));
}

TEST(VerifyOutputs, NagiosStatus) {
  struct Case {
    int exit_status;
    Verdict verdict;
    int status;
    const char* word;
  };
  for (const Case& one :
       {Case{0, Verdict::pass, 0, "OK"}, Case{0, Verdict::warn, 1, "WARNING"},
        Case{4, Verdict::warn, 1, "WARNING"}, Case{1, Verdict::fail, 2, "CRITICAL"},
        Case{3, Verdict::unknown, 3, "UNKNOWN"}, Case{130, Verdict::pass, 3, "UNKNOWN"}}) {
    const NagiosLine line = verify_nagios("text", {made("a", one.verdict)}, one.exit_status);
    EXPECT_EQ(line.status, one.status);
    EXPECT_EQ(line.text, std::string("GPUVET ") + one.word + " - text");
  }
}

TEST(VerifyOutputs, NagiosIsOneLineWithFigures) {
  JudgedStep copy = made("copy-to-gpu", Verdict::pass, 55.4);
  copy.limit = 51.66;
  JudgedStep gap = made("launch-gap", Verdict::pass, 2.5);
  gap.unit = "us";
  gap.limit = 5;
  gap.at_most = true;
  const NagiosLine line = verify_nagios("two\nlines | and a bar", {copy, gap}, 0);
  EXPECT_EQ(line.text, "GPUVET OK - two lines   and a bar | 'copy-to-gpu_0'=55.4GB/s;;51.66: "
                       "'launch-gap_0'=2.5us;;5");
}

} // namespace
} // namespace gpuvet
