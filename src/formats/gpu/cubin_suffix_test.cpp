#include "formats/gpu/cubin.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

namespace gpuvet {
namespace {

// The first 64 bytes of a cubin as CUDA 12 and older write it.
std::array<uint8_t, 64> old_cubin(uint32_t toolkit_times_ten, uint32_t flags) {
  std::array<uint8_t, 64> bytes{0x7f, 'E', 'L', 'F', 2, 1, 1, 0x33, 7};
  uint16_t type = 2, machine = 190, header_size = 64;
  std::memcpy(&bytes[16], &type, 2);
  std::memcpy(&bytes[18], &machine, 2);
  std::memcpy(&bytes[20], &toolkit_times_ten, 4);
  std::memcpy(&bytes[48], &flags, 4);
  std::memcpy(&bytes[52], &header_size, 2);
  return bytes;
}

Target target_of(uint32_t toolkit_times_ten, uint32_t flags) {
  auto bytes = old_cubin(toolkit_times_ten, flags);
  auto header = parse_cubin_header(Bytes(bytes.data(), bytes.size()));
  return header ? header->target : Target{};
}

// Headers found in real libraries; the fat binary's entry header tells which target is right.
TEST(CubinSuffix, Bit0x800MeansArchitectureSpecificFromHopperOn) {
  EXPECT_EQ(target_of(0x7a, 0x5a0d5a), (Target{90, 'a'})); // onnxruntime-gpu 1.23.2, CUDA 12.2
  EXPECT_EQ(target_of(0x7a, 0x5a055a), (Target{90, 0}));   // bitsandbytes 0.49.2, CUDA 12.2
  EXPECT_EQ(target_of(0x50, 0x3c0d3c), (Target{60, 0}));   // cupy-cuda80 7.8.0, CUDA 8.0
  EXPECT_EQ(target_of(0x50, 0x3d0d3d), (Target{61, 0}));   // the same file
  EXPECT_EQ(target_of(0x7a, 0x3c053c), (Target{60, 0}));   // bitsandbytes 0.49.2, CUDA 12.2
}

} // namespace
} // namespace gpuvet
