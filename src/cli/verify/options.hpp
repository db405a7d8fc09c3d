// What verify was asked to do.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace gpuvet {

struct VerifyOptions {
  std::vector<std::string> gpus;    // CUDA ordinals or UUIDs; empty: all that are visible
  std::set<std::string> layers;     // "device", "bandwidth", "framework", "stress"; empty: all
  std::vector<std::string> pythons; // interpreters; empty: those that are found
  bool quick = false, self_test = false;
  double seconds = 120; // in all
  double soak_hours = 0;
  double continued_s = 0; // that the log of an interrupted soak holds already
  uint64_t seed = 0;      // 0: a new one
  double deadline_s = 60; // of a question to the driver or NVML before the first step
  std::string log;        // JSON lines as they come; with --soak, an existing one is gone on with
};

inline bool asks_for(const VerifyOptions& options, const std::string& layer) {
  return options.layers.empty() || options.layers.contains(layer);
}

} // namespace gpuvet
