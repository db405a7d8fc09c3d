#include "formats/recording/recording.hpp"
#include "probe/image_recording.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace gpuvet {
namespace {

namespace fs = std::filesystem;

class ImageRecording : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / ("gpuvet-recordings-" + std::to_string(::getpid()));
    fs::remove_all(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  void machine(const std::string& name, const std::string& rest) const {
    write(name + "/recording.json", R"({"schema": "gpuvet-recording/1", )" + rest + "}");
  }
  std::string at(const std::string& path) const { return (root_ / path).string(); }

 private:
  fs::path root_;
};

TEST_F(ImageRecording, BasesAreFoundBesideIt) {
  machine("lowest", R"("environment": {"A": "1", "B": "1", "C": "1"})");
  machine("middle", R"("base": "../lowest", "environment": {"B": "2", "C": "2"})");
  machine("top", R"("base": "../middle", "environment": {"C": "3"})");
  auto got = load_recording(at("top"));
  ASSERT_TRUE(got) << got.error().what;
  EXPECT_EQ((*got)->environment,
            (std::map<std::string, std::string>{{"A", "1"}, {"B", "2"}, {"C", "3"}}));
  EXPECT_TRUE(load_recording(at("top/recording.json")));
  EXPECT_TRUE(is_recording(at("top")));
  EXPECT_FALSE(is_recording(at("")));
}

TEST_F(ImageRecording, ARingOfBasesEnds) {
  machine("a", R"("base": "../b")");
  machine("b", R"("base": "../a")");
  auto got = load_recording(at("a"));
  ASSERT_FALSE(got);
  EXPECT_NE(got.error().what.find("ring"), std::string::npos);
}

TEST_F(ImageRecording, AFileMayBeCompressed) {
  write("s.json.zst", compressed_recording(R"({"schema": "gpuvet-recording/1", "about": "x"})"));
  auto got = load_recording(at("s.json.zst"));
  ASSERT_TRUE(got) << got.error().what;
  EXPECT_EQ((*got)->about, "x");
}

TEST_F(ImageRecording, ErrorsNameTheFile) {
  machine("a", R"("base": "../gone")");
  EXPECT_TRUE(load_recording(at("a")).error().where.ends_with("gone"));
  machine("b", R"("abuot": "x")");
  EXPECT_TRUE(load_recording(at("b")).error().where.ends_with("b/recording.json"));
  write("text", "hello");
  EXPECT_FALSE(load_recording(at("text")));
  EXPECT_FALSE(load_recording("/dev/zero"));
}

} // namespace
} // namespace gpuvet
