// From a figure and its band to a verdict.
#include "judge/verify/rules.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

namespace gpuvet {
namespace {

template <class T> bool holds(const std::vector<T>& list, const T& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

bool has_word(const VerifyTarget& target, const std::string& word) {
  if (!target.step) return false;
  return word_of(*target.step, "engine").find(word) != std::string::npos ||
         word_of(*target.step, "algorithm").find(word) != std::string::npos;
}

bool fits(const VerifyBand& band, const VerifyTarget& target, const std::string& reading,
          const HardwareLimit& limit) {
  if (!holds(band.rows, target.row.id)) return false;
  if (!band.reading.empty() && band.reading != reading) return false;
  if (!band.link.empty() && band.link != limit.link) return false;
  if (!band.generation.empty() && !holds(band.generation, limit.generation)) return false;
  if (!band.sm.empty() && (!target.gpu || !holds(band.sm, target.gpu->gpu->sm))) return false;
  return band.word.empty() || has_word(target, band.word);
}

bool library_is_fast(const VerifyCase& all, const VerifyTarget& target) {
  const VerifyRow* other = find_verify_row(all.tables, target.row.library);
  if (!other || !target.step || !target.gpu) return false;
  const StepResult* step = find_step(all, other->step, target.step->gpu, target.step->peer);
  if (!step || step->state != StepState::done) return false;
  JudgedStep judged;
  return judge_of(other->rule)(all, {*other, step, target.gpu}, judged) &&
         judged.verdict == Verdict::pass;
}

// True: the verdict is given, nothing lowers it any more.
bool not_counted(const VerifyCase& all, const VerifyTarget& target, const std::string& detail,
                 JudgedStep& made) {
  if (library_is_fast(all, target)) {
    made.verdict = Verdict::info;
    made.evidence.push_back("the library is as fast as it should be: gpuvet's own kernel is not");
    return true;
  }
  if (may_count(all, target, target.row.rated_by)) return false;
  leave_open(made, Verdict::unknown,
             detail + "; " + why_not_counted(target, target.row.rated_by) +
                 ", so this says nothing about the GPU");
  return true;
}

} // namespace

const VerifyBand* find_band(const VerifyCase& all, const VerifyTarget& target,
                            const std::string& reading, const HardwareLimit& limit) {
  for (const VerifyBand& band : all.tables.bands)
    if (fits(band, target, reading, limit)) return &band;
  return nullptr;
}

std::optional<Figure> figure_that_counts(const VerifyRow& row, const StepResult& step,
                                         bool smaller) {
  std::optional<Figure> chosen;
  for (const std::string& reading : row.readings) {
    std::optional<Figure> figure = figure_of(step, reading);
    if (!figure) continue;
    const bool better =
        !chosen || (smaller ? figure->median < chosen->median : figure->median > chosen->median);
    if (!chosen || better == row.best) chosen = std::move(figure);
  }
  return chosen;
}

void conclude_rate(const VerifyCase& all, const VerifyTarget& target, Verdict verdict,
                   double better, const std::string& detail, JudgedStep& made) {
  const GpuView* view = target.gpu;
  const bool busy = view && !view->gpu->busy.empty();
  const bool bad = verdict == Verdict::fail || verdict == Verdict::warn;
  if (busy && (bad || better < verify_number(all.tables, "busy-margin"))) {
    leave_open(made, Verdict::unknown,
               fmt::format("others use this GPU ({}), so its figures are void", view->gpu->busy));
    made.next = "end what uses the GPU, or run again when it is idle";
    return;
  }
  if (bad && not_counted(all, target, detail, made)) return;
  if (verdict == Verdict::fail && view && !view->lowered.empty()) {
    conclude(made, target.row, Verdict::warn, detail);
    made.evidence.push_back(view->lowered + " such a figure is a warning only");
    return;
  }
  conclude(made, target.row, verdict, detail);
}

void weigh(const VerifyCase& all, const VerifyTarget& target, const Figure& figure,
           const HardwareLimit& hardware, JudgedStep& made) {
  show(figure, made);
  made.theoretical = hardware.value;
  made.limit_from = hardware.from;
  const VerifyBand* band = find_band(all, target, figure.reading, hardware);
  if (!hardware.value || *hardware.value <= 0) {
    if (!hardware.link.empty() && (!band || !band->ok)) { // no such limit, and none is asked for
      made.verdict = Verdict::info;
      made.evidence.push_back(hardware.why_unknown);
      return;
    }
    leave_open(made, Verdict::unknown,
               "there is no limit to hold it against: " + hardware.why_unknown);
    return;
  }
  if (!band || !band->ok) {
    made.verdict = Verdict::info;
    made.evidence.push_back("no base is published for such a figure yet");
    return;
  }
  made.limit = *hardware.value * *band->ok;
  const double share = figure.median / *hardware.value;
  const std::string detail = fmt::format(
      "{} of {} ({}), {} are asked for", figure_text(figure.median, ""),
      figure_text(*hardware.value, figure.unit), share_text(share), share_text(*band->ok));
  const Verdict verdict = share >= *band->ok     ? Verdict::pass
                          : share >= *band->warn ? Verdict::warn
                                                 : Verdict::fail;
  if (verdict != Verdict::pass && hardware.upper) {
    leave_open(made, Verdict::unknown,
               detail + "; that limit is " + hardware.from + ", this machine may have less");
    return;
  }
  // Whoever uses the GPU too can only take away: all that there is, is all that there is.
  const double better = share >= 1 ? std::numeric_limits<double>::infinity() : share / *band->ok;
  conclude_rate(all, target, verdict, better, detail, made);
}

} // namespace gpuvet
