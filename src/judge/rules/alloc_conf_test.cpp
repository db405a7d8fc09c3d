#include "judge/rules/alloc_conf.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

TEST(AllocConf, GoodOnes) {
  for (const char* good :
       {"", "expandable_segments:True", "max_split_size_mb:128,garbage_collection_threshold:0.6",
        " max_split_size_mb : 512 , expandable_segments : False ", "backend:cudaMallocAsync",
        "roundup_power2_divisions:[256:1,512:2,1024:4,>:8],max_split_size_mb:64"})
    EXPECT_TRUE(read_alloc_conf(good).wrong.empty()) << good;
  EXPECT_EQ(read_alloc_conf("roundup_power2_divisions:[256:1,512:2]").settings.size(), 1U);
}

TEST(AllocConf, Keys) {
  AllocConf conf = read_alloc_conf("max_split_size:128");
  ASSERT_EQ(conf.wrong.size(), 1U);
  EXPECT_TRUE(conf.wrong[0].certain);
  EXPECT_EQ(conf.wrong[0].why, "the key is spelt max_split_size_mb");
  EXPECT_FALSE(read_alloc_conf("brand_new_setting:1").wrong[0].certain);
  EXPECT_EQ(read_alloc_conf("max_split_size_mb=128").wrong[0].why,
            "key and value are joined by a colon");
}

TEST(AllocConf, Values) {
  for (const char* bad : {"expandable_segments:true", "expandable_segments:1",
                          "max_split_size_mb:128MB", "backend:async", "max_split_size_mb:",
                          "garbage_collection_threshold:80%", "garbage_collection_threshold:8"}) {
    AllocConf conf = read_alloc_conf(bad);
    ASSERT_EQ(conf.wrong.size(), 1U) << bad;
    EXPECT_TRUE(conf.wrong[0].value) << bad;
  }
}

TEST(AllocConf, WhatCudaMallocAsyncIgnores) {
  EXPECT_EQ(read_alloc_conf("backend:cudaMallocAsync,max_split_size_mb:64").ignored,
            "max_split_size_mb");
  EXPECT_EQ(read_alloc_conf("backend:native,max_split_size_mb:64").ignored, "");
}

TEST(EditDistance, CountsAndStops) {
  EXPECT_EQ(edit_distance("CUDA_VISIBLE_DEVICE", "CUDA_VISIBLE_DEVICES", 2), 1U);
  EXPECT_EQ(edit_distance("abc", "abc", 2), 0U);
  EXPECT_EQ(edit_distance("abc", "xbd", 2), 2U);
  EXPECT_GT(edit_distance("a", "abcdef", 2), 2U);
}

} // namespace
} // namespace gpuvet
