// A soak repeats its steps in rounds, and a log that was gone on with holds the rounds of several
// runs. Judged is the whole: what was measured in all rounds, and the worst that happened in one.
#pragma once

#include "model/verify/measurements.hpp"

namespace gpuvet {

// One result for each step, GPU and peer, at the place of its first. Samples follow each other;
// numbers of "1" and "bytes" that count what was checked or wrong stay samples of their rounds.
// State, reason and words are those of the first round that did not come to its end, else of the
// last. Word "rounds": how many there were, where there was more than one.
void join_rounds(Measurements& measured);

} // namespace gpuvet
