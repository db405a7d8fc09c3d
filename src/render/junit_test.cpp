#include "render/junit.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

std::string one(const std::string& name, JunitState state = JunitState::passed,
                const std::string& message = {}, const std::string& text = {}) {
  return render_junit("t", {{"s", {{name, state, message, text}}}});
}

TEST(Junit, CountsAndStates) {
  std::string xml =
      render_junit("gpuvet check", {{"dist/a.whl",
                                     {{"T4", JunitState::passed, {}, {}},
                                      {"H100", JunitState::failed, "no code", "kernels: k"},
                                      {"size", JunitState::error, "cannot be read", {}},
                                      {"A100", JunitState::skipped, "no GPU code", {}}}},
                                    {"b", {{"T4", JunitState::passed, {}, {}}}}});
  EXPECT_EQ(xml, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                 "<testsuites name=\"gpuvet check\" tests=\"5\" failures=\"1\" errors=\"1\" "
                 "skipped=\"1\">\n"
                 "  <testsuite name=\"dist/a.whl\" tests=\"4\" failures=\"1\" errors=\"1\" "
                 "skipped=\"1\">\n"
                 "    <testcase classname=\"dist/a.whl\" name=\"T4\"/>\n"
                 "    <testcase classname=\"dist/a.whl\" name=\"H100\">\n"
                 "      <failure message=\"no code\">kernels: k</failure>\n"
                 "    </testcase>\n"
                 "    <testcase classname=\"dist/a.whl\" name=\"size\">\n"
                 "      <error message=\"cannot be read\"></error>\n"
                 "    </testcase>\n"
                 "    <testcase classname=\"dist/a.whl\" name=\"A100\">\n"
                 "      <skipped message=\"no GPU code\"/>\n"
                 "    </testcase>\n"
                 "  </testsuite>\n"
                 "  <testsuite name=\"b\" tests=\"1\" failures=\"0\" errors=\"0\" skipped=\"0\">\n"
                 "    <testcase classname=\"b\" name=\"T4\"/>\n"
                 "  </testsuite>\n"
                 "</testsuites>\n");
}

TEST(Junit, NothingBreaksOutOfItsPlace) {
  std::string xml = one("<&\">", JunitState::failed, "a\"b\nc", "</failure><x/>&amp;");
  EXPECT_NE(xml.find("name=\"&lt;&amp;&quot;&gt;\""), std::string::npos);
  EXPECT_NE(xml.find("message=\"a&quot;b&#10;c\""), std::string::npos);
  EXPECT_NE(xml.find(">&lt;/failure&gt;&lt;x/&gt;&amp;amp;</failure>"), std::string::npos);
}

TEST(Junit, ControlCharactersAreDropped) {
  for (char c = 1; c < 0x20; ++c) {
    std::string xml = one(std::string("a") + c + "b");
    if (c == '\n' || c == '\t') continue;
    EXPECT_NE(xml.find("name=\"ab\""), std::string::npos) << int(c);
  }
  EXPECT_NE(one("a\x7f"
                "b")
                .find("name=\"ab\""),
            std::string::npos);
  EXPECT_NE(one(std::string("a\0b", 3)).find("name=\"ab\""), std::string::npos);
}

TEST(Junit, BadUtf8BecomesAReplacement) {
  const std::string mark = "\xef\xbf\xbd";
  EXPECT_NE(one("\xff").find("name=\"" + mark + "\""), std::string::npos);
  EXPECT_NE(one("\xc3").find("name=\"" + mark + "\""), std::string::npos);
  EXPECT_NE(one("\xed\xa0\x80").find(mark + mark + mark), std::string::npos); // a surrogate
  EXPECT_NE(one("\xef\xbf\xbf").find(mark + mark + mark), std::string::npos); // U+FFFF
  EXPECT_NE(one("\xf4\x90\x80\x80").find(mark), std::string::npos);
  EXPECT_NE(one("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80")
                .find("name=\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\""),
            std::string::npos);
}

} // namespace
} // namespace gpuvet
