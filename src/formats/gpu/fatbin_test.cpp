#include "formats/gpu/fatbin.hpp"
#include "formats/gpu/testing/fatbin_builder.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

using testing::container_header;
using testing::entry;
using testing::fatbin;

ContainerRead read(const std::string& bytes) {
  MemoryStream stream{Bytes(bytes)};
  ForwardReader reader(stream, 0, bytes.size());
  return read_container(reader, 0, nullptr);
}

TEST(Fatbin, ReadsEveryEntryInOrder) {
  auto result = read(fatbin({entry({.kind = 1, .sm = 80, .payload = ".version 8.7\n", .major = 8}),
                             entry({.sm = 90, .flags = 0x100011}),
                             entry({.sm = 100, .flags = 0x200011}), entry({.sm = 120})}));
  ASSERT_TRUE(result.plausible);
  EXPECT_EQ(result.container.problem, "");
  ASSERT_EQ(result.container.images.size(), 4u);
  EXPECT_EQ(result.container.images[0].kind, ImageKind::ptx);
  EXPECT_EQ(result.container.images[1].target, (Target{90, 'a'}));
  EXPECT_EQ(result.container.images[2].target, (Target{100, 'f'}));
  EXPECT_EQ(result.container.images[3].target, (Target{120, 0}));
  EXPECT_EQ(result.next, result.container.size);
}

TEST(Fatbin, ASuffixFlagBesideFamilyIsArchitectureSpecific) {
  auto result = read(fatbin({entry({.sm = 100, .flags = 0x300011})}));
  EXPECT_EQ(result.container.images.at(0).target.suffix, 'a');
}

TEST(Fatbin, KeepsUnknownKindsAndFlagsWithTheirNumbers) {
  auto result = read(fatbin({entry({.kind = 0x10, .flags = 0x11}), entry({.kind = 0x1234}),
                             entry({.flags = 0x11 | (uint64_t{1} << 40)})}));
  ASSERT_EQ(result.container.images.size(), 3u);
  EXPECT_EQ(kind_name(result.container.images[0].kind), "kind-0x10");
  EXPECT_EQ(kind_name(result.container.images[1].kind), "kind-0x1234");
  EXPECT_EQ(unknown_flags(result.container.images[2].flags), uint64_t{1} << 40);
  EXPECT_EQ(unknown_flags(0x1008011), 0u);
}

TEST(Fatbin, ReadsNamesInsideTheHeaderOnly) {
  EXPECT_EQ(read(fatbin({entry({.name = "vector.cu"})})).container.images.at(0).name, "vector.cu");
  std::string bytes = fatbin({entry({.name = "vector.cu"})});
  bytes[16 + 0x24] = '\x7f'; // a name of 127 bytes in a header that has 16 for it
  EXPECT_EQ(read(bytes).container.images.at(0).name, "");
}

TEST(Fatbin, TellsCompressionAndSizes) {
  std::string zstd("\x28\xb5\x2f\xfd payload", 12);
  auto result = read(
      fatbin({entry({.flags = 0x8011, .payload = zstd, .compressed_size = 12, .raw_size = 4096})}));
  const Image& image = result.container.images.at(0);
  EXPECT_EQ(image.compression, Compression::zstd);
  EXPECT_EQ(image.stored_size, 12u);
  EXPECT_EQ(image.payload_size, 16u);
  EXPECT_EQ(image.raw_size, 4096u);
  EXPECT_EQ(image.damage, Damage::none);
}

