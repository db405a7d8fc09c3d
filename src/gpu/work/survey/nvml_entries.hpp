// What the survey asks NVML beyond gpu/ask.hpp: of each whole GPU and each MIG device, counters,
// who uses it and how much of it a part has.
#pragma once

#include "model/machine/gpu_answers.hpp"
#include "model/verify/measurements.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gpuvet {

struct NvmlEntry {
  std::string uuid, pci_address;
  uint32_t index = 0; // of NVML; a MIG device has that of its GPU
  bool part = false;  // a MIG device
  GpuCounters counters;
  std::vector<NvmlProcess> processes;
  std::optional<double> busy_percent; // on average while it was watched
  std::map<std::string, double> numbers;
};

struct NvmlEntries {
  std::string problem; // not empty: why some or all are missing
  std::vector<NvmlEntry> entries;
};

class Talk;
struct EntriesQuestion {
  std::shared_ptr<Talk> talk;
};

struct EntriesOptions {
  std::string library;
  double deadline_s = 20;
  double watch_s = 0; // how long to look for load by others
};

EntriesQuestion start_entries(const EntriesOptions& options);
NvmlEntries collect_entries(const EntriesQuestion& question);

} // namespace gpuvet
