#include "gpu/frameworks/frameworks.hpp"

#include "os/pipe.hpp"

#include <fmt/core.h>

#include <csignal>
#include <cstring>
#include <optional>
#include <unistd.h>

extern const char gpuvet_framework_probe[]; // probe.py, ending in a zero byte

namespace gpuvet {
namespace {

constexpr double kLook_s = 0.1; // how often an interruption is noticed

std::string last_line(const std::string& printed) {
  size_t end = printed.find_last_not_of(" \n\r\t");
  if (end == std::string::npos) return {};
  size_t begin = printed.rfind('\n', end);
  begin = begin == std::string::npos ? 0 : begin + 1;
  return "; it printed: " + printed.substr(begin, std::min<size_t>(end + 1 - begin, 200));
}

struct Hearing { // what was told so far
  StepResult result;
  std::string unread;
  size_t taken = 0; // bytes of the child's output
  bool ended = false;
};

void hear(const Child& child, const FrameworkRequest& request, const FrameworkRun& run,
          Hearing& hearing) {
  hearing.unread += child.output().substr(hearing.taken);
  hearing.taken = child.output().size();
  for (const StepLine& line : take_step_lines(hearing.unread)) {
    if (line.kind == 'c') {
      hearing.result.call = line.a;
      if (run.news) run.news(request.python, {hearing.result.id, 0, line.a, "", 0});
    }
    if (line.kind == 'd') hearing.result.state = StepState::done;
    hearing.ended |= line.kind == 'd' || line.kind == 'x';
    take_step_line(line, hearing.result);
  }
}

std::string stage_of(const StepResult& result) {
  return result.call.empty() ? "before it began" : fmt::format("at stage \"{}\"", result.call);
}

// It went silent, or away.
void describe_end(Child& child, double deadline_s, bool late, Hearing& hearing) {
  const ChildEnd end = child.end();
  StepResult& result = hearing.result;
  const std::string words = last_line(child.printed());
  if (late) {
    result.state = StepState::hung;
    result.reason =
        fmt::format("no end within {:.0f} s, {}{}", deadline_s, stage_of(result), words);
    return;
  }
  result.state = StepState::crashed;
  if (end.how == ChildEnd::How::signalled) {
    const char* name = sigabbrev_np(end.status);
    result.reason =
        fmt::format("Python died of SIG{} {}{}", name ? name : "?", stage_of(result), words);
    result.code = end.status;
    return;
  }
  result.reason =
      fmt::format("Python ended with status {} {}{}", end.status, stage_of(result), words);
}

} // namespace

const std::vector<std::string>& probed_frameworks() {
  static const std::vector<std::string> names = {"torch", "tensorflow", "jax", "cupy"};
  return names;
}

namespace {

// What the probe waits for before it touches the GPU.
class Barrier {
 public:
  explicit Barrier(const std::atomic<bool>* go) : go_(go) {
    if (!go) return;
    auto made = make_pipe();
    if (made) pipe_.emplace(std::move(*made)); // else nobody waits
  }
  bool closed() const { return pipe_ && !open_; }
  int input() const { return pipe_ ? pipe_->read : -1; }
  // True: it opened just now.
  bool look() {
    if (!closed() || !go_->load()) return false;
    open_ = write(pipe_->write, "g", 1) == 1;
    return open_;
  }

 private:
  const std::atomic<bool>* go_;
  std::optional<Pipe> pipe_;
  bool open_ = false;
};

std::vector<std::string> command_of(const FrameworkRequest& request, bool waits) {
  std::vector<std::string> command = {
      request.python, "-c", gpuvet_framework_probe, request.framework, std::to_string(request.seed),
      request.device};
  if (request.quick) command.emplace_back("quick");
  if (waits) command.emplace_back("wait");
  return command;
}

} // namespace

StepResult run_framework(const FrameworkRequest& request, const FrameworkRun& run) {
  Hearing hearing;
  StepResult& result = hearing.result;
  result.id = "framework-" + request.framework;
  result.peer = request.python;
  result.begin_s = result.end_s = seconds_since(run.start);
  Barrier barrier(run.go);
  auto child = start_command(command_of(request, barrier.closed()), barrier.input());
  if (!child) {
    result.state = StepState::failed;
    result.reason = "this Python cannot be started: " + child.error().what;
    return result;
  }
  auto deadline = [&] {
    return seconds_after(std::chrono::steady_clock::now(), request.deadline_s);
  };
  Moment until = deadline();
  bool stopped = false, late = false;
  for (Child::Event event = Child::Event::nothing; event != Child::Event::ended;) {
    const Moment look = seconds_after(std::chrono::steady_clock::now(), kLook_s);
    event = child->wait(std::min(look, until));
    hear(*child, request, run, hearing);
    if (barrier.look() || (barrier.closed() && result.call == "waiting")) until = deadline();
    stopped = run.interrupted && run.interrupted->load();
    late = std::chrono::steady_clock::now() >= until;
    if (hearing.ended || stopped || late) break;
  }
  result.end_s = seconds_since(run.start);
  if (hearing.ended) return result; // the process is ended with `child`
  if (stopped) {
    result.reason = "interrupted";
    return result;
  }
  describe_end(*child, request.deadline_s, late, hearing);
  return result;
}

} // namespace gpuvet
