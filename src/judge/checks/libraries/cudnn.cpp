// Checks of cuDNN: its parts, its major versions, its headers, what was built for it.
#include "base/text.hpp"
#include "judge/checks/common.hpp"
#include "judge/checks/subjects.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

namespace gpuvet {
namespace {

std::vector<const CudaLibrary*> cudnn_libraries(const Machine& machine) {
  std::vector<const CudaLibrary*> found;
  for (const CudaLibrary& library : machine.libraries)
    if (library.kind == "cudnn") found.push_back(&library);
  return found;
}

// "9" of "libcudnn_ops.so.9"
std::string soname_major(std::string_view path) {
  std::string version = version_of_path(name_of(path));
  return version.substr(0, version.find('.'));
}

bool has_major(const Machine& machine, std::string_view major) {
  for (const CudaLibrary* library : cudnn_libraries(machine))
    if (soname_major(library->file.path) == major) return true;
  return resolved(machine, fmt::format("libcudnn.so.{}", major)) != nullptr;
}

// Versions of the parts, by folder.
Outcome parts_differ(const Machine& machine, const Facts&) {
  std::map<std::string, std::map<std::string, std::string>> folders; // folder -> version -> file
  for (const CudaLibrary* library : cudnn_libraries(machine)) {
    std::string version = library->file.version;
    if (version.find('.') == std::string::npos) continue;
    std::string key =
        std::string(folder_of(library->file.path)) + " " + soname_major(library->file.path);
    folders[key].emplace(version, library->file.path);
  }
  if (folders.empty()) return not_applicable("no cuDNN, or no versions of its parts, were found");
  for (const auto& [key, versions] : folders) {
    if (versions.size() < 2) continue;
    std::vector<std::string> evidence, names;
    for (const auto& [version, path] : versions) {
      evidence.push_back(fmt::format("{}: {}", path, version));
      names.push_back(version);
    }
    return fires(std::move(evidence),
                 {{"folder", key.substr(0, key.rfind(' '))}, {"versions", joined(names, " and ")}});
  }
  return ok("in each folder cuDNN's parts are of one version");
}

// As programs without a run path get them: main library and parts from different folders.
Outcome parts_mixed(const Machine& machine, const Facts&) {
  bool any = false;
  for (const char* major : {"9", "8"}) {
    const ResolvedSoname* main = resolved(machine, fmt::format("libcudnn.so.{}", major));
    if (!main) continue;
    any = true;
    std::string version = library_version(machine, main->found.real_path);
    for (const ResolvedSoname& part : machine.loader.sonames) {
      bool is_part = part.soname.starts_with("libcudnn_") &&
                     part.soname.ends_with(fmt::format(".so.{}", major));
      if (!is_part || part.found.path.empty()) continue;
      std::string other = library_version(machine, part.found.real_path);
      bool elsewhere = folder_of(part.found.real_path) != folder_of(main->found.real_path);
      if (!elsewhere || other == version) continue;
      Outcome outcome = fires({fmt::format("{}: {} {} ({})", main->soname, main->found.path,
                                           version, rule_name(machine, main->found)),
                               fmt::format("{}: {} {} ({})", part.soname, part.found.path, other,
                                           rule_name(machine, part.found))},
                              {{"main", version.empty() ? std::string(main->found.path) : version},
                               {"part", part.soname},
                               {"other", other.empty() ? std::string(part.found.path) : other}});
      add_way_out(machine, part.found, outcome.fields);
      return outcome;
    }
  }
  return any ? ok("cuDNN and its parts come from one folder")
             : not_applicable("cuDNN is not on the loader's path");
}

// A wheel that lacks a part gets it from the system, of another version.
Outcome part_missing(const Machine& machine, const Facts&) {
  std::map<std::string, const CudaLibrary*> system_parts; // soname -> file
  for (const CudaLibrary* library : cudnn_libraries(machine))
    if (library->python.empty())
      system_parts.emplace(std::string(name_of(library->file.path)), library);
  std::map<std::string, std::set<std::string>> wheels; // folder -> sonames
  std::map<std::string, std::string> versions;         // of wheels
  for (const CudaLibrary* library : cudnn_libraries(machine)) {
    if (library->python.empty()) continue;
    std::string folder(folder_of(library->file.path));
    wheels[folder].insert(std::string(name_of(library->file.path)));
    std::string version = library_version(machine, library->file.path);
    if (version.find('.') != std::string::npos) versions[folder] = version;
  }
  if (wheels.empty()) return not_applicable("no Python package brings cuDNN");
  for (const auto& [folder, names] : wheels) {
    std::optional<Version> mine = parse_version(versions[folder]);
    for (const auto& [soname, part] : system_parts) {
      bool same_major = names.count("libcudnn.so." + soname_major(soname)) > 0;
      if (!same_major || names.count(soname)) continue;
      std::string other_text = library_version(machine, part->file.path);
      std::optional<Version> other = parse_version(other_text);
      // A part that only newer releases have is not asked for.
      if (!mine || !other || *mine < *other || *mine == *other) continue;
      return fires({fmt::format("{}: cuDNN {} without {}", folder, versions[folder], soname),
                    fmt::format("{}: {}", part->file.path, other_text)},
                   {{"folder", folder},
                    {"wheel", versions[folder]},
                    {"part", soname},
                    {"system", other_text},
                    {"path", part->file.path}});
    }
  }
  return ok("no cuDNN of a Python package lacks a part that the system has");
}

// --- major versions ------------------------------------------------------------------------------

Outcome wrong_major_for(const Machine& machine, const std::string& package,
                        const std::string& wants, std::string evidence) {
  std::string has;
  for (const char* major : {"9", "8", "7"})
    if (has.empty() && major != wants && has_major(machine, major)) has = major;
  Outcome outcome = fires({std::move(evidence)}, {{"package", package}, {"wants", wants}});
  for (const CudaLibrary* library : cudnn_libraries(machine))
    if (soname_major(library->file.path) == has && outcome.evidence.size() < 3)
      outcome.evidence.push_back(library->file.path + ": is there");
  outcome.fields["has"] = has.empty() ? "none" : "cuDNN " + has;
  return outcome;
}

Outcome wrong_major(const Machine& machine, const Facts&) {
  if (machine.pythons.empty()) return not_applicable("no Python environment was looked at");
  for (const PythonEnv& env : machine.pythons) {
    for (const PythonEnv::Extension& extension : env.extensions)
      for (const std::string& soname : extension.missing_needed) {
        std::string wants = soname_major(soname);
        if (soname.starts_with("libcudnn") && !has_major(machine, wants))
          return wrong_major_for(machine, extension.package, wants,
                                 fmt::format("{}: needs {}", extension.file, soname));
      }
    if (!env.packages) continue;
    // CTranslate2 loads cuDNN by name: 8 before its release 4.5, 9 from then on.
    for (const PythonPackage& package : *env.packages) {
      std::optional<Version> version = parse_version(package.version);
      if (package.name != "ctranslate2" || !version) continue;
      std::string wants = *version < Version{{4, 5}} ? "8" : "9";
      if (!has_major(machine, wants) && has_major(machine, wants == "8" ? "9" : "8"))
        return wrong_major_for(machine, fmt::format("{} {}", package.name, package.version), wants,
                               fmt::format("{}: {} {}, made for cuDNN {}", package.folder,
                                           package.name, package.version, wants));
    }
  }
  return ok("no package asks for another cuDNN major version");
}

Outcome tensorflow(const Machine& machine, const Facts&) {
  bool any = false;
  for (const PythonEnv& env : machine.pythons) {
    auto built = env.tensorflow.find("cudnn_version");
    if (built == env.tensorflow.end()) continue;
    std::optional<Version> wants = parse_version(built->second);
    if (!wants) continue;
    any = true;
    std::string found, path;
    for (const CudaLibrary* library : cudnn_libraries(machine)) {
      bool here = library->part.empty() &&
                  (library->python.empty() || std::find(env.folders.begin(), env.folders.end(),
                                                        library->python) != env.folders.end());
      std::string version = library_version(machine, library->file.path);
      if (!here || (!found.empty() && library->python.empty())) continue;
      if (parse_version(version)) {
        found = version;
        path = library->file.path;
      }
    }
    std::optional<Version> has = parse_version(found);
    if (!has) return not_applicable("no cuDNN was found, which is said elsewhere");
    bool fits = has->major() == wants->major() &&
                (wants->parts.size() < 2 || has->minor() >= wants->minor());
    if (fits) continue;
    return fires(
        {fmt::format("build_info of {}: cudnn_version = {}", env.executable, built->second),
         fmt::format("{}: {}", path, found)},
        {{"wants", built->second}, {"has", found}, {"python", env.executable}});
  }
  return any ? ok("cuDNN fits TensorFlow") : not_applicable("TensorFlow with CUDA is not here");
}

// --- the rest ------------------------------------------------------------------------------------

// "/usr/local/cuda" of "/usr/local/cuda/include/cudnn_version.h"
std::string prefix_of_header(const std::string& file) {
  size_t include = file.find("/include/");
  return include == std::string::npos ? std::string(folder_of(file)) : file.substr(0, include);
}

Outcome headers(const Machine& machine, const Facts&) {
  if (machine.cudnn_headers.empty()) return not_applicable("no cuDNN headers are here");
  for (const CudnnHeader& header : machine.cudnn_headers) {
    std::optional<Version> mine = parse_version(header.version);
    if (!mine) continue;
    mine->parts.resize(std::min<size_t>(mine->parts.size(), 3));
    std::string prefix = prefix_of_header(header.file), other, path;
    bool same = false;
    for (const CudaLibrary* library : cudnn_libraries(machine)) {
      bool beside =
          below(library->file.path, prefix) && library->part.empty() && library->python.empty();
      // Toolkits have headers and libraries of their own below /usr too.
      if (prefix == "/usr" && below(library->file.path, "/usr/local")) beside = false;
      std::optional<Version> version = parse_version(library->file.version);
      if (!beside || !version || version->parts.size() < 2) continue;
      version->parts.resize(std::min<size_t>(version->parts.size(), 3));
      if (*version == *mine) same = true;
      other = library->file.version;
      path = library->file.path;
    }
    if (same || other.empty()) continue;
    return fires(
        {fmt::format("{}: {}", header.file, header.version), fmt::format("{}: {}", path, other)},
        {{"file", header.file}, {"header", header.version}, {"library", other}});
  }
  return ok("cuDNN's headers fit its libraries");
}

Outcome nvrtc_name(const Machine& machine, const Facts&) {
  if (!has_major(machine, "8")) return not_applicable("cuDNN 8 is not here");
  if (const ResolvedSoname* entry = resolved(machine, "libnvrtc.so")) return ok(entry->found.path);
  for (const CudaLibrary& library : machine.libraries)
    if (library.kind == "nvrtc" && library.python.empty() &&
        name_of(library.file.path) == "libnvrtc.so")
      return not_applicable(library.file.path + " is there for programs that search its folder");
  std::string has;
  for (const CudaLibrary& library : machine.libraries)
    if (library.kind == "nvrtc" && library.part.empty() && has.empty()) has = library.file.path;
  Outcome outcome = fires({"libnvrtc.so: not found"});
  if (has.empty()) return not_applicable("no NVRTC was found");
  outcome.evidence.push_back(has + ": is there");
  outcome.fields = {
      {"path", has}, {"folder", std::string(folder_of(has))}, {"name", std::string(name_of(has))}};
  return outcome;
}

// cuDNN 9.11 and newer have no code for GPUs before Turing.
Outcome gpu_dropped(const Machine& machine, const Facts& facts) {
  constexpr uint32_t kFirst = 75;
  if (cudnn_libraries(machine).empty()) return not_applicable("no cuDNN was found");
  uint32_t lowest = UINT32_MAX;
  for (const NvmlGpu& gpu : machine.nvml.gpus)
    if (gpu.capability) lowest = std::min(lowest, *gpu.capability);
  auto gpus = facts.gpus();
  if (lowest == UINT32_MAX && gpus && machine.kernel.functions)
    for (const PciFunction& function : *machine.kernel.functions)
      if (const Gpu* gpu = find_gpu(**gpus, function.id).gpu) lowest = std::min(lowest, gpu->sm);
  if (lowest == UINT32_MAX) return not_known("the GPU's compute capability is not known");
  if (lowest >= kFirst) return ok("cuDNN 9 still serves these GPUs");
  for (const CudaLibrary* library : cudnn_libraries(machine)) {
    std::string text = library_version(machine, library->file.path);
    std::optional<Version> version = parse_version(text);
    if (!version || version->parts.size() < 2 || *version < Version{{9, 11}}) continue;
    return fires({fmt::format("{}: {}", library->file.path, text),
                  fmt::format("{}: compute capability {}.{}", first_gpu_name(machine), lowest / 10,
                              lowest % 10)},
                 {{"version", text},
                  {"gpu", first_gpu_name(machine)},
                  {"capability", fmt::format("{}.{}", lowest / 10, lowest % 10)}});
  }
  return ok("no cuDNN here is too new for this GPU");
}

} // namespace

CheckList cudnn_checks() {
  return {{"libraries-cudnn-parts-differ", parts_differ}, {"libraries-cudnn-mixed", parts_mixed},
          {"libraries-cudnn-part-missing", part_missing}, {"libraries-cudnn-major", wrong_major},
          {"libraries-cudnn-tensorflow", tensorflow},     {"libraries-cudnn-headers", headers},
          {"libraries-cudnn-nvrtc", nvrtc_name},          {"libraries-cudnn-gpu", gpu_dropped}};
}

} // namespace gpuvet
