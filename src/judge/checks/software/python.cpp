// Checks of Python environments: what the frameworks were built for, against this machine.
#include "judge/here/python.hpp"

#include "base/text.hpp"
#include "judge/checks/common.hpp"
#include "judge/checks/subjects.hpp"
#include "judge/here/toolkit.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

// Without a GPU, a build without CUDA is what one wants.
std::optional<Outcome> no_gpu_wanted(const Machine& machine) {
  Observed<bool> expected = expects_gpu(machine);
  if (!expected) return not_known("whether there is a GPU is not known: " + expected.why_unknown);
  if (!*expected) return not_applicable("there is no GPU");
  return std::nullopt;
}

// --- builds without CUDA ------------------------------------------------------------------------

Outcome torch_without_cuda(const Machine& machine, const Facts& facts, const PythonEnv& env,
                           bool conda) {
  auto build = torch_build(env);
  if (!build) return not_known(build.why_unknown);
  if (!*build) return not_applicable("no PyTorch in " + env_name(env));
  if ((from_conda(env, "torch") || from_conda(env, "pytorch")) != conda)
    return not_applicable(conda ? "PyTorch is not conda's" : "PyTorch is conda's");
  bool rocm = local_tag((*build)->version).starts_with("rocm");
  if ((*build)->cuda) return ok((*build)->evidence);
  if (env.torch_has_cuda && *env.torch_has_cuda && !rocm) return ok("libtorch_cuda.so is there");
  auto wheel = fitting_torch(facts, machine, minor_release((*build)->version));
  return fires({(*build)->evidence + ", in " + env_name(env)},
               {{"version", (*build)->version},
                {"kind", rocm ? "for AMD GPUs (ROCm)" : "for the CPU only"},
                {"place", env_name(env)},
                {"install", install_torch(env, wheel)}});
}

Outcome torch_cpu_build(const Machine& machine, const Facts& facts) {
  if (auto none = no_gpu_wanted(machine)) return *none;
  if (machine.surroundings.jetson) return not_applicable("jetson-pypi-torch judges this");
  return over_pythons(machine, [&](const PythonEnv& env) {
    return torch_without_cuda(machine, facts, env, false);
  });
}

Outcome torch_conda_cpu(const Machine& machine, const Facts& facts) {
  if (auto none = no_gpu_wanted(machine)) return *none;
  return over_pythons(
      machine, [&](const PythonEnv& env) { return torch_without_cuda(machine, facts, env, true); });
}

Outcome tensorflow_cpu(const Machine& machine, const Facts&) {
  if (auto none = no_gpu_wanted(machine)) return *none;
  return over_pythons(machine, [](const PythonEnv& env) {
    const PythonPackage* gpu = find_package(env, "tensorflow");
    for (const char* name : {"tensorflow-cpu", "intel-tensorflow", "tensorflow-cpu-aws"})
      if (const PythonPackage* package = find_package(env, name); package && !gpu)
        return fires(
            {shown(*package)},
            {{"package", package->name}, {"version", package->version}, {"pip", pip_command(env)}});
    if (!gpu) return not_applicable("no TensorFlow in " + env_name(env));
    auto cuda = env.tensorflow.find("is_cuda_build");
    bool without = cuda != env.tensorflow.end() && !switched_on(cuda->second);
    without |= gpu->build.find("cpu") != std::string::npos;
    if (!without) return ok(shown(*gpu));
    return fires({shown(*gpu) + ", built without CUDA"},
                 {{"package", gpu->name}, {"version", gpu->version}, {"pip", pip_command(env)}});
  });
}

Outcome jax_cpu(const Machine& machine, const Facts& facts) {
  if (auto none = no_gpu_wanted(machine)) return *none;
  return over_pythons(machine, [&](const PythonEnv& env) {
    const PythonPackage* jax = find_package(env, "jax");
    const PythonPackage* jaxlib = find_package(env, "jaxlib");
    if (!jax || !jaxlib) return not_applicable("no JAX in " + env_name(env));
    for (const CudaBuild& build : cuda_builds(env, facts))
      if (build.package.starts_with("jax")) return ok(build.evidence);
    if (jaxlib->build.find("cuda") != std::string::npos) return ok(shown(*jaxlib));
    auto rules = facts.load_rules();
    auto driver = rules ? driver_here(machine, **rules) : unknown<DriverHere>("no table");
    bool thirteen = driver && driver->driver.cuda && driver->driver.cuda->major() >= 13;
    return fires({shown(*jaxlib), "no package jax-cuda12-plugin or jax-cuda13-plugin"},
                 {{"version", jax->version},
                  {"command", fmt::format("{} install -U \"jax[{}]\"", pip_command(env),
                                          thirteen ? "cuda13" : "cuda12")}});
  });
}

