#include "formats/json_read.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

TEST(JsonRead, BuildsTheTree) {
  auto json = parse_json(R"({"a":[1,-2.5,true,null],"b":{"c":"text"},"a":"again"})", "x");
  ASSERT_TRUE(json) << json.error().what;
  EXPECT_EQ((*json)["a"].items.size(), 4u);
  EXPECT_EQ((*json)["a"].items[0].number, 1);
  EXPECT_EQ((*json)["a"].items[1].number, -2.5);
  EXPECT_TRUE((*json)["a"].items[2].boolean);
  EXPECT_EQ((*json)["b"]["c"].text, "text");
  EXPECT_EQ((*json)["absent"]["deeper"].text, "");
  EXPECT_TRUE(json->has("b"));
  EXPECT_FALSE(json->has("c"));
}

TEST(JsonRead, DamageIsAnErrorWithItsPlace) {
  auto json = parse_json(R"({"a":)", "x.json");
  ASSERT_FALSE(json);
  EXPECT_EQ(json.error().where, "x.json");
  EXPECT_NE(json.error().what.find("byte"), std::string::npos);
  EXPECT_FALSE(parse_json("", "x"));
  EXPECT_FALSE(parse_json("1 2", "x"));
  EXPECT_FALSE(parse_json("\"\xff\"", "x"));
}

} // namespace
} // namespace gpuvet
