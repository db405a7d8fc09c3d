#include "formats/ld_cache.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace gpuvet {
namespace {

// Made by ldconfig 2.36 for one folder tree: libx.so.1 in /opt/a and /opt/b, liby.so.2 in /opt/b
// and its glibc-hwcaps/x86-64-v3.
std::string corpus(const std::string& name) {
  std::ifstream file(std::string(GPUVET_SOURCE_DIR) + "/tests/corpus/ld_cache/" + name,
                     std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> paths(const LdCache& cache, const std::string& soname,
                               const std::vector<std::string>& hwcaps, uint32_t flags = 0x303) {
  std::vector<std::string> list;
  for (const LdCacheEntry* entry : find_in_cache(cache, soname, flags, hwcaps))
    list.push_back(entry->path);
  return list;
}

using List = std::vector<std::string>;

TEST(LdCache, EveryLayoutTellsTheSameFiles) {
  for (const char* name : {"old", "compat", "new"}) {
    std::string file = corpus(name);
    auto cache = parse_ld_cache(Bytes(file));
    ASSERT_TRUE(cache) << name << ": " << cache.error().what;
    EXPECT_EQ(cache->entries.size(), 4u) << name;
    EXPECT_EQ(paths(*cache, "libx.so.1", {}), (List{"/opt/a/libx.so.1", "/opt/b/libx.so.1"}))
        << name;
    EXPECT_EQ(cache->old_format, name == std::string("old"));
    EXPECT_TRUE(paths(*cache, "libx.so", {}).empty());
    EXPECT_TRUE(paths(*cache, "libx.so.1", {}, cache_flags(64, 183)).empty());
  }
}

TEST(LdCache, FoldersForAProcessorCountWhereItCanUseThem) {
  std::string file = corpus("new");
  auto cache = parse_ld_cache(Bytes(file));
  ASSERT_TRUE(cache);
  EXPECT_NE(cache->generator.find("2.36"), std::string::npos);
  EXPECT_EQ(paths(*cache, "liby.so.2", {"x86-64-v3", "x86-64-v2"}),
            (List{"/opt/b/glibc-hwcaps/x86-64-v3/liby.so.2", "/opt/b/liby.so.2"}));
  EXPECT_EQ(paths(*cache, "liby.so.2", {"x86-64-v2"}), (List{"/opt/b/liby.so.2"}));
  EXPECT_EQ(paths(*cache, "liby.so.2", {}), (List{"/opt/b/liby.so.2"}));
}

TEST(LdCache, DigitsCompareAsNumbers) {
  EXPECT_TRUE(same_cache_name("libx.so.1", "libx.so.01"));
  EXPECT_TRUE(same_cache_name("libx.so.10", "libx.so.10"));
  EXPECT_FALSE(same_cache_name("libx.so.1", "libx.so.10"));
  EXPECT_FALSE(same_cache_name("libx.so.1", "libx.so."));
  EXPECT_FALSE(same_cache_name("libx.so", "libx.so.1"));
  EXPECT_FALSE(same_cache_name("lib1", "libx"));
}

TEST(LdCache, DamageIsAnError) {
  std::string file = corpus("new");
  EXPECT_FALSE(parse_ld_cache(Bytes(std::string_view("ld.so-1.7.0"))));
  EXPECT_FALSE(parse_ld_cache(Bytes(std::string_view("text"))));
  EXPECT_FALSE(parse_ld_cache(Bytes(std::string_view(file).substr(0, 200))));
  std::string many = file;
  many[20] = '\xff', many[21] = '\xff', many[22] = '\xff';
  EXPECT_FALSE(parse_ld_cache(Bytes(many)));
  std::string outside = file;
  outside[48 + 7] = '\x7f'; // high byte of the first name's offset
  EXPECT_FALSE(parse_ld_cache(Bytes(outside)));
  for (size_t at = 0; at < file.size(); ++at) {
    std::string changed = file;
    changed[at] = static_cast<char>(changed[at] ^ 0x80);
    (void)parse_ld_cache(Bytes(changed));
  }
}

} // namespace
} // namespace gpuvet
