// Checks of the CUDA driver's version: against runtimes, cuda-compat libraries, its own JIT
// compiler; and of the multi-process service.
#include "base/regex.hpp"
#include "base/text.hpp"
#include "judge/checks/common.hpp"
#include "judge/checks/subjects.hpp"
#include "judge/here/python.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

namespace gpuvet {
namespace {

// --- runtimes ------------------------------------------------------------------------------------

struct Runtime {
  Version version;
  std::string text;  // as written
  std::string whose; // "torch 2.9.0+cu130"
  std::string evidence;
  bool used = false; // by a Python environment or through the loader; else only a toolkit
};

void add_runtime(std::vector<Runtime>& runtimes, const std::string& version, std::string whose,
                 std::string evidence, bool used) {
  std::optional<Version> parsed = parse_version(version);
  if (!parsed || parsed->major() < 5) return;
  runtimes.push_back({*parsed, version, std::move(whose), std::move(evidence), used});
}

std::vector<Runtime> runtimes_of(const Machine& machine) {
  std::vector<Runtime> runtimes;
  for (const PythonEnv& env : machine.pythons) {
    auto cuda = env.torch.find("cuda");
    auto version = env.torch.find("version");
    if (cuda != env.torch.end() && !cuda->second.empty() && cuda->second != "None")
      add_runtime(runtimes, cuda->second,
                  "torch " + (version == env.torch.end() ? std::string() : version->second),
                  fmt::format("torch/version.py of {}: cuda = {}", env.executable, cuda->second),
                  true);
    if (auto built = env.tensorflow.find("cuda_version"); built != env.tensorflow.end())
      add_runtime(runtimes, built->second, "TensorFlow",
                  fmt::format("build_info of {}: cuda_version = {}", env.executable, built->second),
                  true);
  }
  for (const CudaLibrary& library : machine.libraries) {
    if (library.kind != "cudart") continue;
    std::string version = library.file.version;
    if (version.empty()) version = version_of_path(library.file.path);
    const ResolvedSoname* entry = resolved(machine, name_of(library.file.path));
    bool used =
        !library.python.empty() || (entry && (entry->found.path == library.file.path ||
                                              entry->found.real_path == library.file.real_path));
    add_runtime(runtimes, version, std::string(folder_of(library.file.path)),
                library.file.path + ": CUDA runtime " + version, used);
  }
  // What is in use first, then the newest.
  std::stable_sort(runtimes.begin(), runtimes.end(), [](const Runtime& a, const Runtime& b) {
    return a.used != b.used ? a.used : a.version > b.version;
  });
  return runtimes;
}

// The driver for programs of a CUDA major version as a whole; null: no such rule.
const MinorFloor* floor_of(const LoadRules& rules, uint32_t major) {
  for (const MinorFloor& floor : rules.floors)
    if (floor.cuda_major == major) return &floor;
  return nullptr;
}

// The oldest branch that serves this CUDA version; empty: none is known.
std::string branch_for(const LoadRules& rules, const Version& cuda) {
  for (const DriverBranch& branch : rules.branches)
    if (branch.cuda >= cuda) return fmt::format("{}", branch.branch);
  return {};
}

// The newest runtime that programs of an environment get, major and minor; nullopt: not known.
std::optional<Runtime> runtime_of(const Machine& machine, const PythonEnv& env) {
  Machine alone;
  alone.pythons = {env};
  for (const CudaLibrary& library : machine.libraries)
    if (std::find(env.folders.begin(), env.folders.end(), library.python) != env.folders.end())
      alone.libraries.push_back(library);
  std::vector<Runtime> runtimes = runtimes_of(alone);
  if (runtimes.empty()) return std::nullopt;
  runtimes.front().version.parts.resize(2, 0);
  return runtimes.front();
}

struct DriverSide {
  Version version, cuda;
  std::string version_text, cuda_text;
  std::vector<std::string> evidence;
};

std::optional<DriverSide> driver_side(const Machine& machine, const Facts& facts) {
  std::optional<Version> version = driver_version(machine);
  std::optional<Version> cuda = driver_cuda(machine, facts);
  if (!version || !cuda) return std::nullopt;
  DriverSide side{*version, *cuda, {}, to_string(*cuda), {}};
  const Observed<std::string>& module = machine.kernel.module_version;
  side.version_text = module ? *module : machine.nvml.driver_version;
  side.evidence.push_back(fmt::format(
      "{}: {}", module ? module.source : "nvmlSystemGetDriverVersion", side.version_text));
  // A compat libcuda that works serves more than the driver.
  if (machine.cuda.asked.state == AskState::answered && machine.cuda.driver_api) {
    side.cuda_text = cuda_name(*machine.cuda.driver_api);
    side.evidence.push_back("cuDriverGetVersion: " + side.cuda_text);
    side.cuda = std::max(side.cuda, *parse_version(side.cuda_text));
  }
  return side;
}

bool too_new(const Runtime& runtime, const DriverSide& driver, const LoadRules& rules) {
  Version needs = runtime.version;
  needs.parts.resize(2, 0);
  if (needs <= driver.cuda) return false;
  const MinorFloor* floor = floor_of(rules, needs.major());
  if (!floor) return true;
  std::optional<Version> least = parse_version(floor->min_linux);
  return needs.major() > driver.cuda.major() || (least && driver.version < *least);
}

Outcome runtime_too_new(const Machine& machine, const Facts& facts) {
  auto rules = facts.load_rules();
  if (!rules) return not_known(rules.error().what);
  if (machine.surroundings.jetson)
    return not_applicable("on Jetson driver and CUDA come with JetPack");
  std::vector<Runtime> runtimes = runtimes_of(machine);
  if (runtimes.empty()) return not_applicable("no CUDA runtime was found");
  std::optional<DriverSide> driver = driver_side(machine, facts);
  if (!driver)
    return not_known("the driver's version is not known: " +
                     machine.kernel.module_version.why_unknown);
  const Runtime* worst = nullptr;
  Outcome outcome = fires(driver->evidence);
  for (const Runtime& runtime : runtimes)
    if (too_new(runtime, *driver, **rules)) {
      if (!worst) worst = &runtime;
      outcome.evidence.push_back(runtime.evidence);
    }
  if (!worst)
    return ok(fmt::format("CUDA {} of the driver serves {}", driver->cuda_text,
                          runtimes.size() == 1 ? "the runtime here" : "all runtimes here"));
  const MinorFloor* floor = floor_of(**rules, worst->version.major());
  outcome.fields = {{"driver", driver->version_text},
                    {"api", driver->cuda_text},
                    {"runtime", worst->text},
                    {"whose", worst->whose},
                    {"branch", branch_for(**rules, worst->version)},
                    {"major", fmt::format("{}", driver->cuda.major())},
                    {"needed", floor ? floor->min_linux : branch_for(**rules, worst->version)}};
  if (!worst->used) outcome.severity = Severity::warning;
  return outcome;
}

Outcome runtime_newer_minor(const Machine& machine, const Facts& facts) {
  auto rules = facts.load_rules();
  if (!rules) return not_known(rules.error().what);
  if (machine.surroundings.jetson)
    return not_applicable("on Jetson driver and CUDA come with JetPack");
  std::vector<Runtime> runtimes = runtimes_of(machine);
  if (runtimes.empty()) return not_applicable("no CUDA runtime was found");
  std::optional<DriverSide> driver = driver_side(machine, facts);
  if (!driver) return not_known(machine.kernel.module_version.why_unknown);
  const Runtime* newest = nullptr;
  Outcome outcome = fires(driver->evidence);
  for (const Runtime& runtime : runtimes) {
    Version needs = runtime.version;
    needs.parts.resize(2, 0);
    if (!runtime.used || needs <= driver->cuda || too_new(runtime, *driver, **rules)) continue;
    if (!newest) newest = &runtime;
    outcome.evidence.push_back(runtime.evidence);
  }
  if (!newest) return ok("no runtime in use is newer than CUDA " + driver->cuda_text);
  outcome.fields = {{"driver", driver->version_text},
                    {"api", driver->cuda_text},
                    {"runtime", newest->text},
                    {"whose", newest->whose},
                    {"branch", branch_for(**rules, newest->version)}};
  return outcome;
}

// --- cuda-compat ---------------------------------------------------------------------------------

// The compat libcuda that programs get, with the fields of its rows; nullopt and why not.
std::optional<Picked> compat(const Machine& machine, Outcome& instead) {
  std::optional<Picked> picked = picked_libcuda(machine);
  if (!picked) {
    instead = not_applicable("no libcuda.so.1 is found");
    return std::nullopt;
  }
  if (!picked->compat) {
    instead = not_applicable(picked->path + " is no cuda-compat library");
    return std::nullopt;
  }
  return picked;
}

Outcome compat_finding(const Machine& machine, const Picked& picked) {
  Outcome outcome = fires({"libcuda.so.1: " + picked.path});
  outcome.fields = {{"compat", picked.version.empty() ? "of unknown version" : picked.version},
                    {"path", picked.path},
                    {"driver", machine.kernel.module_version.value.value_or("unknown")}};
  if (picked.edge) {
    add_way_out(machine, *picked.edge, outcome.fields);
    outcome.evidence[0] += " (" + outcome.fields["rule"] + ")";
  } else {
    outcome.fields["folder"] = std::string(folder_of(picked.path));
  }
  if (machine.kernel.module_version)
    outcome.evidence.push_back(fmt::format("{}: {}", machine.kernel.module_version.source,
                                           *machine.kernel.module_version));
  return outcome;
}

Outcome compat_consumer(const Machine& machine, const Facts& facts) {
  Outcome instead;
  std::optional<Picked> picked = compat(machine, instead);
  if (!picked) return instead;
  std::vector<std::string> segments = gpu_segments(machine, facts);
  if (segments.empty()) return not_known("the kind of GPU is not known (lspci -d 10de: -nn)");
  auto is = [&](std::string_view segment) {
    return std::find(segments.begin(), segments.end(), segment) != segments.end();
  };
  bool geforce = is("geforce") || is("mining");
  if (!geforce && is("")) return not_known("the GPU is not in gpuvet's table");
  if (!geforce) return ok("forward compatibility is for such GPUs");
  Outcome outcome = compat_finding(machine, *picked);
  outcome.fields["gpu"] = first_gpu_name(machine);
  outcome.evidence.push_back("GPU: " + first_gpu_name(machine));
  return outcome;
}

Outcome compat_older(const Machine& machine, const Facts&) {
  Outcome instead;
  std::optional<Picked> picked = compat(machine, instead);
  if (!picked) return instead;
  std::optional<Version> driver = driver_version(machine), library = parse_version(picked->version);
  if (!driver)
    return not_known("the module's version: " + machine.kernel.module_version.why_unknown);
  if (!library) return not_known("the version of " + picked->path);
  if (library->major() > driver->major()) return ok("the compat library is newer than the module");
  if (*library == *driver) return ok("both are of the same version");
  return compat_finding(machine, *picked);
}

// Branches of kernel modules that the library's note names; empty: no note. The key is "driver" in
// libcuda.so.580.95.05 (format 1).
std::vector<uint32_t> served_branches(const Picked& picked) {
  std::vector<uint32_t> branches;
  static const auto pattern = Regex::compile(R"rx("[Dd]river"\s*:\s*\[(?P<list>[0-9,\s]*)\])rx");
  if (!picked.file || !pattern) return branches;
  auto fields = pattern->fields_in(picked.file->forward_compatibility);
  if (!fields) return branches;
  for (const std::string& number : split((*fields)["list"], ", \t\n")) {
    uint32_t branch = 0;
    std::from_chars(number.data(), number.data() + number.size(), branch);
    branches.push_back(branch);
  }
  return branches;
}

Outcome compat_branch(const Machine& machine, const Facts&) {
  Outcome instead;
  std::optional<Picked> picked = compat(machine, instead);
  if (!picked) return instead;
  std::optional<Version> driver = driver_version(machine), library = parse_version(picked->version);
  if (!driver)
    return not_known("the module's version: " + machine.kernel.module_version.why_unknown);
  if (library && library->major() <= driver->major())
    return not_applicable("the module is not older than the library");
  std::vector<uint32_t> branches = served_branches(*picked);
  if (branches.empty()) return not_known(picked->path + " does not say which drivers it serves");
  if (std::find(branches.begin(), branches.end(), driver->major()) != branches.end())
    return ok(fmt::format("made for branch {}", driver->major()));
  Outcome outcome = compat_finding(machine, *picked);
  std::vector<std::string> names;
  for (uint32_t branch : branches)
    names.push_back(fmt::format("{}", branch));
  outcome.evidence.push_back("note of the library: drivers " + joined(names));
  outcome.fields["branches"] = joined(names);
  outcome.fields["branch"] = fmt::format("{}", driver->major());
  return outcome;
}

Outcome compat_alone(const Machine& machine, const Facts&) {
  Outcome instead;
  std::optional<Picked> picked = compat(machine, instead);
  if (!picked) return instead;
  if (machine.surroundings.wsl) return not_applicable("WSL has no kernel module of NVIDIA");
  if (!machine.kernel.modules) return not_known(machine.kernel.modules.why_unknown);
  if (machine.kernel.module_version || module_loaded(machine, "nvidia"))
    return ok("the kernel module is loaded");
  return compat_finding(machine, *picked);
}

// --- JIT compiler --------------------------------------------------------------------------------

Outcome jit_missing(const Machine& machine, const Facts&) {
  std::optional<Picked> picked = picked_libcuda(machine);
  if (!picked) return not_applicable("no libcuda.so.1 is found");
  if (machine.surroundings.wsl || machine.surroundings.jetson)
    return not_applicable("the library lies elsewhere here");
  if (picked->stub || machine.driver.libcuda.empty()) return not_applicable("no driver library");
  if (!machine.driver.ptxjitcompiler.empty()) return ok(machine.driver.ptxjitcompiler.front().path);
  return fires({"libcuda.so.1: " + picked->path, "libnvidia-ptxjitcompiler.so.1: not found"},
               {{"version", picked->version.empty() ? "VERSION" : picked->version},
                {"folder", std::string(folder_of(picked->path))}});
}

Outcome jit_version(const Machine& machine, const Facts&) {
  std::optional<Picked> picked = picked_libcuda(machine);
  if (!picked || picked->stub) return not_applicable("no libcuda.so.1 of a driver is found");
  const ResolvedSoname* entry = resolved(machine, "libnvidia-ptxjitcompiler.so.1");
  if (!entry) return not_applicable("the loader finds no libnvidia-ptxjitcompiler.so.1");
  std::string version = version_of_path(entry->found.real_path);
  if (picked->version.empty() || version.find('.') == std::string::npos)
    return not_known("the version of " + entry->found.path);
  if (version == picked->version) return ok("both are of " + version);
  Outcome outcome =
      fires({fmt::format("libcuda.so.1: {}", picked->real_path),
             fmt::format("libnvidia-ptxjitcompiler.so.1: {}", entry->found.real_path)},
            {{"jit", version}, {"driver", picked->version}});
  add_way_out(machine, entry->found, outcome.fields);
  return outcome;
}

// The call asks for functions as the runtime knows them; a driver of an earlier minor version has
// none of that version and answers "invalid value", where minor-version compatibility would hold.
Outcome entry_point(const Machine& machine, const Facts& facts) {
  return over_pythons(machine, [&](const PythonEnv& env) {
    if (!env.unversioned_entry)
      return not_applicable("no library that uses the CUDA runtime was read");
    if (env.unversioned_entry->empty())
      return ok("no library asks for functions of the runtime's own version");
    std::optional<DriverSide> driver = driver_side(machine, facts);
    if (!driver) return not_known("the driver's version");
    std::optional<Runtime> runtime = runtime_of(machine, env);
    if (!runtime) return not_known("the version of the CUDA runtime in " + env_name(env));
    if (runtime->version <= driver->cuda) return ok("the driver serves the runtime's version");
    if (runtime->version.major() > driver->cuda.major())
      return not_applicable("the driver is of an earlier major version");
    std::vector<std::string> evidence = {runtime->evidence};
    for (const std::string& file : *env.unversioned_entry)
      if (evidence.size() < 4) evidence.push_back(file + ": imports cudaGetDriverEntryPoint");
    evidence.insert(evidence.end(), driver->evidence.begin(), driver->evidence.end());
    Outcome outcome = fires(std::move(evidence), {{"file", env.unversioned_entry->front()},
                                                  {"runtime", to_string(runtime->version)},
                                                  {"api", driver->cuda_text}});
    if (auto rules = facts.load_rules())
      if (std::string branch = branch_for(**rules, runtime->version); !branch.empty())
        outcome.fields["branch"] = branch;
    return likely(std::move(outcome), "whether the program makes the call");
  });
}

} // namespace

CheckList cuda_version_checks() {
  return {{"cuda-runtime-too-new", runtime_too_new},
          {"cuda-runtime-newer-minor", runtime_newer_minor},
          {"cuda-entry-point-unversioned", entry_point},
          {"cuda-compat-consumer-gpu", compat_consumer},
          {"cuda-compat-older", compat_older},
          {"cuda-compat-branch", compat_branch},
          {"cuda-compat-without-driver", compat_alone},
          {"cuda-jit-missing", jit_missing},
          {"cuda-jit-version", jit_version}};
}

} // namespace gpuvet
