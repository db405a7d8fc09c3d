#include "judge/here/python.hpp"

#include "base/text.hpp"
#include "facts/pick/pick.hpp"
#include "judge/load/driver_needs.hpp"
#include "judge/pick/pick.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

// What torch/version.py says, else the version's tag.
std::optional<Version> torch_cuda(const PythonEnv& env, const std::string& version) {
  auto told = env.torch.find("cuda");
  if (told != env.torch.end())
    if (auto cuda = parse_version(told->second)) return cuda;
  return cuda_of_tag(local_tag(version));
}

std::optional<Version> first_number(std::string_view text) {
  size_t at = text.find_first_of("0123456789");
  return at == std::string_view::npos ? std::nullopt : parse_version(text.substr(at));
}

// Packages that have their CUDA version in their name.
void add_named(const PythonEnv& env, std::string_view prefix, std::string_view suffix,
               std::vector<CudaBuild>& builds) {
  for (const PythonPackage* package : packages_with_prefix(env, prefix)) {
    std::string_view rest = std::string_view(package->name).substr(prefix.size());
    if (!suffix.empty() && !rest.ends_with(suffix)) continue;
    auto number = first_number(rest);
    if (!number) continue;
    // cupy-cuda102 is 10.2, cupy-cuda12x any 12.
    uint32_t digits = number->major();
    Version cuda = digits >= 100 ? Version{{digits / 10, digits % 10}} : Version{{digits, 0}};
    builds.push_back({package->name, package->version, cuda,
                      fmt::format("{}: its name says CUDA {}", shown(*package), cuda.major())});
  }
}

void add_onnxruntime(const PythonEnv& env, const Facts& facts, std::vector<CudaBuild>& builds) {
  const PythonPackage* package = find_package(env, "onnxruntime-gpu");
  auto table = facts.frameworks();
  auto version = package ? parse_version(package->version) : std::nullopt;
  if (!version || !table) return;
  std::optional<Version> cuda;
  for (const FrameworkBuild& build : **table)
    if (build.framework == "onnxruntime" && !cuda &&
        holds_release(release_ranges(build.version), *version))
      cuda = first_number(build.cuda);
  if (cuda)
    builds.push_back({package->name, package->version, cuda,
                      fmt::format("{}: released for CUDA {}", shown(*package), to_string(*cuda))});
}

// The command of pip that installs a wheel, with the interpreter and the companions of an
// environment.
std::string pip_install(const PythonEnv& env, const std::string& command) {
  constexpr std::string_view start = "pip install ";
  std::string_view rest = std::string_view(command).substr(start.size());
  size_t options = rest.find(" -");
  std::string packages(rest.substr(0, options));
  for (const char* companion : {"torchvision", "torchaudio"})
    if (find_package(env, companion)) packages += std::string(" ") + companion;
  return fmt::format("{} install --force-reinstall {}{}", pip_command(env), packages,
                     options == std::string_view::npos ? "" : rest.substr(options));
}

} // namespace

const PythonPackage* find_package(const PythonEnv& env, std::string_view name) {
  if (!env.packages) return nullptr;
  for (const PythonPackage& package : *env.packages)
    if (package.name == name) return &package;
  return nullptr;
}

std::vector<const PythonPackage*> packages_with_prefix(const PythonEnv& env,
                                                       std::string_view prefix) {
  std::vector<const PythonPackage*> found;
  if (env.packages)
    for (const PythonPackage& package : *env.packages)
      if (package.name.starts_with(prefix)) found.push_back(&package);
  return found;
}

std::string local_tag(std::string_view version) {
  size_t plus = version.find('+');
  return plus == std::string_view::npos ? std::string() : std::string(version.substr(plus + 1));
}

std::string without_tag(std::string_view version) {
  return std::string(version.substr(0, version.find('+')));
}

std::string minor_release(std::string_view version) {
  auto parsed = parse_version(version);
  return parsed ? fmt::format("{}.{}", parsed->major(), parsed->minor()) : std::string(version);
}

std::optional<Version> cuda_of_tag(std::string_view tag) {
  if (!tag.starts_with("cu")) return std::nullopt;
  tag.remove_prefix(tag.starts_with("cuda") ? 4 : 2);
  auto number = parse_version(tag);
  if (!number) return std::nullopt;
  uint32_t digits = number->major();
  if (digits < 20) return number; // "cuda12.cudnn89"
  return Version{{digits / 10, digits % 10}};
}

std::string env_name(const PythonEnv& env) {
  const std::string& place = env.prefix.empty() ? env.executable : env.prefix;
  return env.why.empty() ? place : fmt::format("{}, {}", place, env.why);
}

std::string shown(const PythonPackage& package) {
  return package.folder.empty()
             ? fmt::format("{} {}", package.name, package.version)
             : fmt::format("{}: {} {}", package.folder, package.name, package.version);
}

std::string pip_command(const PythonEnv& env) {
  return (env.executable.empty() ? "python3" : env.executable) + " -m pip";
}

bool from_conda(const PythonEnv& env, std::string_view name) {
  const PythonPackage* package = find_package(env, name);
  return package && package->conda;
}

