#include "probe/place/parts.hpp"

#include <gtest/gtest.h>

namespace gpuvet::place {
namespace {

TEST(PlaceSettings, SectionsKeysAndComments) {
  auto settings = settings_in({"a = 1", "# b = 2", "[x.\"y z\"]", "'c' = \"d # e\" # f", "g=h=i"});
  ASSERT_EQ(settings.size(), 3u);
  EXPECT_EQ(settings[0].section, "");
  EXPECT_EQ(settings[1].section, "x.yz");
  EXPECT_EQ(settings[1].key, "c");
  EXPECT_EQ(settings[1].value, "d # e");
  EXPECT_EQ(settings[1].line, 4u);
  EXPECT_EQ(settings[2].value, "h=i");
}

TEST(PlaceSettings, TimeSpansOfSystemd) {
  EXPECT_EQ(time_span("15"), 15.0);
  EXPECT_EQ(time_span("1min 30s"), 90.0);
  EXPECT_EQ(time_span("2 h"), 7200.0);
  EXPECT_FALSE(time_span("soon"));
  EXPECT_FALSE(time_span(""));
  EXPECT_FALSE(time_span("5 fortnights"));
}

TEST(PlaceSettings, DottedNumbers) {
  EXPECT_EQ(dotted_number("version 550.90.07 is running"), "550.90.07");
  EXPECT_EQ(dotted_number("tid 12, v1."), "");
  EXPECT_EQ(dotted_number("none"), "");
}

} // namespace
} // namespace gpuvet::place