// --- driver -------------------------------------------------------------------------------------

// The first build that the driver does not run.
Outcome driver_too_old(const Machine& machine, const Facts& facts, bool torch) {
  if (auto none = no_gpu_wanted(machine)) return *none;
  auto rules = facts.load_rules();
  if (!rules) return not_known("the table of drivers cannot be read");
  Observed<DriverHere> driver = driver_here(machine, **rules);
  return over_pythons(machine, [&](const PythonEnv& env) {
    std::vector<std::string> fine;
    for (const CudaBuild& build : cuda_builds(env, facts)) {
      if ((build.package == "torch") != torch || !build.cuda) continue;
      if (!driver) return not_known(driver.why_unknown);
      Refusal refused = cuda_refuses(**rules, driver->driver, *build.cuda);
      fine.push_back(fmt::format("{} for CUDA {}", build.package, to_string(*build.cuda)));
      if (refused.reason.empty()) continue;
      auto wheel =
          torch ? fitting_torch(facts, machine, minor_release(build.version)) : std::nullopt;
      std::string served = driver->driver.cuda ? to_string(*driver->driver.cuda) : "older";
      return fires({build.evidence, driver->evidence, refused.reason},
                   {{"package", build.package},
                    {"version", build.version},
                    {"cuda", to_string(*build.cuda)},
                    {"driver", driver->driver.text},
                    {"served", served},
                    {"update", refused.fix},
                    {"install", torch ? install_torch(env, wheel) : ""}});
    }
    if (fine.empty())
      return not_applicable("nothing that names its CUDA version in " + env_name(env));
    return ok(joined(fine) + ", which driver " + driver->driver.text + " runs");
  });
}

Outcome torch_driver(const Machine& machine, const Facts& facts) {
  return driver_too_old(machine, facts, true);
}

Outcome framework_driver(const Machine& machine, const Facts& facts) {
  return driver_too_old(machine, facts, false);
}

// --- libraries that frameworks look for ---------------------------------------------------------

struct Found {
  bool by_loader = false, in_wheel = false;
};

// Is "libcudnn.so.9" there for this environment, and how?
Found find_library(const Machine& machine, const PythonEnv& env, std::string_view soname,
                   std::string_view wheel) {
  Found found;
  found.by_loader = resolved(machine, soname) != nullptr;
  found.in_wheel = !packages_with_prefix(env, wheel).empty();
  return found;
}

std::optional<Outcome> loader_unknown(const Machine& machine) {
  if (!machine.loader.sonames.empty() || machine.loader.cache_sonames) return std::nullopt;
  return not_known("what the loader finds is not known: " +
                   machine.loader.cache_sonames.why_unknown);
}

Outcome tensorflow_libraries(const Machine& machine, const Facts& facts) {
  if (auto none = no_gpu_wanted(machine)) return *none;
  return over_pythons(machine, [&](const PythonEnv& env) {
    const PythonPackage* package = find_package(env, "tensorflow");
    if (!package) return not_applicable("no TensorFlow in " + env_name(env));
    std::optional<Version> cuda, cudnn;
    if (auto at = env.tensorflow.find("cuda_version"); at != env.tensorflow.end())
      cuda = parse_version(at->second);
    if (auto at = env.tensorflow.find("cudnn_version"); at != env.tensorflow.end())
      cudnn = parse_version(at->second);
    if (auto table = facts.frameworks(); table && (!cuda || !cudnn))
      for (const FrameworkBuild& build : **table)
        if (build.framework == "tensorflow" &&
            minor_release(build.version) == minor_release(package->version)) {
          cuda = parse_version(build.cuda);
          cudnn = parse_version(build.cudnn);
        }
    if (!cuda || !cudnn)
      return not_known(fmt::format("which CUDA and cuDNN {} wants is not known; {} -c \"import "
                                   "tensorflow; print(tensorflow.sysconfig.get_build_info())\" "
                                   "tells",
                                   shown(*package), env.executable));
    if (auto open = loader_unknown(machine)) return *open;
    std::vector<std::string> missing;
    std::string tag = fmt::format("cu{}", cuda->major());
    auto look = [&](const std::string& soname, const std::string& wheel) {
      Found found = find_library(machine, env, soname, wheel);
      if (!found.by_loader && !found.in_wheel) missing.push_back(soname);
    };
    look(fmt::format("libcudart.so.{}",
                     cuda->major() == 11 ? "11.0" : std::to_string(cuda->major())),
         "nvidia-cuda-runtime");
    look(fmt::format("libcublas.so.{}", cuda->major()), "nvidia-cublas");
    look(fmt::format("libcudnn.so.{}", cudnn->major()), "nvidia-cudnn");
    if (missing.empty()) return ok("CUDA and cuDNN for TensorFlow are found");
    return fires(
        {shown(*package), fmt::format("neither the loader nor a wheel has {}", joined(missing))},
        {{"version", package->version}, {"missing", joined(missing)}, {"pip", pip_command(env)}});
  });
}

