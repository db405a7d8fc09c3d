// Kernels for every GPU since Maxwell (core.ptx). Each thread stands by itself: no barrier, no
// shuffle, no shared memory; so the tests run the same source on a CPU
// (gpu/testing/host_kernels.hpp).
//
// Every kernel strides over its work with the whole grid: any grid gives the same result. Counters,
// Mismatches and hashes are added to: who launches clears them first.
#include "gpu/kernels/device.hpp"

namespace gpuvet::kernels {

__device__ __forceinline__ Word threads_in_grid() {
  return Word{gridDim.x} * blockDim.x;
}
__device__ __forceinline__ Word thread_in_grid() {
  return Word{blockIdx.x} * blockDim.x + threadIdx.x;
}

// Calls visit(i) for this thread's share of 0 ... count-1.
template <class Visit> __device__ __forceinline__ void each(Word count, Visit visit) {
  for (Word i = thread_in_grid(); i < count; i += threads_in_grid())
    visit(i);
}

// ---- memory tests

// Writes down one wrong word. Places are kept first; once all are taken a thread counts alone and
// adds its number at the end, so that a buffer full of errors does not make every thread wait for
// one counter.
struct Tally {
  Mismatches* out;
  Word count, bits;

  __device__ __forceinline__ void compare(Word index, Word got, Word wanted) {
    if (got == wanted) return;
    bits |= got ^ wanted;
    if (*static_cast<volatile Word*>(&out->count) >= Mismatches::kKept) {
      ++count;
      return;
    }
    Word slot = atomicAdd(&out->count, Word{1});
    if (slot < Mismatches::kKept)
      out->places[slot] = {index, got, wanted, gpuvet::multiprocessor(), 0};
  }
  __device__ __forceinline__ void finish() {
    if (count) atomicAdd(&out->count, count);
    if (bits) atomicOr(&out->bits, bits);
  }
};

// Compares every word with wanted(i) after reading several, so that the reads overlap; then calls
// next(i).
template <class Wanted, class Next> __device__ __forceinline__ void
check_words(const Word* from, Word words, Mismatches* out, Wanted wanted, Next next) {
  constexpr Word kBatch = 8;
  Tally tally{out, 0, 0};
  const Word step = threads_in_grid();
  Word i = thread_in_grid();
  for (; i + (kBatch - 1) * step < words; i += kBatch * step) {
    Word got[kBatch];
    for (Word j = 0; j < kBatch; ++j)
      got[j] = load_streaming(from + i + j * step);
    for (Word j = 0; j < kBatch; ++j) {
      tally.compare(i + j * step, got[j], wanted(i + j * step));
      next(i + j * step);
    }
  }
  for (; i < words; i += step) {
    tally.compare(i, load_streaming(from + i), wanted(i));
    next(i);
  }
  tally.finish();
}

template <class Wanted> __device__ __forceinline__ void
check_words(const Word* from, Word words, Mismatches* out, Wanted wanted) {
  check_words(from, words, out, wanted, [](Word) {});
}

} // namespace gpuvet::kernels

using namespace gpuvet::kernels;
using gpuvet::load_streaming;
using gpuvet::Mismatches;
using gpuvet::store_streaming;
using gpuvet::TileHash;
using gpuvet::Word;

extern "C" __global__ void gv_null() {}

extern "C" __global__ void gv_null8(Word, Word, Word, Word, Word, Word, Word, Word) {}

// seen[multiprocessor] += 1 by each block.
extern "C" __global__ void gv_mark(unsigned* seen) {
  if (threadIdx.x == 0) atomicAdd(&seen[gpuvet::multiprocessor()], 1u);
}

extern "C" __global__ void gv_fill(Word* to, Word words, Word first, Word seed, Word flip) {
  each(words, [&](Word i) { store_streaming(to + i, gpuvet::word_value(first + i, seed) ^ flip); });
}

