#include "formats/gpu/decompress.hpp"

#include <gtest/gtest.h>
#include <lz4.h>
#include <lz4frame.h>
#include <zlib.h>
#include <zstd.h>

#include <random>

namespace gpuvet {
namespace {

// Half compressible, half not, so that every codec has both kinds of block.
std::string sample(size_t size) {
  std::mt19937 random(3);
  std::string text;
  while (text.size() < size / 2)
    text += "ld.global.f32 ";
  while (text.size() < size)
    text += static_cast<char>(random());
  text.resize(size);
  return text;
}

std::string compress(Compression kind, const std::string& raw) {
  std::string out(raw.size() * 2 + 1024, '\0');
  size_t size = 0;
  int raw_size = static_cast<int>(raw.size()), room = static_cast<int>(out.size());
  switch (kind) {
  case Compression::none:
    return raw;
  case Compression::zstd:
    size = ZSTD_compress(out.data(), out.size(), raw.data(), raw.size(), 3);
    break;
  case Compression::lz4_block:
    size = static_cast<size_t>(LZ4_compress_default(raw.data(), out.data(), raw_size, room));
    break;
  case Compression::lz4_frame:
    size = LZ4F_compressFrame(out.data(), out.size(), raw.data(), raw.size(), nullptr);
    break;
  case Compression::zlib: {
    uLongf length = out.size();
    ::compress(reinterpret_cast<Bytef*>(out.data()), &length,
               reinterpret_cast<const Bytef*>(raw.data()), raw.size());
    size = length;
  }
  }
  out.resize(size);
  return out;
}

class EachCompression : public testing::TestWithParam<Compression> {};

TEST_P(EachCompression, GivesBackTheBytes) {
  for (size_t size : {size_t{1}, size_t{4096}, size_t{300'000}}) {
    std::string raw = sample(size), stored = compress(GetParam(), raw);
    auto out = decompress(GetParam(), Bytes(stored), raw.size());
    ASSERT_TRUE(out) << out.error().what;
    EXPECT_EQ(std::string(out->begin(), out->end()), raw);
  }
}

TEST_P(EachCompression, GivesTheFrontFirst) {
  std::string raw = sample(300'000), stored = compress(GetParam(), raw);
  auto decoder = make_decoder(GetParam(), Bytes(stored), raw.size());
  std::vector<uint8_t> out;
  for (int i = 0; i < 3; ++i)
    ASSERT_GT(decoder->more(out, 1000).value_or(0), 0u);
  EXPECT_EQ(std::string(out.begin(), out.end()), raw.substr(0, out.size()));
}

TEST_P(EachCompression, TruncationIsAnErrorOrShort) {
  std::string raw = sample(100'000), stored = compress(GetParam(), raw);
  for (size_t keep : {size_t{0}, size_t{1}, size_t{10}, stored.size() / 2, stored.size() - 1}) {
    auto out = decompress(GetParam(), Bytes(stored).clamp(0, keep), raw.size());
    if (out) {
      EXPECT_LT(out->size(), raw.size());
    } else {
      EXPECT_FALSE(out.error().what.empty());
    }
  }
}

TEST_P(EachCompression, NoiseNeverCrashes) {
  std::mt19937 random(11);
  for (int i = 0; i < 300; ++i) {
    std::string noise(random() % 200, '\0');
    for (char& c : noise)
      c = static_cast<char>(random());
    (void)decompress(GetParam(), Bytes(noise), random() % 100'000);
  }
}

TEST_P(EachCompression, ALieAboutTheSizeIsBounded) {
  std::string raw = sample(1000), stored = compress(GetParam(), raw);
  EXPECT_FALSE(decompress(GetParam(), Bytes(stored), kMaxImageSize + 1));
  auto out = decompress(GetParam(), Bytes(stored), 500'000'000);
  if (out) {
    EXPECT_LE(out->size(), raw.size());
  }
}

INSTANTIATE_TEST_SUITE_P(All, EachCompression,
                         testing::Values(Compression::none, Compression::zlib,
                                         Compression::lz4_block, Compression::lz4_frame,
                                         Compression::zstd));

TEST(Bomb, StopsAtTheLimit) {
  std::string raw(64 << 20, 'x');
  std::string stored = compress(Compression::zstd, raw);
  auto out = decompress(Compression::zstd, Bytes(stored), 1000, 1 << 20);
  ASSERT_FALSE(out);
  EXPECT_NE(out.error().what.find("more than"), std::string::npos);
}

} // namespace
} // namespace gpuvet
