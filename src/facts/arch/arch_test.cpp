// A damaged table of arch/systems.toml is refused with its line, not read as something else.
#include "facts/arch/arch.hpp"
#include "facts/facts.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

// What reading this text says; empty: it is sound.
std::string complaint(const std::string& toml) {
  Facts facts([&](const std::string&) -> Result<std::string> { return toml; });
  auto tables = facts.arch();
  return tables ? "" : tables.error().where + ": " + tables.error().what;
}

const std::string kSource = "source = [{key = \"S\", text = \"somewhere\"}]\n";

TEST(ArchTable, SoundRowsAreRead) {
  EXPECT_EQ(complaint(kSource + "system = [{id = \"x\", tool = \"X\", form = \"list\", number = "
                                "\"integer\", ptx = \"plus\", set_by = \"environment\", source = "
                                "[\"S\"]}]\n"),
            "");
}

TEST(ArchTable, UnknownWordsAreRefusedWithTheirLine) {
  std::string form =
      complaint(kSource + "system = [\n  {id = \"x\", tool = \"X\", form = \"tree\", "
                          "set_by = \"file\", source = [\"S\"]},\n]\n");
  EXPECT_NE(form.find("'tree' is no word for 'form'"), std::string::npos) << form;
  EXPECT_NE(form.find("3"), std::string::npos) << form;
  std::string both =
      complaint(kSource + "word = [{set = \"s\", word = \"w\", meaning = \"all\", value "
                          "= \"80\", source = [\"S\"]}]\n");
  EXPECT_NE(both.find("a keyword has a meaning or a value"), std::string::npos) << both;
  std::string target = complaint(kSource + "rewrite = [{system = \"s\", value = \"120\", target = "
                                           "\"x\", from = \"120\", source = [\"S\"]}]\n");
  EXPECT_NE(target.find("'x' in 'target' is not a compute capability"), std::string::npos)
      << target;
  std::string version = complaint(kSource + "accept = [{product = \"p\", first_release = \"new\", "
                                            "targets = [\"80\"], source = [\"S\"]}]\n");
  EXPECT_NE(version.find("'new' in 'first_release' is not a version"), std::string::npos)
      << version;
  std::string extra = complaint(kSource + "accept = [{product = \"p\", colour = \"red\", source = "
                                          "[\"S\"]}]\n");
  EXPECT_NE(extra.find("colour"), std::string::npos) << extra;
}

TEST(ArchTable, SystemsAreFoundByAnyOfTheirNames) {
  const Facts facts;
  auto tables = facts.arch();
  ASSERT_TRUE(tables);
  EXPECT_EQ(find_arch_system(**tables, "Torch")->id, "pytorch");
  EXPECT_EQ(find_arch_system(**tables, "CMake (CUDA language)")->id, "cmake");
  EXPECT_EQ(find_arch_system(**tables, "make"), nullptr);
}

} // namespace
} // namespace gpuvet
