#include "base/shell.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

TEST(Shell, PlainWordsStayAsTheyAre) {
  EXPECT_EQ(shell_word("cuda-toolkit-12-8"), "cuda-toolkit-12-8");
  EXPECT_EQ(shell_word("/usr/local/cuda-12.8"), "/usr/local/cuda-12.8");
  EXPECT_EQ(shell_word("https://host/a_b+c%20"), "https://host/a_b+c%20");
}

TEST(Shell, EverythingElseIsQuoted) {
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("$(rm -r /)"), "'$(rm -r /)'");
  EXPECT_EQ(shell_word("a;b"), "'a;b'");
  EXPECT_EQ(shell_word("*"), "'*'");
  EXPECT_EQ(shell_word("~user"), "'~user'");
  EXPECT_EQ(shell_word("#x"), "'#x'");
  EXPECT_EQ(shell_word("{a,b}"), "'{a,b}'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word("a\nb"), "'a\nb'");
  EXPECT_EQ(shell_word(std::string_view("a\0b", 3)), "'ab'");
}

TEST(Shell, WordsStandApart) {
  EXPECT_EQ(shell_words({"a", "b c", ""}), "a 'b c' ''");
  EXPECT_EQ(shell_words({}), "");
}

} // namespace
} // namespace gpuvet