TEST(Fatbin, SeesPayloadsThatWereOverwritten) {
  std::string zeros(64, '\0'), ones(64, '\1');
  auto result = read(fatbin(
      {entry({.payload = zeros}), entry({.payload = ones}), entry({.kind = 1, .payload = zeros}),
       entry({.flags = 0x8011, .payload = zeros, .compressed_size = 60}),
       entry({.flags = 0x2011, .payload = ones, .compressed_size = 60}), entry({})}));
  ASSERT_EQ(result.container.images.size(), 6u);
  EXPECT_EQ(result.container.images[0].damage, Damage::payload);
  EXPECT_EQ(result.container.images[1].damage, Damage::payload);
  EXPECT_EQ(result.container.images[2].damage, Damage::ptx_text);
  EXPECT_EQ(result.container.images[3].damage, Damage::payload);
  EXPECT_EQ(result.container.images[4].damage, Damage::payload);
  EXPECT_EQ(result.container.images[5].damage, Damage::none);
}

TEST(Fatbin, AZeroFilledEntryIsTheWorstDamage) {
  std::string body = entry({}) + std::string(64, '\0');
  auto result = read(container_header(body.size()) + body);
  EXPECT_TRUE(result.container.hangs);
  EXPECT_EQ(result.container.images.size(), 1u);
  EXPECT_NE(result.container.problem.find("zeros"), std::string::npos);
}

TEST(Fatbin, HonoursALongerContainerHeader) {
  std::string body = entry({.sm = 89});
  auto result = read(container_header(body.size(), 1, 24) + body);
  ASSERT_TRUE(result.plausible);
  EXPECT_EQ(result.container.images.at(0).target.sm, 89u);
}

TEST(Fatbin, AnEmptyContainerIsSound) {
  auto result = read(container_header(0));
  EXPECT_TRUE(result.plausible);
  EXPECT_TRUE(result.container.problem.empty());
}

TEST(Fatbin, TheMagicByChanceIsNoContainer) {
  EXPECT_FALSE(read(std::string("\x50\xed\x55\xba\0\0\0\0\0\0\0\0\0\0\0\0", 16)).plausible);
  EXPECT_FALSE(read(container_header(64) + std::string(64, '\xcc')).plausible);
  EXPECT_FALSE(read(container_header(12)).plausible); // not a multiple of 8
  EXPECT_FALSE(read(container_header(uint64_t{1} << 60)).plausible);
  EXPECT_FALSE(read(container_header(64, 9) + entry({})).plausible);
}

// Every number in an entry header is attacked; nothing may be read outside, and the walk ends.
TEST(Fatbin, DamageEndsTheWalkAndSaysWhere) {
  std::string good = fatbin({entry({.sm = 80}), entry({.sm = 90})});
  size_t second = 16 + (good.size() - 16) / 2;
  struct Attack {
    size_t offset;
    uint64_t value;
    size_t bytes;
  };
  for (Attack attack : {Attack{4, 0x20, 4},
                        {4, 0x41, 4},
                        {4, 0xfffffff8, 4},
                        {8, 0xfffffffffffffff8, 8},
                        {8, uint64_t{1} << 63, 8},
                        {8, 72, 8},
                        {8, 65, 8}}) {
    std::string bytes = good, value;
    testing::put(value, attack.value, attack.bytes);
    bytes.replace(second + attack.offset, attack.bytes, value);
    auto result = read(bytes);
    ASSERT_TRUE(result.plausible);
    EXPECT_EQ(result.container.images.size(), 1u);
    EXPECT_NE(result.container.problem.find("offset 0x"), std::string::npos);
    EXPECT_GT(result.next, second);
    EXPECT_LE(result.next, bytes.size());
  }
}

TEST(Fatbin, ATruncatedFileKeepsWhatWasThere) {
  std::string bytes = fatbin({entry({.sm = 80}), entry({.sm = 90})});
  for (size_t size = 16 + 64 + 64; size < bytes.size(); ++size) {
    std::string cut = bytes.substr(0, size);
    auto result = read(cut);
    ASSERT_TRUE(result.plausible) << size;
    ASSERT_GE(result.container.images.size(), 1u) << size;
    ASSERT_FALSE(result.container.problem.empty()) << size;
  }
}

} // namespace
} // namespace gpuvet
