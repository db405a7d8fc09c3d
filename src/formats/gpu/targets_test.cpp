// The walk from header to header against inspect(), which reads everything.
#include "formats/gpu/inspect.hpp"
#include "formats/gpu/targets.hpp"
#include "formats/object/elf.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace gpuvet {
namespace {

const std::filesystem::path kInputs = GPUVET_SOURCE_DIR "/tests/inputs";

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  EXPECT_TRUE(stream) << path;
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::optional<GpuTargets> walked(const std::string& bytes) {
  MemoryStream stream{Bytes(bytes)};
  return walk_targets(stream);
}

GpuTargets inspected(const std::string& bytes) {
  MemoryStream stream{Bytes(bytes)};
  GpuTargets targets;
  for (const Container& container : inspect(stream, "x", {.sections_only = true}).containers)
    for (const Image& image : container.images)
      targets.add(image);
  return targets;
}

void expect_same(const GpuTargets& a, const GpuTargets& b, const std::string& name) {
  EXPECT_EQ(a.sass, b.sass) << name;
  EXPECT_EQ(a.ptx, b.ptx) << name;
  EXPECT_EQ(a.ptx_isa, b.ptx_isa) << name;
}

TEST(GpuTargets, OfEveryInputThatIsWalkedAreThoseThatInspectTells) {
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kInputs)) {
    if (!entry.is_regular_file()) continue;
    const std::string bytes = bytes_of(entry.path());
    auto targets = walked(bytes);
    if (!targets) continue;
    ++count;
    expect_same(*targets, inspected(bytes), entry.path().filename());
  }
  EXPECT_GE(count, 10U);
}

TEST(GpuTargets, OrdinaryLibrariesAreWalked) {
  for (const char* name : {"sample.so", "every_major.so", "ptx_only.so", "arch_specific.so"}) {
    auto targets = walked(bytes_of(kInputs / name));
    ASSERT_TRUE(targets) << name;
    EXPECT_GT(targets->sass.size() + targets->ptx.size(), 0U) << name;
  }
  EXPECT_TRUE(walked(bytes_of(kInputs / "ptx_only.so"))->ptx_isa);
}

TEST(GpuTargets, WhatIsOutOfTheOrdinaryIsLeftToInspect) {
  for (const char* name :
       {"nosections.so", "truncated.so", "kernel.cubin", "kernel.ptx", "kernel.fatbin", "caller.o"})
    EXPECT_FALSE(walked(bytes_of(kInputs / name))) << name;
  EXPECT_FALSE(walked(""));
}

// The version that text tells of itself counts, not its entry's header: which is changed here.
TEST(GpuTargets, PtxTextTellsItsOwnVersion) {
  size_t plain = 0;
  for (const char* name : {"hidden.so", "lld.so", "relr.so"}) {
    std::string bytes = bytes_of(kInputs / name);
    MemoryStream stream{Bytes(bytes)};
    for (const Container& container : inspect(stream, "x", {.sections_only = true}).containers)
      for (const Image& image : container.images) {
        if (image.kind != ImageKind::ptx || image.compression != Compression::none) continue;
        constexpr size_t minor = 24, major = 26; // in the entry's header
        bytes[image.offset + minor] = bytes[image.offset + major] = 99;
        ++plain;
      }
    if (auto targets = walked(bytes)) expect_same(*targets, inspected(bytes), name);
  }
  EXPECT_GT(plain, 0U);
}

// A byte that is changed anywhere in the headers gives the same answer or none.
TEST(GpuTargets, DamageIsLeftToInspectOrReadAlike) {
  size_t refused = 0;
  for (const char* name : {"sample.so", "ptx_only.so"}) {
    const std::string whole = bytes_of(kInputs / name);
    MemoryStream stream{Bytes(whole)};
    const Binary binary = inspect(stream, "x", {.sections_only = true});
    ASSERT_FALSE(binary.containers.empty()) << name;
    for (uint64_t at = binary.containers[0].offset; at < binary.containers[0].offset + 96; ++at)
      for (int value : {0, 1, 0xff}) {
        std::string bytes = whole;
        bytes[at] = static_cast<char>(value);
        auto targets = walked(bytes);
        if (targets)
          expect_same(*targets, inspected(bytes), name + std::to_string(at));
        else
          ++refused;
      }
  }
  EXPECT_GT(refused, 0U);
}

} // namespace
} // namespace gpuvet
