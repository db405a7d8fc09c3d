// memory-bandwidth: the GPU's own memory by reading, writing, copying and a triad. Each kernel
// first tries shapes of its launch, since too few or too many threads are the usual reason for a
// low figure; then the best is measured, and its result checked.
#include "gpu/work/bandwidth/host_words.hpp"
#include "gpu/work/bandwidth/measure.hpp"
#include "gpu/work/bandwidth/sizes.hpp"
#include "gpu/work/bandwidth/steps.hpp"
#include "gpu/work/pieces.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <vector>

namespace gpuvet {
namespace {

constexpr uint64_t kAllBits = ~uint64_t{0};
constexpr int kCudaRegistersOfABlock = 12; // CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK

struct Shape {
  unsigned threads = 256, blocks = 1; // in a block; on a multiprocessor
};

// What the four kernels share.
struct Field {
  Bench& bench;
  MemoryBuffers size;
  std::vector<DeviceMemory> buffers;
  Gate gate;
  Stream stream;
  MismatchBox mismatches;
  DeviceMemory sums;
  unsigned multiprocessors;
  CudaFunction fill, check, pattern, check_pattern;

  Field(Bench& on, const MemoryBuffers& wanted)
      : bench(on), size(wanted), gate(on), stream(on), mismatches(on), sums(on, kReadSums * 8),
        multiprocessors(static_cast<unsigned>(on.attribute(kCudaMultiprocessors))),
        fill(on.kernel("core", "gv_fill")), check(on.kernel("core", "gv_check")),
        pattern(on.kernel("core", "gv_pattern")),
        check_pattern(on.kernel("core", "gv_check_pattern")) {
    for (unsigned at = 0; at < size.count; ++at)
      buffers.emplace_back(on, size.bytes);
  }

  uint64_t words() const { return size.bytes / 8; }
  uint64_t n16() const { return size.bytes / 16; }
  Grid grid(uint64_t items) const { return blocks_for(bench, items); }
  // Rotation: the nth launch works on the nth of these pairs, so that no cache still holds it.
  CudaPointer first(unsigned nth) const { return buffers[size.count == 4 ? nth % 2 * 2 : 0].at(); }
  CudaPointer second(unsigned nth) const {
    return buffers[size.count == 4 ? nth % 2 * 2 + 1 : 1 + nth % 2].at();
  }

  // Every segment of a buffer holds the same words.
  void fill_segments(CudaPointer to, uint64_t seed, uint64_t flip) {
    const uint64_t words = size.segment / 8;
    for (size_t at = 0; at < size.bytes; at += size.segment)
      launch(bench, fill, grid(words), 256, 0, stream, to + at, words, uint64_t{0}, seed, flip);
  }
  void check_segments(CudaPointer from, uint64_t seed, uint64_t flip) {
    const uint64_t words = size.segment / 8;
    for (size_t at = 0; at < size.bytes; at += size.segment)
      launch(bench, check, grid(words), 256, 0, stream, from + at, words, uint64_t{0}, seed, flip,
             mismatches.at());
  }
  void set(CudaPointer to, uint64_t value) {
    launch(bench, pattern, grid(words()), 256, 0, stream, to, words(), value);
  }
  void check_set(CudaPointer from, uint64_t value) {
    launch(bench, check_pattern, grid(words()), 256, 0, stream, from, words(), value,
           mismatches.at());
  }
  void require_right(const char* what) {
    std::string found = describe(mismatches.read(stream));
    if (found.empty()) return;
    bench.tell.word("first_place", found);
    Bench::wrong(
        fmt::format("what the {} kernel left in the GPU's memory is wrong: {}", what, found));
  }
};

// One of the four, as steps of a sample.
class Kernel {
 public:
  Kernel(Field& field, const char* word, const char* symbol, unsigned moves)
      : name(word), traffic(moves), field_(field), function_(field.bench.kernel("core", symbol)) {}
  Kernel(const Kernel&) = delete;
  virtual ~Kernel() = default;

  // A block must find its registers on one multiprocessor; they are given out by eights.
  bool fits(unsigned threads) {
    int registers = 0;
    field_.bench.call(field_.bench.cuda.cuFuncGetAttribute, &registers, int{kCudaFunctionRegisters},
                      function_);
    const int all = field_.bench.attribute(kCudaRegistersOfABlock);
    return (registers + 7) / 8 * 8 * static_cast<int>(threads) <= all;
  }

  virtual void prepare(uint64_t seed) = 0;
  virtual void enqueue(Shape shape, unsigned nth) = 0;
  virtual void check(unsigned launches) = 0;

  const char* const name;
  const unsigned traffic; // how often a launch moves the size of a buffer

