// Products, one after the other, each checked on the device: its tiles are hashed and the hashes
// compared with those that are right. Two halves of the work are in flight, so that the GPU does
// not wait for the CPU: while one half runs, the other is judged and filled again.
//
// What is right: the hashes of the first product, replaced tile by tile by golden ones from integer
// arithmetic on CUDA cores, of which the CPU computes one again. Three things are looked at:
// what left the multiprocessors (the hash in each product, where the engine takes it itself), what
// lies in memory afterwards (C read again), and the operands (A and B read again), since a bit that
// changed there would make every later product wrong in the same way.
#pragma once

#include "gpu/work/stress/engine.hpp"

#include <optional>
#include <set>

namespace gpuvet {

constexpr unsigned kSlots = 32; // products of a half, at most

struct LoadHalf {
  LoadHalf(Bench& bench, uint32_t tiles, uint32_t hash_tiles);

  Event begin, end, told;
  DeviceMemory hashes, multiprocessors, wrong, clock; // of each slot: see kHashSlots
  HostMemory wrong_told, multiprocessors_told, clock_told;
  unsigned products = 0, checks = 0;
  bool busy = false, deep = false;
};

struct Load {
  Load(Bench& bench, const StepOptions& options, const ProductShape& shape);

  Bench& bench;
  const StepOptions& options;
  ProductShape shape;
  ProductSeeds seeds;
  uint32_t tiles = 0;      // of C
  uint32_t hash_tiles = 0; // of C or of an operand, whichever has more
  ProductEngine engine;    // to be set before prove()
  CudaFunction hash_kernel, compare_kernel, clock_kernel;
  Stream stream;
  DeviceMemory a, b, c;
  DeviceMemory wanted, wanted_a, wanted_b; // hashes
  LoadHalf halves[2];

  std::vector<TileHash> first;    // of the first product, as its engine gave them
  std::vector<uint32_t> order;    // in which tiles get their golden hash
  uint32_t golden = 0;            // how many of them have it
  std::optional<TileHash> by_cpu; // of the first of them
  double checked = 0;             // tiles compared
  unsigned since_deep = 0;        // products
  double product_s = 0;           // of one, measured
  std::set<uint32_t> seen;        // multiprocessors
};

// One product by itself, everything checked. Throws StepStopped when anything is wrong.
void prove(Load& load);

// Golden hashes of the next tiles; false: all have theirs. Throws when the first product was wrong.
bool prove_more(Load& load, uint32_t count);

void begin(Load& load, LoadHalf& half, unsigned products, bool checked = true);

struct HalfDone {
  double seconds = 0; // of the GPU
  double flop = 0;    // work that was completed
  double sm_clock_mhz = 0;
};
// Waits for the half. Throws when anything was wrong, after finding out more about it.
HalfDone finish(Load& load, LoadHalf& half);

// Products that take about `seconds`, from 1 to kSlots.
unsigned products_in(const Load& load, double seconds);

// --- for the parts of this load --------------------------------------------------------------

constexpr unsigned kSlotC = kSlots, kSlotA = kSlots + 1, kSlotB = kSlots + 2; // read from memory
constexpr unsigned kHashSlots = kSlots + 3;
constexpr unsigned kWrongWords = 1 + kWrongTiles; // of each slot

CudaPointer hashes_at(const Load& load, const LoadHalf& half, unsigned slot);
void clear(Load& load, LoadHalf& half);
// Any matrix of 32-bit words: C as it is, an operand as rows of one tile's width.
void hash_memory(Load& load, CudaPointer matrix, uint64_t words, uint32_t columns,
                 CudaPointer hashes);
std::vector<TileHash> read_hashes(Load& load, CudaPointer from);
void hash_golden(Load& load, const std::vector<uint32_t>& tiles, CudaPointer to);

} // namespace gpuvet
