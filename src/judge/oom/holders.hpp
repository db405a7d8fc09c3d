// Who holds the memory of each GPU of a machine now: what the driver tells by process, and who has
// the device open without being told. A child that was forked before CUDA started in it, or that
// outlived its parent, keeps memory and is in no list of the driver.
#pragma once

#include "judge/oom/oom.hpp"
#include "model/machine.hpp"

namespace gpuvet {

struct GpuHolder {
  uint64_t pid = 0;
  std::string name, state;       // empty: not seen in /proc
  std::optional<uint64_t> bytes; // that the driver tells
  bool listed = false;           // by the driver
  bool open = false;             // has the GPU's node open
  bool graphics = false;
  bool ended = false; // a zombie
  std::string unit, container;
  std::optional<int64_t> started; // seconds since 1970
};

struct GpuMemory {
  uint32_t index = 0;
  std::string name;
  std::optional<uint64_t> total, used, reserved; // bytes; reserved: by the driver for itself
  std::string why_unknown;                       // when nothing is told
  std::vector<GpuHolder> holders;                // by bytes, most first
  std::optional<uint64_t> unexplained;           // used less reserved and what the list tells
  bool complete = false;                         // every process of this GPU could be seen
};

struct OomHolders {
  std::vector<GpuMemory> gpus;
  std::optional<uint64_t> pid; // that was asked for
  std::string why_unknown;     // when no GPU could be asked
  OomOutcome outcome = OomOutcome::none;
  std::vector<OomVerdict> verdicts;
  Report report;
};

// `pid`: this process only. `gpu`: this GPU only. Errors: there is no such process or GPU.
Result<OomHolders> judge_holders(const Machine& machine, const OomTables& tables,
                                 std::optional<uint64_t> pid, std::optional<uint32_t> gpu);

} // namespace gpuvet
