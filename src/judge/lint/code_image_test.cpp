#include "judge/lint/code_image.hpp"
#include "judge/load/load.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

// Every target runs on its own GPU, and its PTX on every newer one that is no Tegra.
TEST(CodeImage, TheRulesOfLoadingTakeIt) {
  Facts facts;
  auto rules = facts.load_rules();
  ASSERT_TRUE(rules);
  for (const SassRange& range : (*rules)->sass_ranges) {
    if (range.target.suffix || range.target.sm == 21) continue;
    bool tegra = false;
    for (uint32_t sm : (*rules)->tegra)
      tegra |= sm == range.target.sm;
    for (bool ptx : {false, true}) {
      Container container;
      container.images.push_back(code_image(range.target, ptx, **rules));
      LoadVerdict own =
          load_container(container, {"own", range.target.sm, tegra}, nullptr, {}, **rules);
      EXPECT_TRUE(loads(own)) << range.target.sm << ": " << own.reason;
      if (!ptx || tegra || range.target.sm > 90) continue;
      LoadVerdict newer = load_container(container, {"H100", 90, false}, nullptr, {}, **rules);
      EXPECT_TRUE(loads(newer)) << range.target.sm << ": " << newer.reason;
    }
  }
}

} // namespace
} // namespace gpuvet
