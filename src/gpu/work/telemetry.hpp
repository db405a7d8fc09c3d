// How the GPUs stood while they were tested: NVML sampled ten times a second by a child, for all of
// them together. When NVML hangs or crashes the telemetry ends with the reason; the tests go on.
#pragma once

#include "model/verify/measurements.hpp"
#include "os/child.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace gpuvet {

struct TelemetryOptions {
  std::string nvml_library; // this file instead of the loader's; for tests
  double every_s = 0.1;
  double patience_s = 10;       // no sign of life for so long is a hang
  size_t most_moments = 40'000; // of one GPU; then every second one goes, and so on
};

class Telemetry {
 public:
  // `start`: of the run, from which moments count.
  Telemetry(const std::vector<VerifiedGpu>& gpus, Moment start, TelemetryOptions options = {});
  Telemetry(const Telemetry&) = delete;
  Telemetry& operator=(const Telemetry&) = delete;
  ~Telemetry();

  std::optional<GpuMoment> latest(const std::string& uuid) const; // for whoever shows it

  // Ends the sampling; puts the moments, after.xids and, where something went wrong, the word
  // "telemetry" into the GPUs of these UUIDs.
  void finish(std::vector<VerifiedGpu>& gpus);

 private:
  struct Seen {
    std::string uuid;
    std::vector<GpuMoment> moments;
    size_t arrived = 0, keep_every = 1;
    std::optional<uint64_t> xids;
    std::string problem;
  };

  void listen();
  void take(const std::string& text);
  void keep(Seen& seen, const GpuMoment& moment);
  void stop();

  const Moment start_;
  const TelemetryOptions options_;
  mutable std::mutex mutex_; // of what follows
  std::vector<Seen> seen_;
  std::string problem_, call_;
  std::atomic<bool> stop_ = false;
  std::thread thread_; // last: it uses the rest
};

} // namespace gpuvet
