#include "cli/verify/plan.hpp"

#include <algorithm>
#include <string_view>

namespace gpuvet {
namespace {

struct Planner {
  const PlanInput& input;
  std::vector<StepTime> times;
  std::vector<int> all;

  void add(PhaseLane& lane, const Step& step, const std::string& gpu, const std::string& peer = {},
           int peer_ordinal = -1) const {
    const double seconds = seconds_of(times, step.id);
    if (seconds <= 0) return; // left out of this run
    StepRequest request;
    request.step = &step;
    request.gpu = gpu;
    request.peer = peer;
    request.options.seconds = seconds;
    request.options.seed = input.seed;
    request.options.peer = peer_ordinal;
    request.options.all = all;
    request.options.libraries = input.libraries;
    lane.requests.push_back(std::move(request));
  }

  PhaseLane lane(const PlannedGpu& gpu) const { return {gpu.ordinal, {}}; }
};

// Copies between host and GPU share what they measure: one GPU after the other.
bool in_turn(const Step& step) {
  return std::string_view(step.id).starts_with("copy-");
}

template <class Wanted> void add_phases(const Planner& planner, const std::string& layer,
                                        const std::vector<Step>& steps, bool together,
                                        Wanted wanted, std::vector<Phase>& phases) {
  Phase phase{layer, {}};
  for (const PlannedGpu& gpu : planner.input.gpus) {
    PhaseLane lane = planner.lane(gpu);
    for (const Step& step : steps)
      if (wanted(step)) planner.add(lane, step, gpu.uuid);
    if (lane.requests.empty()) continue;
    phase.lanes.push_back(std::move(lane));
    if (together) continue;
    phases.push_back(std::move(phase));
    phase = {layer, {}};
  }
  if (!phase.lanes.empty()) phases.push_back(std::move(phase));
}

void add_pairs(const Planner& planner, std::vector<Phase>& phases) {
  for (const PlannedGpu& from : planner.input.gpus) {
    PhaseLane lane = planner.lane(from); // one child for all pairs of a GPU: starting takes time
    for (const PlannedGpu& to : planner.input.gpus)
      for (const Step& step : pair_steps())
        if (from.ordinal != to.ordinal) planner.add(lane, step, from.uuid, to.uuid, to.ordinal);
    if (!lane.requests.empty()) phases.push_back({"bandwidth", {std::move(lane)}});
  }
}

// Once, by the first GPU's child, on all of them.
template <class Wanted> void add_machine_steps(const Planner& planner, const std::string& layer,
                                               const std::vector<Step>& steps, Wanted wanted,
                                               std::vector<Phase>& phases) {
  if (planner.input.gpus.size() < 2) return;
  PhaseLane lane = planner.lane(planner.input.gpus.front());
  for (const Step& step : steps)
    if (wanted(step)) planner.add(lane, step, "");
  if (!lane.requests.empty()) phases.push_back({layer, {std::move(lane)}});
}

bool any(const Step&) {
  return true;
}

bool small_library_check(const Step& step) {
  return std::string_view(step.id).starts_with("library-");
}

bool of_all_gpus(const Step& step) {
  return std::string_view(step.id) == "all-reduce";
}

bool library_load(const Step& step) {
  return !small_library_check(step) && !of_all_gpus(step);
}

} // namespace

std::vector<Phase> plan_phases(const PlanInput& input) {
  const VerifyOptions& options = input.options;
  const size_t count = input.gpus.size();
  Planner planner{input,
                  plan_times({.quick = options.quick,
                              .seconds = options.seconds,
                              .gpus = count,
                              .pairs = count * (count - 1),
                              .stress = asks_for(options, "stress")}),
                  {}};
  for (const PlannedGpu& gpu : input.gpus)
    planner.all.push_back(gpu.ordinal);
  std::vector<Phase> phases;
  if (asks_for(options, "device")) add_phases(planner, "device", device_steps(), true, any, phases);
  if (asks_for(options, "bandwidth")) {
    add_phases(planner, "bandwidth", bandwidth_steps(), false, in_turn, phases);
    add_phases(
        planner, "bandwidth", bandwidth_steps(), true,
        [](const Step& step) { return !in_turn(step); }, phases);
    add_machine_steps(planner, "bandwidth", machine_steps(), any, phases);
    add_pairs(planner, phases);
  }
  if (asks_for(options, "framework"))
    add_phases(planner, "framework", library_steps(), true, small_library_check, phases);
  if (asks_for(options, "stress")) {
    add_phases(planner, "stress", stress_steps(), true, any, phases);
    add_phases(planner, "stress", library_steps(), true, library_load, phases);
    add_machine_steps(planner, "stress", library_steps(), of_all_gpus, phases);
  }
  return phases;
}

} // namespace gpuvet
