// Checks of the GPU code in packages: does this machine's driver load it on this machine's GPUs?
// Whether it does is the load verdict's to say; here it is only asked, package by package.
#include "base/text.hpp"
#include "judge/checks/common.hpp"
#include "judge/checks/subjects.hpp"
#include "judge/here/python.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

// One package against one GPU.
struct Tried {
  const PythonEnv* env = nullptr;
  const PackageCode* code = nullptr;
  GpuHere gpu;
  LoadVerdict verdict;
  std::string unknown; // not empty: why there is no verdict
};

struct AllTried {
  std::vector<Tried> tries;         // by package, then by GPU kind
  std::vector<GpuHere> gpus;        // one per compute capability
  std::string driver;               // evidence
  std::optional<Outcome> undecided; // nothing could be tried
};

std::string targets_text(const std::vector<Target>& targets, bool ptx) {
  std::vector<std::string> names;
  for (Target target : targets)
    names.push_back(ptx ? compute_name(target) : sm_name(target));
  return joined(names);
}

std::string code_text(const PackageCode& code) {
  std::string text = code.file + ": ";
  text += code.sass && !code.sass->empty() ? "SASS for " + targets_text(*code.sass, false)
                                           : std::string("no SASS");
  text += code.ptx && !code.ptx->empty() ? ", PTX for " + targets_text(*code.ptx, true)
                                         : std::string(", no PTX");
  return text;
}

// The package's code as one container: every target that its library has.
Container container_of(const PackageCode& code) {
  Container container;
  auto add = [&](ImageKind kind, Target target) {
    Image image;
    image.kind = kind;
    image.target = target;
    image.version_major = static_cast<uint16_t>(code.ptx_isa_major.value_or(0));
    image.version_minor = static_cast<uint16_t>(code.ptx_isa_minor.value_or(0));
    container.images.push_back(image);
  };
  for (Target target : *code.sass)
    add(ImageKind::cubin, target);
  for (Target target : *code.ptx)
    add(ImageKind::ptx, target);
  return container;
}

Tried try_package(const PythonEnv& env, const PackageCode& code, const GpuHere& gpu,
                  const LoadDriver* driver, const LoadEnvironment& environment,
                  const LoadRules& rules) {
  Tried tried{&env, &code, gpu, {}, {}};
  if (!code.sass || !code.ptx) {
    tried.unknown = code.sass ? code.ptx.why_unknown : code.sass.why_unknown;
    return tried;
  }
  bool isa_known = code.ptx_isa_major.has_value();
  LoadDevice device = device_of(gpu, rules);
  tried.verdict = load_container(container_of(code), device, driver, environment, rules);
  bool by_ptx = tried.verdict.outcome == LoadOutcome::jit || tried.verdict.error == 222 ||
                tried.verdict.error == 218;
  if (by_ptx && !isa_known) tried.unknown = "the PTX ISA of " + code.file + " was not read";
  return tried;
}

AllTried try_all(const Machine& machine, const Facts& facts, const LoadEnvironment& environment) {
  AllTried all;
  auto rules = facts.load_rules();
  if (!rules) {
    all.undecided = not_known("the rules of loading cannot be read");
    return all;
  }
  bool code = std::any_of(machine.pythons.begin(), machine.pythons.end(),
                          [](const PythonEnv& env) { return !env.code.empty(); });
  if (!code) {
    all.undecided = over_pythons(machine, [](const PythonEnv& env) {
      return not_applicable("no package with GPU code in " + env_name(env));
    });
    return all;
  }
  auto gpus = gpus_here(machine, facts);
  if (!gpus) {
    all.undecided = not_known(gpus.why_unknown);
    return all;
  }
  if (gpus->empty()) {
    all.undecided = not_applicable("there is no GPU");
    return all;
  }
  for (uint32_t sm : capabilities(*gpus))
    all.gpus.push_back(*std::find_if(gpus->begin(), gpus->end(),
                                     [&](const GpuHere& gpu) { return gpu.sm == sm; }));
  Observed<DriverHere> driver = driver_here(machine, **rules);
  if (driver) all.driver = driver->evidence;
  const LoadDriver* with = driver ? &driver->driver : nullptr;
  for (const PythonEnv& env : machine.pythons)
    for (const PackageCode& package : env.code) {
      // A library without any GPU code was not built for other GPUs: it works on the CPU, as that
      // of torchaudio 2.11, or makes its code at run time.
      if (package.sass && package.ptx && package.sass->empty() && package.ptx->empty()) continue;
      for (const GpuHere& gpu : all.gpus)
        all.tries.push_back(try_package(env, package, gpu, with, environment, **rules));
    }
  return all;
}

