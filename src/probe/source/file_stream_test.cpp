#include "os/file_map.hpp"
#include "probe/source/file_stream.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

const std::string kFile = std::string(GPUVET_SOURCE_DIR) + "/tests/inputs/every_major.so";

TEST(FileStream, ShowsWhatAMapShows) {
  auto file = open_for_reads(kFile);
  auto map = map_file(kFile);
  ASSERT_TRUE(file && map);
  FileStream stream(*file);
  const Bytes whole = map->bytes();
  EXPECT_EQ(stream.size(), whole.size());
  // Forward, back, across what was read before, and over the end.
  for (uint64_t at : {uint64_t{0}, uint64_t{100}, uint64_t{500}, uint64_t{3}, whole.size() / 2,
                      whole.size() - 5, whole.size(), whole.size() + 7})
    for (size_t n : {size_t{0}, size_t{1}, size_t{64}, size_t{511}, size_t{513}, size_t{100'000}}) {
      auto window = stream.window(at, n);
      ASSERT_TRUE(window) << at;
      EXPECT_EQ(window->text(), whole.clamp(at, n).text()) << at << " " << n;
    }
  EXPECT_FALSE(stream.window(0, ByteStream::kMaxWindow + 1));
}

} // namespace
} // namespace gpuvet
