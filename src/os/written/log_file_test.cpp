#include "os/written/log_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace gpuvet {
namespace {

std::string content(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(LogFile, GrowsAndIsGoneOnWithOnlyWhenAskedTo) {
  const std::string path = testing::TempDir() + "gpuvet_log_file_test.jsonl";
  std::filesystem::remove(path);
  {
    auto log = open_log(path, false);
    ASSERT_TRUE(log) << log.error().what;
    ASSERT_TRUE(log->add("one\n"));
    EXPECT_EQ(content(path), "one\n"); // before it is closed
  }
  EXPECT_EQ(open_log(path, false).error().where, path);
  EXPECT_EQ(content(path), "one\n");
  auto log = open_log(path, true);
  ASSERT_TRUE(log);
  ASSERT_TRUE(log->add("two\n"));
  EXPECT_EQ(content(path), "one\ntwo\n");
  std::filesystem::remove(path);
}

TEST(LogFile, HalfALineIsEndedFirst) {
  const std::string path = testing::TempDir() + "gpuvet_log_file_half.jsonl";
  std::ofstream(path) << "one\nha";
  auto log = open_log(path, true);
  ASSERT_TRUE(log);
  ASSERT_TRUE(log->add("two\n"));
  EXPECT_EQ(content(path), "one\nha\ntwo\n");
  std::filesystem::remove(path);
}

TEST(LogFile, AFullDiskIsAnError) {
  auto log = open_log("/dev/full", true);
  if (!log) GTEST_SKIP() << "no /dev/full";
  EXPECT_EQ(log->add("x\n").error().what, "the log cannot be written: No space left on device");
}

TEST(LogFile, ALinkIsNotFollowed) {
  const std::string path = testing::TempDir() + "gpuvet_log_file_link";
  std::filesystem::remove(path);
  std::filesystem::create_symlink("/tmp/somewhere", path);
  EXPECT_FALSE(open_log(path, true));
  std::filesystem::remove(path);
}

} // namespace
} // namespace gpuvet
