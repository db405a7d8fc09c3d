#include "formats/testing/streams.hpp"
#include "formats/testing/tar_builder.hpp"
#include "formats/testing/zip_builder.hpp"
#include "formats/unpack.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

using namespace gpuvet::testing;
using Files = std::map<std::string, std::string>;

// Keeps what would be a temporary file in memory and counts such files.
struct CountedSpool {
  int made = 0;

  MakeSpoolFile maker() {
    struct File final : SpoolFile {
      std::string text;
      Result<void> append(Bytes bytes) override {
        text += bytes.text();
        return {};
      }
      Result<Bytes> content() override { return Bytes(std::string_view(text)); }
    };
    return [this]() -> Result<std::unique_ptr<SpoolFile>> {
      ++made;
      return std::make_unique<File>();
    };
  }
};

Leaves run(const std::string& name, const std::string& file, Wanted wanted = Wanted::found) {
  CountedSpool spool;
  Leaves leaves;
  MemoryStream content{Bytes(std::string_view(file))};
  unpack({name, wanted, spool.maker()}, content, leaves.sink());
  return leaves;
}

const std::vector<TarEntry> kTree = {{.name = "usr", .folder = true},
                                     {.name = "./usr/a.so", .content = elf("a")},
                                     {.name = "usr/b.so", .content = elf("b")},
                                     {.name = "usr/c.py", .content = elf("c")},
                                     {.name = "usr/l.so", .symbolic_link = "a.so"},
                                     {.name = "usr/readme", .content = "text"}};

Files tree_in(const std::string& outer) {
  return {{outer + "!usr/a.so", elf("a")}, {outer + "!usr/b.so", elf("b")}};
}

TEST(Unpack, TarWithEveryCompression) {
  struct Case {
    const char* name;
    Filter filter;
  };
  for (const Case& c : {Case{"x.tar", Filter::none}, Case{"x.tgz", Filter::gzip},
                        Case{"x.tar.gz", Filter::gzip}, Case{"x.tar.bz2", Filter::bzip2},
                        Case{"x.tar.xz", Filter::xz}, Case{"x.tar.zst", Filter::zstd}}) {
    Leaves leaves = run(c.name, make_archive(kTree, c.filter));
    EXPECT_EQ(leaves.files, tree_in(c.name));
    EXPECT_TRUE(leaves.errors.empty()) << leaves.errors[0];
  }
}

TEST(Unpack, NamesDecideForFoundFilesContentForNamedOnes) {
  std::string file = make_archive(kTree, Filter::gzip);
  EXPECT_TRUE(run("x.data", file).files.empty());
  EXPECT_EQ(run("x.data", file, Wanted::named).files, tree_in("x.data"));
}

TEST(Unpack, JoinsTheMembersOfAGzipFile) {
  std::string file = gzip(elf("one ")) + gzip("") + gzip("two");
  EXPECT_EQ(run("lib.so.gz", file, Wanted::named).files, (Files{{"lib.so.gz", elf("one two")}}));
}

TEST(Unpack, Cpio) {
  EXPECT_EQ(run("x.cpio", make_archive(kTree, Filter::none, Container::cpio)).files,
            tree_in("x.cpio"));
}

TEST(Unpack, DebIsShownWithoutItsInnerParts) {
  std::string deb =
      make_archive({{.name = "debian-binary", .content = "2.0\n"},
                    {.name = "control.tar.xz", .content = make_archive(kTree, Filter::xz)},
                    {.name = "data.tar.xz", .content = make_archive(kTree, Filter::xz)}},
                   Filter::none, Container::ar);
  EXPECT_EQ(run("x.deb", deb).files, tree_in("x.deb"));
}

TEST(Unpack, RpmOfLeadHeadersAndCompressedCpio) {
  auto header = [](uint32_t bytes) { // an rpm header with no index entries
    std::string text("\x8e\xad\xe8\x01\0\0\0\0\0\0\0\0", 12);
    text += std::string({0, 0, static_cast<char>(bytes >> 8), static_cast<char>(bytes)});
    return text + std::string(bytes, '\0');
  };
  std::string lead = "\xed\xab\xee\xdb\x03" + std::string(91, '\0');
  std::string rpm =
      lead + header(16) + header(24) + make_archive(kTree, Filter::zstd, Container::cpio);
  Leaves leaves = run("x.rpm", rpm);
  EXPECT_TRUE(leaves.errors.empty()) << leaves.errors[0];
  EXPECT_EQ(leaves.files, tree_in("x.rpm"));
}

