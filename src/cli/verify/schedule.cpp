#include "cli/verify/schedule.hpp"

#include <algorithm>

namespace gpuvet {
namespace {

// Where a step stands when several GPUs are there.
enum class Turn : uint8_t { at_once, in_turn, each_pair, machine };

struct PlannedStep {
  const char* step;
  double usual, quick; // seconds; quick 0: left out
  double share;        // of what is left, for steps that grow with the time given; 0: does not grow
  Turn turn;
};

// Copies to and from the host disturb each other, so GPUs take turns; the rest runs on all at once.
constexpr PlannedStep kSteps[] = {
    {"device-context", 0.2, 0.2, 0, Turn::at_once}, {"device-jit", 0.2, 0.2, 0, Turn::at_once},
    {"device-clock", 0.3, 0.2, 0, Turn::at_once},   {"copy-to-gpu", 2, 0.6, 0, Turn::in_turn},
    {"copy-from-gpu", 2, 0.6, 0, Turn::in_turn},    {"copy-both-ways", 2, 0.6, 0, Turn::in_turn},
    {"copy-pageable", 1, 0.3, 0, Turn::in_turn},    {"copy-far-node", 1, 0, 0, Turn::in_turn},
    {"copy-by-kernel", 1, 0, 0, Turn::in_turn},     {"memory-bandwidth", 4, 1.5, 0, Turn::at_once},
    {"memory-check", 0.5, 0.3, 0, Turn::at_once},   {"copy-all-gpus", 2, 0.6, 0, Turn::machine},
    {"peer-check", 0.5, 0.3, 0, Turn::each_pair},   {"peer-copy", 1.5, 0.5, 0, Turn::each_pair},
    {"peer-latency", 0.3, 0.2, 0, Turn::each_pair}, {"library-cublaslt", 1, 1, 0, Turn::at_once},
    {"library-cudnn", 1, 0, 0, Turn::at_once},      {"library-nccl", 1, 0, 0, Turn::at_once},
    {"launch", 1, 0.4, 0, Turn::at_once},           {"graph", 1.5, 0.5, 0, Turn::at_once},
    {"pipe-rate", 0.5, 0.3, 0, Turn::at_once},      {"gemm", 5, 2, 0.45, Turn::at_once},
    {"gemm-library", 3, 1.5, 0.15, Turn::at_once},  {"convolution", 2, 0, 0.08, Turn::at_once},
    {"memory-patterns", 4, 1, 0.22, Turn::at_once}, {"pulse", 2, 0, 0.1, Turn::at_once},
    {"all-reduce", 4, 1, 0, Turn::machine},
};

constexpr double kMostInTurn = 30;  // seconds for all that GPUs do in turn
constexpr double kMostInPairs = 30; // and for all pairs
constexpr double kShortest = 0.1;   // of a step that runs
constexpr double kStarts = 20; // of libraries, frameworks and contexts, none of which is measured

size_t times(Turn turn, const RunSize& size) {
  if (turn == Turn::in_turn) return size.gpus;
  if (turn == Turn::each_pair) return size.pairs;
  if (turn == Turn::machine) return size.gpus > 1 ? 1 : 0;
  return 1;
}

double base(const PlannedStep& step, const RunSize& size) {
  return size.quick ? step.quick : step.usual;
}

// How much of a turn's base times fits into `most` seconds.
double fitting(Turn turn, const RunSize& size, double most) {
  double all = 0;
  for (const PlannedStep& step : kSteps)
    if (step.turn == turn) all += base(step, size) * static_cast<double>(times(turn, size));
  return all > most ? most / all : 1;
}

} // namespace

std::vector<StepTime> plan_times(const RunSize& size) {
  const double in_turn = fitting(Turn::in_turn, size, size.quick ? 6 : kMostInTurn);
  const double in_pairs = fitting(Turn::each_pair, size, size.quick ? 6 : kMostInPairs);
  std::vector<StepTime> planned;
  double taken = size.quick ? 0 : kStarts;
  for (const PlannedStep& step : kSteps) {
    double seconds = base(step, size);
    if (step.turn == Turn::in_turn) seconds *= in_turn;
    if (step.turn == Turn::each_pair) seconds *= in_pairs;
    if (seconds > 0) seconds = std::max(seconds, kShortest);
    planned.push_back({step.step, seconds});
    taken += seconds * static_cast<double>(times(step.turn, size));
  }
  if (size.quick || !size.stress || taken >= size.seconds) return planned;
  for (size_t at = 0; at < planned.size(); ++at)
    planned[at].seconds += kSteps[at].share * (size.seconds - taken);
  return planned;
}

double seconds_of(const std::vector<StepTime>& planned, const std::string& step) {
  for (const StepTime& time : planned)
    if (time.step == step) return time.seconds;
  return 0;
}

} // namespace gpuvet
