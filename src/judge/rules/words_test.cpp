#include "judge/rules/words.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

TEST(Words, OfContainersLeadBackToTheirKinds) {
  for (int at = 0; at <= static_cast<int>(ContainerKind::other); ++at) {
    const auto kind = static_cast<ContainerKind>(at);
    const std::string_view word = container_word(kind);
    if (word.empty()) continue;
    EXPECT_EQ(container_kind(word),
              kind == ContainerKind::wsl_docker ? ContainerKind::docker : kind)
        << word;
  }
  EXPECT_EQ(container_word(ContainerKind::none), "");
  EXPECT_EQ(container_word(ContainerKind::wsl_docker), "docker");
  EXPECT_EQ(container_word(ContainerKind::singularity), "apptainer");
  EXPECT_FALSE(container_kind("rkt"));
  EXPECT_FALSE(container_kind(""));
}

TEST(Words, OnlyWhatCannotBeTakenBackIsRemarkedOn) {
  for (Safety safety : {Safety::safe, Safety::changes_files, Safety::needs_root})
    EXPECT_EQ(safety_remark(safety), "");
  for (Safety safety :
       {Safety::restarts_service, Safety::reboot, Safety::hardware, Safety::provider})
    EXPECT_TRUE(safety_remark(safety).starts_with("  (")) << safety_name(safety);
}

} // namespace
} // namespace gpuvet
