// The tables of installations hold together: every name that one row takes from another exists, and
// every tag that a step asks for can be set.
#include "facts/facts.hpp"
#include "facts/setup/setup.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <stdexcept>

namespace gpuvet {
namespace {

const Facts& facts() {
  static const Facts all;
  return all;
}

const SetupTables& tables() {
  static const auto found = facts().setup();
  if (!found) throw std::runtime_error(found.error().where + ": " + found.error().what);
  return **found;
}

bool is_toolkit(const std::string& version) {
  auto toolkits = facts().toolkits();
  return toolkits && std::any_of((*toolkits)->begin(), (*toolkits)->end(),
                                 [&](const Toolkit& row) { return row.version == version; });
}

TEST(SetupTables, EveryDistributionOfTheManualIsThere) {
  std::set<std::string> names;
  for (const SetupDistribution& row : tables().distributions) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_TRUE(row.packages == "apt" || row.packages == "dnf" || row.packages == "zypper");
  }
  for (const char* name :
       {"debian12", "debian13", "ubuntu2204", "ubuntu2404", "ubuntu2604", "rhel8", "rhel9",
        "rhel10", "fedora44", "sles15", "amzn2023", "wsl-ubuntu"})
    EXPECT_TRUE(names.count(name)) << name;
}

TEST(SetupTables, VersionsOfRepositoriesAreToolkitsInOrder) {
  std::set<std::string> seen;
  for (const PackagedToolkits& row : tables().packaged) {
    EXPECT_TRUE(seen.insert(row.repository + row.arch).second) << row.repository;
    for (const std::string& version : {row.first, row.unsure, row.seen, row.last}) {
      if (!version.empty()) {
        EXPECT_TRUE(is_toolkit(version)) << row.repository << " " << version;
      }
    }
    if (row.first.empty()) continue;
    auto first = parse_version(row.first), newest = parse_version(row.seen);
    EXPECT_LE(*first, *newest) << row.repository;
    if (!row.unsure.empty()) {
      EXPECT_LT(*parse_version(row.unsure), *first) << row.repository;
    }
    if (!row.last.empty()) {
      EXPECT_EQ(*parse_version(row.last), *newest) << row.repository;
    }
  }
}

TEST(SetupTables, EveryCapabilityHasItsKernelModule) {
  auto gpus = facts().gpus();
  ASSERT_TRUE(gpus);
  for (const Gpu& gpu : **gpus)
    EXPECT_TRUE(std::any_of(
        tables().flavours.begin(), tables().flavours.end(),
        [&](const ModuleFlavour& row) { return row.first_sm <= gpu.sm && gpu.sm <= row.last_sm; }))
        << gpu.name;
}

TEST(SetupTables, TagsAreKnown) {
  std::set<std::string> known = {"apt",       "dnf",      "zypper",     "host",    "wsl",
                                 "container", "packages", "runfile",    "offline", "toolkit",
                                 "driver",    "cudnn",    "repository", "open",    "proprietary",
                                 "pinned",    "newest",   "sbsa",       "nouveau", "secure-boot",
                                 "gpu",       "override"};
  for (const SetupDistribution& row : tables().distributions)
    known.insert(row.tags.begin(), row.tags.end());
  auto check = [&](const std::string& who, const std::vector<std::string>& tags) {
    for (const std::string& tag : tags)
      EXPECT_TRUE(known.count(tag)) << who << ": " << tag;
  };
  std::set<std::string> ids;
  for (const SetupStep& row : tables().steps) {
    EXPECT_TRUE(ids.insert(row.id).second) << row.id;
    check(row.id, row.needs);
    check(row.id, row.unless);
  }
  for (const SetupHelper& row : tables().helpers) {
    check(row.name, row.needs);
    check(row.name, row.unless);
  }
  for (const SetupRemoval& row : tables().removals)
    check(row.check, row.needs);
}

TEST(SetupTables, RemovalsAreOfChecks) {
  auto checks = facts().checks();
  ASSERT_TRUE(checks);
  for (const SetupRemoval& row : tables().removals)
    EXPECT_TRUE(std::any_of((*checks)->checks.begin(), (*checks)->checks.end(),
                            [&](const CheckRow& check) { return check.id == row.check; }))
        << row.check;
}

TEST(SetupTables, DamagedRowsAreRefusedWithTheirLine) {
  auto of = [](const std::string& text) {
    return Facts([text](const std::string&) -> Result<std::string> { return text; });
  };
  std::string source = "source = [{key = \"A\", text = \"b\"}]\n";
  std::string row =
      "flavour = [{first_sm = 1, last_sm = 2, text = \"t\", source = [\"A\"], module = ";
  EXPECT_TRUE(of(source + row + "\"open\"}]\n").setup());
  auto wrong = of(source + row + "\"closed\"}]\n").setup();
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().where.find("setup.toml:2"), std::string::npos) << wrong.error().where;
  auto unknown = of(source + "packaged = [{repository = \"x\", arch = \"y\", source = [\"A\"]}]\n");
  EXPECT_FALSE(unknown.setup());
}

} // namespace
} // namespace gpuvet