// The index of a mismatch counts from `from`, whatever `first` is.
extern "C" __global__ void gv_check(const Word* from, Word words, Word first, Word seed, Word flip,
                                    Mismatches* out) {
  check_words(from, words, out, [&](Word i) { return gpuvet::word_value(first + i, seed) ^ flip; });
}

// One step of moving inversions: checks, and leaves the complement.
extern "C" __global__ void gv_check_then_flip(Word* at, Word words, Word first, Word seed,
                                              Word flip, Mismatches* out) {
  auto value = [&](Word i) { return gpuvet::word_value(first + i, seed) ^ flip; };
  check_words(at, words, out, value, [&](Word i) { store_streaming(at + i, ~value(i)); });
}

extern "C" __global__ void gv_pattern(Word* to, Word words, Word pattern) {
  each(words, [&](Word i) { store_streaming(to + i, pattern); });
}

extern "C" __global__ void gv_check_pattern(const Word* from, Word words, Word pattern,
                                            Mismatches* out) {
  check_words(from, words, out, [&](Word) { return pattern; });
}

// Every 20th word, from `offset` on, holds `pattern`, the others `other`.
extern "C" __global__ void gv_modulo(Word* to, Word words, Word offset, Word pattern, Word other) {
  each(words, [&](Word i) { store_streaming(to + i, i % 20 == offset ? pattern : other); });
}

extern "C" __global__ void gv_check_modulo(const Word* from, Word words, Word offset, Word pattern,
                                           Word other, Mismatches* out) {
  check_words(from, words, out, [&](Word i) { return i % 20 == offset ? pattern : other; });
}

// Plants a fault.
extern "C" __global__ void gv_flip(unsigned* word, unsigned mask) {
  if (thread_in_grid() == 0) atomicXor(word, mask);
}

extern "C" __global__ void gv_atomic_add(unsigned* counter, Word times) {
  for (Word i = 0; i < times; ++i)
    atomicAdd(counter, 1u);
}

// ---- bandwidth: 16 bytes a lane

namespace gpuvet::kernels {

// A block takes kBatch * blockDim.x neighbouring places at a time, a thread kBatch of them; what is
// left at the end goes one by one. batch(i, step) handles places i, i + step, ...; one(i) a single
// one.
template <Word kBatch, class Batch, class One>
__device__ __forceinline__ void in_batches(Word count, Batch batch, One one) {
  const Word chunk = kBatch * blockDim.x;
  const Word whole = count / chunk;
  for (Word c = blockIdx.x; c < whole; c += gridDim.x)
    batch(c * chunk + threadIdx.x, blockDim.x);
  for (Word i = whole * chunk + thread_in_grid(); i < count; i += threads_in_grid())
    one(i);
}

__device__ __forceinline__ Word sum_of(uint4 v) {
  return Word{v.x} + v.y + v.z + v.w;
}

__device__ __forceinline__ float4 triad(float4 a, float4 b) {
  return {a.x + 3.0f * b.x, a.y + 3.0f * b.y, a.z + 3.0f * b.z, a.w + 3.0f * b.w};
}

} // namespace gpuvet::kernels

// `sum` has kReadSums words: the sum of all 32-bit words read is the sum of these. One word alone
// would be what all threads wait for at the end.
extern "C" __global__ void gv_read(const uint4* from, Word n16, Word* sum) {
  constexpr Word kBatch = gpuvet::kReadPlaces;
  Word total = 0;
  in_batches<kBatch>(
      n16,
      [&](Word i, Word step) {
        uint4 got[kBatch];
        for (Word j = 0; j < kBatch; ++j)
          got[j] = load_streaming(from + i + j * step);
        // The last first: else the compiler uses the first words before it asks for the last.
        for (Word j = 0; j < kBatch; ++j)
          total += sum_of(got[kBatch - 1 - j]);
      },
      [&](Word i) { total += sum_of(load_streaming(from + i)); });
  atomicAdd(&sum[threadIdx.x % gpuvet::kReadSums], total);
}

