#include "gpu/work/libraries/own_kernel.hpp"

namespace gpuvet {

unsigned wrong_tiles(Load& load) {
  LoadHalf& half = load.halves[0];
  clear(load, half);
  load.engine.multiply(
      {load.a.at(), load.b.at(), load.c.at(), 0, half.multiprocessors.at(), load.stream});
  const CudaPointer hashes = hashes_at(load, half, kSlotC);
  hash_memory(load, load.c.at(), load.shape.c_words(), load.shape.columns, hashes);
  const std::vector<TileHash> got = read_hashes(load, hashes);
  unsigned wrong = 0;
  for (uint32_t tile = 0; tile < load.tiles; ++tile) {
    const TileHash right =
        hash_of_tile(load.shape, tile, golden_tile(load.shape, load.seeds, tile));
    wrong += got[tile].sum != right.sum || got[tile].mixed != right.mixed;
  }
  return wrong;
}

std::string own_product(Bench& bench, const StepOptions& options, const ProductShape& shape) {
  try {
    Load load(bench, options, shape);
    load.engine = own_engines(bench, shape).front();
    return wrong_tiles(load) == 0 ? "right" : "wrong";
  } catch (const StepStopped& stopped) {
    if (stopped.unsupported) return "not run";
    throw; // the GPU itself fails: there is nothing to compare
  }
}

} // namespace gpuvet
