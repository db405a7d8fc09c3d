#include "formats/gpu/needle_search.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace gpuvet {
namespace {

const std::pair<std::string, Needle> kSamples[] = {
    {std::string("\x50\xed\x55\xba\x01\x00\x10\x00", 8), Needle::container},
    {std::string("\xb1\x43\x62\x46\x02\x00\x00\x00", 8), Needle::wrapper},
    {std::string("\x7f"
                 "ELF",
                 4),
     Needle::elf},
    {".version 8.7\n", Needle::ptx_text},
    {"\x10\xff\x10\xad", Needle::offload},
    {"vrtcCompileProgram", Needle::nvrtc},
    {"vJitLinkCreate", Needle::nvjitlink},
    {"vvmCompileProgram", Needle::nvvm},
    {"vPTXCompilerCompile", Needle::ptx_compiler},
    {"vptx64-nvidia-cuda", Needle::nvptx_llvm},
    {".shstrtab", Needle::section_names},
};

// Every needle at every alignment of a vector, and across its border.
TEST(NeedleSearch, FindsEachAtEveryOffset) {
  for (const auto& [bytes, needle] : kSamples)
    for (size_t at = 0; at < 100; ++at) {
      std::string hay(200, 'x');
      hay.replace(at, bytes.size(), bytes);
      NeedleHit hit;
      ASSERT_TRUE(find_needle(Bytes(hay), 0, false, hit)) << int(needle) << " at " << at;
      EXPECT_EQ(hit.offset, at);
      EXPECT_EQ(hit.needle, needle);
      EXPECT_FALSE(find_needle(Bytes(hay), at + 1, false, hit));
    }
}

TEST(NeedleSearch, RefusesLookAlikes) {
  NeedleHit hit;
  std::string fill(64, 'x');
  for (std::string text : {std::string(".version %d.%d"), std::string(".vers"),
                           std::string("vrtcCompile"), std::string("\xb1\x43\x62\x46\x03\0\0\0", 8),
                           std::string("\x7f"
                                       "ELV")})
    EXPECT_FALSE(find_needle(Bytes(text + fill), 0, false, hit)) << text;
}

TEST(NeedleSearch, LeavesTheTailToTheNextWindowUnlessLast) {
  std::string hay = std::string(40, 'x') + "\x7f"
                                           "ELF";
  NeedleHit hit;
  EXPECT_FALSE(find_needle(Bytes(hay), 0, false, hit));
  ASSERT_TRUE(find_needle(Bytes(hay), 0, true, hit));
  EXPECT_EQ(hit.offset, 40u);
}

// The vector path and the plain definition agree on random bytes that are rich in first bytes.
TEST(NeedleSearch, AgreesWithTheDefinitionOnRandomBytes) {
  std::mt19937 random(7);
  const std::string alphabet("\x50\xed\x55\xba\xb1\x43\x62\x46\x7f\x45\x4c\x01\x02\x00v.rJpP", 20);
  std::string hay(1 << 16, 'x');
  for (char& c : hay)
    c = alphabet[random() % alphabet.size()];
  for (size_t i = 0; i + 64 < hay.size(); i += 97)
    hay.replace(i, 8, std::string("\x50\xed\x55\xba\x01\x00\x10\x00", 8));
  size_t expected = 0, found = 0;
  for (size_t i = 0; i + kNeedleReach < hay.size(); ++i)
    if (hay.compare(i, 4, "\x50\xed\x55\xba") == 0) ++expected;
  NeedleHit hit;
  for (size_t from = 0; find_needle(Bytes(hay), from, false, hit); from = hit.offset + 1)
    if (hit.needle == Needle::container) ++found;
  EXPECT_EQ(found, expected);
  EXPECT_GT(found, 500u);
}

} // namespace
} // namespace gpuvet
