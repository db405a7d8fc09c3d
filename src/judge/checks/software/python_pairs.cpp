// Checks of packages of a Python environment against each other.
#include "base/text.hpp"
#include "judge/checks/common.hpp"
#include "judge/checks/subjects.hpp"
#include "judge/here/python.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <set>

namespace gpuvet {
namespace {

struct Pin {
  std::string name, version;
};

// "nvidia-cudnn-cu12==9.1.0.70"; nullopt: not an exact one.
std::optional<Pin> exact_pin(std::string_view text) {
  size_t at = text.find("==");
  if (at == std::string_view::npos || text.substr(at).find('*') != std::string_view::npos)
    return std::nullopt;
  std::string_view version = text.substr(at + 2);
  return Pin{std::string(text.substr(0, text.find_last_not_of(' ', at - 1) + 1)),
             std::string(version.substr(0, version.find_first_of(" ;,")))};
}

// The first package of each name: the copy that Python imports.
std::vector<const PythonPackage*> imported(const PythonEnv& env) {
  std::vector<const PythonPackage*> found;
  std::set<std::string_view> names;
  for (const PythonPackage& package : *env.packages)
    if (names.insert(package.name).second) found.push_back(&package);
  return found;
}

// --- pins ---------------------------------------------------------------------------------------

Outcome wheels_against_pins(const Machine& machine, const Facts&) {
  return over_pythons(machine, [](const PythonEnv& env) {
    std::vector<std::string> evidence, wanted;
    std::string by;
    size_t met = 0;
    for (const PythonPackage* package : imported(env))
      for (const std::string& text : package->pins) {
        auto pin = exact_pin(text);
        if (!pin || !pin->name.starts_with("nvidia-")) continue;
        const PythonPackage* installed = find_package(env, pin->name);
        if (installed && without_tag(installed->version) == without_tag(pin->version)) ++met;
        if (!installed || without_tag(installed->version) == without_tag(pin->version)) continue;
        evidence.push_back(
            fmt::format("{} pins {}, installed is {}", package->name, text, installed->version));
        wanted.push_back(fmt::format("{}=={}", pin->name, pin->version));
        if (by.empty()) by = fmt::format("{} {}", package->name, package->version);
      }
    if (evidence.empty() && met == 0)
      return not_applicable("no package pins NVIDIA's wheels in " + env_name(env));
    if (evidence.empty()) return ok("NVIDIA's wheels are those that are pinned");
    return fires(evidence, {{"package", by},
                            {"first", wanted.front()},
                            {"count", fmt::format("{}", wanted.size())},
                            {"command",
                             fmt::format("{} install {}", pip_command(env), joined(wanted, " "))}});
  });
}

// The release of torch that a companion needs: its own pin, else the table.
struct Needs {
  Version release;
  bool or_newer = false;
  std::string from;
};

std::optional<Needs> needed_torch(const PythonPackage& companion, const Facts& facts) {
  for (const std::string& text : companion.pins)
    if (auto pin = exact_pin(text); pin && pin->name == "torch")
      if (auto version = parse_version(pin->version))
        return Needs{*version, false, "its metadata: " + text};
  auto expected = facts.expected();
  auto own = parse_version(companion.version);
  if (!expected || !own) return std::nullopt;
  for (const Companion& row : (*expected)->companions)
    if (row.package == companion.name && row.version.major() == own->major() &&
        row.version.minor() == own->minor())
      return Needs{row.of_version, row.or_newer,
                   fmt::format("{} {} goes with torch {}", row.package, to_string(row.version),
                               to_string(row.of_version))};
  return std::nullopt;
}

bool same_release(const Version& needed, const Version& installed) {
  if (needed.parts.size() > 2) return needed == installed;
  return needed.major() == installed.major() && needed.minor() == installed.minor();
}

Outcome torch_companions(const Machine& machine, const Facts& facts) {
  return over_pythons(machine, [&](const PythonEnv& env) {
    const PythonPackage* torch = find_package(env, "torch");
    auto installed = torch ? parse_version(torch->version) : std::nullopt;
    std::vector<std::string> open, fine;
    for (const char* name : {"torchvision", "torchaudio"}) {
      const PythonPackage* companion = find_package(env, name);
      if (!companion || !installed) continue;
      auto needs = needed_torch(*companion, facts);
      std::string tag = local_tag(companion->version), own = local_tag(torch->version);
      bool other_tag = !tag.empty() && !own.empty() && tag != own;
      bool wrong = needs && (needs->or_newer ? *installed < needs->release
                                             : !same_release(needs->release, *installed));
      if (!needs && !other_tag) open.push_back(shown(*companion));
      if (!wrong && !other_tag) {
        if (needs) fine.push_back(name);
        continue;
      }
      std::string why = wrong ? needs->from : fmt::format("builds differ: {} and {}", tag, own);
      std::string index =
          own.empty() ? std::string() : " --index-url https://download.pytorch.org/whl/" + own;
      return fires(
          {shown(*torch), shown(*companion), why},
          {{"package", name},
           {"version", companion->version},
           {"torch", torch->version},
           {"command", fmt::format("{} install --force-reinstall torch=={} {}{}", pip_command(env),
                                   without_tag(torch->version), name, index)}});
    }
    if (!open.empty())
      return not_known("which torch " + joined(open) + " needs is not in the table");
    if (fine.empty()) return not_applicable("no torchvision or torchaudio in " + env_name(env));
    return ok(joined(fine) + " match torch " + torch->version);
  });
}

Outcome xformers_build(const Machine& machine, const Facts&) {
  return over_pythons(machine, [](const PythonEnv& env) {
    const PythonPackage* package = find_package(env, "xformers");
    if (!package) return not_applicable("no xFormers in " + env_name(env));
    auto built = env.xformers.find("torch");
    const PythonPackage* torch = find_package(env, "torch");
    if (built == env.xformers.end() || !torch)
      return not_known(fmt::format("which PyTorch {} was built for is not known; {} -m "
                                   "xformers.info tells",
                                   shown(*package), env.executable));
    std::string own = local_tag(torch->version), tag = local_tag(built->second);
    bool same = minor_release(built->second) == minor_release(torch->version);
    bool other_tag = !own.empty() && !tag.empty() && own != tag;
    if (same && !other_tag) return ok(fmt::format("built for torch {}", built->second));
    bool torch_is_cpu = own == "cpu" && same;
    return fires(
        {shown(*package) + ", xformers/cpp_lib.json: torch " + built->second, shown(*torch)},
        {{"version", package->version},
         {"built", built->second},
         {"torch", torch->version},
         {"culprit", torch_is_cpu ? "PyTorch has no CUDA here: replace that one"
                                  : "its compiled parts are not loaded"},
         {"command", fmt::format("{} install --force-reinstall {}", pip_command(env),
                                 torch_is_cpu ? "torch==" + without_tag(built->second) +
                                                    " --index-url https://download."
                                                    "pytorch.org/whl/" +
                                                    tag
                                              : std::string("xformers"))}});
  });
}

// --- mixtures -----------------------------------------------------------------------------------

// "cudnn" and 12 of "nvidia-cudnn-cu12"; CUDA 13 has some names without the number.
struct NvidiaWheel {
  std::string library;
  uint32_t major = 0;
};

std::optional<NvidiaWheel> nvidia_wheel(const PythonPackage& package) {
  if (!package.name.starts_with("nvidia-")) return std::nullopt;
  size_t at = package.name.rfind("-cu");
  if (at == std::string::npos || at < 7) return std::nullopt;
  auto number = parse_version(package.name.substr(at + 3));
  if (!number || number->major() < 10 || number->major() > 99) return std::nullopt;
  return NvidiaWheel{package.name.substr(7, at - 7), number->major()};
}

Outcome cuda_majors_mixed(const Machine& machine, const Facts&) {
  return over_pythons(machine, [](const PythonEnv& env) {
    std::map<uint32_t, std::vector<std::string>> majors;
    std::map<std::string, std::vector<const PythonPackage*>> libraries;
    for (const PythonPackage* package : imported(env))
      if (auto wheel = nvidia_wheel(*package)) {
        majors[wheel->major].push_back(fmt::format("{} {}", package->name, package->version));
        libraries[wheel->library].push_back(package);
      }
    if (majors.empty()) return not_applicable("no CUDA wheels of NVIDIA in " + env_name(env));
    if (majors.size() == 1) return ok(fmt::format("all for CUDA {}", majors.begin()->first));
    std::vector<std::string> evidence, names;
    for (const auto& [major, list] : majors) {
      evidence.push_back(fmt::format("CUDA {}: {}", major, joined(list)));
      names.push_back(fmt::format("{}", major));
    }
    std::string twice;
    for (const auto& [library, packages] : libraries) {
      if (packages.size() < 2) continue;
      evidence.push_back(fmt::format("{} and {} write into the same folder", packages[0]->name,
                                     packages[1]->name));
      if (twice.empty()) twice = packages[0]->name;
    }
    std::string older = majors.begin()->second.front();
    Outcome outcome =
        fires(evidence, {{"majors", joined(names, " and ")},
                         {"place", env_name(env)},
                         {"effect", twice.empty() ? "each framework must find its own"
                                                  : "copies of one library overwrite each other"},
                         {"older", older.substr(0, older.find(' '))},
                         {"pip", pip_command(env)}});
    if (!twice.empty()) outcome.severity = Severity::error;
    return outcome;
  });
}

// --- copies and twins ---------------------------------------------------------------------------

Outcome package_twice(const Machine& machine, const Facts&) {
  return over_pythons(machine, [](const PythonEnv& env) {
    std::map<std::pair<std::string, std::string>, const PythonPackage*> seen; // by name and folder
    for (const PythonPackage& package : *env.packages) {
      auto [at, fresh] = seen.emplace(std::pair(package.name, package.folder), &package);
      if (fresh || at->second->conda != package.conda) continue;
      return fires({shown(*at->second), shown(package)}, {{"package", package.name},
                                                          {"first", at->second->version},
                                                          {"second", package.version},
                                                          {"folder", package.folder},
                                                          {"pip", pip_command(env)}});
    }
    for (const auto& [key, package] : seen)
      for (const PythonPackage& other : *env.packages)
        if (&other != package && other.name == package->name && other.folder == package->folder &&
            other.version != package->version)
          return fires({shown(*package) + (package->conda ? ", by conda" : ", by pip"),
                        shown(other) + (other.conda ? ", by conda" : ", by pip")},
                       {{"package", other.name},
                        {"first", package->version},
                        {"second", other.version},
                        {"folder", other.folder},
                        {"pip", pip_command(env)}});
    if (env.packages->empty()) return not_applicable("no GPU packages in " + env_name(env));
    return ok("each package is recorded once per folder");
  });
}

Outcome package_shadowed(const Machine& machine, const Facts&) {
  return over_pythons(machine, [](const PythonEnv& env) {
    for (const PythonPackage* first : imported(env))
      for (const PythonPackage& other : *env.packages) {
        if (other.name != first->name || other.folder == first->folder ||
            other.version == first->version)
          continue;
        bool user_site = first->folder.find("/.local/lib/") != std::string::npos;
        auto set = env.settings.find("PYTHONPATH");
        bool path = set != env.settings.end() && !first->folder.empty() &&
                    set->second.find(first->folder) != std::string::npos;
        std::string why = user_site ? "the user's own site folder (~/.local)"
                          : path    ? "PYTHONPATH"
                                    : "a folder that is searched earlier";
        std::string command = user_site ? "export PYTHONNOUSERSITE=1"
                              : path
                                  ? "unset PYTHONPATH"
                                  : fmt::format("{} uninstall {}", pip_command(env), first->name);
        return fires({"imported: " + shown(*first), "hidden: " + shown(other)},
                     {{"package", first->name},
                      {"version", first->version},
                      {"hidden", other.version},
                      {"by", why},
                      {"command", command}});
      }
    if (env.packages->empty()) return not_applicable("no GPU packages in " + env_name(env));
    return ok("no copy hides another");
  });
}

Outcome onnxruntime_shadows(const Machine& machine, const Facts&) {
  return over_pythons(machine, [](const PythonEnv& env) {
    const PythonPackage* gpu = find_package(env, "onnxruntime-gpu");
    const PythonPackage* cpu = find_package(env, "onnxruntime");
    if (!gpu) return not_applicable("no onnxruntime-gpu in " + env_name(env));
    if (!cpu) return ok(shown(*gpu) + ", alone");
    return fires({shown(*gpu), shown(*cpu)},
                 {{"gpu", gpu->version}, {"cpu", cpu->version}, {"pip", pip_command(env)}});
  });
}

// Packages of which one environment may have only one.
struct Twins {
  std::string_view first, second, module;
};
constexpr std::array<Twins, 6> kTwins = {{{"tensorflow", "tensorflow-cpu", "tensorflow"},
                                          {"tensorflow", "intel-tensorflow", "tensorflow"},
                                          {"faiss-gpu", "faiss-cpu", "faiss"},
                                          {"paddlepaddle-gpu", "paddlepaddle", "paddle"},
                                          {"torch", "torch-cpu", "torch"},
                                          {"mxnet-cu112", "mxnet", "mxnet"}}};

Outcome twins(const Machine& machine, const Facts&) {
  return over_pythons(machine, [](const PythonEnv& env) {
    if (env.packages->empty()) return not_applicable("no GPU packages in " + env_name(env));
    auto report = [&](const PythonPackage& a, const PythonPackage& b, std::string_view module) {
      return fires({shown(a), shown(b)}, {{"first", a.name},
                                          {"second", b.name},
                                          {"module", std::string(module)},
                                          {"pip", pip_command(env)}});
    };
    std::vector<const PythonPackage*> cupy = packages_with_prefix(env, "cupy");
    std::erase_if(cupy, [](const PythonPackage* p) {
      return p->name != "cupy" && !p->name.starts_with("cupy-cuda") &&
             !p->name.starts_with("cupy-rocm");
    });
    for (const PythonPackage* package : cupy)
      if (!cupy.empty() && package->name != cupy[0]->name)
        return report(*cupy[0], *package, "cupy");
    for (const Twins& pair : kTwins) {
      const PythonPackage* first = find_package(env, pair.first);
      const PythonPackage* second = find_package(env, pair.second);
      if (first && second) return report(*first, *second, pair.module);
    }
    return ok("no two packages provide one module");
  });
}

// --- compiled extensions ------------------------------------------------------------------------

bool new_abi(const std::string& value) {
  return value == "1" || lower_ascii(value) == "true" || value == "cxx11";
}

// Packages with libraries that are linked to PyTorch's.
constexpr std::array<std::string_view, 7> kExtensions = {
    "flash-attn", "xformers", "vllm", "mamba-ssm", "causal-conv1d", "apex", "pytorch3d"};

Outcome no_extensions(const PythonEnv& env) {
  for (std::string_view name : kExtensions)
    if (const PythonPackage* package = find_package(env, name)) {
      std::string module = package->name;
      std::replace(module.begin(), module.end(), '-', '_');
      return not_known(fmt::format("the symbols of {} were not read; {} -c \"import {}\" tells",
                                   shown(*package), env.executable, module));
    }
  return not_applicable("no extensions of PyTorch in " + env_name(env));
}

Outcome extension_of_other_torch(const Machine& machine, const Facts&) {
  return over_pythons(machine, [](const PythonEnv& env) {
    const PythonPackage* torch = find_package(env, "torch");
    if (!torch) return not_applicable("no PyTorch in " + env_name(env));
    auto own = env.torch.find("cxx11_abi");
    for (const PythonEnv::Extension& extension : env.extensions) {
      bool other_abi = own != env.torch.end() && !extension.abi.empty() &&
                       new_abi(own->second) != new_abi(extension.abi);
      if (!other_abi && extension.undefined.empty()) continue;
      std::vector<std::string> evidence = {shown(*torch)};
      if (other_abi)
        evidence.push_back(fmt::format("{}: built with the {} C++ ABI, torch with the {}",
                                       extension.file, extension.abi == "cxx11" ? "new" : "old",
                                       new_abi(own->second) ? "new" : "old"));
      for (const std::string& symbol : extension.undefined)
        evidence.push_back(fmt::format("{}: undefined symbol {}", extension.file, symbol));
      const PythonPackage* package = find_package(env, extension.package);
      return fires(
          evidence,
          {{"package", extension.package},
           {"version", package ? package->version : "of unknown version"},
           {"torch", torch->version},
           {"why", other_abi ? "for another C++ ABI" : "for another release of PyTorch"},
           {"command", fmt::format("{} install --force-reinstall --no-deps "
                                   "--no-build-isolation --no-binary {} {}",
                                   pip_command(env), extension.package, extension.package)}});
    }
    if (env.extensions.empty()) return no_extensions(env);
    return ok(fmt::format("{} match torch", counted(env.extensions.size(), "extension")));
  });
}

Outcome extension_lacks_library(const Machine& machine, const Facts&) {
  return over_pythons(machine, [](const PythonEnv& env) {
    for (const PythonEnv::Extension& extension : env.extensions) {
      if (extension.missing_needed.empty()) continue;
      std::string first = extension.missing_needed.front();
      size_t so = first.find(".so.");
      bool cuda = first.starts_with("libcu") || first.starts_with("libnv");
      std::string major = so == std::string::npos ? "" : first.substr(so + 4);
      return fires({fmt::format("{} needs {}, which is not found", extension.file,
                                joined(extension.missing_needed))},
                   {{"package", extension.package},
                    {"library", first},
                    {"hint", cuda && !major.empty()
                                 ? fmt::format("it was built for another CUDA than is here (its "
                                               "library is numbered {})",
                                               major)
                                 : std::string("the package that has it is not installed")},
                    {"pip", pip_command(env)}});
    }
    if (env.extensions.empty()) return no_extensions(env);
    return ok("all libraries that the extensions need are found");
  });
}

} // namespace

CheckList python_pair_checks() {
  return {{"nvidia-wheels-not-pinned", wheels_against_pins},
          {"torch-companion-mismatch", torch_companions},
          {"xformers-mismatch", xformers_build},
          {"cuda-wheels-mixed", cuda_majors_mixed},
          {"package-installed-twice", package_twice},
          {"package-shadowed", package_shadowed},
          {"onnxruntime-shadows-gpu", onnxruntime_shadows},
          {"packages-provide-same-module", twins},
          {"extension-other-torch", extension_of_other_torch},
          {"extension-lacks-library", extension_lacks_library}};
}

} // namespace gpuvet
