#include "gpu/work/self_test/self_test.hpp"

#include <fmt/core.h>

#include <string_view>

namespace gpuvet {
namespace {

constexpr const char* kHang = "self-test-hang";
constexpr const char* kWaitsIn = "cuStreamSynchronize";
constexpr double kHang_s = 0.5; // deadline of the step that never answers
constexpr double kLate_s = 10;  // within which the runner must have noticed; a busy machine is slow

Fault fault_of(std::string_view step) {
  return step == kHang             ? Fault::hang
         : step == "self-test-bit" ? Fault::wrong_bit
                                   : Fault::slow_link;
}

} // namespace

const std::vector<Step>& self_test_steps() {
  static const std::vector<Step> steps = {
      {"self-test-bit", 20, self_test_bit},
      {"self-test-link", 20, self_test_link},
      {kHang, kHang_s, self_test_hang}, // last: it costs its child
  };
  return steps;
}

StepResult judge_hang(StepResult result) {
  if (result.id != kHang || result.state == StepState::not_run) return result;
  double took = result.end_s - result.begin_s;
  bool noticed = result.state == StepState::hung && result.call == kWaitsIn;
  bool in_time = took < kHang_s + kLate_s;
  result.readings["caught"] = {"1", {noticed && in_time ? 1.0 : 0.0}};
  result.readings["trials"] = {"1", {1.0}};
  if (noticed && in_time) {
    result.state = StepState::done;
    result.reason.clear();
    result.call.clear();
    return result;
  }
  if (noticed)
    result.reason = fmt::format("a step that never answers was ended only after {:.2g} s", took);
  else if (result.state == StepState::done)
    result.reason = "a step that never answers passed for one that is done";
  else
    result.reason = "a step that never answers ended otherwise: " + result.reason;
  result.state = StepState::failed;
  return result;
}

std::vector<StepResult> run_self_tests(const SelfTest& test, const RunnerOptions& options) {
  std::vector<StepRequest> requests;
  for (const Step& step : self_test_steps()) {
    StepRequest request;
    request.step = &step;
    request.gpu = test.gpu;
    request.options.seed = test.seed;
    request.options.fault = fault_of(step.id);
    request.options.seconds = test.thorough && step.id != std::string_view(kHang) ? 5 : 0;
    requests.push_back(request);
  }
  RunnerOptions judged = options;
  judged.finished = [&](const StepResult& result) {
    if (options.finished) options.finished(judge_hang(result));
  };
  std::vector<StepResult> results = run_steps(test.ordinal, requests, judged);
  for (StepResult& result : results)
    result = judge_hang(std::move(result));
  return results;
}

} // namespace gpuvet
