// Warming up and repeating: what all tests of bandwidth have in common.
#pragma once

#include "base/sampling.hpp"
#include "gpu/work/bench.hpp"

#include <functional>
#include <vector>

namespace gpuvet {

inline constexpr const char* kPattern = "64 random bits a word, mixed from its place and the seed";

// One sample: new data of this seed, measured, and checked afterwards. A value for each figure.
using TakeSample = std::function<std::vector<double>(uint64_t seed)>;

struct FigureName {
  const char* name;
  const char* unit = "GB/s";
};

struct Span { // that a part of a test may use
  double seconds = 0;
  double from = 0, to = 1; // how far the whole step is before and after, for whoever watches
};

// Samples until two in a row agree within 1 %, or 3 s are over (half the span where that is less);
// these are not told. Then samples that are, until they are enough. `began_s`: by StepTeller's
// clock. Gives the medians. Three samples are taken even when the time is over, if they do not take
// as long again.
std::vector<double> measure(Bench& bench, const StepOptions& options, const Span& span,
                            const std::vector<FigureName>& figures, const TakeSample& take);

} // namespace gpuvet