Outcome onnxruntime_libraries(const Machine& machine, const Facts& facts) {
  if (auto none = no_gpu_wanted(machine)) return *none;
  return over_pythons(machine, [&](const PythonEnv& env) {
    const PythonPackage* package = find_package(env, "onnxruntime-gpu");
    if (!package) return not_applicable("no onnxruntime-gpu in " + env_name(env));
    auto version = parse_version(package->version);
    if (!version || *version < Version{{1, 19}})
      return not_known("which cuDNN ONNX Runtime before 1.19 wants depends on its feed");
    if (auto open = loader_unknown(machine)) return *open;
    std::optional<Version> cuda;
    for (const CudaBuild& build : cuda_builds(env, facts))
      if (build.package == package->name) cuda = build.cuda;
    if (!cuda) return not_known("which CUDA this release wants is not in the table");
    std::vector<std::string> missing, only_wheel;
    auto look = [&](const std::string& soname, const std::string& wheel) {
      Found found = find_library(machine, env, soname, wheel);
      if (found.by_loader) return;
      (found.in_wheel ? only_wheel : missing).push_back(soname);
    };
    look(fmt::format("libcublasLt.so.{}", cuda->major()), "nvidia-cublas");
    look("libcudnn.so.9", "nvidia-cudnn");
    std::map<std::string, std::string> fields = {
        {"version", package->version},
        {"missing", joined(missing)},
        {"what", "are not found"},
        {"cuda", fmt::format("{}", cuda->major())},
        {"command", fmt::format("{} install \"onnxruntime-gpu[cuda,cudnn]\"", pip_command(env))}};
    if (!missing.empty())
      return fires({shown(*package), "neither the loader nor a wheel has " + joined(missing)},
                   fields);
    if (only_wheel.empty()) return ok("CUDA and cuDNN for ONNX Runtime are found");
    fields["missing"] = joined(only_wheel);
    fields["what"] = "are only in wheels, which it does not search by itself";
    fields["command"] = "call onnxruntime.preload_dlls() before the first session";
    Outcome outcome = fires({shown(*package), "only in wheels: " + joined(only_wheel)}, fields);
    outcome.severity = Severity::info;
    return outcome;
  });
}

// --- compiling ----------------------------------------------------------------------------------

Outcome toolkit_not_torchs(const Machine& machine, const Facts&) {
  auto used = build_toolkit(machine);
  if (!used) return no_build_toolkit(machine);
  auto toolkit = parse_version(used->version);
  if (!toolkit) return not_known("the toolkit's version cannot be read");
  return over_pythons(machine, [&](const PythonEnv& env) {
    auto build = torch_build(env);
    if (!build) return not_known(build.why_unknown);
    if (!*build || !(*build)->cuda)
      return not_applicable("no PyTorch with CUDA in " + env_name(env));
    const Version& cuda = *(*build)->cuda;
    if (cuda.major() == toolkit->major())
      return ok(fmt::format("PyTorch for CUDA {}, toolkit {}", to_string(cuda), used->version));
    bool builds = false;
    for (const char* name : {"deepspeed", "ninja", "apex"})
      builds |= find_package(env, name) != nullptr;
    Outcome outcome = fires({(*build)->evidence, used->evidence},
                            {{"cuda", to_string(cuda)},
                             {"toolkit", minor_release(used->version)},
                             {"package", fmt::format("{}-{}", cuda.major(), cuda.minor())}});
    if (!builds) outcome.severity = Severity::info; // nothing here compiles
    return outcome;
  });
}

bool uses_xla(const PythonEnv& env) {
  return find_package(env, "tensorflow") || !packages_with_prefix(env, "jax-cuda").empty();
}