extern "C" __global__ void gv_write(uint4* to, Word n16, unsigned value) {
  constexpr Word kBatch = gpuvet::kWritePlaces;
  const uint4 v = {value, value, value, value};
  in_batches<kBatch>(
      n16,
      [&](Word i, Word step) {
        for (Word j = 0; j < kBatch; ++j)
          store_streaming(to + i + j * step, v);
      },
      [&](Word i) { store_streaming(to + i, v); });
}

extern "C" __global__ void gv_copy(uint4* to, const uint4* from, Word n16) {
  constexpr Word kBatch = gpuvet::kCopyPlaces;
  in_batches<kBatch>(
      n16,
      [&](Word i, Word step) {
        uint4 got[kBatch];
        for (Word j = 0; j < kBatch; ++j)
          got[j] = load_streaming(from + i + j * step);
        for (Word j = 0; j < kBatch; ++j)
          store_streaming(to + i + j * step, got[j]);
      },
      [&](Word i) { store_streaming(to + i, load_streaming(from + i)); });
}

// to = a + 3 b.
extern "C" __global__ void gv_triad(float4* to, const float4* a, const float4* b, Word n16) {
  constexpr Word kBatch = gpuvet::kTriadPlaces; // of a and of b
  in_batches<kBatch>(
      n16,
      [&](Word i, Word step) {
        float4 va[kBatch], vb[kBatch];
        for (Word j = 0; j < kBatch; ++j) {
          va[j] = load_streaming(a + i + j * step);
          vb[j] = load_streaming(b + i + j * step);
        }
        for (Word j = 0; j < kBatch; ++j)
          store_streaming(to + i + j * step, triad(va[j], vb[j]));
      },
      [&](Word i) {
        store_streaming(to + i, triad(load_streaming(a + i), load_streaming(b + i)));
      });
}

// ---- time

// One thread follows addresses: each node holds that of the next. out: last address, cycles, ns.
extern "C" __global__ void gv_chase(const Word* start, Word hops, Word* out) {
  if (thread_in_grid() != 0) return;
  const volatile Word* at = start;
  const Word ns = gpuvet::global_ns();
  const long long cycles = clock64();
  for (Word i = 0; i < hops; ++i)
    at = reinterpret_cast<const volatile Word*>(*at);
  out[0] = reinterpret_cast<Word>(at);
  out[1] = static_cast<Word>(clock64() - cycles);
  out[2] = gpuvet::global_ns() - ns;
}

// Holds a stream until the host sets the flag, or the time is over: then *timed_out is 1.
extern "C" __global__ void gv_gate(const volatile unsigned* flag, Word timeout_ns,
                                   unsigned* timed_out) {
  if (thread_in_grid() != 0) return;
  const Word start = gpuvet::global_ns();
  while (*flag == 0) {
    if (gpuvet::global_ns() - start < timeout_ns) continue;
    *timed_out = 1;
    return;
  }
}

// A short load on every multiprocessor; out: clock64 and ns before, clock64 and ns after, and the
// result of the loop, which is 2 in the end.
extern "C" __global__ void gv_clock(Word rounds, Word* out) {
  const bool writes = thread_in_grid() == 0;
  if (writes) {
    out[1] = gpuvet::global_ns();
    out[0] = static_cast<Word>(clock64());
  }
  float x = static_cast<float>(threadIdx.x);
  for (Word i = 0; i < rounds; ++i)
    x = x * 0.5f + 1.0f;
  if (writes) out[4] = gpuvet::bits_of(x); // before the clock is read
  if (writes) {
    out[2] = static_cast<Word>(clock64());
    out[3] = gpuvet::global_ns();
  }
  if (x < 0) out[4] = 0; // never, but the loop of the others must stay
}

