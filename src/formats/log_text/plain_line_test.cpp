#include "formats/log_text/escapes.hpp"
#include "formats/log_text/log_text.hpp"
#include "formats/log_text/prefixes.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

std::string plain(std::string_view raw) {
  std::string room;
  return std::string(plain_line(raw, room));
}

TEST(PlainLine, EachPrefixIsTakenOffItsExample) {
  const std::string message = "RuntimeError: x: 1 (y)";
  for (const LogPrefix& prefix : log_prefixes()) {
    EXPECT_EQ(prefix_length(prefix.example), prefix.example.size()) << prefix.writer;
    EXPECT_EQ(plain(std::string(prefix.example) + message), message) << prefix.example;
  }
}

TEST(PlainLine, SeveralPrefixes) {
  EXPECT_EQ(plain("2024-05-01T12:00:00.1Z [rank0]: (Worker pid=7) nvcc fatal"), "nvcc fatal");
  EXPECT_EQ(plain("#9 12.34 \x1b[1mnvcc fatal\x1b[0m"), "nvcc fatal");
  EXPECT_EQ(plain("[  12.5] NVRM: Xid (PCI:0000:01:00): 79"), "NVRM: Xid (PCI:0000:01:00): 79");
}

TEST(PlainLine, MessagesStayWhole) {
  for (const char* line :
       {"nvcc fatal   : Unsupported gpu architecture 'compute_120'",
        "a.cu(12): error: identifier \"x\" is undefined", "[100%] Built target app",
        "  File \"x.py\", line 3, in f", "error: 3", "CUDA kernel: f",
        "RuntimeError: CUDA error: out of memory", "[1/3] Building x.cu.o"})
    EXPECT_EQ(plain(line), line);
}

TEST(PlainLine, ControlsAndLinks) {
  EXPECT_EQ(plain("\x1b[31;1merror\x1b[0m: x"), "error: x");
  EXPECT_EQ(plain("\x1b]8;;http://x\aname\x1b]8;;\a end"), "name end");
  EXPECT_EQ(plain(std::string("a\0b", 3)), "ab");
  EXPECT_EQ(plain("abx\bc"), "abc");
  EXPECT_EQ(plain("\x1b["), "");
  EXPECT_EQ(plain("end\x1b"), "end");
}

TEST(Unescape, EachEscape) {
  std::string text;
  unescape(R"(a\nb\t\"\\\u0041\x42\q\u00e9\)", text);
  EXPECT_EQ(text, "a\nb\t\"\\AB\\q?\\");
  EXPECT_FALSE(is_escaped("plain \"text\""));
  EXPECT_TRUE(is_escaped(R"({"a":"b\nc"})"));
}

} // namespace
} // namespace gpuvet
