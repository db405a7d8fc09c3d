// Each loading rule by its documented or reported example; the measured table stands beside.
#include "judge/load/testing/build.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

using testing::container;
using testing::device;
using testing::driver;
using testing::load;
using testing::rules;

LoadOutcome outcome(const std::string& words, uint32_t sm) {
  return load(words, sm).outcome;
}

TEST(Sass, RunsOnEqualOrHigherMinorOfItsMajor) {
  EXPECT_EQ(outcome("sm_86", 89), LoadOutcome::same_major);
  EXPECT_EQ(outcome("sm_80", 86), LoadOutcome::same_major);
  EXPECT_EQ(outcome("sm_70", 75), LoadOutcome::same_major);
  EXPECT_EQ(outcome("sm_60", 61), LoadOutcome::same_major);
  EXPECT_EQ(outcome("sm_50", 52), LoadOutcome::same_major);
  EXPECT_EQ(outcome("sm_100", 103), LoadOutcome::same_major);
  EXPECT_EQ(outcome("sm_120", 121), LoadOutcome::same_major); // GB10 is no Tegra here
  EXPECT_EQ(outcome("sm_89", 86), LoadOutcome::none);
  EXPECT_EQ(outcome("sm_103", 100), LoadOutcome::none);
}

TEST(Sass, NeverAcrossMajors) {
  EXPECT_EQ(load("sm_89", 75).error, 209); // built on an RTX 4090, dies on a T4
  EXPECT_EQ(load("sm_89", 90).error, 209);
  EXPECT_EQ(load("sm_90", 100).error, 209);
  EXPECT_EQ(load("sm_100", 120).error, 209);
}

TEST(Sass, ArchitectureSpecificIsExact) {
  EXPECT_EQ(outcome("sm_90a", 90), LoadOutcome::native);
  EXPECT_EQ(load("sm_90a compute_90a", 100).error, 209); // nothing for Blackwell
  EXPECT_EQ(load("sm_100a", 103).error, 209);
}

TEST(Sass, FamilySpecificFollowsTheTable) {
  EXPECT_EQ(outcome("sm_100f", 100), LoadOutcome::native);
  EXPECT_EQ(outcome("sm_100f", 103), LoadOutcome::same_major);
  EXPECT_EQ(outcome("sm_120f", 121), LoadOutcome::same_major);
  EXPECT_EQ(load("sm_100f", 120).error, 209);
  EXPECT_EQ(load("sm_103f", 100).error, 209);
  EXPECT_EQ(load("sm_90f", 90).error, 209); // there is no family 9.x
}

TEST(Sass, TegraIsDisputedNeverACertainYes) {
  LoadVerdict orin = load("sm_80", 87);
  EXPECT_EQ(orin.outcome, LoadOutcome::may_fail);
  EXPECT_EQ(orin.error, 209);
  EXPECT_EQ(outcome("sm_87", 87), LoadOutcome::native);
  EXPECT_EQ(outcome("sm_80 compute_80", 87), LoadOutcome::jit);
  EXPECT_EQ(outcome("sm_87", 89), LoadOutcome::may_fail);
  EXPECT_EQ(outcome("sm_90", 87), LoadOutcome::none);
}

TEST(Selection, SassBeatsPtxAndTheHighestWins) {
  EXPECT_EQ(load("compute_90a sm_90", 90).image, 1);
  EXPECT_EQ(load("sm_80 sm_86", 89).image, 1);
  EXPECT_EQ(load("sm_86 sm_80", 89).image, 0);
  EXPECT_EQ(load("compute_75 compute_80 compute_70", 90).image, 1);
  EXPECT_EQ(load("sm_90 sm_90a", 90).image, 1);
  EXPECT_EQ(load("sm_100 sm_100f sm_100a", 100).image, 2);
  EXPECT_EQ(load("sm_90 sm_90", 90).image, 0);
}

