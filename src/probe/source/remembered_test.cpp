#include "probe/source/remembered.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace gpuvet {
namespace {

struct Counted {
  std::atomic<int> entries = 0, paths = 0, elves = 0, lists = 0;

  Source source() {
    Source source;
    source.entry = [this](const std::string& path) -> Result<Entry> {
      ++entries;
      if (path == "/none") return fail(kMissing, path);
      return Entry{.size = path.size()};
    };
    source.real_path = [this](const std::string& path) -> Result<std::string> {
      ++paths;
      return "/real" + path;
    };
    source.elf = [this](const std::string& path) -> Result<ElfFacts> {
      ++elves;
      ElfFacts facts;
      facts.soname = path;
      return facts;
    };
    source.list = [this](const std::string&) -> Result<std::vector<std::string>> {
      ++lists;
      return std::vector<std::string>();
    };
    return source;
  }
};

TEST(Remembered, AsksOncePerPathAndCopiesShareIt) {
  Counted counted;
  Source source = remembered(counted.source());
  Source copy = source;
  for (int turn = 0; turn < 3; ++turn) {
    EXPECT_EQ(source.entry("/a")->size, 2u);
    EXPECT_EQ(copy.entry("/abc")->size, 4u);
    EXPECT_EQ(*copy.real_path("/a"), "/real/a");
    EXPECT_EQ(source.elf("/a")->soname, "/a");
    EXPECT_TRUE(source.list("/a"));
  }
  EXPECT_EQ(counted.entries, 2);
  EXPECT_EQ(counted.paths, 1);
  EXPECT_EQ(counted.elves, 1);
  EXPECT_EQ(counted.lists, 3); // asked anew
}

TEST(Remembered, AbsenceIsRememberedAsAbsence) {
  Counted counted;
  Source source = remembered(counted.source());
  for (int turn = 0; turn < 2; ++turn) {
    auto entry = source.entry("/none");
    ASSERT_FALSE(entry);
    EXPECT_TRUE(is_missing(entry.error()));
    EXPECT_EQ(entry.error().where, "/none");
  }
  EXPECT_EQ(counted.entries, 1);
}

TEST(Remembered, ManyThreadsGetTheSameAnswers) {
  Counted counted;
  Source source = remembered(counted.source());
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&] {
      for (size_t length = 1; length <= 200; ++length)
        wrong += source.entry(std::string(length, 'x'))->size != length;
    });
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(counted.entries, 4 * 200);
  EXPECT_GE(counted.entries, 200);
}

} // namespace
} // namespace gpuvet
