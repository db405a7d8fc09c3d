#include "model/verify/judged.hpp"

namespace gpuvet {

const char* verdict_word(Verdict verdict) {
  switch (verdict) {
  case Verdict::pass:
    return "pass";
  case Verdict::warn:
    return "warn";
  case Verdict::fail:
    return "fail";
  case Verdict::skipped:
    return "skipped";
  case Verdict::info:
    return "info";
  case Verdict::unknown:
    break;
  }
  return "unknown";
}

const char* action_word(Action action) {
  switch (action) {
  case Action::monitor:
    return "monitor";
  case Action::reset:
    return "reset";
  case Action::isolate:
    return "isolate";
  case Action::fix_software:
    return "fix-software";
  case Action::none:
    break;
  }
  return "none";
}

} // namespace gpuvet
