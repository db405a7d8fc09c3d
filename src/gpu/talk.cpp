#include "gpu/talk.hpp"

#include "gpu/text.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

std::string with_gpu(const std::string& call, int gpu) {
  return gpu == kNoGpu ? call : fmt::format("{}(GPU {})", call, gpu);
}

} // namespace

Talk::Talk(Work work, double deadline_s)
    : work_(std::move(work)), start_(std::chrono::steady_clock::now()),
      deadline_(seconds_after(start_, deadline_s)), gpu_since_(start_) {
  start();
}

void Talk::start() {
  std::set<int> skip = result_.done;
  for (const auto& entry : result_.given_up)
    skip.insert(entry.first);
  auto child = start_child([this, &skip](int fd) {
    Teller tell(fd, start_);
    work_(tell, skip);
    tell.end();
  });
  parsed_ = 0;
  call_.clear();
  call_gpu_ = kNoGpu;
  if (child) {
    child_ = std::move(*child);
    return;
  }
  child_.reset();
  if (!result_.problem.empty()) return; // what happened first counts
  result_.state = AskState::skipped;
  result_.problem = child.error().what;
}

void Talk::take_line(const Line& line, const Take& take) {
  uint64_t number = 0;
  bool numeric = from_text(line.value, number);
  if (line.kind == 'c' || line.kind == 'e') {
    double now_s = static_cast<double>(number) / 1e6;
    if (!call_.empty())
      result_.times.push_back({with_gpu(call_, call_gpu_), now_s - call_began_s_});
    call_began_s_ = now_s;
    result_.seconds = now_s;
  }
  switch (line.kind) {
  case 'c':
    if (line.gpu != call_gpu_) gpu_since_ = std::chrono::steady_clock::now();
    call_ = line.name;
    call_gpu_ = line.gpu;
    break;
  case 'v':
    take(line.gpu, line.name, line.value);
    break;
  case 'n':
    if (numeric) result_.gpus = static_cast<int>(std::min<uint64_t>(number, kMostGpus));
    break;
  case 'd':
    result_.done.insert(line.gpu);
    break;
  case 's':
    if (result_.problem.empty())
      result_.state = line.value == "failed" ? AskState::failed : AskState::no_library;
    break;
  case 'e':
    complete_ = true;
    break;
  default:
    break;
  }
}

void Talk::take_lines(const Take& take) {
  std::string_view text = std::string_view(child_->output()).substr(parsed_);
  for (size_t end = 0; (end = text.find('\n')) != std::string_view::npos;) {
    if (auto line = parse_line(text.substr(0, end))) take_line(*line, take);
    text.remove_prefix(end + 1);
    parsed_ += end + 1;
  }
}

bool Talk::on_gpu() const {
  return call_gpu_ != kNoGpu && !result_.done.contains(call_gpu_);
}

// GPUs that were neither done nor given up, besides the one being asked.
bool Talk::go_on() const {
  for (int gpu = 0; gpu < result_.gpus; ++gpu)
    if (gpu != call_gpu_ && !result_.done.contains(gpu) && !result_.given_up.contains(gpu))
      return true;
  return false;
}

// While others wait, one GPU may take half of the time that was left when its turn came.
Moment Talk::patience() const {
  if (!on_gpu() || !go_on()) return deadline_;
  return gpu_since_ + (deadline_ - gpu_since_) / 2;
}

std::string Talk::what_happened(const ChildEnd& end, bool ended) const {
  std::string where = call_.empty() ? "before the first call" : "in " + with_gpu(call_, call_gpu_);
  std::string words = last_words(child_->printed());
  if (!ended) {
    std::string kernel = end.state == 'D' ? "; the process sleeps inside the kernel (state D)" : "";
    if (end.remains) kernel += "; it cannot be ended";
    return fmt::format("no answer {} within {:.2g} s{}{}", where,
                       seconds_since(on_gpu() ? gpu_since_ : start_), kernel, words);
  }
  if (end.how == ChildEnd::How::signalled)
    return fmt::format("the library crashed {} ({}){}", where, signal_name(end.status), words);
  return fmt::format("the library ended the process {} with status {}{}", where, end.status, words);
}

// The child hangs or is dead without having said that it is done.
void Talk::give_up(bool ended) {
  ChildEnd end = child_->end();
  std::string what = what_happened(end, ended);
  if (on_gpu()) result_.given_up.emplace(call_gpu_, what);
  if (!result_.problem.empty()) return; // what happened first counts
  result_.state = ended ? AskState::crashed : AskState::hung;
  result_.signal = end.how == ChildEnd::How::signalled ? end.status : 0;
  result_.call = with_gpu(call_, call_gpu_);
  result_.problem = what;
}

TalkEnd Talk::finish(const Take& take) {
  if (collected_) {
    TalkEnd again;
    again.state = AskState::skipped;
    again.problem = "the answers were collected before";
    return again;
  }
  collected_ = true;
  while (child_ && !complete_) {
    Child::Event event = child_->wait(patience());
    take_lines(take);
    bool late = std::chrono::steady_clock::now() >= patience();
    if (complete_ || (event == Child::Event::output && !late)) continue;
    bool others_can_go_on = on_gpu() && go_on();
    give_up(event == Child::Event::ended);
    if (!others_can_go_on || std::chrono::steady_clock::now() >= deadline_) break;
    start();
  }
  if (!complete_) result_.seconds = seconds_since(start_);
  child_.reset();
  return result_;
}

std::string why_unanswered(const TalkEnd& end, int gpu) {
  auto given_up = end.given_up.find(gpu);
  return given_up != end.given_up.end() ? given_up->second : "not asked: " + end.problem;
}

void describe(const TalkEnd& end, Asked& asked) {
  asked.state = end.state;
  asked.call = end.call;
  asked.signal = end.signal;
  asked.seconds = end.seconds;
  if (!end.problem.empty())
    asked.problem = end.problem;
  else if (asked.problem == Asked().problem)
    asked.problem.clear();
}

} // namespace gpuvet