// x = x / 2 + 1, `rounds` times.
extern "C" __global__ void gv_step(float* x, Word n, unsigned rounds) {
  each(n, [&](Word i) {
    float value = x[i];
    for (unsigned j = 0; j < rounds; ++j)
      value = value * 0.5f + 1.0f;
    x[i] = value;
  });
}

// ---- matrix products: operands, hashes, and an engine that is no tensor core

extern "C" __global__ void gv_operands(unsigned short* to, Word count, Word first, Word seed,
                                       unsigned bound) {
  each(count, [&](Word i) { to[i] = gpuvet::operand(first + i, seed, bound); });
}

namespace gpuvet::kernels {

struct Tiling { // tile t is at row t / across, column t % across
  unsigned rows, columns, tile_rows, tile_columns;
  __device__ __forceinline__ unsigned across() const {
    return (columns + tile_columns - 1) / tile_columns;
  }
  __device__ __forceinline__ unsigned down() const { return (rows + tile_rows - 1) / tile_rows; }
};

__device__ __forceinline__ void add(Fold fold, TileHash* out) {
  atomicAdd(&out->sum, fold.sum);
  atomicXor(&out->mixed, fold.mixed);
}

// The places of a tile that a thread takes, each four words wide: every blockDim.x'th, row by row.
// Divides once, not for each place.
struct QuadWalk {
  unsigned quads, row, quad;

  __device__ __forceinline__ explicit QuadWalk(unsigned quads_)
      : quads(quads_), row(threadIdx.x / quads_), quad(threadIdx.x % quads_) {}
  __device__ __forceinline__ void next() {
    row += blockDim.x / quads;
    quad += blockDim.x % quads;
    if (quad < quads) return;
    quad -= quads;
    ++row;
  }
};

} // namespace gpuvet::kernels

// A block takes a tile at a time. columns and tile_columns: multiples of 4.
extern "C" __global__ void gv_tile_hash(const float* c, unsigned rows, unsigned columns,
                                        unsigned tile_rows, unsigned tile_columns, TileHash* out) {
  constexpr unsigned kBatch = 4; // loads under way
  const Tiling tiling = {rows, columns, tile_rows, tile_columns};
  const unsigned tiles = tiling.across() * tiling.down();
  for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const unsigned top = tile / tiling.across() * tile_rows;
    const unsigned left = tile % tiling.across() * tile_columns;
    gpuvet::Fold fold = {0, 0};
    for (QuadWalk walk(tile_columns / 4); walk.row < tile_rows;) {
      uint4 v[kBatch];
      unsigned low[kBatch]; // of the place, as far as a hash takes it
      bool there[kBatch];
      for (unsigned j = 0; j < kBatch; ++j, walk.next()) {
        const unsigned row = top + walk.row, column = left + walk.quad * 4;
        const Word place = Word{row} * columns + column;
        low[j] = static_cast<unsigned>(place);
        there[j] = walk.row < tile_rows && row < rows && column < columns;
        if (there[j]) v[j] = load_streaming(reinterpret_cast<const uint4*>(c + place));
      }
      for (unsigned j = 0; j < kBatch; ++j) {
        if (!there[j]) continue;
        fold.take(low[j], v[j].x);
        fold.take(low[j] + 1, v[j].y);
        fold.take(low[j] + 2, v[j].z);
        fold.take(low[j] + 3, v[j].w);
      }
    }
    add(fold, &out[tile]);
  }
}

