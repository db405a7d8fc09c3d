// Steps that did not come to their end.
#include "judge/verify/rules.hpp"

#include <fmt/core.h>

namespace gpuvet {
namespace {

std::string call_text(const StepResult& step) {
  std::string text = step.call.empty() ? "no call is known" : step.call;
  if (!step.error.empty()) text += " gives " + step.error;
  if (step.code != 0) text += fmt::format(" ({})", step.code);
  return text;
}

std::string stopped_text(const StepResult& step) {
  switch (step.state) {
  case StepState::hung:
    return "it hangs" + (step.call.empty() ? "" : " in " + step.call) +
           (step.reason.empty() ? ", no sign of life until its deadline" : ", " + step.reason);
  case StepState::crashed:
    return "its process died" + (step.call.empty() ? "" : " in " + step.call) +
           (step.reason.empty() ? "" : ", " + step.reason);
  default:
    break;
  }
  if (step.reason.empty()) return call_text(step);
  if (step.reason.starts_with(step.call)) return step.reason; // it names the call itself
  return step.call.empty() ? step.reason : call_text(step) + ": " + step.reason;
}

// A large kernel may break by its own doing until it is proved. The small ones of "core" are
// trusted to run, so an error of the driver, a hang or a crash counts; what they say of data is
// not, until then.
std::string own_work(const VerifyRow& row, const StepResult& step) {
  const std::string& kernel = row.rated_by.empty() ? row.checked_by : row.rated_by;
  const bool said_by_kernel = step.state == StepState::failed && step.code == 0;
  return kernel == "core" && !said_by_kernel ? "" : kernel;
}

// Whoever else uses the GPU has its memory, and its time: a step that waits for slices of it may
// look like one that hangs.
bool may_be_others(const VerifyTarget& target, const StepResult& step) {
  if (!target.gpu || target.gpu->gpu->busy.empty()) return false;
  return step.state == StepState::hung || step.error == "CUDA_ERROR_OUT_OF_MEMORY";
}

} // namespace

void judge_stopped(const VerifyCase& all, const VerifyTarget& target, JudgedStep& made) {
  const StepResult& step = *target.step;
  made.evidence.push_back(fmt::format("step {} from {:.1f} s to {:.1f} s of the run", step.id,
                                      step.begin_s, step.end_s));
  if (const std::string stage = word_of(step, "stage"); !stage.empty())
    made.evidence.push_back("last stage that it reached: " + stage);
  if (step.state == StepState::not_run)
    return leave_open(made, Verdict::skipped, step.reason.empty() ? "it was not run" : step.reason);
  if (step.state == StepState::unsupported)
    return leave_open(made, Verdict::skipped,
                      step.reason.empty() ? "it cannot be done here" : step.reason);
  const std::string detail = stopped_text(step);
  if (step.error == kOwnFault)
    return leave_open(made, Verdict::unknown,
                      detail + ": this is a fault of gpuvet, not of the GPU");
  if (target.row.rule == VerifyRule::detector) { // no fault of the machine: gpuvet cannot see here
    made.value = 0;
    made.limit = 1;
    leave_open(made, Verdict::unknown, with_stop(detail) + " " + target.row.fail);
    made.next = target.row.next;
    return;
  }
  const std::string kernel = own_work(target.row, step);
  if (!may_count(all, target, kernel))
    return leave_open(made, Verdict::unknown,
                      detail + "; " + why_not_counted(target, kernel) +
                          ", so it may be the kernel's own fault");
  if (may_be_others(target, step)) {
    leave_open(made, Verdict::unknown,
               fmt::format("{}; others use this GPU ({})", detail, target.gpu->gpu->busy));
    made.next = "end what uses the GPU, or run again when it is idle";
    return;
  }
  conclude(made, target.row, Verdict::fail, "");
  made.why = with_stop(detail);
  // A library that refuses to work says nothing about the GPU.
  if (step.state == StepState::failed && !word_of(step, "library").empty() && step.code != 0)
    made.action = Action::fix_software;
  if (step.state != StepState::failed && target.row.scope != VerifyScope::environment) {
    made.action = Action::reset;
    made.next =
        "gpuvet doctor tells which Xid came with it; then reset the GPU: nvidia-smi --gpu-reset";
  }
}

} // namespace gpuvet
