// Rules about right and wrong: does it work, are the data right, and whose fault is it if not?
#include "judge/verify/rules.hpp"

#include <fmt/core.h>

namespace gpuvet {
namespace {

enum class Answers : uint8_t { not_run, right, wrong };

// A step that ended because its check failed names no call.
bool found_wrong(const StepResult& step) {
  if (total_of(step, "mismatches").value_or(0) > 0) return true;
  return step.state == StepState::failed && step.code == 0 && step.call.empty();
}

Answers answers_of(const StepResult* step) {
  if (!step) return Answers::not_run;
  if (found_wrong(*step)) return Answers::wrong;
  const bool checked =
      total_of(*step, "mismatches").has_value() && total_of(*step, "checked").value_or(1) > 0;
  return step->state == StepState::done && checked ? Answers::right : Answers::not_run;
}

// By the other engine: a row of the same run, or a word of the step itself.
Answers other_answers(const VerifyCase& all, const VerifyTarget& target) {
  const std::string told = word_of(*target.step, "own_kernel");
  if (told == "right") return Answers::right;
  if (told == "wrong") return Answers::wrong;
  const std::string& id = target.row.own.empty() ? target.row.library : target.row.own;
  const VerifyRow* other = find_verify_row(all.tables, id);
  if (!other) return Answers::not_run;
  return answers_of(find_step(all, other->step, target.step->gpu, target.step->peer));
}

std::string what_was_wrong(const StepResult& step) {
  if (const auto count = total_of(step, "mismatches"); count && *count > 0) {
    std::string text = fmt::format("{:.0f} mismatches", *count);
    if (const auto checked = total_of(step, "checked")) text += fmt::format(" of {:.0f}", *checked);
    return text;
  }
  return step.reason.empty() ? "the data are wrong" : step.reason;
}

void add_places(const StepResult& step, JudgedStep& made) {
  for (const char* word : {"tile", "multiprocessor", "bits", "first_place", "pattern", "engine"})
    if (const std::string text = word_of(step, word); !text.empty())
      made.evidence.push_back(fmt::format("{}: {}", word, text));
}

void blame_library(const VerifyTarget& target, const std::string& detail, JudgedStep& made) {
  conclude(made, target.row, Verdict::fail,
           detail + "; gpuvet's own kernel computes the right ones on this GPU, so it is the "
                    "library or its version");
  made.action = Action::fix_software;
}

bool is_library(const VerifyTarget& target) {
  return !target.row.own.empty() || !word_of(*target.step, "own_kernel").empty();
}

void judge_wrong(const VerifyCase& all, const VerifyTarget& target, JudgedStep& made) {
  const Answers other = other_answers(all, target);
  const bool proved =
      may_count(all, target, target.row.checked_by) || was_right_elsewhere(all, target);
  const std::string detail = what_was_wrong(*target.step);
  add_places(*target.step, made);
  if (is_library(target) && other == Answers::right) return blame_library(target, detail, made);
  if (other == Answers::wrong && (proved || may_count(all, target, "core")))
    return conclude(made, target.row, Verdict::fail,
                    detail + "; another engine is wrong too, so it is the GPU or its memory");
  if (proved) {
    conclude(made, target.row, Verdict::fail, detail);
    if (other == Answers::right)
      made.evidence.push_back("the library's answers were right: other data paths, or seldom");
    return;
  }
  leave_open(made, Verdict::unknown,
             detail + "; " + why_not_counted(target, target.row.checked_by) +
                 ", so it may be the kernel's own fault");
  made.next = "run it on another GPU of this model; keep this one out of use until then";
}

} // namespace

bool judge_exact(const VerifyCase& all, const VerifyTarget& target, JudgedStep& made) {
  const StepResult& step = *target.step;
  if (const auto figure = figure_of(step, "mismatches")) show(*figure, made);
  if (made.value) made.value = total_of(step, "mismatches");
  made.at_most = true;
  made.limit = 0;
  switch (answers_of(&step)) {
  case Answers::wrong:
    judge_wrong(all, target, made);
    return true;
  case Answers::right:
    if (const auto checked = total_of(step, "checked"))
      made.evidence.push_back(fmt::format("{:.0f} checked", *checked));
    if (const auto refused = total_of(step, "chunks_refused"); refused && *refused > 0)
      made.evidence.push_back(
          fmt::format("{:.0f} pieces of memory were not given, and not checked", *refused));
    conclude(made, target.row, Verdict::pass, "");
    return true;
  case Answers::not_run:
    break;
  }
  leave_open(made, Verdict::unknown, "nothing was checked");
  return true;
}

bool judge_works(const VerifyCase& all, const VerifyTarget& target, JudgedStep& made) {
  if (found_wrong(*target.step))
    judge_wrong(all, target, made);
  else
    conclude(made, target.row, Verdict::pass, "");
  return true;
}

bool judge_detector(const VerifyCase&, const VerifyTarget& target, JudgedStep& made) {
  const auto caught = total_of(*target.step, "caught"), trials = total_of(*target.step, "trials");
  if (const auto figure = figure_of(*target.step, "caught")) show(*figure, made);
  made.value = caught;
  made.limit = trials;
  if (!caught || !trials || *trials < 1) {
    leave_open(made, Verdict::unknown, "nothing was tried");
  } else if (*caught >= *trials) {
    conclude(made, target.row, Verdict::pass, "");
  } else {
    // No fault of the machine: gpuvet cannot see here.
    leave_open(made, Verdict::unknown,
               fmt::format("{} ({:.0f} of {:.0f} found)", target.row.fail, *caught, *trials));
    made.next = target.row.next;
  }
  return true;
}

} // namespace gpuvet
