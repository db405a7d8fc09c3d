#include "gpu/work/libraries/nccl.hpp"

#include "gpu/kernels/mix.hpp"
#include "gpu/work/stress/product.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

constexpr size_t kRowBytes = kTileColumns * sizeof(uint32_t); // buffers are hashed as rows of these

uint32_t tiles_of_bytes(size_t bytes) {
  return static_cast<uint32_t>((bytes / kRowBytes + kTileRows - 1) / kTileRows);
}

Bench& bench_for(Bench& home, int ordinal, std::unique_ptr<Bench>& other) {
  if (ordinal == home.ordinal) return home;
  other = std::make_unique<Bench>(home.cuda, ordinal, home.tell);
  return *other;
}

void use(const NcclRank& rank) {
  rank.bench.quietly(rank.bench.cuda.cuCtxSetCurrent, rank.bench.context);
}

// Two bf16 integers whose sum over all ranks is at most 256, as a word.
uint32_t bf16_pair(uint64_t index, uint64_t seed, unsigned ranks) {
  const uint32_t bound = std::max(256u / ranks, 1u);
  return operand(2 * index, seed, bound) | uint32_t{operand(2 * index + 1, seed, bound)} << 16;
}

uint64_t rank_seed(uint64_t seed, unsigned rank) {
  return mix64(seed + rank * 0x9E3779B97F4A7C15ull);
}

} // namespace

std::vector<uint32_t> rank_block(ReduceType type, uint64_t seed, unsigned rank, unsigned ranks) {
  std::vector<uint32_t> made(kReduceBlock / sizeof(uint32_t));
  const uint64_t own = rank_seed(seed, rank);
  for (size_t at = 0; at < made.size(); ++at)
    made[at] = type == ReduceType::int32 ? static_cast<uint32_t>(word_value(at, own))
                                         : bf16_pair(at, own, ranks);
  return made;
}

std::vector<uint32_t> sum_block(ReduceType type, uint64_t seed, unsigned ranks) {
  std::vector<uint32_t> sum(kReduceBlock / sizeof(uint32_t));
  std::vector<int> low(sum.size()), high(sum.size());
  for (unsigned rank = 0; rank < ranks; ++rank) {
    const std::vector<uint32_t> block = rank_block(type, seed, rank, ranks);
    for (size_t at = 0; at < sum.size(); ++at) {
      sum[at] += block[at];
      if (type == ReduceType::int32) continue;
      low[at] += int_of_bf16(static_cast<uint16_t>(block[at]));
      high[at] += int_of_bf16(static_cast<uint16_t>(block[at] >> 16));
    }
  }
  if (type == ReduceType::int32) return sum;
  for (size_t at = 0; at < sum.size(); ++at)
    sum[at] = bf16_of(static_cast<float>(low[at])) | uint32_t{bf16_of(static_cast<float>(high[at]))}
                                                         << 16;
  return sum;
}

void spread_block(Bench& bench, const std::vector<uint32_t>& block, CudaPointer to, size_t bytes,
                  CudaStream stream) {
  size_t have = std::min(kReduceBlock, bytes);
  bench.call(bench.cuda.cuMemcpyHtoDAsync_v2, to, static_cast<const void*>(block.data()), have,
             stream);
  for (; have < bytes; have += std::min(have, bytes - have))
    bench.call(bench.cuda.cuMemcpyDtoDAsync_v2, to + have, to, std::min(have, bytes - have),
               stream);
  bench.call(bench.cuda.cuStreamSynchronize, stream);
}

namespace {

// Small buffers are compared on the host, word by word.
bool is_small_block(NcclRank& rank, const std::vector<uint32_t>& block, CudaPointer got,
                    size_t bytes) {
  std::vector<uint32_t> words(bytes / sizeof(uint32_t));
  rank.bench.call(rank.bench.cuda.cuMemcpyDtoHAsync_v2, static_cast<void*>(words.data()), got,
                  bytes, CudaStream{rank.stream});
  rank.bench.call(rank.bench.cuda.cuStreamSynchronize, CudaStream{rank.stream});
  return std::equal(words.begin(), words.end(), block.begin());
}

} // namespace

bool is_block(NcclRank& rank, const std::vector<uint32_t>& block, CudaPointer got,
              CudaPointer wanted, size_t bytes) {
  if (bytes <= kReduceBlock) return is_small_block(rank, block, got, bytes);
  Bench& bench = rank.bench;
  spread_block(bench, block, wanted, bytes, rank.stream);
  const uint32_t tiles = tiles_of_bytes(bytes);
  const auto rows = static_cast<uint32_t>(bytes / kRowBytes);
  bench.call(bench.cuda.cuMemsetD32Async, rank.hashes.at(), 0u, rank.hashes.bytes() / 4,
             CudaStream{rank.stream});
  bench.call(bench.cuda.cuMemsetD32Async, rank.wrong.at(), 0u, rank.wrong.bytes() / 4,
             CudaStream{rank.stream});
  CudaFunction hash = bench.kernel("core", "gv_tile_hash");
  const CudaPointer of_got = rank.hashes.at(), of_wanted = of_got + tiles * sizeof(TileHash);
  launch(bench, hash, tiles, 256, 0, rank.stream, got, rows, kTileColumns, kTileRows, kTileColumns,
         of_got);
  launch(bench, hash, tiles, 256, 0, rank.stream, wanted, rows, kTileColumns, kTileRows,
         kTileColumns, of_wanted);
  launch(bench, bench.kernel("core", "gv_compare_hashes"), (tiles + 255) / 256, 256, 0, rank.stream,
         of_got, of_wanted, CudaPointer{0}, tiles, rank.wrong.at());
  uint32_t wrong = 0;
  bench.call(bench.cuda.cuMemcpyDtoHAsync_v2, static_cast<void*>(&wrong), rank.wrong.at(),
             sizeof(wrong), CudaStream{rank.stream});
  bench.call(bench.cuda.cuStreamSynchronize, CudaStream{rank.stream});
  return wrong == 0;
}

