#include "os/file_map.hpp"
#include "os/written/temporary_file.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

namespace gpuvet {
namespace {

std::string scratch_folder() {
  std::string name = ::testing::TempDir() + "gpuvet-map-XXXXXX";
  return mkdtemp(name.data());
}

TEST(FileMap, ReadsAFileAndSurvivesMoves) {
  std::string path = scratch_folder() + "/f";
  std::ofstream(path) << "content";
  auto map = map_file(path);
  ASSERT_TRUE(map);
  FileMap moved = std::move(*map);
  EXPECT_EQ(moved.bytes().text(), "content");
  moved = FileMap();
  EXPECT_TRUE(moved.bytes().empty());
}

TEST(FileMap, AFileThatShrinksReadsAsZerosAndTells) {
  std::string path = scratch_folder() + "/f";
  std::ofstream(path) << std::string(100'000, 'x');
  auto map = map_file(path);
  ASSERT_TRUE(map);
  EXPECT_FALSE(map->changed());
  ASSERT_EQ(truncate(path.c_str(), 4096), 0);
  unsigned sum = 0;
  for (size_t at = 0; at < map->bytes().size(); at += 512)
    sum += map->bytes().data()[at];
  EXPECT_EQ(sum, 8u * 'x');
  EXPECT_TRUE(map->changed());
  EXPECT_FALSE(map_file(path)->changed());
}

TEST(FileMapDeathTest, ForeignBusErrorsStillEndTheProcess) {
  std::string path = scratch_folder() + "/f";
  std::ofstream(path) << "x";
  auto map = map_file(path);
  ASSERT_TRUE(map);
  EXPECT_DEATH(std::raise(SIGBUS), "");
}

TEST(FileMap, EmptyFilesFoldersAndFifos) {
  std::string folder = scratch_folder();
  std::ofstream made(folder + "/empty");
  EXPECT_TRUE(map_file(folder + "/empty")->bytes().empty());
  EXPECT_FALSE(map_file(folder));
  ASSERT_EQ(mkfifo((folder + "/fifo").c_str(), 0600), 0);
  auto fifo = map_file(folder + "/fifo");
  ASSERT_FALSE(fifo);
  EXPECT_EQ(fifo.error().what, "this is not a regular file");
  EXPECT_FALSE(map_file(folder + "/absent"));
}

TEST(TemporaryFile, HoldsWhatWasAppendedAndLeavesNoName) {
  std::string folder = scratch_folder();
  setenv("TMPDIR", folder.c_str(), 1);
  {
    auto file = TemporaryFile::make();
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->append(Bytes(std::string_view("one "))));
    ASSERT_TRUE(file->append(Bytes(std::string_view("two"))));
    auto map = file->map();
    ASSERT_TRUE(map);
    EXPECT_EQ(map->bytes().text(), "one two");
    EXPECT_EQ(rmdir(folder.c_str()), 0) << "a name was left in the folder";
  }
  setenv("TMPDIR", "/nonexistent", 1);
  auto none = TemporaryFile::make();
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().what.find("TMPDIR"), std::string::npos);
  unsetenv("TMPDIR");
}

} // namespace
} // namespace gpuvet
