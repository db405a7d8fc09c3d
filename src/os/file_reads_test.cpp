#include "os/file_reads.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace gpuvet {
namespace {

class FileReadsTest : public ::testing::Test {
 protected:
  FileReadsTest() : path_(std::filesystem::temp_directory_path() / "gpuvet-file-reads") {
    std::ofstream(path_) << "0123456789";
  }
  ~FileReadsTest() override { std::filesystem::remove(path_); }

  std::filesystem::path path_;
};

TEST_F(FileReadsTest, ReadsPartsAndStopsAtTheEnd) {
  auto file = open_for_reads(path_);
  ASSERT_TRUE(file) << file.error().what;
  EXPECT_EQ(file->size(), 10U);
  char bytes[8] = {};
  EXPECT_EQ(*file->read(2, bytes, 3), 3U);
  EXPECT_EQ(std::string(bytes, 3), "234");
  EXPECT_EQ(*file->read(8, bytes, 8), 2U);
  EXPECT_EQ(std::string(bytes, 2), "89");
  EXPECT_EQ(*file->read(10, bytes, 8), 0U);
  EXPECT_EQ(*file->read(UINT64_MAX, bytes, 8), 0U);
}

TEST_F(FileReadsTest, SeesThatAnotherWroteToIt) {
  auto file = open_for_reads(path_);
  ASSERT_TRUE(file);
  EXPECT_FALSE(file->changed());
  std::ofstream(path_, std::ios::app) << "x";
  EXPECT_TRUE(file->changed());
  char bytes[16] = {};
  EXPECT_EQ(*file->read(0, bytes, 16), 10U) << "as long as it was when it was opened";
}

TEST_F(FileReadsTest, RefusesWhatIsNoFile) {
  EXPECT_FALSE(open_for_reads("/dev/null"));
  EXPECT_FALSE(open_for_reads("/"));
  EXPECT_FALSE(open_for_reads(path_.string() + ".gone"));
}

} // namespace
} // namespace gpuvet
