#include "judge/pick/build_fit.hpp"

#include "base/text.hpp"
#include "facts/pick/pick.hpp"
#include "judge/load/driver_needs.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

bool only_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::string targets_text(const std::vector<Target>& targets) {
  std::vector<std::string> names;
  for (Target target : targets)
    names.push_back(cc_name(target.sm) + (target.suffix ? std::string(1, target.suffix) : ""));
  return joined(names, " ");
}

std::string code_text(const FrameworkBuild& build) {
  std::string ptx = !build.ptx_known    ? "PTX not established"
                    : build.ptx.empty() ? "no PTX"
                                        : "PTX for " + targets_text(build.ptx);
  return fmt::format("machine code for {}, {}", targets_text(build.sass), ptx);
}

// The first CUDA that knows a capability.
std::optional<Version> first_cuda(uint32_t sm, const LoadRules& rules) {
  for (const SassRange& range : rules.sass_ranges)
    if (range.target == Target{sm, 0}) return parse_version(range.first_cuda);
  return std::nullopt;
}

// Is a build's CUDA certainly older? Of "12" nothing but the major version is known.
bool older(const BuildCuda& cuda, const Version& than) {
  return cuda.exact ? *cuda.version < than : cuda.version->major() < than.major();
}

struct Judged {
  Obstacle obstacle = Obstacle::none;
  std::string why;
  LoadVerdict load;
};

Judged judge_code(const FrameworkBuild& build, const LoadDevice& device, const PickQuery& query,
                  const LoadRules& rules) {
  const LoadDriver* driver = query.driver ? &query.driver->driver : nullptr;
  std::optional<IsaRange> isas = isa_range(build, query.tables, rules);
  Version newest = rules.ptx_isas.empty() ? Version{{1, 0}} : rules.ptx_isas.back().isa;
  LoadVerdict load =
      load_container(container_of(build, isas ? isas->high : newest), device, driver, {}, rules);
  // PTX carries the framework's own kernels to a newer GPU, not cuBLAS and cuDNN beside them.
  BuildCuda cuda = cuda_of(build);
  auto first = first_cuda(device.sm, rules);
  if (load.outcome == LoadOutcome::jit && cuda.version && first && older(cuda, *first))
    return {Obstacle::older_than_gpu,
            fmt::format(
                "only its PTX fits, and its CUDA is older than {}, the first for {}: whether its "
                "cuBLAS and cuDNN serve this GPU is not established",
                to_string(*first), cc_name(device.sm)),
            load};
  if (loads(load)) return {Obstacle::none, {}, load};
  if (load.outcome == LoadOutcome::may_fail) return {Obstacle::may_fail, load.reason, load};
  if (load.error == 222) {
    bool certain =
        isas && !loads(load_container(container_of(build, isas->low), device, driver, {}, rules));
    if (certain) return {Obstacle::ptx_too_new, load.reason, load};
    return {Obstacle::ptx_unknown,
            fmt::format("only its PTX fits, and of which version that is, is not established ({})",
                        build.cuda.empty() ? "no CUDA version" : "CUDA " + build.cuda),
            load};
  }
  if (!build.ptx_known)
    return {Obstacle::ptx_unknown, code_text(build) + ": only PTX could serve this GPU", load};
  return {Obstacle::no_code, code_text(build), load};
}

// Does the driver know the GPU, or know it no longer?
Judged judge_gpu(const LoadDevice& device, const LoadDriver& driver, const LoadRules& rules) {
  if (driver.version.parts.empty()) return {};
  Refusal refusal = driver_refuses(device, driver, rules);
  if (refusal.reason.empty()) return {};
  bool dropped = std::any_of(rules.ends.begin(), rules.ends.end(), [&](const auto& end) {
    return device.sm >= end.first_sm && device.sm <= end.last_sm &&
           driver.version.major() > end.last_branch;
  });
  return {dropped ? Obstacle::drops_gpu : Obstacle::driver_old, refusal.reason, {}};
}

Judged judge_cuda(const FrameworkBuild& build, const LoadDriver& driver, const LoadRules& rules) {
  BuildCuda cuda = cuda_of(build);
  if (!cuda.version)
    return {Obstacle::cuda_unknown, "for which CUDA it was built is not established", {}};
  Refusal refusal = cuda_refuses(rules, driver, *cuda.version);
  if (refusal.reason.empty()) return {};
  // "built with CUDA 13.2 (package), which needs driver ...": the same for the whole major version.
  constexpr std::string_view which = ", which ";
  size_t at = refusal.reason.find(which);
  std::string why = at == std::string::npos || cuda.version->major() < 11
                        ? refusal.reason
                        : fmt::format("CUDA {} {}", cuda.version->major(),
                                      refusal.reason.substr(at + which.size()));
  return {Obstacle::toolkit_new, std::move(why), {}};
}

Judged judge_python(const FrameworkBuild& build, const Version& python) {
  std::string wanted = to_string(Version{{python.major(), python.minor()}});
  switch (python_in(build.python, python)) {
  case PythonAnswer::yes:
    break;
  case PythonAnswer::experimental:
    return {Obstacle::python_maybe,
            fmt::format("wheels for Python {} are experimental ({})", wanted, build.python),
            {}};
  case PythonAnswer::no:
    return {Obstacle::python,
            fmt::format("no wheel for Python {}: there are {}", wanted, build.python),
            {}};
  case PythonAnswer::unknown:
    return {Obstacle::python_unknown, "for which Pythons there are wheels is not established", {}};
  }
  return {};
}