TEST(Selection, DamageHasNoSecondChoice) {
  Container broken = container("sm_90 compute_80 sm_90");
  broken.images[0].damage = Damage::payload;
  LoadVerdict verdict = load_container(broken, device(90), nullptr, {}, rules());
  EXPECT_EQ(verdict.error, 200);
  EXPECT_EQ(verdict.image, 0);
  broken.images[0].target.sm = 80; // not chosen, so never read
  EXPECT_EQ(load_container(broken, device(90), nullptr, {}, rules()).image, 2);
}

TEST(Ptx, RunsOnEverythingNotOlder) {
  EXPECT_EQ(outcome("compute_52", 75), LoadOutcome::jit);
  EXPECT_EQ(outcome("compute_52", 121), LoadOutcome::jit);
  EXPECT_EQ(outcome("compute_72", 90), LoadOutcome::jit); // Tegra targets included
  EXPECT_EQ(load("compute_90", 89).error, 209);
  EXPECT_EQ(load("compute_90a", 100).error, 209);
  EXPECT_EQ(outcome("compute_100f", 103), LoadOutcome::jit);
  EXPECT_EQ(load("compute_100f", 120).error, 209);
}

TEST(Ptx, NeedsADriverThatKnowsItsIsa) {
  LoadDriver old = driver("535.104.05");
  Container nine = container("compute_90"); // PTX 9.0, CUDA 13.0
  EXPECT_EQ(load_container(nine, device(90), &old, {}, rules()).error, 222);
  nine.images[0].version_major = 8;
  nine.images[0].version_minor = 2; // CUDA 12.2 = branch 535
  EXPECT_EQ(load_container(nine, device(90), &old, {}, rules()).outcome, LoadOutcome::jit);
  nine.images[0].version_minor = 3;
  EXPECT_EQ(load_container(nine, device(90), &old, {}, rules()).error, 222);
}

TEST(Ptx, ATieGoesToTheLastOnlyForTheDevicesOwnTarget) {
  EXPECT_EQ(load("compute_90 compute_90", 90).image, 1);
  EXPECT_EQ(load("compute_80 compute_80", 90).image, 0);
  EXPECT_EQ(load("compute_90a compute_90a", 90).image, 0);
}

TEST(Ptx, BareTextIsCompiledWhateverItIsFor) {
  Container text = container("compute_100");
  text.role = Role::bare;
  EXPECT_EQ(load_container(text, device(90), nullptr, {}, rules()).error, 218);
  EXPECT_EQ(load_container(text, device(90), nullptr, {.disable_ptx_jit = true}, rules()).error,
            223);
  EXPECT_EQ(load_container(text, device(100), nullptr, {}, rules()).outcome, LoadOutcome::jit);
}

TEST(Ptx, RelocatableTextMayNeedMore) {
  Container text = container("compute_80");
  text.images[0].kind = ImageKind::relocatable_ptx;
  EXPECT_EQ(load_container(text, device(90), nullptr, {}, rules()).outcome, LoadOutcome::may_fail);
  text.images.push_back(testing::image("compute_75"));
  EXPECT_EQ(load_container(text, device(90), nullptr, {}, rules()).image, 1);
}

TEST(Environment, Switches) {
  EXPECT_EQ(load("sm_90 compute_80", 90, {.force_ptx_jit = true}).image, 1);
  EXPECT_EQ(load("sm_90", 90, {.force_ptx_jit = true}).error, 209);
  EXPECT_EQ(load("compute_80", 90, {.disable_ptx_jit = true}).error, 223);
  EXPECT_EQ(load("sm_90 compute_80", 90, {.disable_ptx_jit = true}).outcome, LoadOutcome::native);
  EXPECT_EQ(load("sm_80", 90, {.disable_ptx_jit = true}).error, 209);
}

