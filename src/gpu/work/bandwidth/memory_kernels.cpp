#include "gpu/work/bandwidth/memory_kernels.hpp"

#include "gpu/work/bandwidth/host_words.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

namespace gpuvet {
namespace {

constexpr uint64_t kAllBits = ~uint64_t{0};
constexpr int kCudaRegistersOfABlock = 12; // CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK

class Read : public MemoryKernel {
 public:
  explicit Read(MemoryField& field)
      : MemoryKernel(field, "read", "gv_read", 1, kReadPlaces), sums_(field.bench, kReadSums * 8) {}
  void prepare(uint64_t seed) override {
    // The sum of a segment is costly for the CPU: new data are the old ones or their complement.
    if (seed_ == 0) {
      seed_ = seed | 1;
      sum_ = sum_of_halves(field_.size.segment / 8, seed_);
    }
    flip_ = (seed & 2) != 0 ? kAllBits : 0;
    for (DeviceMemory& buffer : field_.buffers) {
      field_.fill(buffer.at(), seed_, flip_);
      field_.check(buffer.at(), seed_, flip_);
    }
    field_.require_right("filling");
    field_.bench.call(field_.bench.cuda.cuMemsetD32Async, sums_.at(), 0u, size_t{kReadSums * 2},
                      CudaStream{field_.stream});
  }
  void enqueue(Shape shape, unsigned nth) override {
    start(shape, field_.buffer(nth), field_.n16(), sums_.at());
  }
  void check(unsigned launches) override {
    std::vector<uint64_t> sums(kReadSums);
    field_.bench.call(field_.bench.cuda.cuMemcpyDtoHAsync_v2, static_cast<void*>(sums.data()),
                      sums_.at(), sums.size() * 8, CudaStream{field_.stream});
    field_.bench.call(field_.bench.cuda.cuStreamSynchronize, CudaStream{field_.stream});
    uint64_t got = 0;
    for (uint64_t sum : sums)
      got += sum;
    // A half of the complement is 2^32 - 1 less the half.
    const uint64_t halves = field_.size.segment / 4;
    const uint64_t segment = flip_ ? halves * 0xFFFFFFFF - sum_ : sum_;
    const uint64_t wanted = segment * (field_.size.bytes / field_.size.segment) * launches;
    if (got != wanted)
      Bench::wrong(fmt::format("the sum over what the read kernel read is wrong: {:#x} instead of "
                               "{:#x}, though the memory had been checked before",
                               got, wanted));
  }

 private:
  DeviceMemory sums_;
  uint64_t seed_ = 0, sum_ = 0, flip_ = 0;
};

class Write : public MemoryKernel {
 public:
  explicit Write(MemoryField& field) : MemoryKernel(field, "write", "gv_write", 1, kWritePlaces) {}
  void prepare(uint64_t seed) override {
    value_ = static_cast<uint32_t>(seed);
    for (DeviceMemory& buffer : field_.buffers)
      field_.set(buffer.at(), ~wide());
  }
  void enqueue(Shape shape, unsigned nth) override {
    start(shape, field_.buffer(nth), field_.n16(), value_);
  }
  void check(unsigned launches) override {
    for (unsigned at = 0; at < std::min(launches, field_.size.count); ++at)
      field_.check_set(field_.buffers[at].at(), wide());
    field_.require_right(name);
  }

 private:
  uint64_t wide() const { return uint64_t{value_} << 32 | value_; }
  uint32_t value_ = 0;
};

class Copy : public MemoryKernel {
 public:
  explicit Copy(MemoryField& field) : MemoryKernel(field, "copy", "gv_copy", 2, kCopyPlaces) {}
  void prepare(uint64_t seed) override {
    seed_ = seed;
    for (unsigned nth : {0u, 1u}) {
      field_.fill(first(nth), seed_, 0);
      field_.fill(second(nth), seed_, kAllBits);
    }
  }
  void enqueue(Shape shape, unsigned nth) override {
    start(shape, second(nth), first(nth), field_.n16());
  }
  void check(unsigned launches) override {
    for (unsigned nth = 0; nth < std::min(launches, 2u); ++nth)
      field_.check(second(nth), seed_, 0);
    field_.require_right(name);
  }

 private:
  // Two pairs of four buffers; of three, one source and two results.
  CudaPointer first(unsigned nth) const {
    return field_.buffer(field_.size.count == 4 ? nth % 2 * 2 : 0);
  }
  CudaPointer second(unsigned nth) const {
    return field_.buffer(field_.size.count == 4 ? nth % 2 * 2 + 1 : 1 + nth % 2);
  }
  uint64_t seed_ = 0;
};

// to = a + 3 b, in integers up to 2^12: exact in every way of computing it.
class Triad : public MemoryKernel {
 public:
  explicit Triad(MemoryField& field) : MemoryKernel(field, "triad", "gv_triad", 3, kTriadPlaces) {}
  void prepare(uint64_t seed) override {
    auto part = [&](unsigned shift) { return static_cast<float>((seed >> shift & 0x3FF) + 1); };
    const float a0 = part(0), a1 = part(10), b0 = part(20), b1 = part(30);
    wanted_ = pair(a0 + 3 * b0, a1 + 3 * b1);
    field_.set(field_.buffers[0].at(), pair(a0, a1));
    field_.set(field_.buffers[1].at(), pair(b0, b1));
    for (size_t at = 2; at < field_.buffers.size(); ++at)
      field_.set(field_.buffers[at].at(), ~wanted_);
  }
  void enqueue(Shape shape, unsigned nth) override {
    start(shape, result(nth), field_.buffers[0].at(), field_.buffers[1].at(), field_.n16());
  }
  void check(unsigned launches) override {
    for (unsigned nth = 0; nth < std::min(launches, field_.size.count - 2); ++nth)
      field_.check_set(result(nth), wanted_);
    field_.require_right(name);
  }

 private:
  static uint64_t pair(float low, float high) {
    return uint64_t{std::bit_cast<uint32_t>(high)} << 32 | std::bit_cast<uint32_t>(low);
  }
  CudaPointer result(unsigned nth) const {
    return field_.buffers[2 + nth % (field_.size.count - 2)].at();
  }
  uint64_t wanted_ = 0;
};

} // namespace

bool MemoryKernel::fits(unsigned threads) {
  int registers = 0;
  field_.bench.call(field_.bench.cuda.cuFuncGetAttribute, &registers, int{kCudaFunctionRegisters},
                    function_);
  const int all = field_.bench.attribute(kCudaRegistersOfABlock);
  // They are given out by eights.
  return (registers + 7) / 8 * 8 * static_cast<int>(threads) <= all;
}

unsigned MemoryKernel::grid_of(Shape shape) const {
  if (shape.blocks > 0) return shape.blocks * field_.multiprocessors;
  return std::max(static_cast<unsigned>(field_.n16() / (uint64_t{places_} * shape.threads)), 1u);
}

std::vector<std::unique_ptr<MemoryKernel>> memory_kernels(MemoryField& field) {
  std::vector<std::unique_ptr<MemoryKernel>> kernels;
  kernels.push_back(std::make_unique<Read>(field));
  kernels.push_back(std::make_unique<Write>(field));
  kernels.push_back(std::make_unique<Copy>(field));
  kernels.push_back(std::make_unique<Triad>(field));
  return kernels;
}

} // namespace gpuvet
