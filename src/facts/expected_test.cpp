// What is expected to go together.
#include "facts/facts.hpp"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

namespace gpuvet {
namespace {

const Expected& expected() {
  static const Facts facts;
  static const auto table = facts.expected();
  if (!table) throw std::runtime_error(table.error().where + ": " + table.error().what);
  return **table;
}

TEST(Expected, EachReleaseOfACompanionHasOneRow) {
  std::set<std::pair<std::string, std::string>> seen;
  for (const Companion& row : expected().companions)
    EXPECT_TRUE(seen.emplace(row.package, to_string(row.version)).second) << row.package;
}

TEST(Expected, TorchvisionOfPublishedPairs) {
  auto of = [](const std::string& version) {
    for (const Companion& row : expected().companions)
      if (row.package == "torchvision" && to_string(row.version) == version)
        return to_string(row.of_version);
    return std::string();
  };
  EXPECT_EQ(of("0.15"), "2.0");
  EXPECT_EQ(of("0.23"), "2.8");
  EXPECT_EQ(of("0.28"), "2.13");
}

TEST(Expected, InstanceTypes) {
  std::set<std::pair<std::string, std::string>> seen;
  for (const InstanceType& row : expected().instances) {
    EXPECT_TRUE(seen.emplace(row.cloud, row.type).second) << row.type;
    EXPECT_GT(row.gpus, 0U) << row.type;
  }
  auto gpus = [](std::string_view cloud, std::string_view type) {
    const InstanceType* row = find_instance(expected(), cloud, type);
    return row ? row->gpus : 0U;
  };
  EXPECT_EQ(gpus("aws", "g5.4xlarge"), 1U);    // by the pattern
  EXPECT_EQ(gpus("aws", "g5.48xlarge"), 8U);   // by its own row
  EXPECT_EQ(gpus("aws", "g5g.xlarge"), 1U);    // not g5's
  EXPECT_EQ(gpus("azure", "g5.48xlarge"), 0U); // of another cloud
  EXPECT_EQ(gpus("lambda", "gpu_8x_h100_sxm5"), 8U);
}

} // namespace
} // namespace gpuvet
