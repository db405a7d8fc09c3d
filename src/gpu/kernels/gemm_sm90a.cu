// Matrix products on Hopper's own instructions (H100, H200, GH200: target sm_90a): copies by the
// tensor memory accelerator, multiplications by warpgroups, barriers in shared memory between them.
//
//   C (fp32, rows x columns) = A (bf16, rows x inner) * transposed B (bf16, columns x inner)
//
// all row-major; rows and columns multiples of 256, inner of 64. Words of C are counted in 32 bits.
//
// Why this shape. A multiprocessor does 4096 FLOP in a clock, so a 64 x 256 x 16 instruction takes
// 128 clocks; it reads 2 KB of A and 8 KB of B from shared memory, 80 of the 128 bytes that this
// gives in a clock. Loading a stage of 48 KB in the 1024 clocks of its multiplications adds 48:
// nothing is left over, and every smaller tile needs more. 128 x 128 tiles that two warpgroups make
// in turn, one storing while the other multiplies ("ping-pong"), would need 96 + 64. So both
// warpgroups work on one tile of 128 x 256, and what ping-pong would hide, the epilogue, is kept
// short instead: the loader already fetches the next tile's first four stages meanwhile, stores are
// not waited for, and the hash costs a multiplication and five additions a word. At an inner
// dimension of 8192 a tile is 131072 clocks of multiplications and about 6000 of epilogue.
//
// gv_gemm_tma2 halves what B costs the second-level cache: pairs of blocks, each loading half of B
// for both.
#include "gpu/kernels/hopper.cuh"
#include "gpu/kernels/kernels.hpp"

