#include "judge/load/outcome_word.hpp"

namespace gpuvet {

const char* outcome_word(LoadOutcome outcome) {
  switch (outcome) {
  case LoadOutcome::native:
    return "native";
  case LoadOutcome::same_major:
    return "compat";
  case LoadOutcome::jit:
    return "jit";
  case LoadOutcome::linked:
    return "linked";
  case LoadOutcome::may_fail:
    return "may fail";
  case LoadOutcome::none:
    break;
  }
  return "none";
}

} // namespace gpuvet
