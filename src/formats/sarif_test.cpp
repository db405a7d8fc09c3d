#include "formats/json_read.hpp"
#include "formats/sarif.hpp"

#include <gtest/gtest.h>

#include <set>

namespace gpuvet {
namespace {

// What SARIF 2.1.0 asks of the parts that are written (chapters 3.13, 3.14, 3.18, 3.19, 3.27 to
// 3.30, 3.49): required properties, their types, the values of enumerations.
void expect_valid(const Json& log) {
  EXPECT_EQ(log["version"].text, "2.1.0");
  ASSERT_EQ(log["runs"].kind, Json::Kind::list);
  for (const Json& run : log["runs"].items) {
    const Json& driver = run["tool"]["driver"];
    EXPECT_FALSE(driver["name"].text.empty());
    EXPECT_FALSE(run["automationDetails"]["id"].text.empty());
    EXPECT_TRUE(run["columnKind"].text == "utf16CodeUnits" ||
                run["columnKind"].text == "unicodeCodePoints");
    std::set<std::string> ids;
    for (const Json& rule : driver["rules"].items) {
      EXPECT_TRUE(ids.insert(rule["id"].text).second) << rule["id"].text << " is listed twice";
      EXPECT_FALSE(rule["shortDescription"]["text"].text.empty());
      if (rule.has("help")) {
        EXPECT_FALSE(rule["help"]["text"].text.empty());
      }
    }
    ASSERT_EQ(run["results"].kind, Json::Kind::list);
    for (const Json& result : run["results"].items) {
      EXPECT_FALSE(result["message"]["text"].text.empty());
      const std::string& level = result["level"].text;
      EXPECT_TRUE(level == "error" || level == "warning" || level == "note") << level;
      if (result.has("ruleIndex")) {
        ASSERT_LT(result["ruleIndex"].magnitude, driver["rules"].items.size());
        EXPECT_EQ(driver["rules"].items[result["ruleIndex"].magnitude]["id"].text,
                  result["ruleId"].text);
      }
      for (const Json& location : result["locations"].items) {
        const Json& physical = location["physicalLocation"];
        EXPECT_FALSE(physical["artifactLocation"]["uri"].text.empty());
        if (!physical.has("region")) continue;
        EXPECT_GE(physical["region"]["startLine"].magnitude, 1u);
        if (physical["region"].has("startColumn")) {
          EXPECT_GE(physical["region"]["startColumn"].magnitude, 1u);
        }
      }
    }
  }
}

Json parsed(const std::string& text) {
  auto json = parse_json(text, "sarif");
  EXPECT_TRUE(json) << text;
  return json ? *json : Json{};
}

TEST(Sarif, HoldsRulesAndResults) {
  Json log = parsed(write_sarif("arch lint", {{"a", "first", "do this"}, {"b", "second", ""}},
                                {{"b", "error", "wrong", "dir/Docker file", 3, 7},
                                 {"a", "note", "look", "/abs/x", 4, 0},
                                 {"a", "warning", "whole file", "c:d", 0, 0},
                                 {"z", "warning", "of no file", "", 0, 0}}));
  expect_valid(log);
  const Json& run = log["runs"].items.at(0);
  EXPECT_EQ(run["automationDetails"]["id"].text, "gpuvet arch lint/");
  EXPECT_FALSE(run["tool"]["driver"]["rules"].items.at(1).has("help"));
  const std::vector<Json>& results = run["results"].items;
  ASSERT_EQ(results.size(), 4u);
  auto place = [&](size_t i) { return results.at(i)["locations"].items.at(0)["physicalLocation"]; };
  EXPECT_EQ(results[0]["ruleIndex"].magnitude, 1u);
  EXPECT_EQ(place(0)["artifactLocation"]["uri"].text, "dir/Docker%20file");
  EXPECT_EQ(place(0)["region"]["startLine"].magnitude, 3u);
  EXPECT_EQ(place(0)["region"]["startColumn"].magnitude, 7u);
  EXPECT_EQ(place(1)["artifactLocation"]["uri"].text, "file:///abs/x");
  EXPECT_FALSE(place(1)["region"].has("startColumn"));
  EXPECT_EQ(place(2)["artifactLocation"]["uri"].text, "c%3Ad");
  EXPECT_FALSE(place(2).has("region"));
  EXPECT_TRUE(results[3]["locations"].items.empty());
  EXPECT_FALSE(results[3].has("ruleIndex"));
}

TEST(Sarif, HostileTextStaysText) {
  Json log = parsed(write_sarif("x", {}, {{"r", "error", "a\"b\n\x01\xff", "\xff\n", 1, 1}}));
  expect_valid(log);
  const Json& result = log["runs"].items.at(0)["results"].items.at(0);
  EXPECT_EQ(result["message"]["text"].text, "a\"b\n\x01\xef\xbf\xbd");
  EXPECT_EQ(result["locations"].items.at(0)["physicalLocation"]["artifactLocation"]["uri"].text,
            "%FF%0A");
}

TEST(Sarif, NothingFoundIsARunWithoutResults) {
  Json log = parsed(write_sarif("check", {}, {}));
  expect_valid(log);
  EXPECT_TRUE(log["runs"].items.at(0)["results"].items.empty());
}

} // namespace
} // namespace gpuvet