namespace gpuvet::sm90a {

struct Product {
  float* c;
  unsigned rows, columns, inner;
  TileHash* hashes;          // null: none wanted
  unsigned* multiprocessors; // null: not wanted
};

template <unsigned kBlocks>
__device__ __forceinline__ Walk<kBlocks> walk_of(const Product& product) {
  return {product.rows, product.columns, blockIdx.x, gridDim.x, kBlocks == 1 ? 0 : cluster_rank()};
}

// One thread of the first warpgroup.
template <unsigned kBlocks> __device__ __forceinline__ void
produce(const TensorMap* a, const TensorMap* b, const Product& product, const Stages& stages) {
  RingPlace at = {0, 0};
  for (auto walk = walk_of<kBlocks>(product); walk.goes_on(); walk.next()) {
    const TilePlace tile = walk.tile();
    const unsigned row = tile.row * kTileRows, column = tile.column * kTileColumns;
    for (unsigned inner = 0; inner < product.inner; inner += kInnerStep) {
      // Of a pair: both blocks' consumers have released it, for the copy below writes to both.
      barrier_wait(stages.empty(at.stage), at.parity_when_empty());
      const unsigned full = stages.full(at.stage);
      // All of A and B, also what the other block brings. Its bytes may be counted before this: the
      // phase cannot end without this arrival.
      barrier_expect(full, kStageBytes);
      load_box(stages.a(at.stage), a, full, inner, row);
      if constexpr (kBlocks == 1) {
        load_box(stages.b(at.stage), b, full, inner, column);
        load_box(stages.b(at.stage, 1), b, full, inner, column + kBoxRows);
      } else {
        load_box_to(3, stages.b(at.stage, walk.rank), b, full, inner,
                    column + walk.rank * kBoxRows);
      }
      at.next();
    }
  }
}

// By each warp, as a warp's wait speaks for its own multiplications only.
template <unsigned kBlocks> __device__ __forceinline__ void release(unsigned empty, unsigned lane) {
  if constexpr (kBlocks == 1) {
    if (lane == 0) barrier_arrive(empty);
  } else {
    if (lane < kBlocks) barrier_arrive_at(empty, lane);
  }
}

// The multiplications of one stage, given but not waited for.
__device__ __forceinline__ void multiply_stage(float (&d)[kAccumulators], const RingPlace& at,
                                               unsigned add, unsigned consumer,
                                               const Stages& stages) {
  barrier_wait(stages.full(at.stage), at.parity);
  const Word a = operand_descriptor(stages.a(at.stage, consumer));
  const Word b = operand_descriptor(stages.b(at.stage));
  multiply_fence();
  GPUVET_UNROLL for (unsigned i = 0; i < kInstructions; ++i)
      multiply(d, a + i * kDescriptorStep, b + i * kDescriptorStep, add + i);
  multiply_commit();
}

// 64 x 256 of C into the accumulators. The next step's multiplications are given before the last
// one's are waited for, so the tensor cores always have work.
template <unsigned kBlocks>
__device__ __forceinline__ void multiply_tile(float (&d)[kAccumulators], RingPlace& at,
                                              unsigned steps, unsigned consumer, unsigned lane,
                                              const Stages& stages) {
  multiply_stage(d, at, 0, consumer, stages);
  at.next();
  GPUVET_NO_UNROLL for (unsigned step = 1; step < steps; ++step) {
    multiply_stage(d, at, 1, consumer, stages);
    multiply_wait_all_but_one();
    release<kBlocks>(stages.empty(at.before()), lane);
    at.next();
  }
  multiply_wait_all(d);
  release<kBlocks>(stages.empty(at.before()), lane);
}

struct Fold { // as gv_tile_hash of core.cu does
  Word sum = 0, mixed = 0;
  __device__ __forceinline__ void take(unsigned place, float value) {
    const Word word = hash_word(place, __float_as_uint(value));
    sum += word;
    mixed ^= word;
  }
  // All lanes of the warp call it.
  __device__ __forceinline__ void into(TileHash* out, unsigned lane) {
    for (unsigned apart = 16; apart > 0; apart /= 2) {
      sum += __shfl_xor_sync(~0u, sum, apart);
      mixed ^= __shfl_xor_sync(~0u, mixed, apart);
    }
    if (lane != 0) return;
    atomicAdd(&out->sum, sum);
    atomicXor(&out->mixed, mixed);
  }
};

// A thread's part of C, 8 bytes a lane: a warp fills 8 pieces of 32 bytes, whole sectors.
// Streaming, so that C does not push A and B out of the cache.
template <bool kHashed> __device__ __forceinline__ void
store(const float (&d)[kAccumulators], float* c, unsigned place, unsigned columns, Fold& fold) {
  float* const rows[2] = {c + place, c + place + 8 * Word{columns}};
  GPUVET_UNROLL for (unsigned i = 0; i < kAccumulators; i += 2) {
    const unsigned down = fragment_row(0, i), right = fragment_column(0, i);
    __stcs(reinterpret_cast<float2*>(rows[down / 8] + right), make_float2(d[i], d[i + 1]));
    if constexpr (kHashed) {
      fold.take(place + down * columns + right, d[i]);
      fold.take(place + down * columns + right + 1, d[i + 1]);
    }
  }
}

template <unsigned kBlocks>
__device__ __forceinline__ void consume(const Product& product, const Stages& stages) {
  const unsigned consumer = threadIdx.x / kWarpgroup - 1, thread = threadIdx.x % kWarpgroup;
  const unsigned lane = threadIdx.x % 32;
  float d[kAccumulators];
  RingPlace at = {0, 0};
  for (auto walk = walk_of<kBlocks>(product); walk.goes_on(); walk.next()) {
    multiply_tile<kBlocks>(d, at, product.inner / kInnerStep, consumer, lane, stages);
    const TilePlace tile = walk.tile();
    const unsigned number = tile.row * walk.column_tiles + tile.column;
    const unsigned row = tile.row * kTileRows + consumer * kConsumerRows + fragment_row(thread, 0);
    const unsigned place =
        row * product.columns + tile.column * kTileColumns + fragment_column(thread, 0);
    Fold fold;
    if (product.hashes) {
      store<true>(d, product.c, place, product.columns, fold);
      fold.into(&product.hashes[number], lane);
    } else {
      store<false>(d, product.c, place, product.columns, fold);
    }
    if (consumer == 0 && thread == 0 && product.multiprocessors)
      product.multiprocessors[number] = multiprocessor();
  }
}

template <unsigned kBlocks> __device__ __forceinline__ void
gemm(const TensorMap* a, const TensorMap* b, const Product& product) {
  extern __shared__ unsigned char shared[];
  const Stages stages = {(shared_address(shared) + kSwizzleRepeat - 1) & ~(kSwizzleRepeat - 1)};
  if (threadIdx.x == 0) {
    fetch_map(a);
    fetch_map(b);
    for (unsigned stage = 0; stage < kStages; ++stage) {
      barrier_init(stages.full(stage), 1);
      barrier_init(stages.empty(stage), kConsumerWarps * kBlocks);
    }
    barriers_are_ready();
  }
  __syncthreads();
  if constexpr (kBlocks > 1) cluster_barrier(); // nobody signals a barrier that is not there yet

  if (threadIdx.x < kWarpgroup) {
    fewer_registers<kProducerRegisters>();
    if (threadIdx.x == 0) produce<kBlocks>(a, b, product, stages);
  } else {
    more_registers<kConsumerRegisters>();
    consume<kBlocks>(product, stages);
  }
  // A block that has ended cannot be signalled: the other may still release its last stages.
  if constexpr (kBlocks > 1) cluster_barrier();
}

} // namespace gpuvet::sm90a

