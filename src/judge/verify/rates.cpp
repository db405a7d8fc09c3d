// Rules about figures: rates, shares, latencies, errors of results.
#include "judge/verify/rules.hpp"
#include "judge/verify/seen/window.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace gpuvet {
namespace {

bool nothing_measured(JudgedStep& made) {
  leave_open(made, Verdict::unknown, "the step ended without the figure that is judged");
  return true;
}

// Memory that does not reach its clock looks right against its own clock.
void check_memory_clock(const VerifyCase& all, const VerifyTarget& target, JudgedStep& made) {
  const auto most = target.gpu->number("memory_clock_max_mhz");
  const auto seen = highest(window_of(*target.gpu, *target.step), &GpuMoment::memory_clock_mhz);
  if (!most || !seen || made.verdict != Verdict::pass) return;
  if (*seen >= *most * verify_number(all.tables, "memory-clock") / 100) return;
  conclude(made, target.row, Verdict::warn,
           fmt::format("its clock stays at {:.0f} of {:.0f} MHz", *seen, *most));
}

// Worse verdicts rank higher.
int rank(Verdict verdict) {
  switch (verdict) {
  case Verdict::fail:
    return 4;
  case Verdict::unknown:
    return 3;
  case Verdict::warn:
    return 2;
  case Verdict::pass:
    return 1;
  case Verdict::skipped:
  case Verdict::info:
    break;
  }
  return 0;
}

void weigh_latency(const VerifyCase& all, const VerifyTarget& target, const Figure& figure,
                   const VerifyBand& band, JudgedStep& made) {
  show(figure, made);
  made.at_most = true;
  made.limit = *band.ok;
  made.limit_from = band.source;
  const std::string detail =
      fmt::format("{}, usual is up to {}", figure_text(figure.median, figure.unit),
                  figure_text(*band.ok, figure.unit));
  const Verdict verdict = figure.median <= *band.ok     ? Verdict::pass
                          : figure.median <= *band.warn ? Verdict::warn
                                                        : Verdict::fail;
  if (verdict != Verdict::pass && all.measured.host_kind == "wsl2") {
    made.verdict = Verdict::info;
    made.evidence.push_back("under WSL 2 launches take longer: " + detail);
    return;
  }
  const double better = figure.median > 0 ? *band.ok / figure.median : 1e9;
  conclude_rate(all, target, verdict, better, detail, made);
}

void weigh_error(const VerifyCase& all, const VerifyTarget& target, const Figure& figure,
                 JudgedStep& made) {
  show(figure, made);
  made.at_most = true;
  const VerifyBand* band = find_band(all, target, figure.reading, {});
  if (!band || !band->ok) {
    made.verdict = Verdict::info;
    return;
  }
  made.limit = band->ok;
  const Verdict verdict = figure.most <= *band->ok     ? Verdict::pass
                          : figure.most <= *band->warn ? Verdict::warn
                                                       : Verdict::fail;
  conclude(made, target.row, verdict,
           fmt::format("{} is {:.2g}, up to {:.2g} is rounding", figure.reading, figure.most,
                       *band->ok));
}

} // namespace

bool judge_rate(const VerifyCase& all, const VerifyTarget& target, JudgedStep& made) {
  const auto figure = figure_that_counts(target.row, *target.step, false);
  if (!figure) return nothing_measured(made);
  weigh(all, target, *figure, hardware_limit(all, target, target.row.limit), made);
  if (target.row.limit == VerifyLimit::memory && target.gpu) check_memory_clock(all, target, made);
  return true;
}

bool judge_of_step(const VerifyCase& all, const VerifyTarget& target, JudgedStep& made) {
  std::optional<double> least;
  std::optional<Figure> worst;
  std::string from;
  for (size_t i = 0; i < target.row.readings.size() && i < target.row.of.size(); ++i) {
    const VerifyRow* base = find_verify_row(all.tables, target.row.of[i]);
    const auto figure = figure_of(*target.step, target.row.readings[i]);
    if (!base || base->readings.empty() || !figure) continue;
    const StepResult* step = find_step(all, base->step, target.step->gpu, target.step->peer);
    const auto other = step ? figure_of(*step, base->readings.front()) : std::nullopt;
    if (!other || other->median <= 0) continue;
    if (least && figure->median / other->median >= *least) continue;
    least = figure->median / other->median;
    worst = figure;
    made.theoretical = other->median;
    from = base->title + " alone";
  }
  if (!worst) {
    leave_open(made, Verdict::unknown, "the figure that it is a share of was not measured");
    return true;
  }
  HardwareLimit limit;
  limit.value = made.theoretical;
  limit.from = from;
  weigh(all, target, *worst, limit, made);
  return true;
}

bool judge_latency(const VerifyCase& all, const VerifyTarget& target, JudgedStep& made) {
  const auto figure = figure_that_counts(target.row, *target.step, true);
  if (!figure) return nothing_measured(made);
  const VerifyBand* band = find_band(all, target, figure->reading, {});
  if (!band || !band->ok) return judge_told(all, target, made);
  weigh_latency(all, target, *figure, *band, made);
  return true;
}

// The worst of the results that were compared; not every framework gives each.
bool judge_deviation(const VerifyCase& all, const VerifyTarget& target, JudgedStep& made) {
  bool any = false;
  const JudgedStep fresh = made;
  for (const std::string& reading : target.row.readings) {
    const auto figure = figure_of(*target.step, reading);
    if (!figure) continue;
    JudgedStep one = fresh;
    weigh_error(all, target, *figure, one);
    if (!any || rank(one.verdict) > rank(made.verdict)) made = std::move(one);
    any = true;
  }
  if (!any) leave_open(made, Verdict::unknown, "no result was compared with the CPU's");
  return true;
}

bool judge_pipe(const VerifyCase& all, const VerifyTarget& target, JudgedStep& made) {
  const auto figure = figure_that_counts(target.row, *target.step, false);
  if (!figure) return nothing_measured(made);
  show(*figure, made);
  const VerifyTensor* row = target.gpu ? tensor_rate(all.tables, *target.gpu) : nullptr;
  if (!row || figure->median <= 0) {
    made.verdict = Verdict::info;
    made.evidence.push_back("the tensor rate of this model is not in the table");
    return true;
  }
  made.theoretical = row->flop_per_clock;
  made.limit_from = row->source;
  // The hardware has powers of two; loops lose a little.
  const double snapped = std::exp2(std::round(std::log2(figure->median)));
  const Verdict verdict = snapped == row->flop_per_clock ? Verdict::pass : Verdict::warn;
  const std::string detail =
      fmt::format("{:.0f} FLOP per clock and multiprocessor, {:.0f} is "
                  "what {} should have",
                  figure->median, row->flop_per_clock, target.gpu->gpu->name);
  if (verdict == Verdict::pass)
    conclude(made, target.row, verdict, detail); // independent of clocks, power and other users
  else
    conclude_rate(all, target, verdict, 1, detail, made);
  return true;
}

bool judge_told(const VerifyCase&, const VerifyTarget& target, JudgedStep& made) {
  const auto figure = figure_that_counts(target.row, *target.step, false);
  if (figure) show(*figure, made);
  made.verdict = Verdict::info;
  return true;
}

} // namespace gpuvet
