#include "formats/object/ar.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

namespace gpuvet {
namespace {

std::string member(const std::string& name, const std::string& data, bool stored = true) {
  std::string out =
      fmt::format("{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", name, 0, 0, 0, 644, data.size());
  if (stored) {
    out += data;
    if (data.size() % 2) out += '\n';
  }
  return out;
}

struct Seen {
  std::vector<std::string> names, contents;
  std::string problem;
};

Seen read(const std::string& bytes) {
  MemoryStream stream{Bytes(bytes)};
  Seen seen;
  seen.problem = for_each_ar_member(stream, [&](const ArMember& one) {
    seen.names.push_back(one.name);
    seen.contents.push_back(bytes.substr(one.offset, one.size));
  });
  return seen;
}

TEST(Ar, GivesObjectsWithShortAndLongNames) {
  auto seen = read("!<arch>\n" + member("/", "symbols") + member("//", "a_rather_long_name.o/\n") +
                   member("a.o/", "abc") + member("/0", "long") +
                   member("#1/8", std::string("bsd.o\0\0\0data", 12)));
  EXPECT_EQ(seen.problem, "");
  EXPECT_EQ(seen.names, (std::vector<std::string>{"a.o", "a_rather_long_name.o", "bsd.o"}));
  EXPECT_EQ(seen.contents[0], "abc");
  EXPECT_EQ(seen.contents[1], "long");
  EXPECT_EQ(seen.contents[2], "data");
}

TEST(Ar, SaysWhereItIsDamaged) {
  EXPECT_NE(read("!<arch>\n" + member("a.o/", "abc") + "rubbish").problem.find("offset 0x48"),
            std::string::npos);
  std::string cut = "!<arch>\n" + member("a.o/", std::string(100, 'x'));
  cut.resize(cut.size() - 50);
  EXPECT_NE(read(cut).problem.find("cut off"), std::string::npos);
  EXPECT_EQ(read("!<arch>\n").problem, "");
}

TEST(Ar, AHostileSizeDoesNotLoop) {
  std::string header =
      fmt::format("{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", "a.o/", 0, 0, 0, 644, "9999999999");
  EXPECT_FALSE(read("!<arch>\n" + header).problem.empty());
}

TEST(Ar, AThinArchiveNamesFilesBesideIt) {
  std::string bytes = "!<thin>\n" + member("//", "sub/vector.o/\n") +
                      member("/0", std::string(5000, 'x'), false) + member("b.o/", "yy", false);
  MemoryStream stream{Bytes(bytes)};
  auto names = thin_archive_members(stream);
  ASSERT_TRUE(names) << names.error().what;
  EXPECT_EQ(*names, (std::vector<std::string>{"sub/vector.o", "b.o"}));
  EXPECT_TRUE(read(bytes).names.empty());
}

} // namespace
} // namespace gpuvet
