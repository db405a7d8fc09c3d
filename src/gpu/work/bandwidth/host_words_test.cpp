#include "gpu/kernels/mix.hpp"
#include "gpu/work/bandwidth/host_words.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace gpuvet {
namespace {

// Enough for several threads where there are several CPUs, and no whole number of parts.
constexpr size_t kWords = 1'000'003;

TEST(HostWords, AreTheWordsOfTheKernels) {
  std::vector<uint64_t> words(kWords);
  fill_words(words.data(), kWords, 42);
  for (size_t at : {size_t{0}, size_t{1}, kWords / 2, kWords - 1})
    EXPECT_EQ(words[at], word_value(at, 42)) << at;
  EXPECT_EQ(check_words(words.data(), kWords, 42).count, 0u);
  EXPECT_EQ(check_words(words.data(), kWords, 43).count, kWords);
  fill_words(words.data(), kWords, 42, ~uint64_t{0});
  EXPECT_EQ(check_words(words.data(), kWords, 42).count, kWords); // no word of the complement fits
  EXPECT_EQ(check_words(words.data(), kWords, 42, ~uint64_t{0}).count, 0u);
}

TEST(HostWords, OneWrongBitIsFoundAnywhere) {
  std::vector<uint64_t> words(kWords);
  fill_words(words.data(), kWords, 7);
  for (size_t at : {size_t{0}, size_t{131072}, kWords / 2, kWords - 1}) {
    words[at] ^= 0x10;
    Mismatches found = check_words(words.data(), kWords, 7);
    EXPECT_EQ(found.count, 1u) << at;
    EXPECT_EQ(found.bits, 0x10u);
    EXPECT_EQ(found.places[0].index, at);
    EXPECT_EQ(found.places[0].got ^ found.places[0].wanted, 0x10u);
    words[at] ^= 0x10;
  }
}

TEST(HostWords, CountsAllAndKeepsTheFirst) {
  std::vector<uint64_t> words(kWords);
  fill_words(words.data(), kWords, 7);
  for (size_t at = 1000; at < kWords; at += 10000)
    words[at] ^= uint64_t{1} << (at / 10000 % 3);
  Mismatches found = check_words(words.data(), kWords, 7);
  EXPECT_EQ(found.count, 100u);
  EXPECT_EQ(found.bits, 7u);
  for (size_t at = 0; at < Mismatches::kKept; ++at)
    EXPECT_EQ(found.places[at].index, 1000 + 10000 * at);
  EXPECT_NE(describe_host(found).find("100 words of 8 bytes differ in bits 0x7; the first at byte "
                                      "8000: 0x"),
            std::string::npos)
      << describe_host(found);
  EXPECT_EQ(describe_host(Mismatches{}), "");
}

TEST(HostWords, SumOfHalves) {
  uint64_t sum = 0;
  for (size_t at = 0; at < kWords; ++at)
    sum += (word_value(at, 3) & 0xFFFFFFFF) + (word_value(at, 3) >> 32);
  EXPECT_EQ(sum_of_halves(kWords, 3), sum);
  EXPECT_NE(sum_of_halves(kWords, 4), sum);
}

} // namespace
} // namespace gpuvet
