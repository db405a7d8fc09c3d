// From the command line, or from this machine, to what a pick is for.
#pragma once

#include "cli/machine_source.hpp"
#include "judge/pick/pick.hpp"

namespace gpuvet {

struct PickOptions {
  std::vector<std::string> gpus;
  std::string driver, python, cuda, platform;
  std::vector<std::string> frameworks;
  MachineOptions machine;
  bool all = false, json = false;
};

struct PickContext {
  PickQuery query;
  std::string gpus_from;   // "named", "NVML", a file
  std::string python_from; // "named", "first python3 on PATH"; empty: not known
  std::string platform;    // "linux-x86_64"
  std::vector<std::string> notes;
  bool cut_short = false; // threads may still wait for the machine
};

// Errors: what is not a GPU, driver, version or platform; no GPU named and none found.
Result<PickContext> pick_context(const PickOptions& options, const Facts& facts);

} // namespace gpuvet
