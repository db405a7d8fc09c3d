#include "formats/object/text_parts.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace gpuvet {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

template <class Number> void put(std::string& file, uint64_t at, Number value) {
  std::memcpy(file.data() + at, &value, sizeof value);
}

// A 64-bit ELF file of 8 MiB whose section table, at its start, names these executable sections.
std::string program(const std::vector<FilePart>& code) {
  std::string file(8 * kMiB, 'x');
  std::memset(file.data(), 0, 4096);
  std::memcpy(file.data(),
              "\x7f"
              "ELF\2\1\1",
              7);
  put<uint16_t>(file, 16, 3);  // ET_DYN
  put<uint16_t>(file, 18, 62); // x86-64
  put<uint32_t>(file, 20, 1);
  put<uint64_t>(file, 40, 64); // section table
  put<uint16_t>(file, 52, 64);
  put<uint16_t>(file, 58, 64);
  put<uint16_t>(file, 60, static_cast<uint16_t>(code.size() + 1));
  uint64_t at = 128; // behind section 0
  for (const FilePart& one : code) {
    put<uint32_t>(file, at + 4, 1); // SHT_PROGBITS
    put<uint64_t>(file, at + 8, 6); // allocated, executable
    put<uint64_t>(file, at + 24, one.offset);
    put<uint64_t>(file, at + 32, one.size);
    at += 64;
  }
  return file;
}

std::string parts_of(const std::string& file) {
  std::string text;
  for (const FilePart& part : parts_with_text(Bytes(std::string_view(file))))
    text += std::to_string(part.offset) + "+" + std::to_string(part.size) + " ";
  return text;
}

TEST(TextParts, MachineCodeIsLeftOut) {
  EXPECT_EQ(parts_of(program({{4096, 5 * kMiB}})), "0+4096 5246976+3141632 ");
  EXPECT_EQ(parts_of(program({{6 * kMiB, 2 * kMiB}})), "0+6291456 ");
}

TEST(TextParts, LittleCodeIsNoTrouble) {
  EXPECT_EQ(parts_of(program({{4096, 4096}})), "0+8388608 ");
}

TEST(TextParts, OverlapsAndEndsBehindTheFile) {
  EXPECT_EQ(parts_of(program({{3 * kMiB, 2 * kMiB}, {2 * kMiB, 2 * kMiB}})),
            "0+2097152 5242880+3145728 ");
  EXPECT_EQ(parts_of(program({{2 * kMiB, 4 * kMiB}, {3 * kMiB, kMiB}})),
            "0+2097152 6291456+2097152 ");
  EXPECT_EQ(parts_of(program({{4096, 9 * kMiB}})), "0+8388608 ");
  EXPECT_EQ(parts_of(program({{UINT64_MAX, 2 * kMiB}})), "0+8388608 ");
}

TEST(TextParts, OtherFilesAreWhole) {
  EXPECT_EQ(parts_of("#define CUDA_VERSION 12080\n"), "0+27 ");
  EXPECT_EQ(parts_of(""), "");
}

} // namespace
} // namespace gpuvet