bool no_image(const Tried& tried) {
  return tried.unknown.empty() && tried.verdict.outcome == LoadOutcome::none &&
         tried.verdict.error == 209;
}

uint32_t newest_target(const PackageCode& code) {
  uint32_t newest = 0;
  for (Target target : *code.sass)
    newest = std::max(newest, target.sm);
  return newest;
}

std::string version_of(const Tried& tried) {
  const PythonPackage* package = find_package(*tried.env, tried.code->package);
  return package ? package->version : "of unknown version";
}

std::map<std::string, std::string> fields_of(const Tried& tried) {
  return {{"package", tried.code->package},
          {"version", version_of(tried)},
          {"gpu", tried.gpu.name.empty() ? "the GPU" : tried.gpu.name},
          {"arch", cc_name(tried.gpu.sm)},
          {"target", sm_name({tried.gpu.sm, 0})},
          {"targets", targets_text(*tried.code->sass, false)},
          {"place", env_name(*tried.env)},
          {"pip", pip_command(*tried.env)}};
}

std::vector<std::string> evidence_of(const Tried& tried) {
  return {code_text(*tried.code), tried.gpu.evidence,
          fmt::format("error {} on loading: {}", tried.verdict.error, tried.verdict.reason)};
}

// Of one package, over all kinds of GPU here: how many it has nothing for.
size_t lacking(const AllTried& all, const PackageCode* code) {
  return static_cast<size_t>(
      std::count_if(all.tries.begin(), all.tries.end(),
                    [&](const Tried& tried) { return tried.code == code && no_image(tried); }));
}

Outcome nothing_fired(const AllTried& all, const char* fine) {
  for (const Tried& tried : all.tries)
    if (!tried.unknown.empty()) return not_known(tried.code->package + ": " + tried.unknown);
  return ok(fine);
}

bool is_torch(const Tried& tried) {
  return tried.code->package == "torch";
}

// --- checks -------------------------------------------------------------------------------------

// PyTorch has nothing for any GPU here, because they are newer or older than what it was built for.
Outcome torch_lacks(const Machine& machine, const Facts& facts, bool gpu_is_newer) {
  AllTried all = try_all(machine, facts, {});
  if (all.undecided) return *all.undecided;
  bool any_torch = false;
  for (const Tried& tried : all.tries) {
    if (!is_torch(tried)) continue;
    any_torch = true;
    if (!no_image(tried) || lacking(all, tried.code) < all.gpus.size()) continue;
    if ((tried.gpu.sm > newest_target(*tried.code)) != gpu_is_newer) continue;
    Outcome outcome = fires(evidence_of(tried), fields_of(tried));
    auto wheel = fitting_torch(facts, machine, minor_release(version_of(tried)));
    outcome.fields["install"] = install_torch(*tried.env, wheel);
    outcome.fields["wheel"] = wheel ? fmt::format("torch {} for {}", wheel->version, wheel->variant)
                                    : "no released wheel";
    return outcome;
  }
  if (!any_torch) return not_applicable("no PyTorch with GPU code");
  return nothing_fired(all, "PyTorch has code for the GPU");
}

Outcome torch_gpu_too_new(const Machine& machine, const Facts& facts) {
  return torch_lacks(machine, facts, true);
}

Outcome torch_gpu_too_old(const Machine& machine, const Facts& facts) {
  return torch_lacks(machine, facts, false);
}

