#include "gpu/work/telemetry.hpp"

#include "gpu/text.hpp"
#include "gpu/work/telemetry_child.hpp"

#include <fmt/core.h>

namespace gpuvet {
namespace {

constexpr double kLookAround_s = 0.05; // how soon it stops when told

} // namespace

Telemetry::Telemetry(const std::vector<VerifiedGpu>& gpus, Moment start, TelemetryOptions options)
    : start_(start), options_(std::move(options)) {
  for (const VerifiedGpu& gpu : gpus) {
    Seen seen;
    seen.uuid = gpu.uuid;
    seen_.push_back(seen);
  }
  if (!seen_.empty()) thread_ = std::thread([this] { listen(); });
}

Telemetry::~Telemetry() {
  stop();
}

void Telemetry::stop() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
}

// The child dies with the thread that starts it.
void Telemetry::listen() {
  std::vector<std::string> uuids;
  for (const Seen& seen : seen_)
    uuids.push_back(seen.uuid);
  auto child = start_child([&](int fd) {
    Teller tell(fd, start_);
    sample_for_ever(tell, uuids, options_.nvml_library, start_, options_.every_s);
  });
  std::string text, why = child ? "" : child.error().what;
  Moment last = std::chrono::steady_clock::now();
  while (child && !stop_ && why.empty()) {
    Child::Event event =
        child->wait(seconds_after(std::chrono::steady_clock::now(), kLookAround_s));
    if (event == Child::Event::output) last = std::chrono::steady_clock::now();
    text += child->take_output();
    size_t begin = 0;
    for (size_t end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
      take(text.substr(begin, end - begin));
    text.erase(0, begin);
    if (event == Child::Event::ended) {
      ChildEnd end = child->end();
      why = end.how == ChildEnd::How::signalled
                ? fmt::format("NVML crashed in {} ({})", call_, signal_name(end.status))
                : fmt::format("it ended in {}", call_);
      why += last_words(child->printed());
    } else if (seconds_since(last) >= options_.patience_s) {
      why = fmt::format("NVML gave no answer in {} within {:.2g} s", call_, options_.patience_s);
    }
  }
  if (child) child->end();
  std::lock_guard lock(mutex_);
  if (problem_.empty()) problem_ = why;
}

void Telemetry::take(const std::string& text) {
  auto line = parse_line(text);
  if (!line) return;
  std::lock_guard lock(mutex_);
  if (line->kind == 'c') call_ = line->name;
  if (line->kind != 'v' || !line->value.starts_with('=')) return;
  std::string_view value = std::string_view(line->value).substr(1);
  if (line->gpu == kNoGpu) {
    if (line->name == "problem") problem_ = value;
    return;
  }
  if (static_cast<size_t>(line->gpu) >= seen_.size()) return;
  Seen& seen = seen_[static_cast<size_t>(line->gpu)];
  if (line->name == "problem") seen.problem = value;
  if (line->name == "xids") seen.xids = seen.xids.value_or(0) + (value == "1" ? 1 : 0);
  if (line->name == "moment")
    if (auto moment = moment_from(value)) keep(seen, *moment);
}

// A run of hours keeps fewer moments per second; the counters in them lose nothing by it.
void Telemetry::keep(Seen& seen, const GpuMoment& moment) {
  if (seen.arrived++ % seen.keep_every != 0) return;
  seen.moments.push_back(moment);
  if (seen.moments.size() < options_.most_moments) return;
  std::vector<GpuMoment> half;
  for (size_t at = 0; at < seen.moments.size(); at += 2)
    half.push_back(seen.moments[at]);
  seen.moments = std::move(half);
  seen.keep_every *= 2;
}

std::optional<GpuMoment> Telemetry::latest(const std::string& uuid) const {
  std::lock_guard lock(mutex_);
  for (const Seen& seen : seen_)
    if (seen.uuid == uuid && !seen.moments.empty()) return seen.moments.back();
  return std::nullopt;
}

void Telemetry::finish(std::vector<VerifiedGpu>& gpus) {
  stop();
  std::lock_guard lock(mutex_);
  for (VerifiedGpu& gpu : gpus)
    for (const Seen& seen : seen_) {
      if (seen.uuid != gpu.uuid) continue;
      gpu.moments = seen.moments;
      gpu.after.xids = seen.xids;
      std::string problem = seen.problem.empty() ? problem_ : seen.problem;
      if (!problem.empty()) gpu.words["telemetry"] = problem;
    }
}

} // namespace gpuvet
