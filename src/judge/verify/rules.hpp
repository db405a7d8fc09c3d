// The rules that facts/verify.toml names. Each judges one target; false: there is nothing to say
// about it here (a row that needs what this machine does not have).
#pragma once

#include "judge/verify/seen/figures.hpp"
#include "judge/verify/seen/limits.hpp"
#include "judge/verify/seen/view.hpp"

namespace gpuvet {

using VerifyJudge = bool (*)(const VerifyCase& all, const VerifyTarget& target, JudgedStep& made);

bool judge_works(const VerifyCase& all, const VerifyTarget& target, JudgedStep& made);
bool judge_exact(const VerifyCase& all, const VerifyTarget& target, JudgedStep& made);
bool judge_detector(const VerifyCase& all, const VerifyTarget& target, JudgedStep& made);
bool judge_rate(const VerifyCase& all, const VerifyTarget& target, JudgedStep& made);
bool judge_of_step(const VerifyCase& all, const VerifyTarget& target, JudgedStep& made);
bool judge_latency(const VerifyCase& all, const VerifyTarget& target, JudgedStep& made);
bool judge_deviation(const VerifyCase& all, const VerifyTarget& target, JudgedStep& made);
bool judge_pipe(const VerifyCase& all, const VerifyTarget& target, JudgedStep& made);
bool judge_told(const VerifyCase& all, const VerifyTarget& target, JudgedStep& made);
bool judge_delivered(const VerifyCase& all, const VerifyTarget& target, JudgedStep& made);
bool judge_drift(const VerifyCase& all, const VerifyTarget& target, JudgedStep& made);
bool judge_clocks(const VerifyCase& all, const VerifyTarget& target, JudgedStep& made);
bool judge_link(const VerifyCase& all, const VerifyTarget& target, JudgedStep& made);
bool judge_links(const VerifyCase& all, const VerifyTarget& target, JudgedStep& made);
bool judge_counters(const VerifyCase& all, const VerifyTarget& target, JudgedStep& made);

VerifyJudge judge_of(VerifyRule rule);

// A step that did not come to its end.
void judge_stopped(const VerifyCase& all, const VerifyTarget& target, JudgedStep& made);

// What of several GPUs of one model lags behind; raises verdicts, never lowers them.
void judge_siblings(const VerifyCase& all, std::vector<JudgedStep>& steps);

// --- shared by the rules ----------------------------------------------------------------------

// The first band that fits; null: none.
const VerifyBand* find_band(const VerifyCase& all, const VerifyTarget& target,
                            const std::string& reading, const HardwareLimit& limit);

// Of several readings the one that counts: the worst, or the best where the row says so. `smaller`:
// a smaller figure is the better one.
std::optional<Figure> figure_that_counts(const VerifyRow& row, const StepResult& step,
                                         bool smaller);

// From a verdict by its band to one that counts: a step down where the machine makes figures worth
// less, unknown where others use the GPU or the kernel is not proved. `better`: figure over limit,
// above 1 is better than asked.
void conclude_rate(const VerifyCase& all, const VerifyTarget& target, Verdict verdict,
                   double better, const std::string& detail, JudgedStep& made);

// Sets theoretical, limit and verdict from figure and hardware limit.
void weigh(const VerifyCase& all, const VerifyTarget& target, const Figure& figure,
           const HardwareLimit& hardware, JudgedStep& made);

} // namespace gpuvet
