// The rows of pick.toml against those that they are about.
#include "facts/pick/pick.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace gpuvet {
namespace {

const Facts& facts() {
  static const Facts tables;
  return tables;
}

TEST(PickTable, EveryFrameworkHasANameAndACommand) {
  auto tables = facts().pick();
  ASSERT_TRUE(tables) << tables.error().where << ": " << tables.error().what;
  std::set<std::string> built, named, with_command;
  for (const FrameworkBuild& build : **facts().frameworks())
    built.insert(build.framework);
  for (const FrameworkName& name : (*tables)->frameworks)
    named.insert(name.framework);
  for (const InstallCommand& command : (*tables)->commands)
    with_command.insert(command.framework);
  EXPECT_EQ(built, named);
  EXPECT_EQ(built, with_command);
}

TEST(PickTable, NamesAreUnique) {
  std::set<std::string> seen;
  for (const FrameworkName& name : (*facts().pick())->frameworks) {
    EXPECT_TRUE(seen.insert(name.framework).second) << name.framework;
    for (const std::string& alias : name.aliases)
      EXPECT_TRUE(seen.insert(alias).second) << alias;
  }
}

TEST(PickTable, RowsAreAboutBuildsThatExist) {
  const auto& builds = **facts().frameworks();
  const PickTables& tables = **facts().pick();
  for (const PickPlatform& platform : tables.platforms)
    for (const std::string& name : platform.builds)
      EXPECT_TRUE(std::any_of(builds.begin(), builds.end(), [&](const FrameworkBuild& build) {
        return build.platform == name;
      })) << name;
  for (const MeasuredPtx& ptx : tables.ptx)
    EXPECT_TRUE(std::any_of(builds.begin(), builds.end(), [&](const FrameworkBuild& build) {
      return build.framework == ptx.framework && build.version == ptx.version && !build.ptx.empty();
    })) << ptx.version;
  for (const NewestPatch& patch : tables.newest)
    EXPECT_TRUE(std::any_of(builds.begin(), builds.end(), [&](const FrameworkBuild& build) {
      return build.framework == patch.framework && build.version == patch.minor;
    })) << patch.minor;
}

TEST(PickTable, AMistakeHasItsLine) {
  Facts wrong([](const std::string&) -> Result<std::string> {
    return std::string(
        "source = [{key = \"S\", text = \"t\"}]\n"
        "install = [\n"
        "  {framework = \"none\", platform = \"pip\", command = \"x\", source = [\"S\"]},\n"
        "]\n");
  });
  auto tables = wrong.pick();
  ASSERT_FALSE(tables);
  EXPECT_EQ(tables.error().where, "pick.toml:3");
  EXPECT_EQ(tables.error().what, "no such framework");
}

} // namespace
} // namespace gpuvet