Outcome libdevice_missing(const Machine& machine, const Facts&) {
  if (auto none = no_gpu_wanted(machine)) return *none;
  return over_pythons(machine, [&](const PythonEnv& env) {
    if (!uses_xla(env)) return not_applicable("neither JAX nor TensorFlow in " + env_name(env));
    std::vector<const PythonPackage*> wheels = packages_with_prefix(env, "nvidia-cuda-nvcc");
    if (!wheels.empty()) return ok(shown(*wheels.front()));
    for (const InstalledToolkit& toolkit : machine.toolkits.installed)
      if (toolkit.has_libdevice) return ok(toolkit.folder + " has libdevice");
    if (auto at = machine.environment.find("XLA_FLAGS");
        at != machine.environment.end() &&
        at->second.find("xla_gpu_cuda_data_dir") != std::string::npos)
      return ok("XLA_FLAGS=" + at->second);
    if (toolkits_cut_short(machine))
      return not_known("the deadline cut short the search for toolkits");
    return likely(
        fires({"no wheel nvidia-cuda-nvcc, no toolkit with nvvm/libdevice/libdevice.10.bc"},
              {{"place", env_name(env)}, {"pip", pip_command(env)}}),
        "whether this release of XLA has libdevice built in");
  });
}

Outcome ptxas_older_than_xla(const Machine& machine, const Facts& facts) {
  if (machine.toolkits.nvcc.empty()) return not_applicable("no toolkit is on PATH");
  const NvccOnPath& nvcc = machine.toolkits.nvcc.front();
  return over_pythons(machine, [&](const PythonEnv& env) {
    if (!uses_xla(env)) return not_applicable("neither JAX nor TensorFlow in " + env_name(env));
    auto release = parse_version(nvcc.version);
    if (!release) return not_known("the release of " + nvcc.path + " is not known");
    std::vector<CudaBuild> builds = cuda_builds(env, facts);
    for (const PythonPackage* wheel : packages_with_prefix(env, "nvidia-cuda-nvcc"))
      if (auto version = parse_version(wheel->version))
        builds.push_back({wheel->name, wheel->version,
                          Version{{version->major(), version->minor()}}, shown(*wheel)});
    for (const CudaBuild& build : builds) {
      bool xla = build.package == "tensorflow" || build.package.starts_with("jax") ||
                 build.package.starts_with("nvidia-cuda-nvcc");
      Version own{{release->major(), release->minor()}};
      if (!xla || !build.cuda || *build.cuda <= own) continue;
      // A build's own CUDA is that of its release; the major alone says nothing of the minor.
      if (build.cuda->parts.size() < 2 && build.cuda->major() == own.major()) continue;
      return fires({build.evidence, shown(nvcc)}, {{"package", build.package},
                                                   {"cuda", to_string(*build.cuda)},
                                                   {"path", std::string(folder_of(nvcc.path))},
                                                   {"release", minor_release(nvcc.version)}});
    }
    return ok("the toolkit on PATH is not older than the framework's");
  });
}

Outcome import_fails(const Machine& machine, const Facts&) {
  return over_pythons(machine, [](const PythonEnv& env) {
    if (env.imports.empty()) return not_applicable("imports were not tried (--import)");
    std::vector<std::string> evidence;
    std::map<std::string, std::string> fields;
    for (const PythonEnv::Import& import : env.imports) {
      if (import.ok) continue;
      std::string last = import.output.substr(0, import.output.find_last_not_of("\n ") + 1);
      last = last.substr(last.rfind('\n') + 1);
      evidence.push_back(
          fmt::format("{} -c \"import {}\": {}", env.executable, import.package, last));
      if (fields.empty())
        fields = {{"package", import.package}, {"error", last}, {"python", env.executable}};
    }
    if (evidence.empty()) return ok("all imports succeed in " + env_name(env));
    return fires(evidence, fields);
  });
}

} // namespace

CheckList python_checks() {
  return {{"torch-cpu-build", torch_cpu_build},
          {"torch-conda-cpu", torch_conda_cpu},
          {"tensorflow-cpu-build", tensorflow_cpu},
          {"jax-cpu-build", jax_cpu},
          {"torch-needs-newer-driver", torch_driver},
          {"framework-needs-newer-driver", framework_driver},
          {"tensorflow-libraries-missing", tensorflow_libraries},
          {"onnxruntime-libraries-missing", onnxruntime_libraries},
          {"toolkit-not-torchs", toolkit_not_torchs},
          {"xla-libdevice-missing", libdevice_missing},
          {"xla-ptxas-older", ptxas_older_than_xla},
          {"python-import-fails", import_fails}};
}

} // namespace gpuvet
