#include "gpu/work/stress/load.hpp"

#include "gpu/work/stress/wrong.hpp"

#include <algorithm>
#include <cmath>

namespace gpuvet {
namespace {

constexpr unsigned kDeepEvery = 64; // products between two looks at what lies in memory
// A library's result is hashed by reading C again, which takes about a twentieth of the product:
// every second one keeps the load a load.
constexpr unsigned kHashEvery = 2;
constexpr uint64_t kClockRounds = 25'000; // some 50 us
constexpr size_t kClockWords = 5;         // of gv_clock

size_t hash_bytes(uint32_t tiles) {
  return tiles * sizeof(TileHash);
}

// Of a matrix of 32-bit words.
uint32_t tiles_of_words(uint64_t words) {
  constexpr uint64_t kTile = uint64_t{kTileRows} * kTileColumns;
  return static_cast<uint32_t>((words + kTile - 1) / kTile);
}

uint32_t most_tiles(const ProductShape& shape) {
  return std::max(
      {tiles_of(shape), tiles_of_words(shape.a_words() / 2), tiles_of_words(shape.b_words() / 2)});
}

void fill_operands(Load& load, CudaPointer to, uint64_t words, uint64_t seed) {
  launch(load.bench, load.bench.kernel("core", "gv_operands"), blocks_for(load.bench, words), 256,
         0, load.stream, to, words, uint64_t{0}, seed, exact_bound(load.shape.inner));
}

void compare(Load& load, LoadHalf& half, unsigned slot, CudaPointer wanted, uint32_t count) {
  launch(load.bench, load.compare_kernel, (count + 255) / 256, 256, 0, load.stream,
         hashes_at(load, half, slot), wanted, CudaPointer{0}, count,
         half.wrong.at(slot * kWrongWords * sizeof(uint32_t)));
}

// What lies in memory: C after the last product, and the operands.
void look_at_memory(Load& load, LoadHalf& half) {
  if (load.engine.hashes_itself) {
    hash_memory(load, load.c.at(), load.shape.c_words(), load.shape.columns,
                hashes_at(load, half, kSlotC));
    compare(load, half, kSlotC, load.wanted.at(), load.tiles);
  }
  const uint64_t a = load.shape.a_words() / 2, b = load.shape.b_words() / 2;
  hash_memory(load, load.a.at(), a, kTileColumns, hashes_at(load, half, kSlotA));
  compare(load, half, kSlotA, load.wanted_a.at(), tiles_of_words(a));
  hash_memory(load, load.b.at(), b, kTileColumns, hashes_at(load, half, kSlotB));
  compare(load, half, kSlotB, load.wanted_b.at(), tiles_of_words(b));
}

void enqueue_product(Load& load, LoadHalf& half, unsigned slot, bool checked) {
  const bool inside = checked && load.engine.hashes_itself;
  ProductCall call{load.a.at(), load.b.at(), load.c.at(), 0, 0, load.stream};
  if (inside) call.hashes = hashes_at(load, half, slot);
  call.multiprocessors = half.multiprocessors.at(size_t{slot} * load.tiles * sizeof(uint32_t));
  load.engine.multiply(call);
  if (!checked) return;
  if (!inside) {
    if (slot % kHashEvery != kHashEvery - 1 && slot + 1 != half.products) return;
    hash_memory(load, load.c.at(), load.shape.c_words(), load.shape.columns,
                hashes_at(load, half, slot));
  }
  compare(load, half, slot, load.wanted.at(), load.tiles);
  ++half.checks;
}

void tell_host(Load& load, LoadHalf& half) {
  Bench& bench = load.bench;
  auto copy = [&](const HostMemory& to, const DeviceMemory& from) {
    bench.quietly(bench.cuda.cuMemcpyDtoHAsync_v2, to.as<>(), from.at(), to.bytes(),
                  CudaStream{load.stream});
  };
  copy(half.wrong_told, half.wrong);
  copy(half.multiprocessors_told, half.multiprocessors);
  copy(half.clock_told, half.clock);
  bench.quietly(bench.cuda.cuEventRecord, CudaEvent{half.told}, CudaStream{load.stream});
}

double clock_mhz(const LoadHalf& half) {
  const auto* words = half.clock_told.as<uint64_t>();
  uint64_t cycles = words[2] - words[0], ns = words[3] - words[1];
  return ns == 0 ? 0 : static_cast<double>(cycles) / static_cast<double>(ns) * 1e3;
}

// The first slot where a comparison failed, and its tile.
std::optional<WrongTile> first_wrong(const Load& load, const LoadHalf& half) {
  for (unsigned slot = 0; slot < kHashSlots; ++slot) {
    const uint32_t* wrong = half.wrong_told.as<uint32_t>() + size_t{slot} * kWrongWords;
    if (wrong[0] == 0) continue;
    WrongTile found;
    found.tile = wrong[1];
    found.tiles = wrong[0];
    found.where = slot == kSlotA || slot == kSlotB ? WrongWhere::operands
                  : slot == kSlotC                 ? WrongWhere::memory
                  : load.engine.hashes_itself      ? WrongWhere::multiprocessor
                                                   : WrongWhere::unknown;
    found.still_there = slot >= kSlots || slot + 1 == half.products;
    if (slot < kSlots && load.engine.hashes_itself)
      found.multiprocessor =
          half.multiprocessors_told.as<uint32_t>()[size_t{slot} * load.tiles + found.tile];
    return found;
  }
  return std::nullopt;
}

} // namespace

LoadHalf::LoadHalf(Bench& bench, uint32_t tiles, uint32_t hash_tiles)
    : begin(bench), end(bench), told(bench), hashes(bench, kHashSlots * hash_bytes(hash_tiles)),
      multiprocessors(bench, kSlots * tiles * sizeof(uint32_t)),
      wrong(bench, kHashSlots * kWrongWords * sizeof(uint32_t)),
      clock(bench, kClockWords * sizeof(uint64_t)), wrong_told(bench, wrong.bytes()),
      multiprocessors_told(bench, multiprocessors.bytes()), clock_told(bench, clock.bytes()) {}

Load::Load(Bench& bench_, const StepOptions& options_, const ProductShape& shape_)
    : bench(bench_), options(options_), shape(shape_), seeds(product_seeds(options_.seed)),
      tiles(tiles_of(shape_)), hash_tiles(most_tiles(shape_)),
      hash_kernel(bench_.kernel("core", "gv_tile_hash")),
      compare_kernel(bench_.kernel("core", "gv_compare_hashes")),
      clock_kernel(bench_.kernel("core", "gv_clock")), stream(bench_),
      a(bench_, 2 * shape_.a_words()), b(bench_, 2 * shape_.b_words()),
      c(bench_, 4 * shape_.c_words()), wanted(bench_, hash_bytes(hash_tiles)),
      wanted_a(bench_, hash_bytes(hash_tiles)),
      wanted_b(bench_, hash_bytes(hash_tiles)), halves{LoadHalf(bench_, tiles, hash_tiles),
                                                       LoadHalf(bench_, tiles, hash_tiles)},
      order(tile_order(tiles, options_.seed)) {
  fill_operands(*this, a.at(), shape.a_words(), seeds.a);
  fill_operands(*this, b.at(), shape.b_words(), seeds.b);
  bench.call(bench.cuda.cuMemsetD32Async, wanted_a.at(), 0u, wanted_a.bytes() / 4,
             CudaStream{stream});
  bench.call(bench.cuda.cuMemsetD32Async, wanted_b.at(), 0u, wanted_b.bytes() / 4,
             CudaStream{stream});
  hash_memory(*this, a.at(), shape.a_words() / 2, kTileColumns, wanted_a.at());
  hash_memory(*this, b.at(), shape.b_words() / 2, kTileColumns, wanted_b.at());
}

CudaPointer hashes_at(const Load& load, const LoadHalf& half, unsigned slot) {
  return half.hashes.at(slot * hash_bytes(load.hash_tiles));
}

void clear(Load& load, LoadHalf& half) {
  for (const DeviceMemory* memory : {&half.hashes, &half.wrong, &half.multiprocessors})
    load.bench.quietly(load.bench.cuda.cuMemsetD32Async, memory->at(), 0u, memory->bytes() / 4,
                       CudaStream{load.stream});
}

void hash_memory(Load& load, CudaPointer matrix, uint64_t words, uint32_t columns,
                 CudaPointer hashes) {
  auto rows = static_cast<uint32_t>(words / columns);
  launch(load.bench, load.hash_kernel, tiles_of_words(words), 256, 0, load.stream, matrix, rows,
         columns, kTileRows, kTileColumns, hashes);
}

std::vector<TileHash> read_hashes(Load& load, CudaPointer from) {
  std::vector<TileHash> made(load.hash_tiles);
  load.bench.call(load.bench.cuda.cuMemcpyDtoHAsync_v2, static_cast<void*>(made.data()), from,
                  hash_bytes(load.hash_tiles), CudaStream{load.stream});
  load.bench.call(load.bench.cuda.cuStreamSynchronize, CudaStream{load.stream});
  return made;
}

void begin(Load& load, LoadHalf& half, unsigned products, bool checked) {
  Bench& bench = load.bench;
  half.products = std::clamp(products, 1u, kSlots);
  half.checks = 0;
  load.since_deep += half.products;
  half.deep = checked && load.since_deep >= kDeepEvery;
  if (half.deep) load.since_deep = 0;
  bench.quietly(bench.cuda.cuEventRecord, CudaEvent{half.begin}, CudaStream{load.stream});
  clear(load, half);
  for (unsigned slot = 0; slot < half.products; ++slot)
    enqueue_product(load, half, slot, checked);
  if (half.deep) look_at_memory(load, half);
  bench.quietly(bench.cuda.cuEventRecord, CudaEvent{half.end}, CudaStream{load.stream});
  launch(bench, load.clock_kernel, 1, 32, 0, load.stream, kClockRounds, half.clock.at());
  tell_host(load, half);
  half.busy = true;
}

HalfDone finish(Load& load, LoadHalf& half) {
  if (!half.busy) return {};
  load.bench.call(load.bench.cuda.cuEventSynchronize, CudaEvent{half.told});
  half.busy = false;
  load.checked += static_cast<double>(half.checks) * load.tiles;
  if (std::optional<WrongTile> found = first_wrong(load, half)) {
    for (LoadHalf& other : load.halves) // C holds the last product of all that was enqueued
      if (&other != &half && other.busy) found->still_there = false;
    report_wrong(load, *found);
  }
  if (load.engine.hashes_itself && half.products > 0) {
    const uint32_t* told = half.multiprocessors_told.as<uint32_t>();
    load.seen.insert(told, told + load.tiles);
  }
  HalfDone done;
  done.seconds = seconds_between(load.bench, half.begin, half.end);
  done.flop = half.products * load.shape.flop();
  done.sm_clock_mhz = clock_mhz(half);
  return done;
}

unsigned products_in(const Load& load, double seconds) {
  if (load.product_s <= 0) return 1;
  return static_cast<unsigned>(
      std::clamp(std::round(seconds / load.product_s), 1.0, double{kSlots}));
}

} // namespace gpuvet