TEST(Kinds, LtoIsNeverLoadedAndUnknownKindsAreIgnored) {
  EXPECT_EQ(load("lto_90", 90).error, 209);
  EXPECT_EQ(load("lto_80 compute_80", 90).image, 1);
  Container odd = container("sm_90 compute_80");
  odd.images[0].kind = static_cast<ImageKind>(0xffff);
  EXPECT_EQ(load_container(odd, device(90), nullptr, {}, rules()).image, 1);
}

TEST(Kinds, OneThatCrashedADriverIsNeverAYes) {
  Container odd = container("sm_90 compute_80");
  odd.images[1].kind = static_cast<ImageKind>(0x10);
  EXPECT_EQ(load_container(odd, device(90), nullptr, {}, rules()).outcome, LoadOutcome::may_fail);
}

TEST(Malformed, LosesTheWholeContainer) {
  Container zero = container("sm_90 sm_80");
  zero.images[1].target.sm = 0;
  EXPECT_EQ(load_container(zero, device(90), nullptr, {}, rules()).error, 999);
  Container future = container("sm_90");
  future.version = 2;
  EXPECT_EQ(load_container(future, device(90), nullptr, {}, rules()).error, 200);
  Container hang = container("sm_90");
  hang.hangs = true;
  hang.problem = "an entry filled with zeros";
  LoadVerdict verdict = load_container(hang, device(90), nullptr, {}, rules());
  EXPECT_FALSE(loads(verdict));
  EXPECT_NE(verdict.reason.find("never returns"), std::string::npos);
}

TEST(Linked, FallsBackToThePartsOnlyWhenItHasNothing) {
  Container linked = container("sm_80"), part = container("sm_80 compute_80");
  std::vector<const Container*> parts = {&part, &part};
  EXPECT_EQ(load_linked(linked, parts, device(80), nullptr, {}, rules()).outcome,
            LoadOutcome::native);
  EXPECT_EQ(load_linked(linked, parts, device(90), nullptr, {}, rules()).outcome,
            LoadOutcome::linked);
  Container sass_only = container("sm_80");
  parts[1] = &sass_only;
  EXPECT_EQ(load_linked(linked, parts, device(90), nullptr, {}, rules()).error, 300);
  parts[0] = &sass_only;
  EXPECT_EQ(load_linked(linked, parts, device(90), nullptr, {}, rules()).error, 500);
  linked.images[0].damage = Damage::payload;
  EXPECT_EQ(load_linked(linked, parts, device(80), nullptr, {}, rules()).error, 200);
}

TEST(Reasons, SayWhatIsThere) {
  EXPECT_EQ(load("sm_80 sm_86 compute_90", 75).reason, "SASS for sm_80, sm_86, PTX for compute_90");
  EXPECT_EQ(load("sm_89", 75).reason, "SASS for sm_89, no PTX");
}

// Entries of TensorFlow 2.8.4 say compute_80 and PTX 6.3; their text, compressed, is for sm_75.
// Such code runs on an A100.
TEST(Load, VersionOfPtxThatWasNotReadSaysNothingOfItsTarget) {
  Container tensorflow = testing::container("sm_70 sm_75 compute_80");
  Image& ptx = tensorflow.images.back();
  ptx.version_major = 6;
  ptx.version_minor = 3;
  ptx.compression = Compression::lz4_block;
  LoadDriver newest = testing::driver("580.159.04");
  EXPECT_EQ(load_container(tensorflow, testing::device(80), &newest, {}, rules()).outcome,
            LoadOutcome::jit);
  ptx.payload_sm = 75; // read: sm_75 came with PTX 6.3
  EXPECT_EQ(load_container(tensorflow, testing::device(80), &newest, {}, rules()).outcome,
            LoadOutcome::jit);
  ptx.payload_sm = 80; // read: PTX 6.3 does not know it
  EXPECT_EQ(load_container(tensorflow, testing::device(80), &newest, {}, rules()).error, 218);
}

} // namespace
} // namespace gpuvet
