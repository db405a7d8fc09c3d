#include "gpu/work/bandwidth/memory_field.hpp"

#include <fmt/core.h>

namespace gpuvet {

MemoryField::MemoryField(Bench& on, const MemoryBuffers& wanted)
    : bench(on), size(wanted), gate(on), stream(on), mismatches(on),
      multiprocessors(static_cast<unsigned>(on.attribute(kCudaMultiprocessors))),
      fill_(on.kernel("core", "gv_fill")), check_(on.kernel("core", "gv_check")),
      pattern_(on.kernel("core", "gv_pattern")),
      check_pattern_(on.kernel("core", "gv_check_pattern")) {
  for (unsigned at = 0; at < size.count; ++at)
    buffers.emplace_back(on, size.bytes);
}

void MemoryField::fill(CudaPointer to, uint64_t seed, uint64_t flip) {
  const uint64_t some = size.segment / 8;
  for (size_t at = 0; at < size.bytes; at += size.segment)
    launch(bench, fill_, blocks_for(bench, some), 256, 0, stream, to + at, some, uint64_t{0}, seed,
           flip);
}

void MemoryField::check(CudaPointer from, uint64_t seed, uint64_t flip) {
  const uint64_t some = size.segment / 8;
  for (size_t at = 0; at < size.bytes; at += size.segment)
    launch(bench, check_, blocks_for(bench, some), 256, 0, stream, from + at, some, uint64_t{0},
           seed, flip, mismatches.at());
}

void MemoryField::set(CudaPointer to, uint64_t value) {
  launch(bench, pattern_, blocks_for(bench, words()), 256, 0, stream, to, words(), value);
}

void MemoryField::check_set(CudaPointer from, uint64_t value) {
  launch(bench, check_pattern_, blocks_for(bench, words()), 256, 0, stream, from, words(), value,
         mismatches.at());
}

void MemoryField::require_right(const char* what) {
  std::string found = describe(mismatches.read(stream));
  if (found.empty()) return;
  bench.tell.word("first_place", found);
  Bench::wrong(
      fmt::format("what the {} kernel left in the GPU's memory is wrong: {}", what, found));
}

} // namespace gpuvet
