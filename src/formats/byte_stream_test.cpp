#include "formats/byte_stream.hpp"
#include "formats/testing/streams.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace gpuvet {
namespace {

// Hands out a text in pieces of at most `piece` bytes.
class PieceStream final : public SequentialStream {
 public:
  PieceStream(std::string text, size_t piece) : text_(std::move(text)), piece_(piece) {}
  std::optional<uint64_t> size() const override { return text_.size(); }

 protected:
  Result<size_t> pull(uint8_t* out, size_t n) override {
    size_t got = std::min({n, piece_, text_.size() - at_});
    std::memcpy(out, text_.data() + at_, got);
    at_ += got;
    return got;
  }

 private:
  std::string text_;
  size_t piece_;
  size_t at_ = 0;
};

const std::string kText = testing::noise(9'000'000);

void expect_window(ByteStream& stream, uint64_t at, size_t n) {
  auto got = stream.window(at, n);
  ASSERT_TRUE(got) << got.error().what;
  ASSERT_TRUE(got->text() == std::string_view(kText).substr(std::min(at, kText.size()), n))
      << at << " + " << n;
}

TEST(SequentialStream, OverlappingWindowsOfAllSizes) {
  for (size_t piece : {7'000u, 100'000u, 20'000'000u}) {
    PieceStream stream(kText, piece);
    uint64_t at = 0;
    for (size_t step = 1; at < kText.size(); step = step * 5 % 700'001 + 1) {
      expect_window(stream, at, step * 2);
      expect_window(stream, at, step / 2);
      at += step;
    }
    expect_window(stream, kText.size() - 1, 100);
    expect_window(stream, kText.size(), 100);
  }
}

TEST(SequentialStream, JumpsForward) {
  PieceStream stream(kText, 100'000);
  for (uint64_t at : {0u, 64u, 3'000'000u, 3'000'001u, 8'999'999u, 9'000'000u, 30'000'000u})
    expect_window(stream, at, 64);
}

TEST(SequentialStream, AWindowLargerThanAnyBefore) {
  PieceStream stream(kText, 100'000);
  expect_window(stream, 10, 10);
  expect_window(stream, 1'000'000, 7'000'000);
  expect_window(stream, 1'000'000, 9'000'000);
}

TEST(SequentialStream, BackToTheStartOfThePreviousWindowOnly) {
  PieceStream stream(kText, 100'000);
  expect_window(stream, 5'000'000, 1000);
  expect_window(stream, 5'000'000, 2'000'000);
  expect_window(stream, 8'000'000, 1000);
  EXPECT_FALSE(stream.window(0, 10));
}

TEST(ByteStream, RefusesAWindowOverTheLimit) {
  PieceStream stream(kText, 100'000);
  EXPECT_FALSE(stream.window(0, ByteStream::kMaxWindow + 1));
}

} // namespace
} // namespace gpuvet
