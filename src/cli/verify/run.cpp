#include "cli/verify/run.hpp"

#include "cli/machine_source.hpp"
#include "cli/verify/display.hpp"
#include "cli/verify/environment.hpp"
#include "cli/verify/plan.hpp"
#include "cli/verify/side_by_side.hpp"
#include "cli/verify/taking_part.hpp"
#include "formats/verify/verify_lines.hpp"
#include "gpu/work/self_test/self_test.hpp"
#include "gpu/work/survey.hpp"
#include "gpu/work/telemetry.hpp"
#include "judge/verify/ahead.hpp"
#include "os/random.hpp"

#include <algorithm>
#include <ctime>
#include <mutex>
#include <optional>
#include <thread>

namespace gpuvet {
namespace {

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

uint64_t new_seed() {
  return random_number() | 1U;
}

// Everything that the phases share.
struct Running {
  const VerifyOptions& options;
  const RunHooks& hooks;
  Moment start;
  VerifyDisplay& display;
  Measurements& measured;
  const VerifyTables& tables;
  const LimitsAhead limits;
  std::mutex mutex;                // of `measured` and of the record
  bool frameworks_done = false;    // once is enough in a soak
  std::optional<SideBySide> early; // frameworks that are imported while others measure

  bool interrupted() const { return hooks.interrupted && hooks.interrupted->load(); }

