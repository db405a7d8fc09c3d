// Checks of CUDA's libraries against each other: copies on LD_LIBRARY_PATH against those of Python
// packages, cuBLAS, files that hold nothing, and what running programs have loaded.
#include "base/text.hpp"
#include "judge/checks/common.hpp"
#include "judge/checks/subjects.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>

namespace gpuvet {
namespace {

// --- LD_LIBRARY_PATH against Python packages -----------------------------------------------------

// A library of a Python package, and the one that LD_LIBRARY_PATH puts before it.
struct Shadowed {
  const CudaLibrary* wheel = nullptr;
  const LoadEdge* taken = nullptr;
  std::string name;                   // "libnvJitLink.so.12"
  std::string wheel_text, taken_text; // versions as written
  Version wheel_version, taken_version;
};

std::vector<Shadowed> shadowed(const Machine& machine, std::string_view kind) {
  std::vector<Shadowed> found;
  for (const CudaLibrary& library : machine.libraries) {
    if (library.kind != kind || library.python.empty()) continue;
    std::string name(name_of(library.file.path));
    const ResolvedSoname* entry = resolved(machine, name);
    if (!entry ||
        (entry->found.rule != FoundBy::ld_library_path && entry->found.rule != FoundBy::preload))
      continue;
    if (entry->found.real_path == library.file.real_path ||
        below(entry->found.path, library.python))
      continue;
    std::string wheel = library_version(machine, library.file.path);
    std::string taken = library_version(machine, entry->found.real_path);
    std::optional<Version> a = parse_version(wheel), b = parse_version(taken);
    if (!a || !b || a->parts.size() < 2 || b->parts.size() < 2 || *a == *b) continue;
    found.push_back({&library, &entry->found, name, wheel, taken, *a, *b});
  }
  return found;
}

template <class Matters>
Outcome over_wheel(const Machine& machine, std::string_view kind, const Matters& matters) {
  if (machine.loader.library_path.empty() && machine.loader.preload.empty())
    return not_applicable("LD_LIBRARY_PATH is not set");
  Outcome outcome = fires({});
  for (const Shadowed& one : shadowed(machine, kind)) {
    if (!matters(one)) continue;
    outcome.evidence.push_back(fmt::format("{}: {} {} ({})", one.name, one.taken->path,
                                           one.taken_text, rule_name(machine, *one.taken)));
    outcome.evidence.push_back(
        fmt::format("{}: {} {}", one.name, one.wheel->file.path, one.wheel_text));
    if (!outcome.fields.empty()) continue;
    add_way_out(machine, *one.taken, outcome.fields);
    outcome.fields["name"] = one.name;
    outcome.fields["taken"] = one.taken_text;
    outcome.fields["wheel"] = one.wheel_text;
    outcome.fields["python"] = one.wheel->python;
  }
  if (outcome.evidence.empty()) return ok("no other copy comes before that of a Python package");
  return outcome;
}

bool older(const Shadowed& one) {
  return one.taken_version < one.wheel_version;
}

Outcome nvjitlink_shadowed(const Machine& machine, const Facts&) {
  return over_wheel(machine, "nvjitlink", older);
}

Outcome cudnn_shadowed(const Machine& machine, const Facts&) {
  return over_wheel(machine, "cudnn", [](const Shadowed&) { return true; });
}

Outcome cublas_shadowed(const Machine& machine, const Facts&) {
  Outcome outcome = over_wheel(machine, "cublas", [](const Shadowed&) { return true; });
  bool is_older = false;
  for (const Shadowed& one : shadowed(machine, "cublas"))
    is_older = is_older || older(one);
  if (outcome.answer == Answer::fires && !is_older) outcome.severity = Severity::warning;
  return outcome;
}

Outcome nccl_shadowed(const Machine& machine, const Facts&) {
  Outcome outcome = over_wheel(machine, "nccl", older);
  if (outcome.answer != Answer::fires) return outcome;
  return likely(
      std::move(outcome),
      "which of the two torch loads (gpuvet ldd --python EXE); newer wheels take their own");
}

Outcome cudart_shadowed(const Machine& machine, const Facts&) {
  Outcome outcome = over_wheel(machine, "cudart", older);
  if (outcome.answer != Answer::fires) return outcome;
  return likely(std::move(outcome), "which of the two a program loads (gpuvet ldd --python EXE)");
}

// --- libraries that belong together --------------------------------------------------------------

Outcome cublas_parts(const Machine& machine, const Facts&) {
  bool any = false;
  for (const char* major : {"13", "12", "11"}) {
    const ResolvedSoname* main = resolved(machine, fmt::format("libcublas.so.{}", major));
    const ResolvedSoname* light = resolved(machine, fmt::format("libcublasLt.so.{}", major));
    if (!main || !light) continue;
    any = true;
    std::string a = library_version(machine, main->found.real_path);
    std::string b = library_version(machine, light->found.real_path);
    if (a == b || a.find('.') == std::string::npos || b.find('.') == std::string::npos) continue;
    Outcome outcome = fires({fmt::format("{}: {} {} ({})", main->soname, main->found.path, a,
                                         rule_name(machine, main->found)),
                             fmt::format("{}: {} {} ({})", light->soname, light->found.path, b,
                                         rule_name(machine, light->found))},
                            {{"cublas", a}, {"cublaslt", b}});
    add_way_out(machine, light->found, outcome.fields);
    return outcome;
  }
  return any ? ok("libcublas and libcublasLt are of one version")
             : not_applicable("cuBLAS is not on the loader's path");
}

Outcome empty_files(const Machine& machine, const Facts&) {
  std::vector<const LibraryFile*> files;
  for (const CudaLibrary& library : machine.libraries)
    files.push_back(&library.file);
  for (const auto* list :
       {&machine.driver.libcuda, &machine.driver.libnvidia_ml, &machine.driver.ptxjitcompiler})
    for (const LibraryFile& file : *list)
      files.push_back(&file);
  if (files.empty()) return not_applicable("no CUDA library was found");
  bool sizes = std::any_of(files.begin(), files.end(),
                           [](const LibraryFile* file) { return file->size > 0; });
  if (!sizes) return not_known("the sizes of the libraries");
  std::vector<std::string> evidence;
  for (const LibraryFile* file : files)
    if (file->size == 0) evidence.push_back(file->path + ": 0 bytes");
  if (evidence.empty()) return ok("no library is empty");
  std::string first = evidence.front().substr(0, evidence.front().find(':'));
  return fires(std::move(evidence), {{"path", first}, {"folder", std::string(folder_of(first))}});
}

// --- in running programs -------------------------------------------------------------------------

std::string without_mark(const std::string& path) {
  constexpr std::string_view mark = " (deleted)";
  return path.ends_with(mark) ? path.substr(0, path.size() - mark.size()) : path;
}

std::string process_name(const GpuProcess& process) {
  return fmt::format("{} (pid {})", process.name.empty() ? "a process" : process.name, process.pid);
}

// CUDA's major version by a file's name; 0: it does not tell.
uint32_t major_of(std::string_view path) {
  std::string_view name = name_of(path);
  for (std::string_view start : {"libcudart.so.", "libcublas.so.", "libcublasLt.so."})
    if (name.starts_with(start)) {
      std::optional<Version> version = parse_version(name.substr(start.size()));
      return version ? version->major() : 0;
    }
  return 0;
}

Outcome two_majors(const Machine& machine, const Facts&) {
  if (!machine.processes) return not_known(machine.processes.why_unknown);
  for (const GpuProcess& process : *machine.processes) {
    std::map<uint32_t, std::string> majors;
    for (const std::string& library : process.libraries)
      if (uint32_t major = major_of(without_mark(library))) majors.emplace(major, library);
    if (majors.size() < 2) continue;
    std::vector<std::string> evidence, names;
    for (const auto& [major, path] : majors) {
      evidence.push_back(fmt::format("/proc/{}/maps: {}", process.pid, path));
      names.push_back(fmt::format("CUDA {}", major));
    }
    return fires(std::move(evidence), {{"process", process_name(process)},
                                       {"pid", fmt::format("{}", process.pid)},
                                       {"majors", joined(names, " and ")}});
  }
  return ok("no program has loaded two CUDA major versions");
}

// "libnccl.so.2" of "/x/libnccl.so.2.23.4"; empty for libraries that are not of interest.
std::string family_of(std::string_view path) {
  std::string_view name = name_of(path);
  bool meant = false;
  for (std::string_view start :
       {"libcudart.so.", "libcublas.so.", "libcublasLt.so.", "libcudnn", "libnccl.so.",
        "libnvJitLink.so.", "libcuda.so.", "libcusparse.so."})
    meant = meant || name.starts_with(start);
  size_t so = name.find(".so.");
  if (!meant || so == std::string_view::npos) return {};
  return std::string(name.substr(0, name.find('.', so + 4)));
}

Outcome two_copies(const Machine& machine, const Facts&) {
  if (!machine.processes) return not_known(machine.processes.why_unknown);
  for (const GpuProcess& process : *machine.processes) {
    std::map<std::string, std::string> seen;
    for (const std::string& library : process.libraries) {
      std::string path = without_mark(library);
      std::string family = family_of(path);
      if (family.empty()) continue;
      auto [at, added] = seen.emplace(family, path);
      if (added || at->second == path) continue;
      return fires({fmt::format("/proc/{}/maps: {}", process.pid, at->second),
                    fmt::format("/proc/{}/maps: {}", process.pid, path)},
                   {{"process", process_name(process)},
                    {"pid", fmt::format("{}", process.pid)},
                    {"name", family}});
    }
  }
  return ok("no program has loaded a CUDA library twice");
}

Outcome replaced(const Machine& machine, const Facts&) {
  if (!machine.processes) return not_known(machine.processes.why_unknown);
  std::vector<std::string> evidence, names;
  for (const GpuProcess& process : *machine.processes)
    for (const std::string& library : process.libraries)
      if (library.ends_with(" (deleted)")) {
        evidence.push_back(fmt::format("/proc/{}/maps: {}", process.pid, library));
        names.push_back(process_name(process));
        break;
      }
  if (evidence.empty()) return ok("all loaded libraries are still on disk");
  return fires(std::move(evidence),
               {{"processes", joined(names)}, {"count", fmt::format("{}", names.size())}});
}

} // namespace

CheckList library_checks() {
  return {{"libraries-nvjitlink-shadowed", nvjitlink_shadowed},
          {"libraries-cudnn-shadowed", cudnn_shadowed},
          {"libraries-cublas-shadowed", cublas_shadowed},
          {"libraries-nccl-shadowed", nccl_shadowed},
          {"libraries-cudart-shadowed", cudart_shadowed},
          {"libraries-cublas-parts", cublas_parts},
          {"libraries-empty-file", empty_files},
          {"libraries-two-majors-loaded", two_majors},
          {"libraries-loaded-twice", two_copies},
          {"libraries-replaced-while-loaded", replaced}};
}

} // namespace gpuvet
