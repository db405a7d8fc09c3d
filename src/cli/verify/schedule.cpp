#include "cli/verify/schedule.hpp"

#include <algorithm>

namespace gpuvet {
namespace {

size_t times(VerifyTurn turn, const RunSize& size) {
  if (turn == VerifyTurn::in_turn) return size.gpus;
  if (turn == VerifyTurn::each_pair) return size.pairs;
  if (turn == VerifyTurn::machine) return size.gpus > 1 ? 1 : 0;
  return 1;
}

double base(const VerifyTime& step, const RunSize& size) {
  return size.quick ? step.quick : step.seconds;
}

// How much of a turn's base times fits.
double fitting(const VerifyTables& tables, VerifyTurn turn, const RunSize& size) {
  const double most = verify_number(tables, size.quick ? "most-in-turn-quick" : "most-in-turn");
  double all = 0;
  for (const VerifyTime& step : tables.times)
    if (step.turn == turn) all += base(step, size) * static_cast<double>(times(turn, size));
  return all > most ? most / all : 1;
}

} // namespace

std::vector<StepTime> plan_times(const VerifyTables& tables, const RunSize& size) {
  const double in_turn = fitting(tables, VerifyTurn::in_turn, size);
  const double in_pairs = fitting(tables, VerifyTurn::each_pair, size);
  const double shortest = verify_number(tables, "shortest");
  std::vector<StepTime> planned;
  double taken = size.quick ? 0 : verify_number(tables, "starts");
  for (const VerifyTime& step : tables.times) {
    double seconds = base(step, size);
    if (step.turn == VerifyTurn::in_turn) seconds *= in_turn;
    if (step.turn == VerifyTurn::each_pair) seconds *= in_pairs;
    if (seconds > 0) seconds = std::max(seconds, shortest);
    planned.push_back({step.step, seconds});
    taken += seconds * static_cast<double>(times(step.turn, size));
  }
  if (size.quick || !size.stress || taken >= size.seconds) return planned;
  for (size_t at = 0; at < planned.size(); ++at)
    planned[at].seconds += tables.times[at].grows / 100 * (size.seconds - taken);
  return planned;
}

double seconds_of(const std::vector<StepTime>& planned, const std::string& step) {
  for (const StepTime& time : planned)
    if (time.step == step) return time.seconds;
  return 0;
}

} // namespace gpuvet
