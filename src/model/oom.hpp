// What a log tells about GPU memory that ran out: the messages with every number they carry, tables
// of an allocator, and memory over time. A number is kept with its line and the precision in which
// it was printed; one that is missing or stands for "not available" is unknown, with the reason.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gpuvet {

struct OomAmount {
  std::optional<uint64_t> bytes;
  uint64_t rounding = 0; // bytes by which it may be off: half of the last printed digit
  std::string written;   // "7.20 GiB"
  uint64_t line = 0;     // of the input, from 1
  std::string why_unknown = "not in the message";

  explicit operator bool() const { return bytes.has_value(); }
  uint64_t operator*() const { return *bytes; }
};

struct OomProcess {
  uint64_t pid = 0;
  OomAmount held;
};

// One message. What its amounts mean, by name:
//   requested    of the allocation that failed
//   total, free  of the GPU, for everybody
//   allocated    by tensors of this process (PyTorch counts free blocks of private pools in)
//   private      the part of it in private pools
//   reserved     by this process's allocator, in all; unallocated: the part not in use
//   self         of this process, for all of its libraries
//   limit        that somebody set for this process
//   pool, in_use size of a preallocated pool and the part in use
//   needed, budget  what a compiler or engine wants and what it was given
struct OomMessage {
  std::string template_id, framework, versions;
  uint64_t line = 0, last_line = 0;
  uint64_t times = 1; // with the same numbers; a traceback prints it more than once
  std::map<std::string, OomAmount, std::less<>> amounts;
  std::map<std::string, std::string, std::less<>>
      words; // "device", "dtype", "shape", "op", "advice"
  std::vector<OomProcess> others;

  const OomAmount& amount(std::string_view name) const {
    static const OomAmount none;
    auto at = amounts.find(name);
    return at == amounts.end() ? none : at->second;
  }
  std::string word(std::string_view name) const {
    auto at = words.find(name);
    return at == words.end() ? std::string() : at->second;
  }
};

// torch.cuda.memory_summary(), one printed table.
struct OomTable {
  std::string device;
  uint64_t line = 0;
  std::optional<uint64_t> failures, retries;               // "CUDA OOMs", "cudaMalloc retries"
  std::map<std::string, OomAmount, std::less<>> now, peak; // by the same names as above
};

struct OomSample {
  double at = 0; // on the series' axis
  uint64_t bytes = 0;
  uint64_t line = 0;
};

enum class OomAxis : uint8_t { sample, step, second };

struct OomSeries {
  std::string id;   // of its row
  std::string what; // "allocated", "reserved", "used" (of the GPU, for everybody)
  std::string key;  // device or process, as printed
  OomAxis axis = OomAxis::sample;
  std::vector<OomSample> samples; // in the order of the log
  std::optional<uint64_t> total;  // of the GPU, bytes
  uint64_t dropped = 0;           // samples that were not kept, since there were too many
};

// A line that is no GPU memory that ran out, though it reads like it.
struct OomAside {
  std::string row; // of facts/oom.toml
  uint64_t line = 0;
  uint64_t times = 1;
};

struct OomEvidence {
  std::vector<OomMessage> messages; // in the order of the log
  std::vector<OomTable> tables;
  std::vector<OomSeries> series;
  std::vector<OomAside> asides;
  uint64_t lines = 0;          // read
  uint64_t messages_left = 0;  // not kept, since there were too many
  bool expandable_set = false; // the log shows expandable_segments:True in the environment
};

} // namespace gpuvet