NcclRank::NcclRank(Bench& home, int ordinal, size_t bytes)
    : bench(bench_for(home, ordinal, other)), stream(bench), begin(bench), end(bench),
      send(bench, bytes), receive(bench, bytes),
      hashes(bench, 2 * std::max(tiles_of_bytes(bytes), 1u) * sizeof(TileHash)),
      wrong(bench, (1 + kWrongTiles) * sizeof(uint32_t)) {}

Nccl::Nccl(Bench& bench, const std::string& file, const std::vector<int>& gpus, size_t bytes)
    : library_(open_for_test(bench.tell, "NCCL", file)) {
#define GPUVET_FIND(name, ...) library_.require(api_.name);
  GPUVET_NCCL_CALLS(GPUVET_FIND)
#undef GPUVET_FIND
  library_.require("ncclGetErrorString", api_.ncclGetErrorString);
  library_.error_text = api_.ncclGetErrorString;
  int number = 0;
  library_.call(api_.ncclGetVersion, &number);
  version = version_text(static_cast<size_t>(number), 10'000, 100);
  bench.tell.word("version", version);
  for (int gpu : gpus) {
    if (gpu == bench.ordinal) // a bench that is made becomes current; this one was made long ago
      bench.quietly(bench.cuda.cuCtxSetCurrent, bench.context);
    ranks_.push_back(std::make_unique<NcclRank>(bench, gpu, bytes));
  }
  const double began = bench.tell.seconds();
  std::vector<NcclComm> comms(gpus.size());
  library_.call(api_.ncclCommInitAll, comms.data(), static_cast<int>(gpus.size()), gpus.data());
  for (size_t at = 0; at < comms.size(); ++at)
    ranks_[at]->comm = comms[at];
  load_s = library_.load_s + bench.tell.seconds() - began;
}

Nccl::~Nccl() {
  for (const auto& rank : ranks_)
    api_.ncclCommDestroy.function(rank->comm);
}

void Nccl::fill(ReduceType type, uint64_t seed) {
  for (unsigned at = 0; at < ranks(); ++at) {
    NcclRank& rank = *ranks_[at];
    use(rank);
    spread_block(rank.bench, rank_block(type, seed, at, ranks()), rank.send.at(), rank.send.bytes(),
                 rank.stream);
  }
}

void Nccl::require_no_error() {
  for (const auto& rank : ranks_) {
    int code = 0;
    library_.call(api_.ncclCommGetAsyncError, rank->comm, &code);
    if (code != 0 && code != kNcclInProgress) library_.stop_at("ncclAllReduce", code);
  }
}

double Nccl::reduce(ReduceType type, size_t bytes, unsigned times) {
  const bool integers = type == ReduceType::int32;
  auto record = [&](Event NcclRank::*event) {
    for (const auto& rank : ranks_) {
      use(*rank);
      rank->bench.quietly(rank->bench.cuda.cuEventRecord, CudaEvent{(*rank).*event},
                          CudaStream{rank->stream});
    }
  };
  record(&NcclRank::begin);
  for (unsigned at = 0; at < times; ++at) {
    library_.quietly(api_.ncclGroupStart);
    for (const auto& rank : ranks_)
      library_.quietly(api_.ncclAllReduce, static_cast<const void*>(address_of(rank->send.at())),
                       address_of(rank->receive.at()), bytes / (integers ? 4 : 2),
                       integers ? int{kNcclInt32} : int{kNcclBfloat16}, int{kNcclSum}, rank->comm,
                       CudaStream{rank->stream});
    library_.quietly(api_.ncclGroupEnd);
  }
  record(&NcclRank::end);
  double slowest = 0;
  for (const auto& rank : ranks_) {
    use(*rank);
    rank->bench.call(rank->bench.cuda.cuStreamSynchronize, CudaStream{rank->stream});
    slowest = std::max(slowest, seconds_between(rank->bench, rank->begin, rank->end));
  }
  require_no_error();
  return slowest;
}

unsigned Nccl::wrong_ranks(ReduceType type, uint64_t seed, size_t bytes, Fault fault) {
  const std::vector<uint32_t> right = sum_block(type, seed, ranks());
  unsigned wrong = 0;
  for (const auto& rank : ranks_) {
    use(*rank);
    if (fault == Fault::wrong_bit && rank == ranks_.back())
      launch(rank->bench, rank->bench.kernel("core", "gv_flip"), 1, 1, 0, rank->stream,
             rank->receive.at(bytes / 8 * 4), uint32_t{1} << 3);
    wrong += !is_block(*rank, right, rank->receive.at(), rank->send.at(), bytes);
  }
  return wrong;
}

} // namespace gpuvet
