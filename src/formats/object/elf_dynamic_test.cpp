#include "formats/object/elf_dynamic.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace gpuvet {
namespace {

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string input(const std::string& name) {
  return content(std::string(GPUVET_SOURCE_DIR) + "/tests/inputs/" + name);
}

TEST(ElfFacts, ReadTheDynamicSectionOfALibrary) {
  std::string file = content(std::string(GPUVET_SOURCE_DIR) + "/tests/corpus/elf_dynamic/libb.so");
  auto facts = parse_elf_facts(Bytes(file));
  ASSERT_TRUE(facts) << facts.error().what;
  EXPECT_EQ(facts->bits, 64);
  EXPECT_EQ(facts->machine, 62);
  EXPECT_TRUE(facts->shared);
  EXPECT_TRUE(facts->has_dynamic);
  EXPECT_EQ(facts->soname, "libb.so.1");
  EXPECT_EQ(facts->needed, (std::vector<std::string>{"liba.so.1"}));
  EXPECT_EQ(facts->runpath, (std::vector<std::string>{"$ORIGIN/../lib", "", "/opt/x"}));
  EXPECT_TRUE(facts->rpath.empty());
  EXPECT_TRUE(facts->nodeflib);
  EXPECT_EQ(facts->version_defs, (std::vector<std::string>{"libb.so.1", "B_1.0"}));
  ASSERT_EQ(facts->version_needs.size(), 1u);
  EXPECT_EQ(facts->version_needs[0].file, "liba.so.1");
  EXPECT_EQ(facts->version_needs[0].name, "A_1.0");
  EXPECT_EQ(facts->size, file.size());
}

TEST(ElfFacts, ReadTheNoteOfForwardCompatibility) {
  std::string file =
      content(std::string(GPUVET_SOURCE_DIR) + "/tests/corpus/elf_dynamic/compat.so");
  auto facts = parse_elf_facts(Bytes(file));
  ASSERT_TRUE(facts) << facts.error().what;
  EXPECT_EQ(facts->soname, "libcuda.so.1");
  EXPECT_EQ(facts->rpath, (std::vector<std::string>{"/r"}));
  EXPECT_EQ(facts->forward_compatibility, "{\"Driver\":[535,550]}");
}

TEST(ElfFacts, TellAnObjectFromALibrary) {
  std::string object = input("caller.o");
  auto facts = parse_elf_facts(Bytes(object));
  ASSERT_TRUE(facts);
  EXPECT_FALSE(facts->has_dynamic);
  EXPECT_FALSE(facts->shared);
  auto arm = parse_elf_facts(Bytes(input("aarch64.so")));
  ASSERT_TRUE(arm);
  EXPECT_EQ(arm->machine, 183);
}

TEST(ElfFacts, EveryCutOfAFileIsAnErrorOrFacts) {
  std::string file = content(std::string(GPUVET_SOURCE_DIR) + "/tests/corpus/elf_dynamic/libb.so");
  size_t errors = 0;
  for (size_t size = 0; size < file.size(); size += 7)
    if (!parse_elf_facts(Bytes(std::string_view(file).substr(0, size)))) ++errors;
  EXPECT_GT(errors, 0u);
  EXPECT_FALSE(parse_elf_facts(Bytes(std::string_view("#!/bin/sh\n"))));
}

} // namespace
} // namespace gpuvet
