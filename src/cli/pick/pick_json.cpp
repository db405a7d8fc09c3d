#include "cli/pick/pick_json.hpp"

#include "formats/json_write.hpp"

namespace gpuvet {
namespace {

const char* fit_name(Fit fit) {
  return fit == Fit::fits ? "fits" : fit == Fit::no ? "no" : "unknown";
}

const char* obstacle_name(Obstacle obstacle) {
  switch (obstacle) {
  case Obstacle::none:
    return "none";
  case Obstacle::planned:
    return "planned";
  case Obstacle::code_unknown:
    return "code-unknown";
  case Obstacle::no_code:
    return "no-code";
  case Obstacle::ptx_unknown:
    return "ptx-unknown";
  case Obstacle::ptx_too_new:
    return "ptx-too-new";
  case Obstacle::may_fail:
    return "may-fail";
  case Obstacle::older_than_gpu:
    return "older-than-gpu";
  case Obstacle::drops_gpu:
    return "driver-drops-gpu";
  case Obstacle::driver_old:
    return "driver-older-than-gpu";
  case Obstacle::toolkit_new:
    return "driver-older-than-cuda";
  case Obstacle::cuda_unknown:
    return "cuda-unknown";
  case Obstacle::python:
    return "python";
  case Obstacle::python_maybe:
    return "python-experimental";
  case Obstacle::python_unknown:
    break;
  }
  return "python-unknown";
}

Json targets(const std::vector<Target>& list, bool is_known, std::string (*name)(Target)) {
  if (!is_known) return Json{};
  Json json = json_list();
  for (Target target : list)
    json.items.push_back(json_of(name(target)));
  return json;
}

Json build_json(const BuildFit& fit, const PickQuery& query) {
  const FrameworkBuild& build = *fit.build;
  Json json = json_object();
  set(json, "release", json_of(fit.release));
  set(json, "releases", json_of(build.version));
  set(json, "variant", json_or_null(build.variant));
  set(json, "cuda", json_or_null(build.cuda));
  set(json, "platform", json_of(build.platform));
  set(json, "python", json_or_null(build.python));
  set(json, "sass", targets(build.sass, build.sass_known, sm_name));
  set(json, "ptx", targets(build.ptx, build.ptx_known, compute_name));
  set(json, "ptx_isa", fit.ptx_isa ? json_of(to_string(*fit.ptx_isa)) : Json{});
  set(json, "fit", json_of(fit_name(fit.fit)));
  set(json, "obstacle", json_of(obstacle_name(fit.obstacle)));
  set(json, "why", json_or_null(fit.why));
  Json gpus = json_list();
  for (size_t i = 0; i < fit.loads.size(); ++i) {
    Json gpu = json_object();
    set(gpu, "gpu", json_of(query.devices[i].name));
    bool open = !build.sass_known || (!loads(fit.loads[i]) && !build.ptx_known);
    set(gpu, "verdict",
        json_of(open ? std::string("unknown") : outcome_name(fit.loads[i].outcome)));
    gpus.items.push_back(std::move(gpu));
  }
  set(json, "gpus", std::move(gpus));
  set(json, "minor_version_compatibility", json_of(fit.minor_compatibility));
  set(json, "needs_driver", json_or_null(fit.needs_driver));
  set(json, "needs_driver_why", json_or_null(fit.needs_driver_why));
  set(json, "confidence", json_or_null(build.confidence));
  set(json, "note", json_or_null(build.note));
  set(json, "sources", json_of(build.sources));
  return json;
}

Json pick_of(const Pick& pick, const PickQuery& query) {
  Json json = json_object();
  set(json, "framework", json_of(pick.framework));
  set(json, "title", json_of(pick.title));
  bool open = pick.builds.empty() || pick.any_unknown;
  set(json, "answer", json_of(pick.best >= 0 ? "fits" : open ? "unknown" : "no"));
  Json best, install;
  if (pick.best >= 0) {
    best = build_json(pick.builds[static_cast<size_t>(pick.best)], query);
    install = json_object();
    set(install, "command", json_or_null(pick.install.command));
    set(install, "note", json_or_null(pick.install.note));
    set(install, "source", json_or_null(pick.install.source));
  }
  set(json, "pick", std::move(best));
  set(json, "install", std::move(install));
  set(json, "alone", json_of(pick.alone));
  Json newer = json_list();
  for (const NewerBuilds& line : pick.newer)
    newer.items.push_back(json_of(line.text));
  set(json, "why_nothing_newer", std::move(newer));
  Json builds = json_list();
  for (const BuildFit& fit : pick.builds)
    builds.items.push_back(build_json(fit, query));
  set(json, "builds", std::move(builds));
  return json;
}

} // namespace

std::string pick_json(const std::vector<Pick>& picks, const PickContext& context) {
  Json json = json_object();
  set(json, "schema", json_of("gpuvet-pick/1"));
  set(json, "gpuvet", json_of(GPUVET_VERSION));
  set(json, "gpus_from", json_of(context.gpus_from));
  Json gpus = json_list();
  for (const LoadDevice& device : context.query.devices) {
    Json gpu = json_object();
    set(gpu, "name", json_of(device.name));
    set(gpu, "compute_capability", json_of(cc_name(device.sm)));
    gpus.items.push_back(std::move(gpu));
  }
  set(json, "gpus", std::move(gpus));
  auto version = [](const std::string& text, const std::string& from) {
    Json one = json_object();
    set(one, "version", json_of(text));
    set(one, "from", json_of(from));
    return one;
  };
  const PickQuery& query = context.query;
  set(json, "driver",
      query.driver ? version(query.driver->driver.text, query.driver->from) : Json{});
  set(json, "python",
      query.python ? version(to_string(*query.python), context.python_from) : Json{});
  set(json, "platform", json_of(context.platform));
  set(json, "notes", json_of(context.notes));
  Json frameworks = json_list();
  for (const Pick& pick : picks)
    frameworks.items.push_back(pick_of(pick, query));
  set(json, "frameworks", std::move(frameworks));
  return write_json(json);
}

} // namespace gpuvet
