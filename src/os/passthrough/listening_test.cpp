#include "os/passthrough/listening.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <future>

namespace gpuvet {
namespace {

TEST(Listening, HearsAllInOrder) {
  std::string heard, given;
  Listening listening([&](std::string_view bytes) { heard.append(bytes); });
  for (int i = 0; i < 10000; ++i) {
    std::string line = "line " + std::to_string(i) + "\n";
    given += line;
    listening.take(line);
  }
  listening.finish();
  EXPECT_EQ(heard, given);
  EXPECT_EQ(listening.unheard(), 0U);
}

TEST(Listening, ASlowListenerHoldsNobodyUpAndLinesKeepTheirNumbers) {
  std::promise<void> go;
  std::shared_future<void> gone = go.get_future().share();
  uint64_t lines = 0, bytes = 0;
  std::string last;
  Listening listening([&](std::string_view piece) {
    gone.wait();
    lines += static_cast<uint64_t>(std::count(piece.begin(), piece.end(), '\n'));
    bytes += piece.size();
    last.assign(piece.substr(piece.size() - std::min<size_t>(piece.size(), 20)));
  });
  std::string block; // of 100 lines
  for (int i = 0; i < 100; ++i)
    block += std::string(999, 'x') + "\n";
  constexpr uint64_t kLines = 100'000; // 100 MB, of which 32 MiB may wait
  for (uint64_t i = 0; i < kLines; i += 100)
    listening.take(block); // would not return if it waited
  listening.take("the last line\n");
  go.set_value();
  listening.finish();
  EXPECT_EQ(lines, kLines + 1);
  EXPECT_LT(bytes, 40U << 20);
  EXPECT_GT(listening.unheard(), 60U << 20);
  EXPECT_TRUE(last.ends_with("the last line\n"));
}

TEST(Listening, WhatIsNotWantedAnyMoreIsDropped) {
  uint64_t calls = 0;
  {
    Listening listening([&](std::string_view) { ++calls; });
    listening.finish();
    listening.take("after its end\n");
  }
  EXPECT_EQ(calls, 0U);
}

} // namespace
} // namespace gpuvet