TEST(Unpack, CondaIsShownWithoutItsInnerParts) {
  std::string conda = make_zip({{"metadata.json", "{}", 0},
                                {"info-x-1.tar.zst", make_archive(kTree, Filter::zstd), 0},
                                {"pkg-x-1.tar.zst", make_archive(kTree, Filter::zstd), 0}});
  EXPECT_EQ(run("x-1.conda", conda).files, tree_in("x-1.conda"));
}

TEST(Unpack, WheelInsideACompressedTar) {
  std::string wheel = make_zip({{"a.so", elf("a")}});
  std::string tar = make_archive({{.name = "w/x.whl", .content = wheel}}, Filter::zstd);
  EXPECT_EQ(run("x.tar.zst", tar).files, (Files{{"x.tar.zst!w/x.whl!a.so", elf("a")}}));
}

TEST(Unpack, ALargeNestedZipGoesToATemporaryFile) {
  std::string wheel =
      make_zip({{"big", std::string(limits::spool_memory + 10, 'x'), 0}, {"a.so", elf("a")}});
  std::string tar = make_archive({{.name = "x.whl", .content = wheel}}, Filter::zstd);
  CountedSpool spool;
  Leaves leaves;
  MemoryStream content{Bytes(std::string_view(tar))};
  unpack({"x.tar.zst", Wanted::found, spool.maker()}, content, leaves.sink());
  EXPECT_EQ(leaves.files, (Files{{"x.tar.zst!x.whl!a.so", elf("a")}}));
  EXPECT_EQ(spool.made, 1);
}

TEST(Unpack, NestingEndsAtTheLimit) {
  std::string inner = make_zip({{"a.so", elf("a")}});
  for (int i = 0; i < limits::depth; ++i)
    inner = make_zip({{"n.zip", inner}});
  EXPECT_EQ(run("x.zip", inner).files.size(), 1u);
  Leaves deeper = run("x.zip", make_zip({{"n.zip", inner}}));
  EXPECT_TRUE(deeper.files.empty());
  EXPECT_TRUE(deeper.has_error("nested too deeply"));
}

TEST(Unpack, CompressedTwiceIsRefused) {
  EXPECT_TRUE(run("x.tar.gz", gzip(gzip("x")), Wanted::named).has_error("compressed twice"));
}

// Deflate cannot exceed 1032:1; the others have no such bound.
TEST(Unpack, BombsAreRefused) {
  std::string zeros(limits::ratio_free + (size_t{40} << 20), '\0');
  std::string tar = make_archive({{.name = "a.so", .content = elf("") + zeros}}, Filter::zstd);
  Leaves leaves = run("x.tar.zst", tar);
  EXPECT_TRUE(leaves.files.empty());
  EXPECT_TRUE(leaves.has_error("bomb"));
}

TEST(Unpack, EveryTruncationOfATarIsAnError) {
  std::string tar = make_archive({{.name = "a.so", .content = elf(noise(3000))}}, Filter::gzip);
  for (size_t size = 40; size < tar.size(); size += 7)
    EXPECT_FALSE(run("x.tar.gz", tar.substr(0, size)).errors.empty()) << size;
  std::string plain = make_archive({{.name = "a.so", .content = elf(noise(3000))}});
  for (size_t size = 513; size < 3500; size += 97)
    EXPECT_FALSE(run("x.tar", plain.substr(0, size)).errors.empty()) << size;
}

TEST(Unpack, ControlCharactersInNamesAreMadeVisible) {
  std::string file = make_zip({{"a\x1b[2J.so", elf("a")}});
  EXPECT_EQ(run("x.zip", file).files.begin()->first, "x.zip!a\\x1b[2J.so");
}

TEST(Unpack, NamesThatClimbOutAreOnlyShown) {
  EXPECT_EQ(run("x.zip", make_zip({{"../../etc/a.so", elf("a")}})).files.begin()->first,
            "x.zip!../../etc/a.so");
}

TEST(Unpack, NamesBeyondAsciiSurviveATar) {
  std::string file = make_archive({{.name = "d\xc3\xa9p/a.so", .content = elf("a")}});
  EXPECT_EQ(run("x.tar", file).files, (Files{{"x.tar!d\xc3\xa9p/a.so", elf("a")}}));
}

} // namespace
} // namespace gpuvet
