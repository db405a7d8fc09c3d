// The decision for messages that tell what the GPU and this process hold.
#pragma once

#include "judge/oom/decide.hpp"

namespace gpuvet {

std::vector<OomFinding> decide_device(const OomMessage& message, const OomTemplate& row);

constexpr double kImpossible = 1024 * kGiB; // no program means that much in one piece
constexpr double kLikelyShare = 0.15;       // of the pool unused: fragmentation is likely
constexpr double kLeastStuck = 256 * kMiB;  // unused, for it to matter, and
constexpr double kLeastStuckShare = 0.02;   // of the GPU

} // namespace gpuvet