namespace gpuvet::kernels {

constexpr unsigned kSide = 4; // a thread computes kSide x kSide elements of C
constexpr unsigned kLaneRows = 8,
                   kLaneColumns = 4; // how 32 neighbouring threads share their operands
constexpr unsigned kPatchRows = kSide * kLaneRows, kPatchColumns = kSide * kLaneColumns;

// Eight operands of a row, as integers.
__device__ __forceinline__ void eight(const unsigned short* from, int* to) {
  const uint4 v = *reinterpret_cast<const uint4*>(from);
  const unsigned pairs[4] = {v.x, v.y, v.z, v.w};
  for (unsigned i = 0; i < 4; ++i) {
    to[2 * i] = gpuvet::int_of_bf16(static_cast<unsigned short>(pairs[i] & 0xFFFF));
    to[2 * i + 1] = gpuvet::int_of_bf16(static_cast<unsigned short>(pairs[i] >> 16));
  }
}

__device__ __forceinline__ void golden_square(const unsigned short* a, const unsigned short* b,
                                              unsigned inner, int (&c)[kSide][kSide]) {
  for (unsigned k = 0; k < inner; k += 8) {
    int va[kSide][8], vb[8];
    for (unsigned r = 0; r < kSide; ++r)
      eight(a + Word{r} * inner + k, va[r]);
    for (unsigned s = 0; s < kSide; ++s) {
      eight(b + Word{s} * inner + k, vb);
      for (unsigned r = 0; r < kSide; ++r)
        for (unsigned i = 0; i < 8; ++i)
          c[r][s] += va[r][i] * vb[i];
    }
  }
}

} // namespace gpuvet::kernels

// Hashes of the tiles that `tiles` names (null: tiles 0 ... tile_count-1), into out[tile], computed
// with integers. Operands are integers as gv_operands makes them; rows, columns and sides of a tile
// are multiples of 4, `inner` of 8.
extern "C" __global__ void gv_golden_tiles(const unsigned short* a, const unsigned short* b,
                                           unsigned rows, unsigned columns, unsigned inner,
                                           unsigned tile_rows, unsigned tile_columns,
                                           const unsigned* tiles, unsigned tile_count,
                                           TileHash* out) {
  const Tiling tiling = {rows, columns, tile_rows, tile_columns};
  const unsigned patches_across = (tile_columns + kPatchColumns - 1) / kPatchColumns;
  const unsigned patches = patches_across * ((tile_rows + kPatchRows - 1) / kPatchRows);
  each(Word{tile_count} * patches * 32, [&](Word item) {
    const unsigned lane = static_cast<unsigned>(item % 32);
    const unsigned patch = static_cast<unsigned>(item / 32 % patches);
    const unsigned nth = static_cast<unsigned>(item / 32 / patches);
    const unsigned tile = tiles ? tiles[nth] : nth;
    const unsigned down = patch / patches_across * kPatchRows + lane / kLaneColumns * kSide;
    const unsigned right = patch % patches_across * kPatchColumns + lane % kLaneColumns * kSide;
    const unsigned row = tile / tiling.across() * tile_rows + down;
    const unsigned column = tile % tiling.across() * tile_columns + right;
    if (down >= tile_rows || right >= tile_columns || row >= rows || column >= columns) return;
    int c[kSide][kSide] = {};
    golden_square(a + Word{row} * inner, b + Word{column} * inner, inner, c);
    gpuvet::Fold fold = {0, 0};
    for (unsigned r = 0; r < kSide; ++r)
      for (unsigned s = 0; s < kSide; ++s)
        fold.take((row + r) * columns + column + s, gpuvet::bits_of(static_cast<float>(c[r][s])));
    add(fold, &out[tile]);
  });
}

// Compares the tiles that `tiles` names (null: 0 ... count-1), both arrays by tile number. wrong[0]
// counts those that differ, wrong[1 ... kWrongTiles] are the numbers of the first.
extern "C" __global__ void gv_compare_hashes(const TileHash* got, const TileHash* wanted,
                                             const unsigned* tiles, unsigned count,
                                             unsigned* wrong) {
  each(count, [&](Word i) {
    const unsigned tile = tiles ? tiles[i] : static_cast<unsigned>(i);
    if (got[tile].sum == wanted[tile].sum && got[tile].mixed == wanted[tile].mixed) return;
    const unsigned slot = atomicAdd(&wrong[0], 1u);
    if (slot < gpuvet::kWrongTiles) wrong[1 + slot] = tile;
  });
}
