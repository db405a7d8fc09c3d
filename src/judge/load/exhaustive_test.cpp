// All containers of up to three images over a small alphabet, on every device: laws that hold
// whatever the details of the rules are.
#include "judge/load/testing/build.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

using testing::device;
using testing::driver;
using testing::rules;

const std::vector<std::string>& alphabet() {
  static const std::vector<std::string> words = {
      "sm_70",  "sm_75",  "sm_80",      "sm_86",      "sm_87",       "sm_89",        "sm_90",
      "sm_90a", "sm_100", "sm_100f",    "sm_103",     "sm_120",      "compute_52",   "compute_80",
      "lto_80", "sm_110", "compute_90", "compute_87", "compute_90a", "compute_100f", "compute_120"};
  return words;
}

constexpr uint32_t kDevices[] = {70, 72, 75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121};

template <class Visit> void for_each_container(Visit&& visit) {
  const auto& words = alphabet();
  std::vector<Image> images;
  for (const std::string& word : words)
    images.push_back(testing::image(word));
  Container container;
  for (size_t a = 0; a < images.size(); ++a) {
    container.images = {images[a]};
    visit(container);
    for (size_t b = 0; b < images.size(); ++b) {
      container.images = {images[a], images[b]};
      visit(container);
      for (size_t c = 0; c < images.size(); ++c) {
        container.images = {images[a], images[b], images[c]};
        visit(container);
      }
    }
  }
}

LoadVerdict judge(const Container& container, uint32_t sm, const LoadDriver* driver = nullptr,
                  const LoadEnvironment& environment = {}) {
  return load_container(container, device(sm), driver, environment, rules());
}

int rank(const LoadVerdict& verdict) {
  return loads(verdict) ? 2 : verdict.outcome == LoadOutcome::may_fail ? 1 : 0;
}

TEST(Exhaustive, AnAddedSoundImageNeverStopsARunningGpu) {
  for_each_container([](const Container& container) {
    if (container.images.size() < 2) return;
    Container smaller = container;
    smaller.images.pop_back();
    for (uint32_t sm : kDevices)
      ASSERT_GE(rank(judge(container, sm)), rank(judge(smaller, sm)))
          << sm << " " << judge(container, sm).reason;
  });
}

TEST(Exhaustive, OrderChoosesOnlyAmongEquals) {
  for_each_container([](const Container& container) {
    Container turned = container;
    std::reverse(turned.images.begin(), turned.images.end());
    for (uint32_t sm : kDevices) {
      LoadVerdict one = judge(container, sm), other = judge(turned, sm);
      ASSERT_EQ(one.outcome, other.outcome);
      ASSERT_EQ(one.error, other.error);
      if (one.image < 0) continue;
      const Image& a = container.images[static_cast<size_t>(one.image)];
      const Image& b = turned.images[static_cast<size_t>(other.image)];
      ASSERT_EQ(a.target, b.target);
      ASSERT_EQ(a.kind, b.kind);
    }
  });
}

TEST(Exhaustive, ANewerDriverHurtsOnlyWhatItDropped) {
  std::vector<LoadDriver> drivers;
  for (const char* version :
       {"450.80.02", "470.57.02", "525.60.13", "550.54.14", "570.26", "580.65.06"})
    drivers.push_back(driver(version));
  for_each_container([&](const Container& container) {
    for (uint32_t sm : kDevices) {
      int before = 0;
      for (const LoadDriver& one : drivers) {
        int now = rank(judge(container, sm, &one));
        ASSERT_GE(now, before) << sm << " " << one.text;
        before = now;
      }
    }
  });
}

TEST(Exhaustive, TheChosenImageFitsAndNothingBetterIsThere) {
  for_each_container([](const Container& container) {
    for (uint32_t sm : kDevices) {
      LoadVerdict verdict = judge(container, sm);
      bool sass = false, ptx = false;
      for (const Image& image : container.images) {
        if (image.kind == ImageKind::cubin && sass_fits(rules(), image.target, device(sm)))
          sass = true;
        if (image.kind == ImageKind::ptx && ptx_fits(rules(), image.target, device(sm))) ptx = true;
      }
      if (sass) {
        ASSERT_TRUE(verdict.outcome == LoadOutcome::native ||
                    verdict.outcome == LoadOutcome::same_major);
      } else if (ptx) {
        ASSERT_EQ(verdict.outcome, LoadOutcome::jit);
      } else {
        ASSERT_EQ(verdict.error, 209);
        ASSERT_FALSE(loads(verdict));
      }
      ASSERT_EQ(loads(verdict), verdict.error == 0);
      ASSERT_FALSE(verdict.reason.empty());
    }
  });
}

TEST(Exhaustive, SwitchesOnlyTakeAway) {
  for_each_container([](const Container& container) {
    for (uint32_t sm : kDevices) {
      int plain = rank(judge(container, sm));
      ASSERT_LE(rank(judge(container, sm, nullptr, {.disable_ptx_jit = true})), plain);
      ASSERT_LE(rank(judge(container, sm, nullptr, {.force_ptx_jit = true})), plain);
      LoadVerdict off = judge(container, sm, nullptr, {.disable_ptx_jit = true});
      if (off.error == 223) {
        ASSERT_EQ(judge(container, sm).outcome, LoadOutcome::jit);
      }
    }
  });
}

} // namespace
} // namespace gpuvet
