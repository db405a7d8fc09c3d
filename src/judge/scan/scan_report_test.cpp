#include "judge/load/testing/build.hpp"
#include "judge/scan/containers.hpp"
#include "judge/scan/scan_report.hpp"
#include "judge/scan/sizes.hpp"
#include "judge/scan/words.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

using testing::device;
using testing::rules;

ScannedFile file(const std::string& path, const std::vector<std::string>& containers,
                 uint64_t size = 1000) {
  ScannedFile file;
  file.binary.path = path;
  file.binary.toolkit = unknown<Version>("test");
  for (const std::string& words : containers) {
    Container container = testing::container(words);
    container.size = size;
    for (Image& image : container.images) {
      image.header_size = 72;
      image.payload_size = 428;
    }
    file.binary.containers.push_back(std::move(container));
  }
  return file;
}

ScanResult scan(std::vector<ScannedFile> files, const std::vector<uint32_t>& sms) {
  ScanResult result;
  result.files = std::move(files);
  for (uint32_t sm : sms)
    result.devices.push_back(device(sm));
  result.asked = true;
  judge_scan(result, rules());
  return result;
}

TEST(ScanReport, VerdictSaysNoBeforeYes) {
  ScanResult result = scan({file("a.so", {"sm_80 compute_80"})}, {75, 80, 120});
  Report report = scan_report(result, {80}, {});
  EXPECT_EQ(report.verdict, "Does not run on 7.5. Runs on 8.0 and 12.0 (JIT).");
  EXPECT_EQ(report.state, State::fault);
  EXPECT_TRUE(falls_short(result));
}

TEST(ScanReport, CountsFilesWhereThereAreSeveral) {
  ScanResult result = scan(
      {file("a.so", {"sm_80"}), file("b.so", {"sm_80 sm_90"}), file("c.so", {"sm_80", "sm_90"})},
      {90});
  EXPECT_EQ(
      scan_report(result, {80}, {}).verdict,
      "Runs only in part on 9.0 (of 3 files 1 does not load, 1 lacks code for some kernels).");
}

TEST(ScanReport, WorstFilesComeFirstThenTheLargest) {
  ScanResult result = scan({file("small.so", {"sm_90"}, 10), file("large.so", {"sm_90"}, 90),
                            file("bad.so", {"sm_75"}, 1)},
                           {90});
  EXPECT_EQ(result.files[0].binary.path, "bad.so");
  EXPECT_EQ(result.files[1].binary.path, "large.so");
}

TEST(ScanReport, EachFailingFileBringsItsErrorAndFix) {
  ScanResult result = scan({file("a.so", {"sm_89"})}, {75});
  Report report = scan_report(result, {80}, {{.code = 209, .text = "no kernel image"}});
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].evidence.at(0), "the program sees CUDA error 209: no kernel image");
  EXPECT_EQ(report.findings[0].cause, "SASS for sm_89, no PTX");
  EXPECT_NE(report.findings[0].fixes.at(0).find("code=sm_75"), std::string::npos);
}

TEST(ScanReport, NothingFoundIsNoSuccess) {
  ScanResult result = scan({}, {90});
  Report report = scan_report(result, {80}, {});
  EXPECT_EQ(report.verdict, "No code for NVIDIA GPUs found.");
  EXPECT_NE(report.state, State::ok);
}

TEST(ScanReport, CommonGpusThatNobodyAskedAboutDoNotFail) {
  ScanResult result = scan({file("a.so", {"sm_90"})}, {75});
  result.asked = false;
  EXPECT_FALSE(falls_short(result));
}

TEST(Sizes, CountWhatNoNamedGpuWouldChoose) {
  ScanResult result =
      scan({file("a.so", {"sm_75 sm_80 sm_86 compute_86", "sm_80 lto_80"})}, {80, 89});
  // 8.0 takes sm_80, 8.9 takes sm_86 and, in the second container, sm_80: sm_75 and the PTX are
  // left.
  EXPECT_EQ(bytes_not_chosen(result, rules()), 2 * 500u);
  auto sizes = sizes_by_target(result);
  EXPECT_EQ(sizes.at(0).name, "sm_80");
  EXPECT_EQ(sizes.at(0).bytes, 1000u);
  EXPECT_EQ(sizes.size(), 5u);
}

TEST(Words, TargetsFitTheirColumn) {
  Binary binary = file("a.so", {"sm_75 sm_80 sm_86 sm_89 sm_90a sm_100f sm_120"}).binary;
  EXPECT_EQ(targets_cell(binary, ImageKind::cubin, 80), "75 80 86 89 90a 100f 120");
  EXPECT_EQ(targets_cell(binary, ImageKind::cubin, 16), "75 80 86 89 +3");
  EXPECT_EQ(targets_cell(binary, ImageKind::ptx, 16), "-");
}

TEST(Words, KernelsReadAsWritten) {
  EXPECT_EQ(readable_kernel("_ZN6matrix9transposeEPKfPfi"),
            "matrix::transpose(float const*, float*, int)");
  EXPECT_EQ(readable_kernel("vector_add"), "vector_add");
  EXPECT_LE(readable_kernel("_Z1kI" + std::string(500, 'i') + "Evv").size(), 60u);
}

TEST(Containers, LinkedOnesAreJudgedWithTheirParts) {
  ScannedFile one = file("a.so", {"sm_80", "sm_80 compute_80"});
  one.binary.containers[0].role = Role::linked;
  one.binary.containers[1].role = Role::relocatable;
  auto verdicts = container_verdicts(one.binary, device(90), nullptr, {}, rules());
  EXPECT_EQ(verdicts[0].outcome, LoadOutcome::linked);
  EXPECT_EQ(verdicts[1].outcome, LoadOutcome::jit);
}

} // namespace
} // namespace gpuvet
