#include "gpu/kernels/kernels.hpp"
#include "gpu/work/stress/engine.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>

namespace gpuvet {
namespace {

// The bytes behind "NAME[24] = {" in the text of PTX, as little-endian words.
std::array<unsigned, 6> words_of(std::string_view ptx, std::string_view name) {
  std::array<unsigned, 6> words{};
  size_t at = ptx.find(std::string(name) + "[24] = {");
  if (at == std::string_view::npos) return words;
  std::string text(ptx.substr(ptx.find('{', at) + 1, 256));
  const char* next = text.c_str();
  for (unsigned byte = 0; byte < 24 && *next && *next != '}'; ++byte) {
    char* end = nullptr;
    words[byte / 4] |= static_cast<unsigned>(std::strtoul(next, &end, 10)) << byte % 4 * 8;
    next = *end == ',' ? end + 1 : end;
  }
  return words;
}

TEST(Engine, LaunchesTheAmpereKernelAsItsImageSays) {
  bool found = false;
  for (const KernelImage& image : kernel_images()) {
    if (image.blob != "gemm_sm80" || image.kind != "ptx") continue;
    found = true;
    std::array<unsigned, 6> shape = words_of(image.bytes, "gv_gemm_shape");
    EXPECT_EQ(shape[0], kAmpereThreads);
    EXPECT_EQ(shape[1], kAmpereShared);
    EXPECT_EQ(shape[2], kTileRows);
    EXPECT_EQ(shape[3], kTileColumns);
    EXPECT_EQ(256 % shape[4], 0u) << "sides are multiples of 256";
  }
  EXPECT_TRUE(found);
}

} // namespace
} // namespace gpuvet
