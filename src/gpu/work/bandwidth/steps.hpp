// The tests of this folder, by the ids under which steps.cpp lists them.
#pragma once

#include "gpu/work/bench.hpp"

namespace gpuvet {

void copy_to_gpu(Bench& bench, const StepOptions& options);
void copy_from_gpu(Bench& bench, const StepOptions& options);
void copy_both_ways(Bench& bench, const StepOptions& options);
void copy_pageable(Bench& bench, const StepOptions& options);
void copy_far_node(Bench& bench, const StepOptions& options);
void copy_by_kernel(Bench& bench, const StepOptions& options);
void copy_all_gpus(Bench& bench, const StepOptions& options);
void memory_bandwidth(Bench& bench, const StepOptions& options);
void memory_check(Bench& bench, const StepOptions& options);
void peer_check(Bench& bench, const StepOptions& options);
void peer_copy(Bench& bench, const StepOptions& options);
void peer_latency(Bench& bench, const StepOptions& options);

} // namespace gpuvet
