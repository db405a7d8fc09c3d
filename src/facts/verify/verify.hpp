// Rows of facts/verify.toml: what verify judges, what each figure is held against, and what it
// means when it falls short.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gpuvet {

enum class VerifyRule : uint8_t {
  works,     // it came to its end, and the data were right
  exact,     // no mismatch in what was checked
  rate,      // share of what the hardware can do
  of_step,   // share of the same reading of another row
  latency,   // not above
  deviation, // not above: the largest relative error of an answer
  pipe,      // FLOP per clock and multiprocessor, against what the model has
  delivered, // share of the vendor's peak, with the reasons for what is missing
  drift,     // does it become slower while it runs?
  link,      // PCIe generation and width under load
  links,     // NVLinks that are up
  clocks,    // share of the time in which something held the clocks down
  counters,  // errors that were counted during the run
  detector,  // the planted fault was found
  told,      // information
};

// Once for what a row is judged.
enum class VerifyScope : uint8_t { gpu, pair, machine, environment };

// What the hardware can do, worked out from what it says.
enum class VerifyLimit : uint8_t {
  none,
  multiprocessors,
  pcie,
  memory,
  link,         // between two GPUs: NVLink, else PCIe
  tensor_clock, // at the clock that was measured
  tensor_peak,  // the vendor's
  all_reduce,
};

struct VerifyRow {
  std::string id, layer, title;
  std::string step; // that is measured; empty: no step, the counters or moments of the run
  VerifyScope scope = VerifyScope::gpu;
  VerifyRule rule = VerifyRule::works;
  VerifyLimit limit = VerifyLimit::none; // for rate and delivered
  std::vector<std::string> readings;     // that are judged
  bool best = false;                     // of several readings the best counts, else the worst
  std::vector<std::string> of; // for of_step: for each reading the row that it is a share of
  std::string unit;
  bool required = false;              // without a verdict the run is incomplete
  bool long_only = false;             // --quick leaves it out
  std::string checked_by, rated_by;   // own kernel that checks the data, that does the work
  std::string library;                // row that does the same by a library; for exact
  std::string own;                    // row that does the same by an own kernel; for exact
  std::vector<VerifyRule> voids;      // whose passes mean nothing when this is no pass
  std::vector<std::string> causes_of; // rows that follow from this one
  std::string pass, warn, fail;       // what the verdict means, a sentence each
  std::string next;                   // step or command when it is not pass
  std::string action; // for fail: "none", "monitor", "reset", "isolate", "fix-software"
  std::string source;
};

// Bands of a figure. For rates shares of the limit (0 to 1) that are to be reached; for latency and
// deviation figures that are not to be exceeded.
struct VerifyBand {
  std::vector<std::string> rows;    // of VerifyRow
  std::string reading;              // empty: all
  std::string link;                 // "pcie", "nvlink", "c2c"; empty: any
  std::vector<uint32_t> generation; // of the link; empty: any
  std::vector<uint32_t> sm;         // empty: any
  std::string word;                 // that the step's words "engine" or "algorithm" hold
  std::string unit;                 // "share", "us", "1"
  std::optional<double> ok, warn;   // without: there is no base yet, information only
  std::string source;
};

struct VerifyPcie {
  uint32_t generation = 0;
  double gt_s = 0; // 10^9 transfers per second and lane
  uint32_t payload_bits = 0, line_bits = 0;
  std::string source;
};

struct VerifyNvlink {
  uint32_t generation = 0;
  std::vector<uint32_t> sm; // that have it
  double link_gb_s = 0;     // payload of one link, one way
  std::string source;
};

// Dense products with fp32 accumulation; bf16, on GPUs without it fp16.
struct VerifyTensor {
  uint32_t sm = 0;
  std::string segment;            // of gpus.toml; empty: any
  std::vector<std::string> names; // of GPUs, as nvidia-smi prints them; empty: any
  double flop_per_clock = 0;      // per multiprocessor
  std::string source;
};

// Where a step stands when several GPUs are there. Copies to and from the host disturb each other.
enum class VerifyTurn : uint8_t { at_once, in_turn, each_pair, machine };

struct VerifyTime { // of a step
  std::string step;
  VerifyTurn turn = VerifyTurn::at_once;
  double seconds = 0, quick = 0; // quick 0: --quick leaves it out
  double grows = 0;              // percent of what is left of the time that was given
  std::string source;
};

struct VerifySiblings { // GPUs of one model in one machine
  std::vector<std::string> rows;
  bool best = false;         // against the best of them, else against the median
  double warn = 0, fail = 0; // percent below
  std::string source;
};

// Why clocks are lower than they could be.
struct VerifyReason {
  std::string id, title;
  std::string counter; // of GpuMoment: "power_ns"
  uint32_t bit = 0;    // of the clocks event reasons; 0: has none
  std::string when;    // "below-default", "at-default", "not-told": the power limit; empty: always
  std::optional<double> warn, fail; // percent of the time under load; without: is no fault
  std::string next, action, source;
};

struct VerifyCounter { // of GpuCounters: its rise during the run, or that it is set afterwards
  std::string name, title;
  std::optional<double> warn, fail; // at least
  std::string next, action, source;
};

struct VerifyKernel { // an own kernel, proved on these
  std::string kernel; // "core", "gemm_sm80", "gemm_sm90a"
  std::vector<uint32_t> sm;
  std::string source;
};

struct VerifyPublished {
  std::vector<std::string> rows, names; // of GPUs, as nvidia-smi prints them
  std::string unit;
  double least = 0, most = 0;
  std::string source;
};

struct VerifyNumber { // of the rules themselves
  std::string id;
  double value = 0;
  std::string unit, meaning, source;
};

struct VerifyTables {
  std::vector<VerifyRow> rows;   // in the order in which they are shown
  std::vector<VerifyBand> bands; // the first that fits counts
  std::vector<VerifyPcie> pcie;
  std::vector<VerifyNvlink> nvlink;
  std::vector<VerifyTensor> tensor; // the first that fits counts
  std::vector<VerifyTime> times;
  std::vector<VerifySiblings> siblings;
  std::vector<VerifyReason> reasons; // gravest first
  std::vector<VerifyCounter> counters;
  std::vector<VerifyKernel> proved;
  std::vector<VerifyPublished> published;
  std::vector<VerifyNumber> numbers;
};

const VerifyRow* find_verify_row(const VerifyTables& tables, const std::string& id); // null: none
double verify_number(const VerifyTables& tables, const std::string& id); // 0: there is no such row
const VerifyTime* find_time(const VerifyTables& tables, const std::string& step); // null: none
// The layer of the rows that judge a step; empty: none does.
std::string layer_of_step(const VerifyTables& tables, const std::string& step);
bool is_proved(const VerifyTables& tables, const std::string& kernel, uint32_t sm);

class FactFile;
void read_verify(FactFile& file, VerifyTables& tables);

} // namespace gpuvet