Outcome package_lacks_code(const Machine& machine, const Facts& facts) {
  AllTried all = try_all(machine, facts, {});
  if (all.undecided) return *all.undecided;
  for (const Tried& tried : all.tries) {
    if (is_torch(tried) || !no_image(tried) || lacking(all, tried.code) < all.gpus.size()) continue;
    return fires(evidence_of(tried), fields_of(tried));
  }
  return nothing_fired(all, "every package has code for the GPU");
}

Outcome mixed_gpus(const Machine& machine, const Facts& facts) {
  AllTried all = try_all(machine, facts, {});
  if (all.undecided) return *all.undecided;
  if (all.gpus.size() < 2) return not_applicable("all GPUs have the same compute capability");
  for (const Tried& tried : all.tries) {
    if (!no_image(tried) || lacking(all, tried.code) == all.gpus.size()) continue;
    Outcome outcome = fires(evidence_of(tried), fields_of(tried));
    std::vector<std::string> usable;
    for (const Tried& other : all.tries)
      if (other.code == tried.code && loads(other.verdict)) {
        outcome.evidence.push_back(fmt::format("{}: {}", other.gpu.evidence, other.verdict.reason));
        usable.push_back(other.gpu.name);
      }
    std::vector<std::string> numbers;
    for (const CudaDevice& device : machine.cuda.devices)
      if (device.capability && *device.capability != tried.gpu.sm)
        numbers.push_back(fmt::format("{}", device.ordinal));
    outcome.fields["usable"] = joined(usable, " and ");
    outcome.fields["devices"] = numbers.empty() ? "NUMBERS" : joined(numbers, ",");
    return outcome;
  }
  return nothing_fired(all, "every package has code for each kind of GPU");
}

Outcome ptx_too_new(const Machine& machine, const Facts& facts) {
  AllTried all = try_all(machine, facts, {});
  if (all.undecided) return *all.undecided;
  if (all.driver.empty()) return not_known("the driver's version is not known");
  for (const Tried& tried : all.tries) {
    if (!tried.unknown.empty() || tried.verdict.error != 222) continue;
    Outcome outcome = fires(evidence_of(tried), fields_of(tried));
    outcome.evidence.push_back(all.driver);
    outcome.fields["isa"] = tried.verdict.isa ? to_string(*tried.verdict.isa) : "a newer version";
    auto rules = facts.load_rules();
    outcome.fields["branch"] = "a newer branch";
    for (const DriverBranch& branch : (*rules)->branches)
      if (tried.verdict.isa && branch.ptx_isa >= *tried.verdict.isa) {
        outcome.fields["branch"] = fmt::format("{}", branch.branch);
        break;
      }
    return outcome;
  }
  return nothing_fired(all, "no package depends on PTX that is too new for the driver");
}

std::string jit_cache_folder(const Machine& machine) {
  std::string folder = variable(machine, "CUDA_CACHE_PATH");
  return folder.empty() ? "~/.nv/ComputeCache" : folder;
}

Outcome compiled_at_start(const Machine& machine, const Facts& facts) {
  AllTried all = try_all(machine, facts, {});
  if (all.undecided) return *all.undecided;
  for (const Tried& tried : all.tries) {
    if (!tried.unknown.empty() || tried.verdict.outcome != LoadOutcome::jit) continue;
    Outcome outcome =
        fires({code_text(*tried.code), tried.gpu.evidence, "loads as " + tried.verdict.reason},
              fields_of(tried));
    outcome.fields["cache"] = jit_cache_folder(machine);
    return outcome;
  }
  return nothing_fired(all, "every package has machine code for the GPU");
}

