// Checks of the loader's settings: LD_LIBRARY_PATH, ld.so.conf, LD_PRELOAD; and of what libraries
// want that the ones found here do not have.
#include "base/text.hpp"
#include "judge/checks/common.hpp"
#include "judge/checks/subjects.hpp"
#include "judge/here/python.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace gpuvet {
namespace {

using Element = LoaderState::PathElement;

bool bears_on_cuda(std::string_view path) {
  for (std::string_view word : {"cuda", "nvidia", "cudnn", "nccl", "tensorrt", "nvhpc"})
    if (lower_ascii(path).find(word) != std::string::npos) return true;
  return false;
}

// Elements of LD_LIBRARY_PATH with a defect, and the start-up lines that may set them.
template <class Wrong>
Outcome path_elements(const Machine& machine, std::string fine, const Wrong& wrong) {
  if (machine.loader.library_path.empty()) return not_applicable("LD_LIBRARY_PATH is not set");
  std::vector<std::string> found, evidence;
  for (const Element& element : machine.loader.library_path)
    if (wrong(element)) found.push_back(element.text);
  if (found.empty()) return ok(std::move(fine));
  evidence.push_back("LD_LIBRARY_PATH=" + variable(machine, "LD_LIBRARY_PATH"));
  for (const SettingLine& line : machine.toolkits.settings)
    if (line.text.find("LD_LIBRARY_PATH") != std::string::npos)
      evidence.push_back(fmt::format("{}:{}: {}", line.file, line.line, line.text));
  std::vector<std::string> kept;
  for (const Element& element : machine.loader.library_path)
    if (element.exists && !element.empty && !element.relative && !element.tilde)
      kept.push_back(element.text); // what is in order
  Outcome outcome = fires(std::move(evidence), {{"elements", joined(found)},
                                                {"count", fmt::format("{}", found.size())}});
  if (kept.empty())
    outcome.fields["unset_path"] = "LD_LIBRARY_PATH";
  else
    outcome.fields["path_without"] = joined(kept, ":");
  return outcome;
}

Outcome path_empty(const Machine& machine, const Facts&) {
  return path_elements(machine, "no element is empty",
                       [](const Element& element) { return element.empty; });
}

Outcome path_relative(const Machine& machine, const Facts&) {
  return path_elements(machine, "all elements are full paths", [](const Element& element) {
    return element.relative && !element.empty && !element.tilde;
  });
}

Outcome path_tilde(const Machine& machine, const Facts&) {
  return path_elements(machine, "no element has a tilde",
                       [](const Element& element) { return element.tilde; });
}

Outcome path_missing(const Machine& machine, const Facts&) {
  return path_elements(machine, "all folders are there", [](const Element& element) {
    return !element.exists && !element.empty && !element.relative && !element.tilde &&
           bears_on_cuda(element.text);
  });
}

// --- ld.so.conf ----------------------------------------------------------------------------------

std::string conf_file(const LoaderState::Folder& line) {
  return line.file.substr(0, line.file.rfind(':'));
}

Outcome conf_missing(const Machine& machine, const Facts&) {
  Outcome outcome = fires({});
  for (const LoaderState::Folder& line : machine.loader.conf_folders) {
    if (line.exists || !bears_on_cuda(line.path + line.file)) continue;
    outcome.evidence.push_back(fmt::format("{}: {} (no such folder)", line.file, line.path));
    if (outcome.fields.empty())
      outcome.fields = {{"file", conf_file(line)}, {"line", line.file}, {"folder", line.path}};
  }
  if (outcome.evidence.empty())
    return ok("every CUDA folder that the loader's settings name exists");
  return outcome;
}

// A line of ld.so.conf.d puts an older CUDA library before a newer one.
Outcome conf_shadows(const Machine& machine, const Facts&) {
  Outcome outcome = fires({});
  for (const ResolvedSoname& entry : machine.loader.sonames) {
    if (entry.found.rule != FoundBy::cache || entry.found.path.empty()) continue;
    if (entry.soname == "libcuda.so.1" || entry.soname == "libnvidia-ml.so.1") continue;
    const LoaderState::Folder* line = conf_line(machine, entry.found.path);
    std::string version = library_version(machine, entry.found.real_path);
    std::optional<Version> mine = parse_version(version);
    if (!line || !mine || mine->parts.size() < 2) continue;
    for (const std::string& other : entry.shadowed) {
      std::string other_version = library_version(machine, other);
      std::optional<Version> newer = parse_version(other_version);
      if (!newer || newer->parts.size() < 2 || *newer <= *mine) continue;
      outcome.evidence.push_back(fmt::format("{}: {} {} from {}, before {}", line->file,
                                             entry.soname, version, entry.found.path, other));
      if (outcome.fields.empty())
        outcome.fields = {{"name", entry.soname},          {"old", version},
                          {"new", other_version},          {"line", line->file},
                          {"conf_file", conf_file(*line)}, {"conf_folder", line->path}};
      break;
    }
  }
  if (outcome.evidence.empty()) return ok("no older CUDA library comes first");
  return outcome;
}

Outcome cache_outdated(const Machine& machine, const Facts&) {
  if (!machine.loader.cache_time) return not_known("when /etc/ld.so.cache was written");
  for (const LoaderState::Folder& line : machine.loader.conf_folders)
    if (line.conf_time && *line.conf_time > *machine.loader.cache_time && line.exists &&
        bears_on_cuda(line.path + line.file))
      return fires({fmt::format("{}: {} s newer than /etc/ld.so.cache", line.file,
                                *line.conf_time - *machine.loader.cache_time)},
                   {{"line", line.file}, {"folder", line.path}});
  return ok("the cache is newer than the loader's settings");
}

// --- LD_PRELOAD ----------------------------------------------------------------------------------

// Libraries that stand between programs and libcuda.
struct Shim {
  std::string_view name, what;
};
constexpr std::array<Shim, 5> kShims = {{{"libvgpu.so", "HAMi's memory and core limits"},
                                         {"libnvshare.so", "nvshare's time slices"},
                                         {"libgemhook.so", "KubeShare's limits"},
                                         {"libcuda-control.so", "vcuda's limits"},
                                         {"libcuda.so", "a libcuda that is forced on programs"}}};

Outcome preload_shim(const Machine& machine, const Facts&) {
  if (machine.loader.preload.empty()) return ok("nothing is preloaded");
  for (const std::string& path : machine.loader.preload)
    for (const Shim& shim : kShims)
      if (name_of(path).starts_with(shim.name)) {
        std::string from = variable(machine, "LD_PRELOAD").find(name_of(path)) == std::string::npos
                               ? "/etc/ld.so.preload"
                               : "LD_PRELOAD";
        Outcome outcome = fires({from + ": " + path},
                                {{"path", path}, {"what", std::string(shim.what)}, {"from", from}});
        if (from == "LD_PRELOAD")
          outcome.fields["variable"] = from;
        else
          outcome.fields["file"] = from;
        // There the administrators of the cluster mean it.
        if (in_container(machine, ContainerKind::kubernetes)) outcome.severity = Severity::info;
        return outcome;
      }
  return ok("no known shim is preloaded");
}

Outcome preload_missing(const Machine& machine, const Facts&) {
  if (machine.loader.preload.empty()) return not_applicable("nothing is preloaded");
  if (machine.loader.preload_missing.empty()) return ok("all preloaded files are there");
  std::vector<std::string> evidence;
  for (const std::string& path : machine.loader.preload_missing)
    evidence.push_back("LD_PRELOAD or /etc/ld.so.preload: " + path + ": not there");
  return fires(std::move(evidence), {{"files", joined(machine.loader.preload_missing)}});
}

// --- versions of symbols -------------------------------------------------------------------------

template <class Meant> Outcome gaps(const Machine& machine, std::string fine, const Meant& meant) {
  Outcome outcome = fires({});
  for (const VersionGap& gap : machine.loader.version_gaps) {
    if (!meant(gap)) continue;
    outcome.evidence.push_back(fmt::format("{}: needs {} of {}, {} has {} at most", gap.wanted_by,
                                           gap.version, gap.library, gap.provider, gap.has));
    if (outcome.fields.empty())
      outcome.fields = {{"file", std::string(name_of(gap.wanted_by))},
                        {"version", gap.version},
                        {"library", gap.library},
                        {"provider", gap.provider},
                        {"has", gap.has},
                        {"folder", std::string(folder_of(gap.provider))}};
  }
  return outcome.evidence.empty() ? ok(std::move(fine)) : outcome;
}

Outcome glibc_old(const Machine& machine, const Facts&) {
  return gaps(machine, "nothing here wants a newer C library", [](const VersionGap& gap) {
    return gap.library.starts_with("libc.so.") || gap.library.starts_with("libm.so.") ||
           gap.version.starts_with("GLIBC_");
  });
}

Outcome libstdcxx_old(const Machine& machine, const Facts&) {
  return gaps(machine, "nothing here wants a newer libstdc++", [](const VersionGap& gap) {
    return gap.library.starts_with("libstdc++") || gap.library.starts_with("libgcc_s");
  });
}

Outcome library_old(const Machine& machine, const Facts&) {
  Outcome outcome = gaps(machine, "no CUDA library wants a newer one", [](const VersionGap& gap) {
    for (std::string_view start : {"libcu", "libnv", "libnccl", "libnpp"})
      if (gap.library.starts_with(start)) return true;
    return false;
  });
  if (outcome.answer != Answer::fires) return outcome;
  if (const ResolvedSoname* entry = resolved(machine, outcome.fields["library"]);
      entry && entry->found.path == outcome.fields["provider"])
    add_way_out(machine, entry->found, outcome.fields);
  return outcome;
}

// --- CUDA majors of extensions -------------------------------------------------------------------

// CUDA's major version by a soname; 0: it does not tell.
uint32_t cuda_major(std::string_view soname) {
  for (std::string_view start :
       {"libcudart.so.", "libcublas.so.", "libcublasLt.so.", "libnvrtc.so.", "libnvJitLink.so."})
    if (soname.starts_with(start)) {
      std::optional<Version> version = parse_version(soname.substr(start.size()));
      return version ? version->major() : 0;
    }
  return 0;
}

// What PyTorch of the environment was built for; nullopt: not known.
std::optional<Version> torch_cuda(const PythonEnv& env) {
  auto cuda = env.torch.find("cuda");
  return cuda == env.torch.end() ? std::nullopt : parse_version(cuda->second);
}

Outcome extension_major(const Machine& machine, const Facts&) {
  if (machine.pythons.empty()) return not_applicable("no Python environment was looked at");
  for (const PythonEnv& env : machine.pythons) {
    const std::optional<Version> has = torch_cuda(env);
    for (const PythonEnv::Extension& extension : env.extensions)
      for (const std::string& soname : extension.missing_needed) {
        uint32_t wants = cuda_major(soname);
        if (wants == 0 || (has && has->major() == wants)) continue;
        Outcome outcome =
            fires({fmt::format("{}: needs {}, found nowhere", extension.file, soname)},
                  {{"package", extension.package},
                   {"wants", fmt::format("{}", wants)},
                   {"soname", soname},
                   {"python", env.executable}});
        if (has) {
          outcome.evidence.push_back(
              fmt::format("torch/version.py of {}: cuda = {}", env.executable, to_string(*has)));
          outcome.fields["has"] = fmt::format("CUDA {}", has->major());
          outcome.fields["major"] = fmt::format("{}", has->major());
        } else {
          outcome.fields["has"] = "no CUDA of that version";
        }
        return outcome;
      }
  }
  return ok("no package wants another CUDA major version");
}

// A library that is here is not found because the run path names folders of another machine.
Outcome run_path_lost(const Machine& machine, const Facts&) {
  return over_pythons(machine, [](const PythonEnv& env) {
    for (const PythonEnv::Extension& extension : env.extensions) {
      if (extension.lost_run_paths.empty() || extension.missing_needed.empty()) continue;
      if (extension.elsewhere.empty()) continue; // not here at all: that is the cause
      const std::optional<Version> has = torch_cuda(env);
      const uint32_t wants = cuda_major(extension.missing_needed.front());
      if (wants != 0 && has && has->major() != wants) continue; // it would not fit
      const std::string& there = extension.elsewhere.front();
      return fires(
          {fmt::format("{}: run path {} (not there)", extension.file,
                       joined(extension.lost_run_paths, ":")),
           fmt::format("{}: needs {}, not found", extension.file, joined(extension.missing_needed)),
           there + ": is there"},
          {{"package", extension.package},
           {"library", std::string(name_of(there))},
           {"folder", extension.lost_run_paths.front()},
           {"file", extension.file},
           {"there", std::string(folder_of(there))},
           {"pip", pip_command(env)}});
    }
    return ok("no run path of an extension leads to a folder that is gone and needed");
  });
}

Outcome several_cudart(const Machine& machine, const Facts&) {
  bool guesses = false; // a package that picks one by looking around
  for (const PythonEnv& env : machine.pythons)
    if (env.packages)
      for (const PythonPackage& package : *env.packages)
        guesses = guesses || package.name == "bitsandbytes";
  if (!guesses) return not_applicable("no package here chooses among CUDA runtimes by itself");
  std::vector<std::string> evidence, names;
  for (const ResolvedSoname& entry : machine.loader.sonames)
    if (entry.soname.starts_with("libcudart.so.") && !entry.found.path.empty()) {
      evidence.push_back(entry.soname + ": " + entry.found.path + " (" +
                         rule_name(machine, entry.found) + ")");
      names.push_back(entry.soname);
    }
  if (names.size() < 2) return ok("at most one CUDA runtime is on the loader's path");
  return fires(std::move(evidence), {{"names", joined(names)}});
}

} // namespace

CheckList loader_setting_checks() {
  return {{"loader-path-empty", path_empty},
          {"loader-path-relative", path_relative},
          {"loader-path-tilde", path_tilde},
          {"loader-path-missing", path_missing},
          {"loader-conf-missing", conf_missing},
          {"loader-conf-shadows-newer", conf_shadows},
          {"loader-cache-outdated", cache_outdated},
          {"loader-preload-shim", preload_shim},
          {"loader-preload-missing", preload_missing},
          {"loader-glibc-old", glibc_old},
          {"loader-libstdcxx-old", libstdcxx_old},
          {"loader-library-old", library_old},
          {"loader-extension-other-major", extension_major},
          {"loader-run-path-lost", run_path_lost},
          {"loader-several-cudart", several_cudart}};
}

} // namespace gpuvet
