#include "gpu/testing/fakes.hpp"
#include "gpu/work/telemetry.hpp"
#include "gpu/work/telemetry_child.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

std::vector<VerifiedGpu> gpus(int count) {
  std::vector<VerifiedGpu> all;
  for (int at = 0; at < count; ++at) {
    VerifiedGpu gpu;
    gpu.uuid = "GPU-0000000" + std::to_string(at) + "-0001-0203-0405-060708090a0b";
    all.push_back(gpu);
  }
  return all;
}

TelemetryOptions fake_telemetry() {
  TelemetryOptions options;
  options.nvml_library = fake("current", "libnvidia-ml.so.1");
  options.every_s = 0.02;
  options.patience_s = 10; // a busy machine is no hang
  return options;
}

std::vector<VerifiedGpu> watched(int count, const std::string& words, double seconds,
                                 const TelemetryOptions& options = fake_telemetry()) {
  Steered steered("GPUVET_FAKE_NVML", words);
  std::vector<VerifiedGpu> all = gpus(count);
  Telemetry telemetry(all, std::chrono::steady_clock::now(), options);
  auto began = std::chrono::steady_clock::now(); // the child may start late on a busy machine
  while (seconds_since(began) < 2 && !telemetry.latest(all[0].uuid))
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  telemetry.finish(all);
  return all;
}

TEST(Telemetry, SamplesAllGpus) {
  auto all = watched(2, "gpus=2,clock=1755,reasons=4,held=74", 0.5);
  for (const VerifiedGpu& gpu : all) {
    ASSERT_GE(gpu.moments.size(), 3u);
    const GpuMoment &first = gpu.moments.front(), &last = gpu.moments.back();
    EXPECT_EQ(first.sm_clock_mhz, 1755);
    EXPECT_EQ(first.memory_clock_mhz, 3201);
    EXPECT_EQ(first.power_w, 76);
    EXPECT_EQ(first.temperature_c, 31);
    EXPECT_EQ(first.memory_temperature_c, 40);
    EXPECT_EQ(first.link_generation, 5u);
    EXPECT_EQ(first.link_width, 16u);
    EXPECT_EQ(first.reasons, 4u);
    EXPECT_EQ(first.thermal_ns, 0u);
    EXPECT_EQ(first.brake_ns, 0u);
    EXPECT_GE(first.at_s, 0);
    double wall_ns = (last.at_s - first.at_s) * 1e9;
    EXPECT_NEAR(static_cast<double>(*last.power_ns - *first.power_ns), wall_ns, wall_ns / 2);
    EXPECT_GT(*last.energy_j, 0);
    EXPECT_EQ(gpu.after.xids, 0u);
    EXPECT_EQ(gpu.words.count("telemetry"), 0u);
  }
}

TEST(Telemetry, CountsXidsOfTheirGpu) {
  auto all = watched(2, "gpus=2,xid=1", 0.2);
  EXPECT_EQ(all[0].after.xids, 0u);
  EXPECT_EQ(all[1].after.xids, 1u);
  EXPECT_EQ(watched(1, "error=nvmlEventSetCreate:3", 0.2)[0].after.xids, std::nullopt);
}

TEST(Telemetry, AHangEndsItWithTheReasonAndKeepsTheRest) {
  TelemetryOptions options = fake_telemetry();
  options.patience_s = 0.5;
  auto all = watched(2, "gpus=2,hang=1:nvmlDeviceGetPowerUsage", 2, options);
  ASSERT_EQ(all[0].moments.size(), 1u);
  EXPECT_TRUE(all[1].moments.empty());
  EXPECT_EQ(all[0].words["telemetry"],
            "NVML gave no answer in nvmlDeviceGetPowerUsage within 0.5 s");
}

TEST(Telemetry, ACrashIsToldToo) {
  auto all = watched(1, "segv=nvmlDeviceGetTemperature", 0.3);
  EXPECT_EQ(all[0].words["telemetry"], "NVML crashed in nvmlDeviceGetTemperature (SIGSEGV)");
}

TEST(Telemetry, SaysWhyItHasNothing) {
  EXPECT_EQ(watched(1, "error=nvmlInit_v2:9", 0.2)[0].words["telemetry"],
            "nvmlInit_v2: Driver Not Loaded");
  TelemetryOptions nowhere = fake_telemetry();
  nowhere.nvml_library = "/nowhere/libnvidia-ml.so.1";
  EXPECT_NE(watched(1, "", 0.2, nowhere)[0].words["telemetry"].find("/nowhere/"),
            std::string::npos);
  auto all = watched(2, "gpus=1", 0.2); // NVML does not know the second
  EXPECT_FALSE(all[0].moments.empty());
  EXPECT_EQ(all[0].words.count("telemetry"), 0u);
  EXPECT_TRUE(all[1].words["telemetry"].starts_with("nvmlDeviceGetHandleByUUID: "));
}

TEST(Telemetry, WhatNvmlDoesNotKnowIsAbsent) {
  auto all = watched(1, "error=nvmlDeviceGetFieldValues:3,error=nvmlDeviceGetPowerUsage:3", 0.2);
  ASSERT_FALSE(all[0].moments.empty());
  EXPECT_EQ(all[0].moments[0].power_w, std::nullopt);
  EXPECT_EQ(all[0].moments[0].power_ns, std::nullopt);
  EXPECT_EQ(all[0].moments[0].temperature_c, 31);
}

TEST(Telemetry, ALongRunKeepsEveryOtherMoment) {
  TelemetryOptions options = fake_telemetry();
  options.most_moments = 8;
  options.every_s = 0.005;
  auto all = watched(1, "", 0.5, options);
  EXPECT_LT(all[0].moments.size(), 8u);
  EXPECT_GE(all[0].moments.size(), 4u);
  const auto& moments = all[0].moments;
  EXPECT_GT(moments.back().at_s - moments.front().at_s, 0.1);
  double first_gap = moments[1].at_s - moments[0].at_s;
  double last_gap = moments.back().at_s - moments[moments.size() - 2].at_s;
  EXPECT_GT(last_gap, first_gap / 3); // the later part is no denser
}

TEST(Telemetry, TellsTheLatestAndStopsAtOnce) {
  std::vector<VerifiedGpu> all = gpus(1);
  auto began = std::chrono::steady_clock::now();
  {
    Telemetry telemetry(all, began, fake_telemetry());
    for (int tries = 0; tries < 3000 && !telemetry.latest(all[0].uuid); ++tries)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_TRUE(telemetry.latest(all[0].uuid));
    EXPECT_FALSE(telemetry.latest("GPU-other"));
    began = std::chrono::steady_clock::now();
  }
  EXPECT_LT(seconds_since(began), 10);
}

TEST(Telemetry, AMomentReadsBackAsItWas) {
  GpuMoment moment;
  moment.at_s = 1.25;
  moment.power_w = 700.5;
  moment.reasons = 4;
  moment.energy_j = 123456789.125;
  auto back = moment_from(moment_text(moment));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->at_s, 1.25);
  EXPECT_EQ(back->power_w, 700.5);
  EXPECT_EQ(back->reasons, 4u);
  EXPECT_EQ(back->energy_j, 123456789.125);
  EXPECT_EQ(back->sm_clock_mhz, std::nullopt);
  EXPECT_FALSE(moment_from("1.25 -"));
  EXPECT_FALSE(moment_from(moment_text(moment) + " 3"));
  EXPECT_FALSE(moment_from("x" + moment_text(moment)));
}

} // namespace
} // namespace gpuvet
