// A run of `verify` as JSON lines: the header, then a line for each GPU, chunk of moments and step
// as it comes, then a summary. A run that was cut off is still good up to its last whole line.
//
//   {"type": "run", "schema": "gpuvet-verify/1", ...}   first, and nothing before it
//   {"type": "gpu", ...}      a later one of the same UUID adds what is known only at the end
//   {"type": "moments", ...}  columns of numbers, null where NVML did not know
//   {"type": "step", ...}
//   {"type": "end", ...}      the run came to its end, or was interrupted
//
// Lines of type "judged" and "verdict" (judged_lines.hpp) may stand among them; they are skipped,
// so that a file with verdicts can be judged again. Numbers are numbers, never NaN; units stand in
// fields. docs/verify-json.md describes every field.
#pragma once

#include "base/result.hpp"
#include "model/verify/measurements.hpp"

#include <string>
#include <string_view>

namespace gpuvet {

inline constexpr std::string_view kVerifySchema = "gpuvet-verify/1";

// Each gives whole lines, with their line feeds.
std::string run_line(const Measurements& measured);
std::string gpu_line(const VerifiedGpu& gpu); // without its moments
std::string moment_lines(const std::string& gpu, const std::vector<GpuMoment>& moments);
std::string step_line(const StepResult& step);
std::string end_line(const Measurements& measured);
std::string write_measurements(const Measurements& measured); // all of them

struct SavedRun {
  Measurements measured;
  bool complete = false; // the "end" line is there
  std::string why_not;   // one sentence
  uint64_t lines = 0;    // that were read
};

// A last line without line feed that is no JSON is what a crash leaves: it is left out and told in
// `why_not`. Errors carry `where` and the number of the line.
Result<SavedRun> read_measurements(std::string_view text, const std::string& where);

} // namespace gpuvet