// Whether the obstacle says "no", rather than "not known".
bool certain(Obstacle obstacle) {
  switch (obstacle) {
  case Obstacle::no_code:
  case Obstacle::ptx_too_new:
  case Obstacle::drops_gpu:
  case Obstacle::driver_old:
  case Obstacle::toolkit_new:
  case Obstacle::python:
    return true;
  default:
    return false;
  }
}

// A certain "no" outweighs what is not known; else the first counts.
void weigh(BuildFit& fit, const Judged& judged) {
  if (judged.obstacle == Obstacle::none) return;
  bool better = fit.obstacle == Obstacle::none || (certain(judged.obstacle) && fit.fit != Fit::no);
  if (!better) return;
  fit.obstacle = judged.obstacle;
  fit.why = judged.why;
  fit.fit = certain(judged.obstacle) ? Fit::no : Fit::unknown;
}

} // namespace

BuildCuda cuda_of(const FrameworkBuild& build) {
  std::string_view text = trimmed(build.cuda);
  std::vector<std::string> parts = split_at(text, '.');
  bool plain = std::all_of(parts.begin(), parts.end(), only_digits);
  if (plain && parts.size() >= 2) return {parse_version(text), true};
  if (plain && parts.size() == 1) return {parse_version(text), false};
  if (parts.size() == 2 && only_digits(parts[0]) && parts[1] == "x")
    return {parse_version(parts[0]), false};
  return {};
}

std::optional<IsaRange> isa_range(const FrameworkBuild& build, const PickTables* tables,
                                  const LoadRules& rules) {
  if (tables)
    for (const MeasuredPtx& ptx : tables->ptx)
      if (ptx.framework == build.framework && ptx.version == build.version)
        return IsaRange{ptx.isa, ptx.isa};
  BuildCuda cuda = cuda_of(build);
  std::optional<IsaRange> range;
  if (!cuda.version) return range;
  for (const PtxIsa& isa : rules.ptx_isas) { // ascending
    if (isa.cuda.major() != cuda.version->major()) continue;
    if (cuda.exact && isa.cuda.minor() > cuda.version->minor()) continue;
    if (!range) range = IsaRange{isa.isa, isa.isa};
    range->high = isa.isa;
    if (cuda.exact) range->low = isa.isa;
  }
  return range;
}

Container container_of(const FrameworkBuild& build, const Version& isa) {
  Container code;
  for (Target target : build.sass) {
    Image image;
    image.kind = ImageKind::cubin;
    image.target = target;
    code.images.push_back(image);
  }
  for (Target target : build.ptx) {
    Image image;
    image.kind = ImageKind::ptx;
    image.target = target;
    image.version_major = static_cast<uint16_t>(isa.major());
    image.version_minor = static_cast<uint16_t>(isa.minor());
    code.images.push_back(image);
  }
  return code;
}

PythonAnswer python_in(std::string_view range, const Version& python) {
  if (range.empty()) return PythonAnswer::unknown;
  size_t bracket = range.find('(');
  if (holds_release(release_ranges(trimmed(range.substr(0, bracket))), python))
    return PythonAnswer::yes;
  if (bracket != std::string_view::npos)
    for (const std::string& word : words_of(range.substr(bracket + 1)))
      if (auto version = parse_version(word); version && version->major() == python.major() &&
                                              version->minor() == python.minor() &&
                                              word.find(':') == std::string::npos)
        return PythonAnswer::experimental;
  return PythonAnswer::no;
}

BuildFit judge_build(const FrameworkBuild& build, const PickQuery& query, const LoadRules& rules) {
  BuildFit fit;
  fit.build = &build;
  fit.release = newest_release(build.version);
  fit.version = parse_version(fit.release).value_or(Version{});
  fit.cuda = cuda_of(build).version.value_or(Version{});
  fit.fit = Fit::fits;
  const LoadDriver* driver = query.driver ? &query.driver->driver : nullptr;
  if (build.confidence == "low")
    weigh(fit,
          {Obstacle::planned, "what was released is not established, only what was planned", {}});
  for (const LoadDevice& device : query.devices) {
    // What the driver does not drive, no build helps.
    if (driver && !query.driver->drives_gpus) weigh(fit, judge_gpu(device, *driver, rules));
    Judged code;
    if (build.sass_known)
      code = judge_code(build, device, query, rules);
    else
      code = {Obstacle::code_unknown, "its machine code is not established", {}};
    weigh(fit, code);
    fit.jit = fit.jit || code.load.outcome == LoadOutcome::jit;
    fit.loads.push_back(std::move(code.load));
  }
  if (driver) weigh(fit, judge_cuda(build, *driver, rules));
  if (query.python) weigh(fit, judge_python(build, *query.python));
  if (driver && driver->cuda && driver->cuda->major() == fit.cuda.major())
    fit.minor_compatibility = fit.cuda > *driver->cuda;
  if (auto isas = isa_range(build, query.tables, rules); isas && isas->low == isas->high)
    fit.ptx_isa = isas->high;
  return fit;
}

void add_needed_driver(BuildFit& fit, const PickQuery& query, const LoadRules& rules) {
  BuildCuda cuda = cuda_of(*fit.build);
  std::optional<IsaRange> isas = isa_range(*fit.build, query.tables, rules);
  if (!cuda.version || !isas) return;
  Binary binary;
  binary.containers.push_back(container_of(*fit.build, isas->high));
  binary.toolkit = known(*cuda.version, "release");
  for (const LoadDevice& device : query.devices) {
    FileVerdict verdict = judge_file(binary, device, nullptr, {}, rules);
    auto least = parse_version(verdict.needs_driver), now = parse_version(fit.needs_driver);
    if (!least || (now && *now >= *least)) continue;
    fit.needs_driver = verdict.needs_driver;
    fit.needs_driver_why = verdict.needs_driver_why;
  }
}

} // namespace gpuvet
