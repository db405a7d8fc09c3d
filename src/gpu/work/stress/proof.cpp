// The first product, and what is right: see load.hpp.
#include "gpu/kernels/mix.hpp"
#include "gpu/work/stress/load.hpp"
#include "gpu/work/stress/wrong.hpp"

#include <algorithm>

namespace gpuvet {
namespace {

constexpr uint32_t kFirstGolden = 32; // tiles that are proved before anything is timed

bool same(TileHash left, TileHash right) {
  return left.sum == right.sum && left.mixed == right.mixed;
}

// One bit of the first tile that will be looked at, somewhere in it.
void plant(Load& load) {
  const ProductTile place = place_of(load.shape, load.order.front());
  const Word random = mix64(load.options.seed);
  uint64_t row = place.row + random % kTileRows,
           column = place.column + (random >> 8) % kTileColumns;
  uint64_t at = row * load.shape.columns + column;
  launch(load.bench, load.bench.kernel("core", "gv_flip"), 1, 1, 0, load.stream,
         load.c.at(at * sizeof(float)), uint32_t{1} << (random >> 32) % 32);
}

void upload_wanted(Load& load) {
  load.bench.call(load.bench.cuda.cuMemcpyHtoDAsync_v2, load.wanted.at(),
                  static_cast<const void*>(load.first.data()), load.first.size() * sizeof(TileHash),
                  CudaStream{load.stream});
  load.bench.call(load.bench.cuda.cuStreamSynchronize, CudaStream{load.stream});
}

[[noreturn]] void first_was_wrong(Load& load, uint32_t tile, WrongWhere where) {
  WrongTile wrong;
  wrong.tile = tile;
  wrong.where = where;
  wrong.still_there = load.checked == 0;
  report_wrong(load, wrong);
}

// CUDA cores against the CPU, once: an engine that agrees with itself proves nothing.
void prove_golden(Load& load, TileHash by_gpu) {
  const uint32_t tile = load.order.front();
  if (!load.by_cpu)
    load.by_cpu = hash_of_tile(load.shape, tile, golden_tile(load.shape, load.seeds, tile));
  if (!same(by_gpu, *load.by_cpu)) first_was_wrong(load, tile, WrongWhere::golden);
}

WrongWhere where_engine_looked(const Load& load) {
  return load.engine.hashes_itself ? WrongWhere::multiprocessor : WrongWhere::unknown;
}

} // namespace

void hash_golden(Load& load, const std::vector<uint32_t>& tiles, CudaPointer to) {
  Bench& bench = load.bench;
  DeviceMemory list(bench, tiles.size() * sizeof(uint32_t));
  bench.call(bench.cuda.cuMemcpyHtoDAsync_v2, list.at(), static_cast<const void*>(tiles.data()),
             list.bytes(), CudaStream{load.stream});
  const uint64_t threads = tiles.size() * (kTileRows / 4) * (kTileColumns / 4);
  launch(bench, bench.kernel("core", "gv_golden_tiles"), static_cast<unsigned>(threads / 256), 256,
         0, load.stream, load.a.at(), load.b.at(), load.shape.rows, load.shape.columns,
         load.shape.inner, kTileRows, kTileColumns, list.at(), static_cast<uint32_t>(tiles.size()),
         to);
  bench.call(bench.cuda.cuStreamSynchronize, CudaStream{load.stream});
}

bool prove_more(Load& load, uint32_t count) {
  if (load.golden == load.tiles) return false;
  count = std::min(count, load.tiles - load.golden);
  auto from = load.order.begin() + load.golden;
  const std::vector<uint32_t> tiles(from, from + count);
  LoadHalf& half = load.halves[0];
  clear(load, half);
  hash_golden(load, tiles, hashes_at(load, half, 0));
  const std::vector<TileHash> right = read_hashes(load, hashes_at(load, half, 0));
  if (load.golden == 0) prove_golden(load, right[tiles.front()]);
  for (uint32_t tile : tiles) {
    if (!same(right[tile], load.first[tile]))
      first_was_wrong(load, tile, where_engine_looked(load));
  }
  load.golden += count;
  return true;
}

void prove(Load& load) {
  LoadHalf& half = load.halves[0];
  clear(load, half);
  const CudaPointer memory = hashes_at(load, half, kSlotC);
  CudaPointer first = load.engine.hashes_itself ? hashes_at(load, half, 0) : CudaPointer{0};
  auto multiply = [&] {
    load.engine.multiply(
        {load.a.at(), load.b.at(), load.c.at(), first, half.multiprocessors.at(), load.stream});
  };
  load.product_s = timed(load.bench, load.stream, multiply);
  if (load.options.fault == Fault::wrong_bit) plant(load);
  hash_memory(load, load.c.at(), load.shape.c_words(), load.shape.columns, memory);
  const std::vector<TileHash> in_memory = read_hashes(load, memory);
  load.first = load.engine.hashes_itself ? read_hashes(load, first) : in_memory;
  load.golden = 0; // another engine was proved before, perhaps
  prove_more(load, kFirstGolden);
  for (uint32_t tile = 0; tile < load.tiles; ++tile)
    if (!same(load.first[tile], in_memory[tile])) first_was_wrong(load, tile, WrongWhere::memory);
  load.checked += load.tiles;
  upload_wanted(load);
}

} // namespace gpuvet