Observed<std::optional<CudaBuild>> torch_build(const PythonEnv& env) {
  using MaybeBuild = std::optional<CudaBuild>;
  if (!env.packages) return unknown<MaybeBuild>(env.packages.why_unknown);
  const PythonPackage* package = find_package(env, "torch");
  if (!package) package = find_package(env, "pytorch"); // conda's name
  if (!package) return known(MaybeBuild(), env_name(env));
  auto version = env.torch.find("version");
  CudaBuild build{"torch", version == env.torch.end() ? package->version : version->second, {}, {}};
  build.cuda = torch_cuda(env, build.version);
  std::string tag = local_tag(build.version);
  bool cpu = tag.starts_with("cpu") || package->build.find("cpu") != std::string::npos ||
             (env.torch_has_cuda && !*env.torch_has_cuda);
  if (cpu) build.cuda = std::nullopt;
  if (!cpu && !build.cuda && !env.torch_has_cuda)
    return unknown<MaybeBuild>(
        fmt::format("what {} was built for is not known; {} -c \"import torch; "
                    "print(torch.version.cuda)\" tells",
                    shown(*package), env.executable));
  build.evidence = shown(*package);
  if (build.version != package->version) build.evidence += ", torch/version.py " + build.version;
  if (!package->build.empty()) build.evidence += fmt::format(" (build {})", package->build);
  if (build.cuda)
    build.evidence += fmt::format(", built for CUDA {}", to_string(*build.cuda));
  else if (env.torch_has_cuda && !*env.torch_has_cuda)
    build.evidence += ", no libtorch_cuda.so";
  return known(MaybeBuild(std::move(build)), env_name(env));
}

std::vector<CudaBuild> cuda_builds(const PythonEnv& env, const Facts& facts) {
  std::vector<CudaBuild> builds;
  if (auto torch = torch_build(env); torch && *torch && (*torch)->cuda) builds.push_back(**torch);
  if (auto at = env.tensorflow.find("cuda_version"); at != env.tensorflow.end())
    if (auto cuda = parse_version(at->second))
      builds.push_back(
          {"tensorflow", "", cuda, fmt::format("tensorflow's build_info: CUDA {}", at->second)});
  add_named(env, "jax-cuda", "-plugin", builds);
  add_named(env, "cupy-cuda", "", builds);
  if (const PythonPackage* jaxlib = find_package(env, "jaxlib"))
    if (auto cuda = cuda_of_tag(local_tag(jaxlib->version)))
      builds.push_back({"jaxlib", jaxlib->version, cuda, shown(*jaxlib)});
  add_onnxruntime(env, facts, builds);
  return builds;
}

std::optional<TorchWheel> fitting_torch(const Facts& facts, const Machine& machine,
                                        std::string_view wanted) {
  auto table = facts.frameworks();
  auto rules = facts.load_rules();
  auto commands = facts.pick();
  Observed<std::vector<GpuHere>> gpus = gpus_here(machine, facts);
  if (!table || !rules || !commands || !gpus) return std::nullopt;
  PickQuery query;
  for (const GpuHere& gpu : *gpus)
    query.devices.push_back(device_of(gpu, **rules));
  if (auto driver = driver_here(machine, **rules))
    query.driver = PickDriver{driver->driver, driver->evidence, seen_by_driver(gpus)};
  query.platforms = {machine.system.architecture == "aarch64" ? "pip linux aarch64"
                                                              : "pip linux x86_64"};
  query.tables = *commands;
  std::vector<BuildFit> fits = judge_builds(**table, "torch", query, **rules);
  int best = newest_fitting(fits, wanted);
  if (best < 0) return std::nullopt;
  const FrameworkBuild& build = *fits[static_cast<size_t>(best)].build;
  return TorchWheel{build.version, build.variant, install_line(build, **commands).command};
}

std::string install_torch(const PythonEnv& env, const std::optional<TorchWheel>& wheel) {
  if (!wheel)
    return "no released wheel fits: build PyTorch from source with TORCH_CUDA_ARCH_LIST set to "
           "the GPU's compute capability";
  if (from_conda(env, "torch") || from_conda(env, "pytorch")) {
    std::string cuda = to_string(cuda_of_tag(wheel->variant).value_or(Version{}));
    return fmt::format("CONDA_OVERRIDE_CUDA={} conda install -p {} -c conda-forge pytorch-gpu",
                       cuda, env.prefix);
  }
  if (!wheel->command.starts_with("pip install "))
    return fmt::format("install PyTorch {} for {}: gpuvet pick --framework torch tells what fits",
                       wheel->version, wheel->variant);
  return pip_install(env, wheel->command);
}

Outcome over_pythons(const Machine& machine,
                     const std::function<Outcome(const PythonEnv&)>& question) {
  const std::vector<std::string>& cut = machine.not_finished;
  if (machine.pythons.empty() &&
      std::find(cut.begin(), cut.end(), "Python environments") != cut.end())
    return not_known("the deadline cut short the look at Python environments");
  std::optional<Outcome> fired, open, fine, none;
  for (const PythonEnv& env : machine.pythons) {
    Outcome outcome = env.packages
                          ? question(env)
                          : not_known(fmt::format("the packages of {} are not known: {}",
                                                  env_name(env), env.packages.why_unknown));
    std::optional<Outcome>& slot = outcome.answer == Answer::fires     ? fired
                                   : outcome.answer == Answer::unknown ? open
                                   : outcome.answer == Answer::ok      ? fine
                                                                       : none;
    if (slot && outcome.answer == Answer::fires)
      slot->evidence.insert(slot->evidence.end(), outcome.evidence.begin(), outcome.evidence.end());
    else if (slot && outcome.answer == Answer::ok)
      slot->why += "; " + outcome.why;
    else if (!slot)
      slot = std::move(outcome);
  }
  for (std::optional<Outcome>* slot : {&fired, &open, &fine, &none})
    if (*slot) return std::move(**slot);
  return not_applicable("no Python environment was found");
}

} // namespace gpuvet
