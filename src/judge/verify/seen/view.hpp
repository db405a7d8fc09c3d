// A run as the rules see it: each GPU with its row in the table of GPUs, each step findable, and
// what makes figures of a GPU worth less.
#pragma once

#include "facts/facts.hpp"
#include "facts/verify/verify.hpp"
#include "model/verify/judged.hpp"
#include "model/verify/measurements.hpp"

#include <string>
#include <vector>

namespace gpuvet {

struct GpuView {
  const VerifiedGpu* gpu = nullptr;
  const Gpu* known = nullptr; // of gpus.toml; null: no such name, or several capabilities
  std::vector<const GpuMoment*> by_time;
  bool mig = false;
  std::string lowered; // "in a virtual machine": bands count one step down; empty: they don't

  std::optional<double> number(const std::string& name) const;
};

struct VerifyCase {
  const Measurements& measured;
  const VerifyTables& tables;
  std::vector<GpuView> gpus;
};

VerifyCase verify_case(const Measurements& measured, const VerifyTables& tables,
                       const Facts& facts);

const GpuView* find_view(const VerifyCase& all, const std::string& uuid); // null: none
const StepResult* find_step(const VerifyCase& all, const std::string& id, const std::string& gpu,
                            const std::string& peer);                 // the last one; null: none
std::string word_of(const StepResult& step, const std::string& name); // empty: none
// The number that a reading's samples give together; nullopt: no sample.
std::optional<double> total_of(const StepResult& step, const std::string& reading);

// One thing to judge.
struct VerifyTarget {
  const VerifyRow& row;
  const StepResult* step = nullptr; // null: the row is about no step
  const GpuView* gpu = nullptr;     // null: the machine
};

// May what this own kernel ("core", "gemm", empty: none) found count against the GPU? It may when
// the kernel was proved on this compute capability.
bool may_count(const VerifyCase& all, const VerifyTarget& target, const std::string& kernel);
// ... or when the same step was right on another GPU of this capability in this run.
bool was_right_elsewhere(const VerifyCase& all, const VerifyTarget& target);
// "the kernel gemm_sm90a of gpuvet is not yet proved on compute capability 9.0"
std::string why_not_counted(const VerifyTarget& target, const std::string& kernel);

// "55.4 GB/s", "4650 GB/s", "1.36 us"
std::string figure_text(double value, const std::string& unit);
std::string share_text(double share);                                  // "88 %"
std::string gpu_label(const VerifyCase& all, const std::string& uuid); // "GPU 3"
std::string with_stop(std::string sentence);                           // ends in a full stop

// Fills in what a row tells about a verdict: sentence, next step, action.
void conclude(JudgedStep& made, const VerifyRow& row, Verdict verdict, const std::string& detail);
// A verdict that cannot be given.
void leave_open(JudgedStep& made, Verdict verdict, std::string why);

} // namespace gpuvet
