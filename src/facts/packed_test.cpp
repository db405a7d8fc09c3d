#include "facts/facts.hpp"
#include "facts/packed.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace gpuvet {
namespace {

std::string file(const std::string& name) {
  std::ifstream in(std::string(GPUVET_SOURCE_DIR) + "/facts/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Facts whose file `name` is `text`; the others are those of the source tree.
Facts with(const std::string& name, const std::string& text) {
  return Facts([=](const std::string& asked) -> Result<std::string> {
    return asked == name ? text : file(asked);
  });
}

Error error_of(const std::string& text) {
  auto result = with("errors.toml", text).errors();
  return result ? Error{"no error", ""} : result.error();
}

const std::string source = "source = [{key = \"a\", text = \"b\"}]\n";

TEST(Packed, TomlComesBackAsRows) {
  auto packed = pack_toml(
      "t = [\n {a = \"x y\", n = -1.5, b = true, l = [\"p\", \"q\"], e = []},\n]\n", "t.toml");
  ASSERT_TRUE(packed) << packed.error().what;
  auto tables = read_packed(*packed, "t.toml");
  ASSERT_TRUE(tables);
  ASSERT_EQ(tables->tables.size(), 1u);
  const PackedRow& row = tables->tables[0].rows.at(0);
  EXPECT_EQ(row.line, 2u);
  std::string seen;
  for (const PackedField& f : row.fields)
    seen += std::string(f.key) + f.kind + std::string(f.value) + " ";
  EXPECT_EQ(seen, "asx y bbtrue el llp\x1fq\x1f nn-1.5 ");
}

TEST(Packed, DamageInThePackedTextIsAnError) {
  EXPECT_FALSE(read_packed("", "x"));
  EXPECT_EQ(read_packed("gpuvet-facts 2\n", "x.toml").error().where, "x.toml");
  std::string head(packed_magic);
  EXPECT_FALSE(read_packed(head + "R\t1\ta=sb\n", "x")) << "a row before its table";
  EXPECT_FALSE(read_packed(head + "T\tt\nR\tx\ta=sb\n", "x")) << "no line number";
  EXPECT_FALSE(read_packed(head + "T\tt\nR\t1\ta=\n", "x")) << "no kind";
  EXPECT_FALSE(read_packed(head + "T\tt\nR\t1\t=sb\n", "x")) << "no key";
  EXPECT_TRUE(read_packed(head + "T\tt\nR\t1\ta=sb\n", "x"));
}

TEST(FactsFolder, EmbeddedAndReadFromTomlAreTheSame) {
  Facts toml([](const std::string& name) -> Result<std::string> { return file(name); });
  Facts embedded;
  auto a = toml.gpus(), b = embedded.gpus();
  ASSERT_TRUE(a) << a.error().where << a.error().what;
  ASSERT_TRUE(b);
  ASSERT_EQ((*a)->size(), (*b)->size());
  for (size_t i = 0; i < (*a)->size(); ++i) {
    EXPECT_EQ((**a)[i].name, (**b)[i].name);
    EXPECT_EQ((**a)[i].fp32_tflops, (**b)[i].fp32_tflops);
    EXPECT_EQ((**a)[i].source, (**b)[i].source);
  }
}

TEST(FactsFolder, MistakesNameFileAndLine) {
  EXPECT_EQ(error_of("error = [").where, "errors.toml:1");
  EXPECT_EQ(error_of(source + "error = [\n {code = \"x\", source = [\"a\"]}]").what,
            "'code' must be a number, not a text");
  EXPECT_EQ(error_of(source + "error = [\n {code = 1, txt = \"t\", source = [\"a\"]}]").what,
            "'text' is missing");
  Error left = error_of(source + "error = [\n\n {code = 1, text = \"t\", caus = \"c\", "
                                 "source = [\"a\"]}]");
  EXPECT_EQ(left.what, "no key is called 'caus'");
  EXPECT_EQ(left.where, "errors.toml:4");
  EXPECT_EQ(error_of(source + "error = [{code = 1, text = \"t\", source = [\"z\"]}]").what,
            "no source is called 'z'");
  EXPECT_EQ(error_of(source + "error = [{code = 1, text = \"t\"}]").what, "'source' is missing");
  EXPECT_EQ(error_of(source + "errors = [{code = 1}]").what,
            "no table of this file is called 'errors'");
  EXPECT_EQ(error_of("error = 1").what, "'error' is not a list of rows");
  EXPECT_EQ(error_of("error = [{code = {}}]").what,
            "a value is neither text, number, true or false, nor a list of these");
  EXPECT_EQ(error_of("error = [{text = \"a\\tb\"}]").what,
            "a text holds a line break or another control character");
  EXPECT_EQ(error_of("error = [{text = \"\"}]").what,
            "an empty text says nothing: leave the key out");
}

TEST(FactsFolder, AFileThatCannotBeReadIsAnError) {
  Facts none([](const std::string& name) -> Result<std::string> { return fail("gone", name); });
  ASSERT_FALSE(none.gpus());
  EXPECT_EQ(none.gpus().error().where, "loading.toml");
}

TEST(PackSettings, EveryValueHasItsLine) {
  auto packed = pack_settings("a = 1\n[s]\nb = [\n  \"x\",\n  \"y\",\n]\nc = true\nd = []\n", "f");
  ASSERT_TRUE(packed) << packed.error().what;
  auto file = read_packed(*packed, "f");
  ASSERT_TRUE(file) << file.error().what;
  std::string seen;
  for (const PackedTable& table : file->tables)
    for (const PackedRow& row : table.rows)
      for (const PackedField& field : row.fields)
        seen += fmt::format("[{}] {} {} {} {}\n", table.name, row.line, field.key, field.kind,
                            field.value);
  EXPECT_EQ(seen, "[] 1 a n 1\n"
                  "[s] 3 b l \n[s] 4 b s x\n[s] 5 b s y\n"
                  "[s] 7 c b true\n[s] 8 d l \n");
}

TEST(PackSettings, WhatIsNoValueIsAnErrorWithItsLine) {
  auto where = [](const char* text) {
    auto packed = pack_settings(text, "f");
    EXPECT_FALSE(packed) << text;
    return packed ? std::string() : packed.error().where;
  };
  EXPECT_EQ(where("[s]\nb = {c = 1}\n"), "f:2");
  EXPECT_EQ(where("[s]\nb = [[1]]\n"), "f:2");
  EXPECT_EQ(where("[s]\nb = [\n1,\n{c = 1}]\n"), "f:4");
  EXPECT_EQ(where("[s]\nb = \"\"\n"), "f:2");
  EXPECT_EQ(where("[s]\nb = \"a\\nb\"\n"), "f:2");
  EXPECT_EQ(where("[s]\n\"b=c\" = 1\n"), "f:2");
  EXPECT_EQ(where("[s]\nb = 1\nb = 2\n"), "f:3");
  EXPECT_EQ(where("[s]\nb = 1979-05-27\n"), "f:2");
  EXPECT_EQ(where("[[s]]\nb = 1\n"), "f:1");
}

} // namespace
} // namespace gpuvet
