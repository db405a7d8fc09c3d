// All-reduce by NCCL over the GPUs of this machine, from one process with a communicator for each.
// The data are such that every sum is exact: 32-bit integers, which wrap, and bf16 integers whose
// sums stay within what bf16 holds. So each rank's result has one right answer, bit for bit.
#pragma once

#include "gpu/work/libraries/nccl_api.hpp"
#include "gpu/work/libraries/opened.hpp"
#include "gpu/work/pieces.hpp"

#include <memory>
#include <vector>

namespace gpuvet {

enum class ReduceType : uint8_t { int32, bf16 };

// The data of a rank, repeated in its buffer, and what their sum is: kReduceBlock bytes.
constexpr size_t kReduceBlock = 1 << 20;
std::vector<uint32_t> rank_block(ReduceType type, uint64_t seed, unsigned rank, unsigned ranks);
std::vector<uint32_t> sum_block(ReduceType type, uint64_t seed, unsigned ranks);

struct NcclRank {
  NcclRank(Bench& home, int ordinal, size_t bytes);

  std::unique_ptr<Bench> other; // of a GPU that is not the test's own
  Bench& bench;
  Stream stream;
  Event begin, end;
  DeviceMemory send, receive, hashes, wrong;
  NcclComm comm = nullptr;
};

class Nccl {
 public:
  // `bytes` of buffer on each GPU: a multiple of 1024. Throws StepStopped.
  Nccl(Bench& bench, const std::string& file, const std::vector<int>& gpus, size_t bytes);
  Nccl(const Nccl&) = delete;
  Nccl& operator=(const Nccl&) = delete;
  ~Nccl();

  void fill(ReduceType type, uint64_t seed); // what is sent
  // Reduces `times` times; seconds of the slowest rank.
  double reduce(ReduceType type, size_t bytes, unsigned times);
  // Ranks whose result is wrong; `fill` again before the next reduction.
  unsigned wrong_ranks(ReduceType type, uint64_t seed, size_t bytes, Fault fault = Fault::none);

  unsigned ranks() const { return static_cast<unsigned>(ranks_.size()); }
  std::vector<std::unique_ptr<NcclRank>>& all() { return ranks_; }

  std::string version; // "2.28.9"
  double load_s = 0;

 private:
  void require_no_error();

  OpenedLibrary library_;
  NcclApi api_;
  std::vector<std::unique_ptr<NcclRank>> ranks_;
};

// Writes the block over and over into `bytes` of device memory.
void spread_block(Bench& bench, const std::vector<uint32_t>& block, CudaPointer to, size_t bytes,
                  CudaStream stream);
// Is what lies at `got` the block over and over? `wanted` is memory of as many bytes to write it
// to.
bool is_block(NcclRank& rank, const std::vector<uint32_t>& block, CudaPointer got,
              CudaPointer wanted, size_t bytes);

} // namespace gpuvet
