// Reading, writing, copying and a triad over the GPU's memory, each with a result that can be
// checked.
#pragma once

#include "gpu/work/bandwidth/memory_field.hpp"

#include <memory>
#include <vector>

namespace gpuvet {

struct Shape {
  unsigned threads = 256; // in a block
  unsigned blocks = 1;    // on a multiprocessor, each for many pieces; 0: one for each piece
};

// One of the four, as parts of a sample.
class MemoryKernel {
 public:
  MemoryKernel(MemoryField& field, const char* word, const char* symbol, unsigned moves,
               unsigned places)
      : name(word), traffic(moves), field_(field), function_(field.bench.kernel("core", symbol)),
        places_(places) {}
  MemoryKernel(const MemoryKernel&) = delete;
  virtual ~MemoryKernel() = default;

  // A block must find its registers on one multiprocessor.
  bool fits(unsigned threads);

  // New data in all buffers, others where results go.
  virtual void prepare(uint64_t seed) = 0;
  // The nth launch: others work on other buffers, so that no cache still holds them.
  virtual void enqueue(Shape shape, unsigned nth) = 0;
  // Throws when what that many launches did is not what they should have done.
  virtual void check(unsigned launches) = 0;

  const char* const name;
  const unsigned traffic; // how often a launch moves the size of a buffer

 protected:
  template <class... Arguments> void start(Shape shape, Arguments... arguments) {
    launch(field_.bench, function_, grid_of(shape), shape.threads, 0, field_.stream, arguments...);
  }
  MemoryField& field_;
  CudaFunction function_;

 private:
  unsigned grid_of(Shape shape) const;
  const unsigned places_; // of 16 bytes, that a thread takes from a piece
};

std::vector<std::unique_ptr<MemoryKernel>> memory_kernels(MemoryField& field);

} // namespace gpuvet