using gpuvet::TileHash;
using gpuvet::Word;
using gpuvet::sm90a::TensorMap;

// {threads, bytes of dynamic shared memory, rows and columns of a tile, inner step, blocks that
// belong together: the grid is a multiple of these}. Not const: the host could not find them.
extern "C" {
__device__ unsigned gv_gemm_shape[6] = {gpuvet::sm90a::kThreads,   gpuvet::sm90a::kSharedBytes,
                                        gpuvet::sm90a::kTileRows,  gpuvet::sm90a::kTileColumns,
                                        gpuvet::sm90a::kInnerStep, 1};
__device__ unsigned gv_gemm_shape2[6] = {gpuvet::sm90a::kThreads,   gpuvet::sm90a::kSharedBytes,
                                         gpuvet::sm90a::kTileRows,  gpuvet::sm90a::kTileColumns,
                                         gpuvet::sm90a::kInnerStep, gpuvet::sm90a::kPair};
__device__ unsigned gv_pipe_shape[6] = {gpuvet::sm90a::kPipeThreads, 0, 0, 0, 0, 1};
}

// One block on each multiprocessor, or fewer; they share the tiles out among themselves.
extern "C" __global__ void __launch_bounds__(gpuvet::sm90a::kThreads, 1)
    gv_gemm_tma(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, float* c,
                unsigned rows, unsigned columns, unsigned inner, TileHash* hashes,
                unsigned* multiprocessors) {
  gpuvet::sm90a::gemm<1>(&a, &b, {c, rows, columns, inner, hashes, multiprocessors});
}

extern "C" __global__ void __cluster_dims__(gpuvet::sm90a::kPair, 1, 1)
    __launch_bounds__(gpuvet::sm90a::kThreads, 1)
        gv_gemm_tma2(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
                     float* c, unsigned rows, unsigned columns, unsigned inner, TileHash* hashes,
                     unsigned* multiprocessors) {
  gpuvet::sm90a::gemm<gpuvet::sm90a::kPair>(&a, &b,
                                            {c, rows, columns, inner, hashes, multiprocessors});
}

// The tensor cores alone: two warpgroups multiply what lies in shared memory, again and again.
// out: clocks and nanoseconds of the first block, and the FLOP that each block did meanwhile.
extern "C" __global__ void __launch_bounds__(gpuvet::sm90a::kPipeThreads, 1)
    gv_pipe(Word rounds, Word* out) {
  using namespace gpuvet::sm90a;
  __shared__ __align__(kSwizzleRepeat) unsigned short operands[kPipeRows * kInnerStep];
  // Small integers with signs, so that bits toggle and the sums stay far from infinity.
  for (unsigned i = threadIdx.x; i < kPipeRows * kInnerStep; i += kPipeThreads)
    operands[i] = gpuvet::operand(i, 1, 2);
  operands_are_written();
  __syncthreads();

  const Word a = operand_descriptor(shared_address(operands));
  const Word b = operand_descriptor(shared_address(operands) + kConsumerRows * kRowBytes);
  float d[kAccumulators];
  GPUVET_UNROLL for (unsigned i = 0; i < kAccumulators; ++i) d[i] = 0;
  const Word clock = static_cast<Word>(clock64()), ns = gpuvet::global_ns();
  for (Word round = 0; round < rounds; ++round) {
    multiply_fence();
    GPUVET_UNROLL for (unsigned i = 0; i < kInstructions; ++i)
        multiply(d, a + i * kDescriptorStep, b + i * kDescriptorStep, 1);
    multiply_commit();
    multiply_wait_all_but_one();
  }
  multiply_wait_all(d);
  __syncthreads();
  const Word end_clock = static_cast<Word>(clock64()), end_ns = gpuvet::global_ns();
  float sum = 0; // of the products, so that they are needed
  GPUVET_UNROLL for (unsigned i = 0; i < kAccumulators; ++i) sum += d[i];
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  out[0] = end_clock - clock;
  out[1] = end_ns - ns;
  out[2] = sum == sum ? rounds * kPipeRoundFlop : 0; // never NaN: all operands are small integers
}