// A variable for testing that makes a package fail which loads without it.
Outcome jit_variable(const Machine& machine, const Facts& facts) {
  std::vector<std::string> evidence;
  std::map<std::string, std::string> set_here;
  for (const char* name :
       {"CUDA_FORCE_PTX_JIT", "CUDA_FORCE_JIT", "CUDA_DISABLE_PTX_JIT", "CUDA_DISABLE_JIT"})
    for (const SetHere& set : in_force(machine, name)) {
      if (!switched_on(set.value)) continue;
      evidence.push_back(set.where);
      set_here[name] = set.value;
    }
  if (set_here.empty()) return not_applicable("no variable changes which GPU code is loaded");
  AllTried without = try_all(machine, facts, {});
  if (without.undecided) return *without.undecided;
  AllTried with = try_all(machine, facts, load_environment(set_here));
  for (size_t i = 0; i < with.tries.size(); ++i) {
    const Tried& tried = with.tries[i];
    if (!tried.unknown.empty() || loads(tried.verdict) || !loads(without.tries[i].verdict))
      continue;
    for (const std::string& line : evidence_of(tried))
      evidence.push_back(line);
    Outcome outcome = fires(evidence, fields_of(tried));
    outcome.fields["name"] = set_here.begin()->first;
    outcome.fields["error"] = fmt::format("{}", tried.verdict.error);
    return outcome;
  }
  return nothing_fired(with, "the packages load all the same");
}

// --- Triton -------------------------------------------------------------------------------------

// The release of CUDA whose ptxas first knew the target that Triton asks for: with the suffix `a`
// from 9.0 on.
std::optional<Version> first_ptxas(const LoadRules& rules, uint32_t sm) {
  Target target{sm, sm >= 90 ? 'a' : '\0'};
  for (const SassRange& range : rules.sass_ranges)
    if (range.target == target) return parse_version(range.first_cuda);
  return std::nullopt;
}

Outcome triton_ptxas(const Machine& machine, const Facts& facts) {
  auto rules = facts.load_rules();
  if (!rules) return not_known("the rules of loading cannot be read");
  return over_pythons(machine, [&](const PythonEnv& env) {
    const PythonPackage* triton = find_package(env, "triton");
    if (!triton) return not_applicable("no Triton in " + env_name(env));
    std::string set = variable(machine, "TRITON_PTXAS_PATH");
    if (!set.empty()) return ok("TRITON_PTXAS_PATH=" + set);
    auto gpus = gpus_here(machine, facts);
    if (!gpus) return not_known(gpus.why_unknown);
    if (gpus->empty()) return not_applicable("there is no GPU");
    for (const GpuHere& gpu : *gpus) {
      // Newer releases bring a second ptxas for Blackwell and later.
      bool second = gpu.sm >= 100 && !env.triton_ptxas_blackwell.empty();
      const std::string& told = second ? env.triton_ptxas_blackwell : env.triton_ptxas;
      auto own = parse_version(told);
      if (!own) return not_known("the release of Triton's ptxas was not read");
      auto first = first_ptxas(**rules, gpu.sm);
      Version release{{own->major(), own->minor()}};
      if (!first || release >= *first) continue;
      std::string better = "/usr/local/cuda/bin/ptxas";
      for (const InstalledToolkit& toolkit : machine.toolkits.installed)
        if (auto version = parse_version(toolkit.version);
            toolkit.has_ptxas && version && *version >= *first)
          better = toolkit.folder + "/bin/ptxas";
      return fires({fmt::format("{}, its ptxas is of CUDA {}", shown(*triton), told), gpu.evidence},
                   {{"version", triton->version},
                    {"ptxas", told},
                    {"gpu", gpu.name.empty() ? "the GPU" : gpu.name},
                    {"target", sm_name({gpu.sm, gpu.sm >= 90 ? 'a' : '\0'})},
                    {"first", to_string(*first)},
                    {"path", better},
                    {"pip", pip_command(env)}});
    }
    return ok("Triton's ptxas knows the GPU");
  });
}

} // namespace

CheckList code_checks() {
  return {
      {"torch-gpu-too-new", torch_gpu_too_new},       {"torch-gpu-too-old", torch_gpu_too_old},
      {"package-lacks-gpu-code", package_lacks_code}, {"gpus-differ-code-missing", mixed_gpus},
      {"ptx-newer-than-driver", ptx_too_new},         {"code-compiled-at-start", compiled_at_start},
      {"jit-variable-breaks-package", jit_variable},  {"triton-ptxas-too-old", triton_ptxas}};
}

} // namespace gpuvet
