#include "formats/log_text/log_text.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

const LiteralSet& literals() {
  static const LiteralSet set({"no kernel image", "nvcc fatal"});
  return set;
}

struct Seen {
  std::string text;
  uint64_t number;
  bool has_literal;
  bool operator==(const Seen&) const = default;
};

std::vector<Seen> read(std::string_view text, size_t piece = ~size_t{0}) {
  std::vector<Seen> seen;
  LogText log(literals(), [&](const PlainLine& line) {
    seen.push_back({std::string(line.text), line.number, line.has_literal});
  });
  while (!text.empty()) {
    log.feed(text.substr(0, piece));
    text.remove_prefix(std::min(piece, text.size()));
  }
  log.end();
  return seen;
}

std::string filler(size_t bytes) { // lines without a literal, longer than the head
  std::string text;
  while (text.size() < bytes)
    text += "[ 50%] Building CXX object " + std::string(900, 'o') + "\n";
  return text;
}

TEST(LogText, NumbersLinesAndMarksThoseWithALiteral) {
  std::vector<Seen> expected = {{"make all", 1, false}, {"nvcc fatal : x", 3, true}};
  EXPECT_EQ(read("make all\n\nnvcc fatal : x\r\n"), expected);
  EXPECT_EQ(read("make all\n\nnvcc fatal : x"), expected);
}

TEST(LogText, PiecesOfAnySizeGiveTheSame) {
  std::string text = "a\nnvcc fatal : 1\n\x1b[31mno kernel image\x1b[0m\nb\r\n{\"log\":\"x\\nnvcc "
                     "fatal : 2\\n\"}\nlast nvcc fatal";
  auto whole = read(text);
  for (size_t piece = 1; piece < 40; ++piece)
    EXPECT_EQ(read(text, piece), whole) << piece;
}

TEST(LogText, BehindTheHeadOnlyLinesWithALiteralAreGiven) {
  std::string text = filler(kLogHead);
  auto lines = static_cast<uint64_t>(std::count(text.begin(), text.end(), '\n'));
  text += "an ordinary line\nmore nvcc fatal : y\nordinary\n";
  for (size_t piece : {size_t{1000}, size_t{1} << 16, text.size()}) {
    auto seen = read(text, piece);
    ASSERT_FALSE(seen.empty());
    EXPECT_EQ(seen.back(), (Seen{"more nvcc fatal : y", lines + 2, true})) << piece;
    EXPECT_LE(seen.size(), lines + 1);
  }
}

TEST(LogText, OneLineWithoutAnEndStaysBounded) {
  std::string line(3 << 20, 'x');
  line.replace(1 << 20, 10, "nvcc fatal");
  line.replace((256 << 10) - 5, 10, "nvcc fatal"); // over the border of two parts
  line += "\nnvcc fatal : z\n";
  for (size_t piece : {size_t{4096}, size_t{1} << 20, line.size()}) {
    std::vector<Seen> with;
    for (const Seen& seen : read(line, piece)) {
      EXPECT_LE(seen.text.size(), kLongestLogLine);
      if (seen.has_literal) with.push_back(seen);
    }
    ASSERT_EQ(with.size(), 3U) << piece;
    EXPECT_EQ(with[0].number, 1U);
    EXPECT_EQ(with[1].number, 1U);
    EXPECT_NE(with[1].text.find("nvcc fatal"), std::string::npos);
    EXPECT_EQ(with[2], (Seen{"nvcc fatal : z", 2, true}));
  }
}

TEST(LogText, EscapedLinesAreSplit) {
  EXPECT_EQ(read(R"({"log":"step 1\nnvcc fatal   : \"x\"\n","stream":"stderr"})"),
            (std::vector<Seen>{{R"({"log":"step 1)", 1, false},
                               {"nvcc fatal   : \"x\"", 1, true},
                               {R"(","stream":"stderr"})", 1, false}}));
  // Folders of Windows are no ends of lines.
  EXPECT_EQ(read(R"(C:\nvidia\new\nvcc.exe: nvcc fatal : x)").size(), 1U);
}

TEST(LogText, WhatATerminalWrappedIsJoined) {
  std::string before(70, 'x');
  EXPECT_EQ(read(before + "no ker\nnel image is here\n"),
            (std::vector<Seen>{{before + "no ker", 1, false},
                               {before + "no kernel image is here", 2, true},
                               {"nel image is here", 2, false}}));
  EXPECT_EQ(read(before + " no kernel\nimage is here\n")[1].text,
            before + " no kernel image is here");
  EXPECT_EQ(read("short no ker\nnel image\n").size(), 2U) << "a short line is not wrapped";
}

TEST(LogText, Utf16IsRead) {
  std::string text = "\xff\xfe";
  for (char c : std::string("ok\nnvcc fatal : x\n"))
    text += std::string{c, '\0'};
  for (size_t piece : {size_t{1}, size_t{3}, size_t{2}, text.size()}) {
    auto seen = read(text, piece);
    if (piece == 1) continue; // the mark itself must come in one piece
    EXPECT_EQ(seen, (std::vector<Seen>{{"ok", 1, false}, {"nvcc fatal : x", 2, true}})) << piece;
  }
}

TEST(LogText, ProgressThatWritesOverItself) {
  EXPECT_EQ(read("10%\r20%\rnvcc fatal : x\n"),
            (std::vector<Seen>{{"10%", 1, false}, {"20%", 1, false}, {"nvcc fatal : x", 1, true}}));
}

} // namespace
} // namespace gpuvet
