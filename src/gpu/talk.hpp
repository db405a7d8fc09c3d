// One question: a child that asks a library and tells what it hears, and what the parent makes of
// its silence or death.
#pragma once

#include "gpu/ask.hpp"
#include "gpu/lines.hpp"
#include "os/child.hpp"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace gpuvet {

struct TalkEnd {
  AskState state = AskState::answered;
  std::string problem, call; // of the first failure
  int signal = 0;
  double seconds = 0;
  int gpus = 0; // that the library counted, kMostGpus at most
  std::set<int> done;
  std::map<int, std::string> given_up; // GPU -> why
  std::vector<CallTime> times;
};

class Talk {
 public:
  // Runs in the child; GPUs in `skip` are not touched.
  using Work = std::function<void(Teller& tell, const std::set<int>& skip)>;
  using Take = std::function<void(int gpu, std::string_view field, std::string_view value)>;

  Talk(Work work, double deadline_s);

  // Gives each answer to `take` as it comes.
  TalkEnd finish(const Take& take);

 private:
  void start();
  void take_lines(const Take& take);
  void take_line(const Line& line, const Take& take);
  Moment patience() const;
  bool on_gpu() const;
  bool go_on() const;
  void give_up(bool ended);
  std::string what_happened(const ChildEnd& end, bool ended) const;

  Work work_;
  Moment start_, deadline_, gpu_since_;
  std::optional<Child> child_;
  size_t parsed_ = 0; // bytes of the child's output
  bool complete_ = false, collected_ = false;
  std::string call_; // under way
  int call_gpu_ = kNoGpu;
  double call_began_s_ = 0;
  TalkEnd result_;
};

// Why a GPU gave no answer: what happened there, or elsewhere before its turn.
std::string why_unanswered(const TalkEnd& end, int gpu);

// Puts what became of it as a whole into `asked`.
void describe(const TalkEnd& end, Asked& asked);

} // namespace gpuvet
