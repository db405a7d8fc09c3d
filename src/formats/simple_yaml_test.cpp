#include "formats/simple_yaml.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

Json parsed(std::string_view text) {
  auto json = parse_simple_yaml(text, "test");
  EXPECT_TRUE(json) << (json ? "" : json.error().what);
  return json ? *json : Json{};
}

std::string problem(std::string_view text) {
  auto json = parse_simple_yaml(text, "test");
  return json ? "" : json.error().what;
}

TEST(SimpleYaml, ReadsASpecificationAsNvidiaCtkWritesIt) {
  Json spec = parsed("---\n"
                     "cdiVersion: 0.5.0\n"
                     "containerEdits:\n"
                     "  deviceNodes:\n"
                     "  - path: /dev/nvidiactl\n"
                     "  - major: 511\n"
                     "    path: /dev/nvidia-uvm\n"
                     "  hooks:\n"
                     "  - args:\n"
                     "    - nvidia-ctk\n"
                     "    - --link\n"
                     "    - a.so::b.so\n"
                     "    path: /usr/bin/nvidia-ctk\n"
                     "devices:\n"
                     "- containerEdits:\n"
                     "    deviceNodes:\n"
                     "    - path: /dev/nvidia0\n"
                     "  name: \"0\"\n"
                     "- name: all # every one\n"
                     "kind: nvidia.com/gpu\n");
  EXPECT_EQ(spec["cdiVersion"].text, "0.5.0");
  EXPECT_EQ(spec["kind"].text, "nvidia.com/gpu");
  const Json& edits = spec["containerEdits"];
  ASSERT_EQ(edits["deviceNodes"].items.size(), 2u);
  EXPECT_EQ(edits["deviceNodes"].items[1]["major"].number, 511);
  EXPECT_EQ(edits["deviceNodes"].items[1]["path"].text, "/dev/nvidia-uvm");
  ASSERT_EQ(edits["hooks"].items.size(), 1u);
  EXPECT_EQ(edits["hooks"].items[0]["args"].items.size(), 3u);
  EXPECT_EQ(edits["hooks"].items[0]["args"].items[2].text, "a.so::b.so");
  EXPECT_EQ(edits["hooks"].items[0]["path"].text, "/usr/bin/nvidia-ctk");
  ASSERT_EQ(spec["devices"].items.size(), 2u);
  EXPECT_EQ(spec["devices"].items[0]["name"].text, "0");
  EXPECT_EQ(spec["devices"].items[0]["containerEdits"]["deviceNodes"].items[0]["path"].text,
            "/dev/nvidia0");
  EXPECT_EQ(spec["devices"].items[1]["name"].text, "all");
}

TEST(SimpleYaml, ListsMayBeIndentedOrNot) {
  for (const char* text : {"a:\n  - 1\n  - 2\nb: 3\n", "a:\n- 1\n- 2\nb: 3\n"}) {
    Json json = parsed(text);
    ASSERT_EQ(json["a"].items.size(), 2u) << text;
    EXPECT_EQ(json["a"].items[1].number, 2);
    EXPECT_EQ(json["b"].number, 3);
  }
}

TEST(SimpleYaml, ListsInListsAndEmptyValues) {
  Json json = parsed("- - a\n  - b\n-\n- k:\n  l: x\n");
  ASSERT_EQ(json.items.size(), 3u);
  EXPECT_EQ(json.items[0].items.size(), 2u);
  EXPECT_EQ(json.items[1].kind, Json::Kind::null);
  EXPECT_EQ(json.items[2]["k"].kind, Json::Kind::null);
  EXPECT_EQ(json.items[2]["l"].text, "x");
  EXPECT_EQ(parsed("").kind, Json::Kind::null);
  EXPECT_EQ(parsed("a: []\nb: {}\n")["a"].kind, Json::Kind::list);
}

TEST(SimpleYaml, QuotesAndComments) {
  Json json = parsed("a: \"x # y\" # z\nb: 'it''s'\nc: x#y\n\"d e\": true\nf: \"a\\\"b\"\n");
  EXPECT_EQ(json["a"].text, "x # y");
  EXPECT_EQ(json["b"].text, "it's");
  EXPECT_EQ(json["c"].text, "x#y");
  EXPECT_TRUE(json["d e"].boolean);
  EXPECT_EQ(json["f"].text, "a\"b");
}

TEST(SimpleYaml, WhatIsNotReadIsAnErrorWithItsLine) {
  EXPECT_EQ(problem("a: 1\nb: |\n  text\n").find("line 2:"), 0u);
  EXPECT_EQ(problem("a: [1, 2]\n").find("line 1:"), 0u);
  EXPECT_EQ(problem("a: &x 1\n").find("line 1:"), 0u);
  EXPECT_EQ(problem("a: 1\n\tb: 2\n"), "line 2: indented by tabs");
  EXPECT_EQ(problem("a: long\n  continued\n").find("line 2:"), 0u);
  EXPECT_EQ(problem("a: 1\n---\nb: 1\n"), "line 2: a second document");
  EXPECT_EQ(problem("a: \"open\n").find("line 1:"), 0u);
  EXPECT_NE(problem("a: 1\n  b: 2\n"), "");
  EXPECT_NE(problem("  a: 1\nb: 2\n"), "");
}

TEST(SimpleYaml, DepthIsLimited) {
  std::string deep;
  for (size_t i = 0; i < 100; ++i)
    deep += std::string(i, ' ') + "a:\n";
  EXPECT_NE(problem(deep).find("nested too deeply"), std::string::npos);
  EXPECT_NE(problem(std::string(200, '-') + "\n"), "");
  std::string dashes;
  for (size_t i = 0; i < 100; ++i)
    dashes += "- ";
  EXPECT_NE(problem(dashes + "x\n").find("nested too deeply"), std::string::npos);
}

} // namespace
} // namespace gpuvet