  void take(const StepResult& result) {
    std::lock_guard lock(mutex);
    if (hooks.record) hooks.record(step_line(result));
    measured.steps.push_back(result);
  }
};

std::string name_of(const Measurements& measured, const std::string& uuid) {
  for (const VerifiedGpu& gpu : measured.gpus)
    if (gpu.uuid == uuid) return label_of(gpu);
  return {};
}

RunnerOptions runner_options(Running& running) {
  RunnerOptions options;
  options.start = running.start;
  options.interrupted = running.hooks.interrupted;
  options.news = [&](const std::string& gpu, const StepNews& news) {
    const auto found = running.limits.find({news.step, gpu});
    std::optional<double> limit;
    if (found != running.limits.end() && found->second.unit == news.unit)
      limit = found->second.value;
    running.display.show(name_of(running.measured, gpu), news, limit);
  };
  return options;
}

void run_lane(Running& running, const PhaseLane& lane) {
  RunnerOptions options = runner_options(running);
  options.finished = [&](const StepResult& result) { running.take(result); };
  run_steps(lane.ordinal, lane.requests, options);
}

void run_phase(Running& running, const Phase& phase) {
  std::vector<std::jthread> threads;
  for (size_t at = 1; at < phase.lanes.size(); ++at)
    threads.emplace_back([&, at] { run_lane(running, phase.lanes[at]); });
  run_lane(running, phase.lanes.front());
}

void leave_out(Running& running, const StepRequest& request, const std::string& why) {
  StepResult result;
  result.id = request.step->id;
  result.gpu = request.gpu;
  result.peer = request.peer;
  result.begin_s = result.end_s = seconds_since(running.start);
  result.reason = why;
  running.take(result);
}

Phase usable(Running& running, Phase phase) {
  for (PhaseLane& lane : phase.lanes)
    std::erase_if(lane.requests, [&](const StepRequest& request) {
      const std::string why = why_not(running.measured, request);
      if (!why.empty()) leave_out(running, request, why);
      return !why.empty();
    });
  std::erase_if(phase.lanes, [](const PhaseLane& lane) { return lane.requests.empty(); });
  return phase;
}

FrameworkRun framework_run(Running& running) {
  FrameworkRun run;
  run.start = running.start;
  run.interrupted = running.hooks.interrupted;
  run.news = [&](const std::string& python, const StepNews& news) {
    running.display.show(python, news);
  };
  return run;
}

// One Python after the other.
void run_frameworks(Running& running, const FrameworkGroups& groups) {
  if (running.early) running.early->let_go();
  running.early.reset();
  for (const auto& requests : groups) {
    if (running.interrupted()) break;
    SideBySide(
        requests, framework_run(running), [&](const StepResult& result) { running.take(result); },
        false);
  }
}

// While other layers measure, where seconds count: importing takes none of the GPU's time.
void import_early(Running& running, FrameworkGroups& groups) {
  if (!running.options.quick || groups.empty()) return;
  running.early.emplace(
      groups.front(), framework_run(running),
      [&](const StepResult& result) { running.take(result); }, true);
  groups.erase(groups.begin());
}

void run_phases(Running& running, const std::vector<Phase>& phases, const Machine& machine) {
  bool frameworks = !asks_for(running.options, "framework") || running.options.self_test ||
                    running.frameworks_done;
  FrameworkGroups groups;
  if (!frameworks) groups = framework_groups(machine, running.measured.seed, running.options.quick);
  import_early(running, groups);
  for (const Phase& phase : phases) {
    if (!frameworks && (phase.layer == "framework" || phase.layer == "stress")) {
      run_frameworks(running, groups);
      frameworks = running.frameworks_done = true;
    }
    const Phase now = usable(running, phase);
    if (!now.lanes.empty()) run_phase(running, now);
    if (phase.layer != "device") continue;
    std::lock_guard lock(running.mutex); // frameworks may be telling how their import failed
    mark_unusable(running.measured);
  }
  if (frameworks) return;
  run_frameworks(running, groups);
  running.frameworks_done = true;
}

Machine look_around(const VerifyOptions& options) {
  MachineOptions machine_options;
  machine_options.cuda = false; // the survey asks it
  machine_options.pythons = options.pythons;
  auto source = machine_source(machine_options);
  return source ? see_machine(*source, machine_options) : Machine();
}

PlanInput plan_input(const VerifyOptions& options, const Running& running, const Machine& machine) {
  PlanInput input{{}, options, library_files(machine), running.measured.seed, running.tables};
  for (const VerifiedGpu& gpu : running.measured.gpus)
    if (gpu.why_unusable.empty()) input.gpus.push_back({gpu.uuid, gpu.ordinal});
  return input;
}

constexpr double kRound_s = 600;     // of a soak: what a crash of the machine may cost
constexpr double kShortRound_s = 60; // less is no round

// The layers once, then the load again and again for as long as was asked.
void run_soak(Running& running, const Machine& machine) {
  const double until_s = running.options.seconds;
  VerifyOptions options = running.options;
  options.layers = {"stress"};
  for (;;) {
    const double left_s = until_s - seconds_since(running.start);
    if (left_s < kShortRound_s || running.interrupted()) return;
    options.seconds = std::min(left_s, kRound_s);
    PlanInput input = plan_input(options, running, machine);
    if (input.gpus.empty()) return;
    input.seed = running.measured.seed + running.measured.steps.size(); // new data each round
    run_phases(running, plan_phases(input), machine);
  }
}

// A detector that finds nothing makes every pass worthless, so it is tried first.
void try_detectors(Running& running) {
  for (const VerifiedGpu& gpu : running.measured.gpus) {
    if (running.interrupted()) return;
    SelfTest test{gpu.ordinal, gpu.uuid, running.measured.seed, running.options.self_test};
    RunnerOptions told_at_once = runner_options(running);
    told_at_once.finished = [&](const StepResult& result) { running.take(result); };
    run_self_tests(test, told_at_once);
    if (!running.options.self_test) return; // at every start one GPU is enough
  }
}

void run_all(Running& running, const Machine& machine) {
  try_detectors(running);
  VerifyOptions options = running.options;
  if (options.self_test) return;
  if (options.soak_hours > 0) options.seconds = std::min(options.seconds, kRound_s);
  const auto phases = plan_phases(plan_input(options, running, machine));
  run_phases(running, phases, machine);
  if (options.soak_hours > 0) run_soak(running, machine);
}

} // namespace

Measurements run_verification(const VerifyOptions& options, const RunHooks& hooks,
                              const VerifyTables& tables, const Facts& facts) {
  const Moment start = std::chrono::steady_clock::now();
  Measurements measured;
  measured.version = GPUVET_VERSION;
  measured.started = utc_now();
  measured.quick = options.quick;
  measured.continued_s = options.continued_s;
  measured.seed = options.seed ? options.seed : new_seed();
  Machine machine;
  Survey survey = survey_gpus(
      {.deadline_s = options.deadline_s, .cuda_library = {}, .nvml_library = {}, .meanwhile = [&] {
         machine = look_around(options);
       }});
  measured.driver = survey.driver;
  measured.cuda = survey.cuda;
  measured.no_gpu_why = survey.no_gpu_why;
  measured.gpus = std::move(survey.gpus);
  if (measured.no_gpu_why.empty()) measured.no_gpu_why = why_not_named(options, measured.gpus);
  if (!measured.no_gpu_why.empty()) measured.gpus.clear();
  std::erase_if(measured.gpus, [&](const VerifiedGpu& gpu) { return !is_wanted(options, gpu); });
  if (measured.gpus.empty()) {
    measured.seconds = seconds_since(start);
    if (hooks.record) hooks.record(write_measurements(measured));
    return measured;
  }
  measured.host_kind = host_kind(machine);
  if (hooks.record) {
    std::string lines = run_line(measured);
    for (const VerifiedGpu& gpu : measured.gpus)
      lines += gpu_line(gpu); // again at the end, with what is known only then
    hooks.record(lines);
  }
  const double expected_s = options.quick || options.self_test ? 20 : options.seconds;
  VerifyDisplay display(hooks.progress, start, expected_s);
  const LimitsAhead limits = limits_ahead(measured, tables, facts);
  Running running{options, hooks, start, display, measured, tables, limits, {}, false, {}};
  {
    Telemetry telemetry(measured.gpus, start);
    run_all(running, machine);
    telemetry.finish(measured.gpus);
  }
  read_counters_after(measured.gpus);
  measured.interrupted = running.interrupted();
  measured.seconds = seconds_since(start);
  if (hooks.record) {
    for (const VerifiedGpu& gpu : measured.gpus)
      hooks.record(gpu_line(gpu) + moment_lines(gpu.uuid, gpu.moments));
    hooks.record(end_line(measured));
  }
  return measured;
}

} // namespace gpuvet
