// Errors, frameworks, build variables and features: sorted, unique, references resolve.
#include "facts/facts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <stdexcept>

namespace gpuvet {
namespace {

template <class T> const T& loaded(Result<const T*> result) {
  if (!result) throw std::runtime_error(result.error().where + ": " + result.error().what);
  return **result;
}

const Facts& facts() {
  static const Facts all;
  return all;
}

const Feature& feature(const std::string& id) {
  for (const Feature& f : loaded(facts().features()))
    if (f.id == id) return f;
  throw std::runtime_error("no feature " + id);
}

TEST(ErrorTable, SortedUniqueAndNamed) {
  const auto& errors = loaded(facts().errors());
  EXPECT_EQ(errors.size(), 27u);
  std::set<std::string> names;
  for (size_t i = 0; i < errors.size(); ++i) {
    if (i) {
      EXPECT_LT(errors[i - 1].code, errors[i].code);
    }
    EXPECT_FALSE(errors[i].names.empty()) << errors[i].code;
    EXPECT_EQ(errors[i].cause.empty(), errors[i].fix.empty()) << errors[i].code;
    for (const std::string& name : errors[i].names) {
      EXPECT_TRUE(name.starts_with("cudaError") || name.starts_with("CUDA_ERROR_")) << name;
      EXPECT_TRUE(names.insert(name).second) << name;
    }
  }
}

TEST(FrameworkTable, TargetsExist) {
  const LoadRules& rules = loaded(facts().load_rules());
  auto exists = [&](Target target) {
    return std::any_of(rules.sass_ranges.begin(), rules.sass_ranges.end(),
                       [&](const SassRange& r) { return r.target == target; });
  };
  const std::set<std::string> levels = {"high", "medium", "low"};
  for (const FrameworkBuild& build : loaded(facts().frameworks())) {
    std::string name = build.framework + " " + build.version + " " + build.variant;
    for (Target target : build.sass)
      EXPECT_TRUE(exists(target)) << name << " " << sm_name(target);
    for (Target target : build.ptx)
      EXPECT_TRUE(exists(target)) << name << " " << sm_name(target);
    if (build.sass_known) {
      EXPECT_FALSE(build.sass.empty()) << name;
      EXPECT_TRUE(levels.count(build.confidence)) << name << " " << build.confidence;
    }
    EXPECT_FALSE(build.sources.empty()) << name;
  }
}

TEST(FrameworkTable, ToolkitOfAVariantKnowsItsTargets) {
  const LoadRules& rules = loaded(facts().load_rules());
  for (const FrameworkBuild& build : loaded(facts().frameworks())) {
    if (build.framework != "torch" || !build.variant.starts_with("cu")) continue;
    auto cuda = parse_version(build.cuda);
    ASSERT_TRUE(cuda) << build.version << " " << build.variant;
    for (Target target : build.sass)
      for (const SassRange& range : rules.sass_ranges) {
        if (range.target != target) continue;
        EXPECT_LE(*parse_version(range.first_cuda), *cuda)
            << build.version << " " << build.variant << " " << sm_name(target);
        if (!range.last_cuda.empty()) {
          EXPECT_GE(*parse_version(range.last_cuda), *cuda)
              << build.version << " " << build.variant << " " << sm_name(target);
        }
      }
  }
}

TEST(FrameworkTable, Torch27) {
  size_t seen = 0;
  for (const FrameworkBuild& build : loaded(facts().frameworks())) {
    if (build.framework != "torch" || build.version != "2.7" || build.variant != "cu128") continue;
    ++seen;
    EXPECT_EQ(build.sass, (std::vector<Target>{{75}, {80}, {86}, {90}, {100}, {120}}));
    EXPECT_EQ(build.ptx, (std::vector<Target>{{120}}));
  }
  EXPECT_EQ(seen, 1u);
}

TEST(BuildTable, SortedUniqueAndCorrected) {
  const auto& tools = loaded(facts().buildvars());
  EXPECT_EQ(tools.size(), 32u);
  std::set<std::string> variables;
  for (size_t i = 0; i < tools.size(); ++i) {
    if (i) {
      auto lower = [](std::string text) {
        std::transform(text.begin(), text.end(), text.begin(),
                       [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        return text;
      };
      EXPECT_LT(lower(tools[i - 1].tool), lower(tools[i].tool));
    }
    EXPECT_FALSE(tools[i].variables.empty()) << tools[i].tool;
    EXPECT_FALSE(tools[i].example.empty()) << tools[i].tool;
    variables.insert(tools[i].variables.begin(), tools[i].variables.end());
  }
  for (const WrongVariable& wrong : loaded(facts().wrong_variables())) {
    EXPECT_FALSE(variables.count(wrong.name)) << wrong.name;
    EXPECT_FALSE(wrong.use.empty()) << wrong.name;
    for (const std::string& name : wrong.use)
      EXPECT_TRUE(variables.count(name)) << name;
  }
}

TEST(BuildTable, TfCudaArchsDoesNotExist) {
  const auto& wrong = loaded(facts().wrong_variables());
  auto found = std::find_if(wrong.begin(), wrong.end(),
                            [](const WrongVariable& w) { return w.name == "TF_CUDA_ARCHS"; });
  ASSERT_NE(found, wrong.end());
  EXPECT_EQ(found->use[0], "TF_CUDA_COMPUTE_CAPABILITIES");
}

TEST(BuildTable, CMakeVersions) {
  auto since = [](std::string_view feature) {
    for (const CMakeFeature& f : loaded(facts().cmake_features()))
      if (f.feature == feature) return f.versions;
    return std::vector<std::string>();
  };
  EXPECT_EQ(since("CMAKE_CUDA_ARCHITECTURES"), std::vector<std::string>{"3.18"});
  EXPECT_EQ(since("all"), std::vector<std::string>{"3.23"});
  EXPECT_EQ(since("all-major"), std::vector<std::string>{"3.23"});
  EXPECT_EQ(since("native"), std::vector<std::string>{"3.24"});
}

TEST(FeatureTable, ReferencesResolve) {
  std::set<uint32_t> capabilities;
  for (const Capability& capability : loaded(facts().capabilities()))
    capabilities.insert(capability.sm);
  const std::set<std::string> groups = {"tensor", "memory", "execution", "arithmetic"};
  std::set<std::string> ids;
  for (const Feature& f : loaded(facts().features())) {
    EXPECT_TRUE(ids.insert(f.id).second) << f.id;
    EXPECT_TRUE(groups.count(f.group)) << f.id;
    EXPECT_TRUE(capabilities.count(f.first_sm)) << f.id;
    EXPECT_TRUE(f.target.empty() || f.target == "a" || f.target == "f") << f.id;
    for (uint32_t sm : f.except) {
      EXPECT_TRUE(capabilities.count(sm)) << f.id;
      EXPECT_FALSE(has_feature(f, sm)) << f.id;
    }
    for (uint32_t sm : f.note_for)
      EXPECT_TRUE(has_feature(f, sm)) << f.id << ": a note about a capability without it";
  }
  uint32_t last = 0;
  for (const CapabilityLimits& limits : loaded(facts().capability_limits())) {
    EXPECT_LT(last, limits.sm);
    EXPECT_TRUE(capabilities.count(limits.sm));
    EXPECT_EQ(limits.threads, 32 * limits.warps);
    last = limits.sm;
  }
}

TEST(FeatureTable, WhatACapabilityBrings) {
  EXPECT_TRUE(has_feature(feature("wgmma"), 90));
  EXPECT_FALSE(has_feature(feature("wgmma"), 100));
  EXPECT_FALSE(has_feature(feature("wgmma"), 89));
  EXPECT_TRUE(has_feature(feature("tcgen05"), 103));
  EXPECT_FALSE(has_feature(feature("tcgen05"), 120));
  EXPECT_FALSE(has_feature(feature("tensor-fp8"), 86));
  EXPECT_TRUE(has_feature(feature("tensor-fp8"), 89));
  EXPECT_FALSE(has_feature(feature("tensor-int4"), 90));
  EXPECT_TRUE(has_feature(feature("tensor-fp64"), 90));
  EXPECT_FALSE(has_feature(feature("tensor-fp64"), 103));
  EXPECT_FALSE(has_feature(feature("tensor-bf16"), 75));
  EXPECT_FALSE(has_feature(feature("tma"), 89));
}

} // namespace
} // namespace gpuvet
