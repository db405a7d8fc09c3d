// The barriers of the Hopper GEMM, without a GPU: producers, copies and consumer warps take their
// steps in a random order, each as late or as early as the barriers let it. No stage may be written
// while it is read, none read before it is there, and nobody may wait for ever.
#include "gpu/kernels/gemm_sm90a_shape.hpp"
#include "gpu/testing/host_hopper.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gpuvet::sm90a {
namespace {

enum class Planted { nothing, parity, early_release, few_releases, own_block_only, half_expected };

struct Problem {
  unsigned blocks, tiles, steps; // 1 or a pair; tiles a block makes; steps of a tile
  Planted planted = Planted::nothing;
};

template <unsigned kCount> class Simulation {
 public:
  Simulation(const Problem& problem, Word seed)
      : problem_(problem), random_(seed), blocks_(problem.blocks) {
    for (Block& block : blocks_)
      for (unsigned stage = 0; stage < kCount; ++stage) {
        block.full[stage].init(1);
        unsigned releases = kConsumerWarps * problem.blocks;
        if (problem.planted == Planted::few_releases) --releases;
        if (problem.planted == Planted::own_block_only) releases = kConsumerWarps;
        block.empty[stage].init(releases);
      }
  }

  std::string run() { // empty: all came out right
    const unsigned agents = problem_.blocks * (1 + kConsumerWarps);
    unsigned in_vain = 0;
    while (wrong_.empty() && !finished()) {
      bool moved = next(3) == 0 && land_a_copy();
      moved = take_step(next(agents)) || moved;
      in_vain = moved ? 0 : in_vain + 1;
      if (in_vain > 1000) { // then in order: whoever can go on
        moved = land_a_copy();
        for (unsigned agent = 0; agent < agents; ++agent)
          moved = take_step(agent) || moved;
        if (!moved) return "everybody waits";
        in_vain = 0;
      }
    }
    return wrong_;
  }

 private:
  struct Warp {
    Ring<kCount> at = {0, 0};
    unsigned step = 0;     // of all tiles
    unsigned finished = 0; // multiplications that were waited for
    bool given = false;    // this step's are given, not yet waited for
  };
  struct Block {
    HostBarrier full[kCount], empty[kCount];
    long content[kCount][3] = {}; // which step's A, first and second half of B; from 1
    unsigned readers[kCount] = {};
    Ring<kCount> at = {0, 0};
    unsigned loaded = 0;
    Warp warps[kConsumerWarps];
  };
  struct Copy {
    unsigned block, stage, part;
    long step;
    unsigned bytes;
  };

  unsigned next(unsigned below) { return static_cast<unsigned>(mix64(random_++) % below); }
  unsigned steps() const { return problem_.tiles * problem_.steps; }
  bool finished() const {
    for (const Block& block : blocks_)
      for (const Warp& warp : block.warps)
        if (warp.step < steps()) return false;
    return true;
  }

  bool take_step(unsigned agent) {
    Block& block = blocks_[agent / (1 + kConsumerWarps)];
    unsigned place = agent % (1 + kConsumerWarps);
    return place == 0 ? produce(block) : consume(block, block.warps[place - 1]);
  }

  bool produce(Block& block) {
    if (block.loaded == steps()) return false;
    const unsigned stage = block.at.stage;
    unsigned parity = block.at.parity_when_empty();
    if (problem_.planted == Planted::parity) parity ^= 1;
    if (!block.empty[stage].over(parity)) return false;
    const auto rank = static_cast<unsigned>(&block - blocks_.data());
    const long step = ++block.loaded;
    bool half = problem_.planted == Planted::half_expected;
    block.full[stage].arrive(half ? kStageBytes - kBBytes / 2 : kStageBytes);
    copies_.push_back({rank, stage, 0, step, kABytes});
    if (problem_.blocks == 1) {
      for (unsigned part : {1u, 2u})
        copies_.push_back({rank, stage, part, step, kBBytes / 2});
    } else {
      for (unsigned to = 0; to < kPair; ++to)
        copies_.push_back({to, stage, 1 + rank, step, kBBytes / 2});
    }
    block.at.next();
    return true;
  }

  bool land_a_copy() {
    if (copies_.empty()) return false;
    const size_t which = next(static_cast<unsigned>(copies_.size()));
    const Copy copy = copies_[which];
    copies_.erase(copies_.begin() + static_cast<std::ptrdiff_t>(which));
    Block& block = blocks_[copy.block];
    if (block.readers[copy.stage] != 0)
      wrong_ = fmt::format("step {} overwrites stage {} while it is read", copy.step, copy.stage);
    const auto before = static_cast<unsigned>(copy.step) - 1;
    for (const Warp& warp : block.warps) // all have read what was there
      if (before >= kCount && warp.finished + kCount <= before)
        wrong_ =
            fmt::format("step {} overwrites stage {} before it was read", copy.step, copy.stage);
    block.content[copy.stage][copy.part] = copy.step;
    block.full[copy.stage].complete(copy.bytes);
    return true;
  }

  // Each call: the wait and the multiplications, or what follows them.
  bool consume(Block& block, Warp& warp) {
    if (warp.step == steps()) return false;
    const unsigned stage = warp.at.stage;
    const bool first = warp.step % problem_.steps == 0;
    const bool last = warp.step % problem_.steps == problem_.steps - 1;
    if (!warp.given) {
      if (!block.full[stage].over(warp.at.parity)) return false;
      for (long content : block.content[stage])
        if (content != long{warp.step} + 1)
          wrong_ =
              fmt::format("step {} finds that of {} in stage {}", warp.step + 1, content, stage);
      ++block.readers[stage];
      warp.given = true;
      if (problem_.planted == Planted::early_release && !first) release(block, stage);
      return true;
    }
    if (!first) finish(block, warp, warp.at.before());
    warp.at.next();
    if (last) finish(block, warp, warp.at.before());
    warp.given = false;
    ++warp.step;
    return true;
  }

  void finish(Block& block, Warp& warp, unsigned stage) {
    --block.readers[stage];
    ++warp.finished;
    if (problem_.planted == Planted::early_release) return;
    release(block, stage);
  }
  void release(Block& own, unsigned stage) {
    for (Block& block : blocks_)
      if (problem_.planted != Planted::own_block_only || &block == &own)
        block.empty[stage].arrive();
  }

  Problem problem_;
  Word random_;
  std::vector<Block> blocks_;
  std::vector<Copy> copies_;
  std::string wrong_;
};

template <unsigned kCount> std::string first_problem(Problem problem, unsigned runs) {
  for (unsigned seed = 0; seed < runs; ++seed) {
    std::string wrong = Simulation<kCount>(problem, mix64(seed)).run();
    if (!wrong.empty()) return wrong;
  }
  return {};
}

template <unsigned kCount> void expect_right() {
  for (unsigned blocks : {1u, kPair})
    for (unsigned steps : {1u, 2u, 3u, 4u, 5u, 9u})
      for (unsigned tiles : {1u, 2u, 7u})
        EXPECT_EQ(first_problem<kCount>({blocks, tiles, steps}, 5), "")
            << kCount << " stages, " << blocks << " blocks, " << tiles << " x " << steps;
}

TEST(GemmSm90aPipeline, NothingIsEarlyAndNobodyWaitsForEver) {
  expect_right<2>();
  expect_right<3>();
  expect_right<kStages>();
  expect_right<7>();
}

TEST(GemmSm90aPipeline, LongRunsStayRight) {
  EXPECT_EQ(first_problem<kStages>({1, 16, 128}, 2), "");
  EXPECT_EQ(first_problem<kStages>({kPair, 16, 128}, 2), "");
}

// One stage cannot do: the last is released when the next has been given.
TEST(GemmSm90aPipeline, OneStageIsTooFew) {
  EXPECT_EQ(first_problem<1>({1, 1, 2}, 1), "everybody waits");
}

TEST(GemmSm90aPipeline, FaultsAreFound) {
  auto found = [](unsigned blocks, Planted planted) {
    return first_problem<kStages>({blocks, 4, 9, planted}, 200);
  };
  for (unsigned blocks : {1u, kPair}) {
    EXPECT_EQ(found(blocks, Planted::parity), "everybody waits");
    EXPECT_NE(found(blocks, Planted::early_release), "");
    EXPECT_NE(found(blocks, Planted::few_releases), "");
    EXPECT_NE(found(blocks, Planted::half_expected), "");
  }
  EXPECT_NE(found(kPair, Planted::own_block_only), "");
}

} // namespace
} // namespace gpuvet::sm90a
