#include "gpu/work/runner.hpp"

#include "gpu/text.hpp"

#include <fmt/core.h>

#include <csignal>
#include <cstdlib>
#include <exception>

namespace gpuvet {
namespace {

constexpr double kLookAround_s = 0.05; // how often an interruption is noticed
constexpr double kGoodbye_s = 5;       // for the driver to end the context of a child that is done
constexpr int kMostBadStarts = 2;      // in a row

// --- the child's side ------------------------------------------------------------------------

// False: the child must not go on, since what failed may have broken the context.
bool run_step(Bench& bench, const StepRequest& request, StepTeller& tell) {
  try {
    request.step->run(bench, request.options);
    bench.call(bench.cuda.cuCtxSynchronize); // what is still under way belongs to this step
    tell.done();
    return true;
  } catch (const StepStopped& stopped) {
    tell.stopped(stopped.unsupported ? StepState::unsupported : StepState::failed, stopped.call,
                 stopped.code, stopped.error, stopped.reason);
    return stopped.unsupported;
  } catch (const std::exception& error) {
    tell.stopped(StepState::failed, "", 0, kOwnFault,
                 std::string("the test ended by: ") + error.what());
    return false;
  }
}

void run_all(const CudaApi& cuda, int ordinal, const std::vector<StepRequest>& requests, size_t at,
             StepTeller& tell) {
  if (!cuda.cuInit.function) stop_at(cuda, cuda.cuInit.name, kCudaNotFound);
  tell.about_to_call(cuda.cuInit.name);
  if (int code = cuda.cuInit.function(0)) stop_at(cuda, cuda.cuInit.name, code);
  Bench bench(cuda, ordinal, tell);
  tell.ready();
  for (size_t first = at; at < requests.size(); ++at) {
    if (at > first) tell.begin(requests[at].step->id);
    if (!run_step(bench, requests[at], tell)) return;
  }
}

void child_work(int fd, int ordinal, const std::vector<StepRequest>& requests, size_t at,
                const RunnerOptions& options) {
  StepTeller tell(fd, options.start);
  tell.begin(requests[at].step->id);
  tell.about_to_call("dlopen");
  auto library = open_library(kCudaPlaces, options.library);
  if (!library)
    return tell.stopped(StepState::failed, "dlopen", 0, "",
                        "the CUDA driver library cannot be loaded: " + library.error().what);
  try {
    run_all(find_cuda(*library), ordinal, requests, at, tell);
  } catch (const StepStopped& stopped) {
    tell.stopped(stopped.unsupported ? StepState::unsupported : StepState::failed, stopped.call,
                 stopped.code, stopped.error, stopped.reason);
  }
}

// --- the parent's side -----------------------------------------------------------------------

class Run {
 public:
  Run(int ordinal, const std::vector<StepRequest>& requests, const RunnerOptions& options)
      : ordinal_(ordinal), requests_(requests), options_(options) {
    for (const StepRequest& request : requests) {
      StepResult result;
      result.id = request.step->id;
      result.gpu = request.gpu;
      result.peer = request.peer;
      results_.push_back(result);
    }
  }

  std::vector<StepResult> all() {
    while (at_ < requests_.size() && !interrupted() && bad_starts_ < kMostBadStarts)
      run_child();
    while (at_ < requests_.size())
      end_step(StepState::not_run, interrupted() ? "interrupted" : why_given_up());
    return results_;
  }

 private:
  void run_child();
  void follow(Child& child);
  void take(const StepLine& line);
  void end_step(StepState state, const std::string& reason);
  void end_hung(Child& child);
  void end_dead(Child& child);
  Moment deadline() const;
  bool interrupted() const { return options_.interrupted && options_.interrupted->load(); }
  bool all_done() const { return at_ == requests_.size(); }
  std::string where() const;
  std::string why_given_up() const;