 protected:
  template <class... Arguments> void start(Shape shape, Arguments... arguments) {
    launch(field_.bench, function_, shape.blocks * field_.multiprocessors, shape.threads, 0,
           field_.stream, arguments...);
  }
  Field& field_;
  CudaFunction function_;
};

class Read : public Kernel {
 public:
  explicit Read(Field& field) : Kernel(field, "read", "gv_read", 1) {}
  void prepare(uint64_t seed) override {
    // The sum of a segment is costly for the CPU: new data are the old ones or their complement.
    if (seed_ == 0) {
      seed_ = seed | 1;
      sum_ = sum_of_halves(field_.size.segment / 8, seed_);
    }
    flip_ = (seed & 2) != 0 ? kAllBits : 0;
    for (DeviceMemory& buffer : field_.buffers) {
      field_.fill_segments(buffer.at(), seed_, flip_);
      field_.check_segments(buffer.at(), seed_, flip_);
    }
    field_.require_right("filling");
    field_.bench.call(field_.bench.cuda.cuMemsetD32Async, field_.sums.at(), 0u,
                      size_t{kReadSums * 2}, CudaStream{field_.stream});
  }
  void enqueue(Shape shape, unsigned nth) override {
    start(shape, field_.buffers[nth % field_.size.count].at(), field_.n16(), field_.sums.at());
  }
  void check(unsigned launches) override {
    std::vector<uint64_t> sums(kReadSums);
    field_.bench.call(field_.bench.cuda.cuMemcpyDtoHAsync_v2, static_cast<void*>(sums.data()),
                      field_.sums.at(), sums.size() * 8, CudaStream{field_.stream});
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
  uint64_t seed_ = 0, sum_ = 0, flip_ = 0;
};

class Write : public Kernel {
 public:
  explicit Write(Field& field) : Kernel(field, "write", "gv_write", 1) {}
  void prepare(uint64_t seed) override {
    value_ = static_cast<uint32_t>(seed);
    for (DeviceMemory& buffer : field_.buffers)
      field_.set(buffer.at(), ~wide());
  }
  void enqueue(Shape shape, unsigned nth) override {
    start(shape, field_.buffers[nth % field_.size.count].at(), field_.n16(), value_);
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

class Copy : public Kernel {
 public:
  explicit Copy(Field& field) : Kernel(field, "copy", "gv_copy", 2) {}
  void prepare(uint64_t seed) override {
    seed_ = seed;
    for (unsigned nth : {0u, 1u}) {
      field_.fill_segments(field_.first(nth), seed_, 0);
      field_.fill_segments(field_.second(nth), seed_, kAllBits);
    }
  }
  void enqueue(Shape shape, unsigned nth) override {
    start(shape, field_.second(nth), field_.first(nth), field_.n16());
  }
  void check(unsigned launches) override {
    for (unsigned nth = 0; nth < std::min(launches, 2u); ++nth)
      field_.check_segments(field_.second(nth), seed_, 0);
    field_.require_right(name);
  }

 private:
  uint64_t seed_ = 0;
};

// to = a + 3 b, in integers up to 2^12: exact in every way of computing it.
class Triad : public Kernel {
 public:
  explicit Triad(Field& field) : Kernel(field, "triad", "gv_triad", 3) {}
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

// Bytes per second of `launches` launches.
double timed_launches(Field& field, Kernel& kernel, Shape shape, unsigned launches) {
  double seconds = timed_behind(field.gate, field.bench, field.stream, [&] {
    for (unsigned nth = 0; nth < launches; ++nth)
      kernel.enqueue(shape, nth);
  });
  return static_cast<double>(field.size.bytes) * kernel.traffic * launches / seconds;
}

Shape best_shape(Field& field, Kernel& kernel, uint64_t seed, double& best) {
  constexpr unsigned kLaunches = 2;
  Shape found;
  kernel.prepare(seed);
  timed_launches(field, kernel, {256, 2}, kLaunches); // the clock of the memory goes up
  for (unsigned threads : {256u, 512u, 1024u}) {
    if (!kernel.fits(threads)) continue;
    for (unsigned blocks : {1u, 2u, 4u, 8u}) {
      const double rate = timed_launches(field, kernel, {threads, blocks}, kLaunches);
      if (rate <= best) continue;
      best = rate;
      found = {threads, blocks};
    }
  }
  return found;
}

void measure_kernel(Field& field, Kernel& kernel, const StepOptions& options, const Span& span) {
  double rate = 0;
  const Shape shape = best_shape(field, kernel, sample_seed(options.seed, kernel.traffic), rate);
  field.bench.tell.word(
      fmt::format("{}_shape", kernel.name),
      fmt::format("{} threads, {} blocks per multiprocessor", shape.threads, shape.blocks));
  const double bytes = static_cast<double>(field.size.bytes) * kernel.traffic;
  measure(field.bench, options, span, {{kernel.name}}, [&](uint64_t seed) {
    kernel.prepare(seed);
    field.mismatches.clear(field.stream);
    const unsigned launches = std::max(operations_for(bytes, rate), 2u);
    rate = timed_launches(field, kernel, shape, launches);
    kernel.check(launches);
    return std::vector<double>{rate / 1e9};
  });
}

} // namespace

void memory_bandwidth(Bench& bench, const StepOptions& options) {
  size_t free = 0, total = 0;
  bench.call(bench.cuda.cuMemGetInfo_v2, &free, &total);
  auto l2 = static_cast<uint64_t>(std::max(bench.attribute(kCudaL2Bytes), 0));
  Field field(bench, memory_buffers(options.seconds, l2, free));
  bench.tell.word("buffer", field.size.word);
  bench.tell.word("pattern", std::string(kPattern) + "; small integers for the triad");
  Read read(field);
  Write write(field);
  Copy copy(field);
  Triad triad(field);
  Span span = {options.seconds / 4, 0, 0};
  for (Kernel* kernel : {static_cast<Kernel*>(&read), static_cast<Kernel*>(&write),
                         static_cast<Kernel*>(&copy), static_cast<Kernel*>(&triad)}) {
    span.to = span.from + 0.25;
    measure_kernel(field, *kernel, options, span);
    span.from = span.to;
  }
}

} // namespace gpuvet
