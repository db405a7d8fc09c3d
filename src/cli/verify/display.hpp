// What a person sees while verify runs: one line on standard error with the step, its current
// figure and how far the whole is. Nothing where nobody looks.
#pragma once

#include "gpu/work/telling.hpp"
#include "os/terminal.hpp"

#include <mutex>
#include <optional>
#include <string>

namespace gpuvet {

class VerifyDisplay {
 public:
  // `seconds`: that all is expected to take; 0: not known, then no bar is drawn.
  VerifyDisplay(const Terminal& terminal, Moment start, double seconds);
  ~VerifyDisplay() { clear(); }

  // From any thread. `where`: "GPU 3", "python3"; empty: the machine. `limit`: what the hardware
  // can do, in the unit of the news, where it is known.
  void show(const std::string& where, const StepNews& news, std::optional<double> limit = {});
  void clear();

 private:
  std::mutex mutex_;
  Terminal terminal_;
  Moment start_, shown_at_;
  double seconds_;
  bool shown_ = false;
};

// "[######------] gemm  GPU 0  712.3 of 989 TFLOP/s" in at most `width` columns.
std::string progress_line(double fraction, const std::string& where, const StepNews& news,
                          std::optional<double> limit, int width);

} // namespace gpuvet