  const int ordinal_;
  const std::vector<StepRequest>& requests_;
  const RunnerOptions& options_;
  std::vector<StepResult> results_;
  size_t at_ = 0;        // the request under way, or next
  bool running_ = false; // it began
  bool ready_ = false;   // the child has a context
  bool ending_ = false;  // the child said that it ends itself
  Moment since_;         // the begin of the step, or of the child
  std::string call_;
  int bad_starts_ = 0;
  std::string last_problem_;
};

void Run::run_child() {
  since_ = std::chrono::steady_clock::now();
  running_ = ready_ = ending_ = false;
  call_.clear();
  results_[at_].begin_s = seconds_since(options_.start);
  auto child = start_child([this](int fd) { child_work(fd, ordinal_, requests_, at_, options_); });
  if (!child) return end_step(StepState::not_run, "it was not started: " + child.error().what);
  follow(*child);
}

void Run::follow(Child& child) {
  std::string text;
  for (;;) {
    Moment now = std::chrono::steady_clock::now();
    Child::Event event = child.wait(std::min(deadline(), seconds_after(now, kLookAround_s)));
    text += child.take_output();
    for (const StepLine& line : take_step_lines(text))
      if (!ending_ && !all_done()) take(line);
    if (ending_) {
      child.end();
      return;
    }
    if (all_done()) {
      while (child.wait(seconds_after(now, kGoodbye_s)) == Child::Event::output)
        child.take_output();
      return;
    }
    if (interrupted()) {
      child.end();
      return end_step(StepState::not_run, "interrupted");
    }
    if (event == Child::Event::ended) return end_dead(child);
    if (std::chrono::steady_clock::now() >= deadline()) return end_hung(child);
  }
}

// A new child's step has the start besides, which has a deadline of its own.
Moment Run::deadline() const {
  if (!ready_) return seconds_after(since_, options_.start_deadline_s);
  const StepRequest& request = requests_[std::min(at_, requests_.size() - 1)];
  return seconds_after(since_, request.step->deadline_s + request.options.seconds);
}

void Run::take(const StepLine& line) {
  StepResult& result = results_[at_];
  switch (line.kind) {
  case 'b':
    running_ = true;
    since_ = std::chrono::steady_clock::now();
    result.begin_s = number_of(line).value_or(result.begin_s);
    call_.clear();
    break;
  case 'g':
    ready_ = true;
    bad_starts_ = 0;
    since_ = std::chrono::steady_clock::now();
    break;
  case 'c':
    call_ = line.a;
    break;
  case 'p':
    if (auto value = number_of(line); value && options_.news) {
      StepNews news{result.id, std::atof(line.c.c_str()), line.a, line.b, *value};
      options_.news(result.gpu, news);
    }
    break;
  case 'x':
    take_step_line(line, result);
    ending_ = result.state == StepState::failed || !ready_;
    end_step(result.state, result.reason);
    break;
  case 'd':
    end_step(result.state == StepState::failed ? StepState::failed : StepState::done,
             result.reason);
    break;
  default:
    take_step_line(line, result);
  }
}

void Run::end_step(StepState state, const std::string& reason) {
  StepResult& result = results_[at_];
  result.state = state;
  result.reason = reason;
  result.end_s = seconds_since(options_.start);
  if (!running_) result.begin_s = result.end_s;
  if (!ready_ && bad_starts_ < kMostBadStarts) {
    ++bad_starts_;
    last_problem_ = reason;
  }
  ++at_;
  running_ = false;
  call_.clear();
  since_ = std::chrono::steady_clock::now();
  if (options_.finished) options_.finished(result);
}

std::string Run::where() const {
  return call_.empty() ? "in the test itself" : "in " + call_;
}

void Run::end_hung(Child& child) {
  double waited = seconds_since(since_);
  ChildEnd end = child.end();
  std::string kernel = end.state == 'D' ? "; the process sleeps inside the kernel (state D)" : "";
  if (end.remains) kernel += "; it cannot be ended";
  results_[at_].call = call_;
  end_step(StepState::hung, fmt::format("no answer {} within {:.2g} s{}{}", where(), waited, kernel,
                                        last_words(child.printed())));
}

void Run::end_dead(Child& child) {
  ChildEnd end = child.end();
  results_[at_].call = call_;
  std::string how = end.how == ChildEnd::How::signalled
                        ? fmt::format("crashed {} ({})", where(), signal_name(end.status))
                        : fmt::format("ended {} with status {}", where(), end.status);
  if (end.how == ChildEnd::How::signalled && end.status == SIGKILL)
    how += ": something killed it, perhaps the kernel because memory ran out";
  end_step(StepState::crashed, "the process " + how + last_words(child.printed()));
}

std::string Run::why_given_up() const {
  return "the GPU could not be used twice in a row: " + last_problem_;
}

} // namespace

std::vector<StepResult> run_steps(int ordinal, const std::vector<StepRequest>& requests,
                                  const RunnerOptions& options) {
  return Run(ordinal, requests, options).all();
}

} // namespace gpuvet
