#include "formats/testing/streams.hpp"
#include "formats/testing/zip_builder.hpp"
#include "formats/zip.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

using namespace gpuvet::testing;

Result<std::string> content_of(const std::string& file, size_t index = 0, size_t piece = 1000) {
  auto zip = read_zip(Bytes(std::string_view(file)), "a.whl");
  if (!zip) return tl::unexpected(zip.error());
  auto stream = open_member(*zip, zip->members.at(index), "a.whl!" + zip->members.at(index).name);
  if (!stream) return tl::unexpected(stream.error());
  return read_all(**stream, piece);
}

std::string error_of(const std::string& file, size_t index = 0) {
  auto content = content_of(file, index);
  return content ? "no error" : content.error().what;
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(Zip, ReadsStoredAndDeflatedMembers) {
  std::string large = noise(5'000'000);
  std::string file = make_zip({{"a.so", "stored", 0}, {"b/", "", 0}, {"b/c.so", large}});
  auto zip = read_zip(Bytes(std::string_view(file)), "a.whl");
  ASSERT_TRUE(zip);
  ASSERT_EQ(zip->members.size(), 3u);
  EXPECT_TRUE(zip->members[1].folder());
  EXPECT_EQ(zip->members[2].size, large.size());
  EXPECT_EQ(content_of(file, 0).value(), "stored");
  for (size_t piece : {1u, 4096u, 1'000'000u, 50'000'000u}) {
    if (piece == 1) continue; // byte by byte is covered by the smaller member
    EXPECT_EQ(content_of(file, 2, piece).value(), large) << piece;
  }
  EXPECT_EQ(content_of(make_zip({{"x", "byte by byte"}}), 0, 1).value(), "byte by byte");
}

TEST(Zip, StoredMembersAreViewsOfTheFile) {
  std::string file = make_zip({{"a.so", "stored", 0}});
  auto zip = read_zip(Bytes(std::string_view(file)), "a.whl");
  auto stream = open_member(*zip, zip->members[0], "a");
  EXPECT_TRUE((*stream)->random_access());
  const char* at = reinterpret_cast<const char*>((*stream)->window(0, 6)->data());
  EXPECT_TRUE(at > file.data() && at < file.data() + file.size());
}

TEST(Zip, SixtyFourBitFields) {
  EXPECT_EQ(content_of(make_zip({{.name = "a", .content = "zip64", .zip64 = true}}, true)).value(),
            "zip64");
}

TEST(Zip, DataDescriptorCommentAndPrefix) {
  ZipEntry entry{.name = "a", .content = "descriptor", .flags = 8};
  EXPECT_EQ(content_of(make_zip({entry}, false, "a comment", "#!/bin/sh\n")).value(), "descriptor");
  EXPECT_EQ(content_of(make_zip({entry}, true, "a comment", "#!/bin/sh\n")).value(), "descriptor");
}

TEST(Zip, RefusesWhatItCannotRead) {
  EXPECT_TRUE(contains(error_of(make_zip({{.name = "a", .content = "x", .method = 9}})),
                       "compression method 9"));
  EXPECT_TRUE(
      contains(error_of(make_zip({{.name = "a", .content = "x", .flags = 1}})), "encrypted"));
  EXPECT_TRUE(contains(error_of("PK\x03\x04 nothing else"), "cut off or not a zip"));
}

TEST(Zip, NoticesDamage) {
  ZipEntry entry{.name = "a", .content = noise(99), .crc_error = 1};
  EXPECT_TRUE(contains(error_of(make_zip({entry})), "checksum"));
  entry = {.name = "a", .content = noise(99), .claimed_size = 98};
  EXPECT_TRUE(contains(error_of(make_zip({entry})), "longer"));
  entry.claimed_size = 100;
  EXPECT_TRUE(contains(error_of(make_zip({entry})), "shorter"));
  entry = {.name = "a", .content = "x", .local_name = "b"};
  EXPECT_TRUE(contains(error_of(make_zip({entry})), "another name"));
  std::string broken = make_zip({{"a", noise(20'000)}});
  for (size_t at = 5000; at < 5100; ++at)
    broken[at] = static_cast<char>(~broken[at]);
  EXPECT_NE(error_of(broken), "no error");
}

TEST(Zip, EveryTruncationIsAnError) {
  std::string file = make_zip({{"a", noise(300)}, {"b", noise(200)}}, true);
  for (size_t size = 0; size < file.size(); ++size)
    EXPECT_NE(error_of(file.substr(0, size)), "no error") << size;
}

TEST(Zip, RefusesABombBeforeReadingIt) {
  ZipEntry bomb{.name = "a", .content = "tiny", .zip64 = true, .claimed_size = uint64_t{1} << 40};
  EXPECT_TRUE(contains(error_of(make_zip({bomb}, true)), "bomb"));
}

TEST(Zip, RefusesOverlappingMembers) {
  std::string file = make_zip({{"a", noise(100)}, {"a", noise(100)}});
  // Point the second directory entry at the first member's data.
  size_t second = file.rfind("PK\x01\x02");
  std::memset(file.data() + second + 42, 0, 4);
  EXPECT_TRUE(contains(error_of(file, 1), "overlaps"));
  EXPECT_EQ(error_of(file, 0), "no error");
}

TEST(Zip, MarksRepeatedNames) {
  std::string file = make_zip({{"a", "1"}, {"b", "2"}, {"a", "3"}});
  auto zip = read_zip(Bytes(std::string_view(file)), "a.whl");
  EXPECT_FALSE(zip->members[0].repeated);
  EXPECT_TRUE(zip->members[2].repeated);
}

TEST(Zip, AFalseMemberCountIsAnErrorWithItsPlace) {
  std::string file = make_zip({{"a", "1"}});
  file[file.size() - 12] = 2; // total entries
  auto zip = read_zip(Bytes(std::string_view(file)), "a.whl");
  ASSERT_FALSE(zip);
  EXPECT_TRUE(contains(zip.error().where, "a.whl"));
}

} // namespace
} // namespace gpuvet
