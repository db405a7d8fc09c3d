#include "render/terminal.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

TEST(Printable, DefusesControlCharacters) {
  EXPECT_EQ(printable("a\x1b[31mb\n"), "a\\x1b[31mb\\x0a");
  EXPECT_EQ(printable("\xc3\xbc"), "\xc3\xbc");
}

TEST(ShortenLeft, KeepsTheEnd) {
  EXPECT_EQ(shorten_left("libfoo.so", 9), "libfoo.so");
  EXPECT_EQ(shorten_left("/usr/lib/libfoo.so", 12), "...libfoo.so");
  EXPECT_EQ(display_width(shorten_left("\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc", 4)), 4);
}

TEST(Wrap, BreaksAtSpacesAndIndents) {
  EXPECT_EQ(wrap("one two three four five six", 20, 2), "one two three four\n  five six");
  EXPECT_EQ(wrap("", 20, 2), "");
  std::string word(30, 'x');
  EXPECT_EQ(wrap(word + " y", 20, 0), word + "\ny");
}

TEST(RenderTable, AlignsAndShortensTheFirstColumnOnly) {
  Table table{{{"FILE"}, {"SIZE", Align::right}, {"T4"}},
              {{{"a.so"}, {"5 B"}, {"none", State::fault}},
               {{std::string(60, 'd') + "/libfoo.so"}, {"456 MB"}, {"native", State::ok}}}};
  std::string text = render_table(table, {false, 40});
  EXPECT_EQ(text, "FILE                        SIZE  T4\n"
                  "a.so                         5 B  none\n"
                  "...ddddddddddd/libfoo.so  456 MB  native\n");
}

TEST(RenderTable, AWrappedLastColumnGoesOnBelowItself) {
  Table table{{{"AT"}, {"IMAGES", Align::left, true}},
              {{{"0x10"}, {"sm_75 sm_80 sm_86 sm_90 compute_90"}}}};
  EXPECT_EQ(render_table(table, {false, 30}), "AT    IMAGES\n"
                                              "0x10  sm_75 sm_80 sm_86 sm_90\n"
                                              "      compute_90\n");
}

TEST(RenderTerminal, ColourOnlyWhenAsked) {
  Report report;
  report.verdict = "does not run on T4";
  report.state = State::fault;
  EXPECT_EQ(render_terminal(report, {false, 80}), "does not run on T4\n");
  EXPECT_NE(render_terminal(report, {true, 80}).find("\x1b[31m"), std::string::npos);
}

} // namespace
} // namespace gpuvet
