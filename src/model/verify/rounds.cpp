#include "model/verify/rounds.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>

namespace gpuvet {
namespace {

void add_samples(StepResult& all, const StepResult& round) {
  for (const auto& [name, reading] : round.readings) {
    Reading& to = all.readings[name];
    to.unit = reading.unit;
    to.samples.insert(to.samples.end(), reading.samples.begin(), reading.samples.end());
  }
}

// A round that was not run says nothing about those that were.
void add_round(StepResult& all, const StepResult& round) {
  add_samples(all, round);
  all.begin_s = std::min(all.begin_s, round.begin_s);
  all.end_s = std::max(all.end_s, round.end_s);
  const bool was_bad = all.state != StepState::done && all.state != StepState::not_run;
  if (was_bad || round.state == StepState::not_run) return;
  std::map<std::string, Reading> readings = std::move(all.readings);
  const double begin_s = all.begin_s, end_s = all.end_s;
  all = round;
  all.readings = std::move(readings);
  all.begin_s = begin_s;
  all.end_s = end_s;
}

} // namespace

void join_rounds(Measurements& measured) {
  std::vector<StepResult> joined;
  std::map<std::tuple<std::string, std::string, std::string>, std::pair<size_t, int>> places;
  for (StepResult& round : measured.steps) {
    auto [place, is_new] = places.try_emplace({round.id, round.gpu, round.peer}, joined.size(), 0);
    ++place->second.second;
    if (is_new)
      joined.push_back(std::move(round));
    else
      add_round(joined[place->second.first], round);
  }
  for (const auto& [key, place] : places)
    if (place.second > 1) joined[place.first].words["rounds"] = std::to_string(place.second);
  measured.steps = std::move(joined);
}

} // namespace gpuvet
