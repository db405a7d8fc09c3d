#include "cli/verify/plan.hpp"

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

using Steps = std::vector<const Step*>;

// Those of one list that judge a layer, in one way of taking turns.
Steps chosen(const VerifyTables& tables, const std::vector<Step>& steps, const std::string& layer,
             VerifyTurn turn) {
  Steps found;
  for (const Step& step : steps) {
    const VerifyTime* time = find_time(tables, step.id);
    if (time && time->turn == turn && layer_of_step(tables, step.id) == layer)
      found.push_back(&step);
  }
  return found;
}

// On each GPU, `together` at the same time.
void add_phases(const Planner& planner, const std::string& layer, const Steps& steps, bool together,
                std::vector<Phase>& phases) {
  Phase phase{layer, {}};
  for (const PlannedGpu& gpu : planner.input.gpus) {
    PhaseLane lane = planner.lane(gpu);
    for (const Step* step : steps)
      planner.add(lane, *step, gpu.uuid);
    if (lane.requests.empty()) continue;
    phase.lanes.push_back(std::move(lane));
    if (together) continue;
    phases.push_back(std::move(phase));
    phase = {layer, {}};
  }
  if (!phase.lanes.empty()) phases.push_back(std::move(phase));
}

void add_pairs(const Planner& planner, const std::string& layer, const Steps& steps,
               std::vector<Phase>& phases) {
  for (const PlannedGpu& from : planner.input.gpus) {
    PhaseLane lane = planner.lane(from); // one child for all pairs of a GPU: starting takes time
    for (const PlannedGpu& to : planner.input.gpus)
      for (const Step* step : steps)
        if (from.ordinal != to.ordinal) planner.add(lane, *step, from.uuid, to.uuid, to.ordinal);
    if (!lane.requests.empty()) phases.push_back({layer, {std::move(lane)}});
  }
}

// Once, by the first GPU's child, on all of them.
void add_machine_steps(const Planner& planner, const std::string& layer, const Steps& steps,
                       std::vector<Phase>& phases) {
  if (planner.input.gpus.size() < 2) return;
  PhaseLane lane = planner.lane(planner.input.gpus.front());
  for (const Step* step : steps)
    planner.add(lane, *step, "");
  if (!lane.requests.empty()) phases.push_back({layer, {std::move(lane)}});
}

} // namespace

std::vector<Phase> plan_phases(const PlanInput& input) {
  const VerifyOptions& options = input.options;
  const size_t count = input.gpus.size();
  Planner planner{input,
                  plan_times(input.tables, {.quick = options.quick,
                                            .seconds = options.seconds,
                                            .gpus = count,
                                            .pairs = count * (count - 1),
                                            .stress = asks_for(options, "stress")}),
                  {}};
  for (const PlannedGpu& gpu : input.gpus)
    planner.all.push_back(gpu.ordinal);
  // Each list has its own child: a library's state is not to disturb gpuvet's own kernels.
  const std::vector<Step>* lists[] = {&device_steps(),  &bandwidth_steps(), &stress_steps(),
                                      &library_steps(), &machine_steps(),   &pair_steps()};
  std::vector<Phase> phases;
  for (const char* layer : {"device", "bandwidth", "framework", "stress"}) {
    if (!asks_for(options, layer)) continue;
    for (VerifyTurn turn :
         {VerifyTurn::in_turn, VerifyTurn::at_once, VerifyTurn::machine, VerifyTurn::each_pair})
      for (const std::vector<Step>* list : lists) {
        const Steps steps = chosen(input.tables, *list, layer, turn);
        if (turn == VerifyTurn::machine)
          add_machine_steps(planner, layer, steps, phases);
        else if (turn == VerifyTurn::each_pair)
          add_pairs(planner, layer, steps, phases);
        else
          add_phases(planner, layer, steps, turn == VerifyTurn::at_once, phases);
      }
  }
  return phases;
}

} // namespace gpuvet
