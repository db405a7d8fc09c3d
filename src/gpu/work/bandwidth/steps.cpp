#include "gpu/work/bandwidth/steps.hpp"

namespace gpuvet {

// The deadlines leave room for 1 GiB of pinned memory, 3 s of warming up and a link that moves
// 0.2 GB/s.
const std::vector<Step>& bandwidth_steps() {
  static const std::vector<Step> steps = {
      {"copy-to-gpu", 30, copy_to_gpu},           {"copy-from-gpu", 30, copy_from_gpu},
      {"copy-both-ways", 30, copy_both_ways},     {"copy-pageable", 40, copy_pageable},
      {"copy-far-node", 60, copy_far_node},       {"copy-by-kernel", 40, copy_by_kernel},
      {"memory-bandwidth", 40, memory_bandwidth}, {"memory-check", 20, memory_check},
  };
  return steps;
}

// Wrong data and hangs of the link show in the first, before anything is measured.
const std::vector<Step>& pair_steps() {
  static const std::vector<Step> steps = {
      {"peer-check", 20, peer_check},
      {"peer-copy", 30, peer_copy},
      {"peer-latency", 20, peer_latency},
  };
  return steps;
}

const std::vector<Step>& machine_steps() {
  static const std::vector<Step> steps = {{"copy-all-gpus", 60, copy_all_gpus}};
  return steps;
}

} // namespace gpuvet
