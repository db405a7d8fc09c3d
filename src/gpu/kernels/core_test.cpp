// The kernels of core.cu, run on this CPU, against plain C++.
#include "gpu/kernels/core.cu"
#include "gpu/testing/host_kernels.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <set>
#include <vector>

namespace gpuvet {
namespace {

constexpr Dim3 kGrids[] = {{1, 1, 1}, {3, 1, 1}, {16, 1, 1}};
constexpr Dim3 kBlock = {8, 1, 1};

template <class... P, class... A>
void launch(void (*kernel)(P...), Dim3 grid, Dim3 block, A... arguments) {
  run_on_host(grid, block, [&] { kernel(static_cast<P>(arguments)...); });
}

std::vector<Word> filled(Word words, Word first, Word seed, Word flip = 0) {
  std::vector<Word> data(words);
  launch(gv_fill, {2, 1, 1}, kBlock, data.data(), words, first, seed, flip);
  return data;
}

Mismatches checked(const std::vector<Word>& data, Word first, Word seed, Dim3 grid = {3, 1, 1}) {
  Mismatches found = {};
  launch(gv_check, grid, kBlock, data.data(), data.size(), first, seed, Word{0}, &found);
  return found;
}

void flip(std::vector<Word>& data, Word place, unsigned bit) {
  auto* halves = reinterpret_cast<unsigned*>(data.data());
  launch(gv_flip, {2, 1, 1}, kBlock, halves + place * 2 + bit / 32, 1u << bit % 32);
}

// The first numbers of splitmix64 from seeds 0 and 1, as others print them.
TEST(Kernels, WordsAreThoseOfSplitmix64) {
  EXPECT_EQ(word_value(0, 1), 0xE220A8397B1DCDAFull);
  EXPECT_EQ(word_value(0, 2), 0x6E789E6AA1B965F4ull);
  EXPECT_EQ(word_value(1, 1), 0x910A2DEC89025CC1ull);
  std::vector<Word> data = filled(100, 7, 2, ~0ull);
  for (Word i = 0; i < data.size(); ++i)
    EXPECT_EQ(data[i], ~word_value(7 + i, 2)) << i;
}

TEST(Kernels, CheckFindsNothingWrongInWhatWasFilled) {
  for (unsigned words : {0u, 1u, 63u, 64u, 65u, 1000u, 4099u}) {
    std::vector<Word> data = filled(words, 12345, 9);
    for (Dim3 grid : kGrids)
      EXPECT_EQ(checked(data, 12345, 9, grid).count, 0u) << words;
    if (words == 0) continue;
    EXPECT_EQ(checked(data, 12345, 10).count, words) << "another seed";
    EXPECT_EQ(checked(data, 12346, 9).count, words) << "another place";
  }
}

TEST(Kernels, CheckFindsEachFlippedBit) {
  std::vector<Word> data = filled(777, 100, 3);
  for (unsigned bit = 0; bit < 64; ++bit) {
    Word place = bit * 12 + bit % 3;
    flip(data, place, bit);
    Mismatches found = checked(data, 100, 3);
    ASSERT_EQ(found.count, 1u) << bit;
    EXPECT_EQ(found.bits, Word{1} << bit);
    EXPECT_EQ(found.places[0].index, place);
    EXPECT_EQ(found.places[0].got, data[place]);
    EXPECT_EQ(found.places[0].wanted, word_value(100 + place, 3));
    EXPECT_LT(found.places[0].multiprocessor, host_multiprocessors);
    flip(data, place, bit);
  }
}

TEST(Kernels, CheckCountsAllAndKeepsTheFirstPlaces) {
  std::vector<Word> data = filled(5000, 0, 4);
  for (Word& word : data)
    word ^= 0x8000000000000001ull;
  Mismatches found = checked(data, 0, 4);
  EXPECT_EQ(found.count, 5000u);
  EXPECT_EQ(found.bits, 0x8000000000000001ull);
  std::set<Word> places;
  for (const Mismatches::Place& place : found.places) {
    EXPECT_EQ(place.got, data[place.index]);
    EXPECT_EQ(place.wanted, data[place.index] ^ 0x8000000000000001ull);
    places.insert(place.index);
  }
  EXPECT_EQ(places.size(), size_t{Mismatches::kKept});
}

TEST(Kernels, MovingInversions) {
  std::vector<Word> data = filled(1003, 0, 5);
  data[17] ^= 4;
  unsigned wrong = 1; // in the first pass alone, since each pass writes all anew
  for (Word flip : {Word{0}, ~Word{0}, Word{0}}) {
    Mismatches found = {};
    launch(gv_check_then_flip, {3, 1, 1}, kBlock, data.data(), data.size(), Word{0}, Word{5}, flip,
           &found);
    EXPECT_EQ(found.count, wrong);
    for (Word i = 0; i < data.size(); ++i)
      ASSERT_EQ(data[i], word_value(i, 5) ^ ~flip) << i;
    wrong = 0;
  }
}

TEST(Kernels, Patterns) {
  std::vector<Word> data(500);
  launch(gv_pattern, {2, 1, 1}, kBlock, data.data(), data.size(), 0x5555555555555555ull);
  EXPECT_EQ(data, std::vector<Word>(500, 0x5555555555555555ull));
  data[499] = 0;
  Mismatches found = {};
  launch(gv_check_pattern, {2, 1, 1}, kBlock, data.data(), data.size(), 0x5555555555555555ull,
         &found);
  EXPECT_EQ(found.count, 1u);
  EXPECT_EQ(found.places[0].index, 499u);
}

TEST(Kernels, Modulo20) {
  std::vector<Word> data(401);
  launch(gv_modulo, {2, 1, 1}, kBlock, data.data(), data.size(), Word{3}, ~Word{0}, Word{1});
  for (Word i = 0; i < data.size(); ++i)
    EXPECT_EQ(data[i], i % 20 == 3 ? ~Word{0} : 1) << i;
  data[23] = 1;
  data[24] = ~Word{0};
  Mismatches found = {};
  launch(gv_check_modulo, {2, 1, 1}, kBlock, data.data(), data.size(), Word{3}, ~Word{0}, Word{1},
         &found);
  EXPECT_EQ(found.count, 2u);
}

TEST(Kernels, ReadWriteCopyTriadTouchEveryPlace) {
  for (unsigned n : {0u, 1u, 63u, 64u, 127u, 128u, 129u, 1000u})
    for (Dim3 grid : kGrids) {
      std::vector<uint4> from(n + 1), to(n + 1, uint4{9, 9, 9, 9});
      Word wanted = 0;
      for (unsigned i = 0; i < n; ++i) {
        from[i] = {i, 0xFFFFFFFFu, 3 * i, 1};
        wanted += Word{i} + 0xFFFFFFFFu + 3 * i + 1;
      }
      std::vector<Word> sums(kReadSums);
      launch(gv_read, grid, kBlock, from.data(), n, sums.data());
      EXPECT_EQ(std::accumulate(sums.begin(), sums.end(), Word{0}), wanted) << n;

      launch(gv_copy, grid, kBlock, to.data(), from.data(), n);
      EXPECT_EQ(memcmp(to.data(), from.data(), n * sizeof(uint4)), 0) << n;
      EXPECT_EQ(to[n].x, 9u) << "wrote beyond the end";

      launch(gv_write, grid, kBlock, to.data(), n, 0xABCDu);
      for (unsigned i = 0; i < n; ++i)
        ASSERT_TRUE(to[i].x == 0xABCD && to[i].y == 0xABCD && to[i].w == 0xABCD) << n << ' ' << i;
      EXPECT_EQ(to[n].x, 9u) << "wrote beyond the end";

      std::vector<float4> a(n), b(n), sum(n + 1);
      for (unsigned i = 0; i < n; ++i) {
        a[i] = {float(i), 1, 2, 3};
        b[i] = {4, 5, float(i), 6};
      }
      launch(gv_triad, grid, kBlock, sum.data(), a.data(), b.data(), n);
      for (unsigned i = 0; i < n; ++i) {
        EXPECT_EQ(sum[i].x, float(i) + 12);
        EXPECT_EQ(sum[i].z, 2 + 3 * float(i));
        EXPECT_EQ(sum[i].w, 21);
      }
      EXPECT_EQ(sum[n].x, 0);
    }
}

TEST(Kernels, ChaseGoesFromNodeToNode) {
  std::vector<Word> nodes(64);
  auto address = [&](Word i) { return reinterpret_cast<Word>(&nodes[i]); };
  for (Word i = 0; i < 64; ++i)
    nodes[i] = address((i * 5 + 3) % 64);
  Word at = 0, out[3] = {};
  for (int i = 0; i < 100; ++i)
    at = (at * 5 + 3) % 64;
  launch(gv_chase, {1, 1, 1}, {1, 1, 1}, nodes.data(), Word{100}, out);
  EXPECT_EQ(out[0], address(at));
  EXPECT_GT(out[2], 0u);
}

TEST(Kernels, GateOpensByFlagOrByTime) {
  unsigned flag = 1, timed_out = 0;
  launch(gv_gate, {1, 1, 1}, {1, 1, 1}, &flag, Word{60'000'000'000}, &timed_out);
  EXPECT_EQ(timed_out, 0u);
  flag = 0;
  launch(gv_gate, {1, 1, 1}, {1, 1, 1}, &flag, Word{2'000'000}, &timed_out);
  EXPECT_EQ(timed_out, 1u);
}

TEST(Kernels, ClockStepAtomicsFlipMark) {
  Word times[5] = {};
  launch(gv_clock, {2, 1, 1}, kBlock, Word{1000}, times);
  EXPECT_LT(times[0], times[2]);
  EXPECT_LT(times[1], times[3]);
  EXPECT_EQ(float_of(static_cast<unsigned>(times[4])), 2.0f);

  std::vector<float> x = {0, 2, 8};
  launch(gv_step, {2, 1, 1}, kBlock, x.data(), x.size(), 2u);
  EXPECT_EQ(x, (std::vector<float>{1.5f, 2, 3.5f}));

  unsigned counter = 5;
  launch(gv_atomic_add, {3, 1, 1}, kBlock, &counter, Word{10});
  EXPECT_EQ(counter, 5u + 3 * 8 * 10);

  launch(gv_flip, {3, 1, 1}, kBlock, &counter, 0x80000000u);
  EXPECT_EQ(counter, 245u ^ 0x80000000u);

  std::vector<unsigned> seen(host_multiprocessors);
  launch(gv_mark, {10, 1, 1}, kBlock, seen.data());
  EXPECT_EQ(seen, (std::vector<unsigned>{3, 3, 2, 2}));
}

TEST(Kernels, LaunchedByPointersToArguments) {
  std::vector<Word> data(10);
  Word *to = data.data(), words = 10, first = 1, seed = 2, flip = 0;
  void* parameters[] = {&to, &words, &first, &seed, &flip};
  launch_on_host(gv_fill, {1, 1, 1}, kBlock, parameters);
  EXPECT_EQ(data, filled(10, 1, 2));
}

} // namespace
} // namespace gpuvet
