// Checks of how programs come by the driver's libraries: libcuda.so.1 and libnvidia-ml.so.1.
#include "base/text.hpp"
#include "judge/checks/common.hpp"
#include "judge/checks/subjects.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

const LibraryFile* usable(const std::vector<LibraryFile>& files) {
  for (const LibraryFile& file : files)
    if (!file.stub && !file.compat && file.size > 0) return &file;
  for (const LibraryFile& file : files)
    if (!file.stub && !file.compat) return &file;
  return nullptr;
}

const ResolvedSoname* entry_of(const Machine& machine, std::string_view soname) {
  for (const ResolvedSoname& entry : machine.loader.sonames)
    if (entry.soname == soname) return &entry;
  return nullptr;
}

// Where a driver library lies that the loader does not find; empty: nowhere.
std::string lies_at(const Machine& machine, std::string_view soname, const Asked& asked,
                    const std::vector<LibraryFile>& files) {
  if (const ResolvedSoname* entry = entry_of(machine, soname))
    for (const std::string& path : entry->found.elsewhere)
      if (path.find("/stubs/") == std::string::npos && path.find("/compat/") == std::string::npos)
        return path;
  if (!asked.loader_problem.empty()) return asked.library;
  const LibraryFile* file = usable(files);
  return file ? file->path : std::string();
}

bool looked(const Machine& machine, std::string_view soname, const Asked& asked) {
  return entry_of(machine, soname) || asked.state == AskState::no_library ||
         !asked.loader_problem.empty();
}

Outcome off_path(const Machine& machine, std::string_view soname, const Asked& asked,
                 const std::vector<LibraryFile>& files, const std::optional<Picked>& picked) {
  // What the loader did counts for more than what it should do.
  bool loaded = asked.state == AskState::answered || asked.state == AskState::failed;
  if (loaded && asked.loader_problem.empty() && !asked.library.empty()) return ok(asked.library);
  if (picked && asked.loader_problem.empty()) return ok(picked->path);
  if (!looked(machine, soname, asked))
    return not_known(fmt::format("where {} is found (ldconfig -p | grep {})", soname, soname));
  std::string path = lies_at(machine, soname, asked, files);
  if (path.empty()) return not_applicable(fmt::format("there is no {} of a driver", soname));
  std::string dlopen = asked.loader_problem.empty() ? asked.problem : asked.loader_problem;
  Outcome outcome = fires({path + ": is there"}, {{"folder", std::string(folder_of(path))}});
  if (!dlopen.empty() && dlopen != "not asked") outcome.evidence.push_back("dlopen: " + dlopen);
  if (machine.loader.cache_sonames) {
    const auto& names = *machine.loader.cache_sonames;
    bool cached = std::find(names.begin(), names.end(), soname) != names.end();
    outcome.evidence.push_back(fmt::format("{}: {}", machine.loader.cache_sonames.source,
                                           cached ? "has it" : "has no such name"));
  }
  return outcome;
}

Outcome libcuda_off_path(const Machine& machine, const Facts&) {
  return off_path(machine, "libcuda.so.1", machine.cuda.asked, machine.driver.libcuda,
                  picked_libcuda(machine));
}

Outcome nvml_off_path(const Machine& machine, const Facts&) {
  return off_path(machine, "libnvidia-ml.so.1", machine.nvml.asked, machine.driver.libnvidia_ml,
                  picked_nvml(machine));
}

// The kernel module is loaded and its library is nowhere: the driver was installed in part.
Outcome absent(const Machine& machine, std::string_view soname, const Asked& asked,
               const std::vector<LibraryFile>& files, const std::optional<Picked>& picked) {
  if (picked && !picked->stub) return ok(picked->path);
  bool loaded = asked.state == AskState::answered || asked.state == AskState::failed;
  if (loaded && asked.loader_problem.empty() && !asked.library.empty()) return ok(asked.library);
  if (in_container(machine)) return not_applicable("a container gets it from the host");
  if (machine.surroundings.wsl || machine.surroundings.jetson)
    return not_applicable("the library comes another way here");
  if (!machine.kernel.module_version) return not_applicable("the kernel module is not loaded");
  if (!looked(machine, soname, asked))
    return not_known(fmt::format("where {} is found (ldconfig -p | grep {})", soname, soname));
  if (!lies_at(machine, soname, asked, files).empty()) return not_applicable("it lies elsewhere");
  std::string version = *machine.kernel.module_version;
  return fires({fmt::format("{}: {}", machine.kernel.module_version.source, version),
                fmt::format("{}: not found", soname)},
               {{"version", version}, {"branch", version.substr(0, version.find('.'))}});
}

Outcome libcuda_absent(const Machine& machine, const Facts&) {
  return absent(machine, "libcuda.so.1", machine.cuda.asked, machine.driver.libcuda,
                picked_libcuda(machine));
}

Outcome nvml_absent(const Machine& machine, const Facts&) {
  return absent(machine, "libnvidia-ml.so.1", machine.nvml.asked, machine.driver.libnvidia_ml,
                picked_nvml(machine));
}

Outcome wrong_machine(const Machine& machine, const Facts&) {
  const ResolvedSoname* entry = entry_of(machine, "libcuda.so.1");
  if (!entry) return not_known("how the loader finds libcuda.so.1 (gpuvet ldd libcuda.so.1)");
  if (!entry->found.path.empty()) return ok(entry->found.path);
  std::vector<std::string> evidence;
  std::string path, why;
  for (const Candidate& candidate : entry->found.tried)
    if (candidate.why_not.find("the program") != std::string::npos) {
      evidence.push_back(candidate.path + ": " + candidate.why_not);
      path = candidate.path;
      why = candidate.why_not;
    }
  if (evidence.empty()) return not_applicable("no file of that name is for another processor");
  return fires(std::move(evidence), {{"path", path}, {"why", why}});
}

Outcome unreadable(const Machine& machine, const Facts&) {
  std::optional<Picked> picked = picked_libcuda(machine);
  if (!picked) return not_applicable("no libcuda.so.1 is found");
  AskState state = machine.cuda.asked.state;
  if (state == AskState::answered || state == AskState::failed)
    return ok(picked->path + " was loaded");
  if (!picked->file || !picked->file->readable)
    return not_known("whether " + picked->path + " can be read");
  if (*picked->file->readable) return ok(picked->path + " can be read");
  return fires(
      {picked->file->path + ": not readable for this user"},
      {{"path", picked->real_path}, {"folder", std::string(folder_of(picked->real_path))}});
}

// --- stubs ---------------------------------------------------------------------------------------

Outcome stub(const Machine& machine, const Facts&) {
  for (const auto& picked : {picked_libcuda(machine), picked_nvml(machine)}) {
    if (!picked || !picked->stub) continue;
    Outcome outcome = fires({fmt::format("{}: {}", name_of(picked->path), picked->path)},
                            {{"name", std::string(name_of(picked->path))}, {"path", picked->path}});
    if (picked->edge) {
      add_way_out(machine, *picked->edge, outcome.fields);
      outcome.evidence[0] += " (" + outcome.fields["rule"] + ")";
    } else {
      outcome.fields["rule"] = "the loader";
    }
    return outcome;
  }
  std::optional<Picked> picked = picked_libcuda(machine);
  return picked ? ok(picked->path + " is no stub") : not_applicable("no libcuda.so.1 is found");
}

Outcome stubs_on_path(const Machine& machine, const Facts&) {
  std::vector<std::string> evidence;
  std::string first;
  for (const LoaderState::PathElement& element : machine.loader.library_path)
    if (element.stubs) {
      evidence.push_back("LD_LIBRARY_PATH: " + element.text);
      first = "LD_LIBRARY_PATH";
    }
  for (const LoaderState::Folder& line : machine.loader.conf_folders)
    if (line.path.find("/stubs") != std::string::npos) {
      evidence.push_back(line.file + ": " + line.path);
      if (first.empty()) first = line.file;
    }
  if (evidence.empty()) return ok("no folder of stubs is searched");
  std::optional<Picked> picked = picked_libcuda(machine);
  if (picked && picked->stub) return not_applicable("a stub is loaded, which is said elsewhere");
  return fires(std::move(evidence), {{"where", first}});
}

// --- other drivers' libraries --------------------------------------------------------------------

struct Stale {
  Picked picked;
  std::string right; // file of the loaded module's version
};

// A driver library of another version is taken although the right one is on disk.
std::optional<Stale> stale(const Machine& machine, Outcome& instead) {
  const Observed<std::string>& module = machine.kernel.module_version;
  if (machine.surroundings.wsl) {
    instead = not_applicable("under WSL the module is Windows' driver");
    return std::nullopt;
  }
  if (!module) {
    instead = not_known("the module's version: " + module.why_unknown);
    return std::nullopt;
  }
  struct Kind {
    std::optional<Picked> picked;
    const std::vector<LibraryFile>& files;
  };
  for (const Kind& kind : {Kind{picked_libcuda(machine), machine.driver.libcuda},
                           Kind{picked_nvml(machine), machine.driver.libnvidia_ml}}) {
    const auto& picked = kind.picked;
    if (!picked || picked->stub || picked->compat || picked->version.empty()) continue;
    if (picked->version == *module) continue;
    for (const LibraryFile& file : kind.files)
      if (file.version == *module && !file.stub && !file.compat && file.path != picked->path)
        return Stale{*picked, file.real_path.empty() ? file.path : file.real_path};
  }
  instead = ok("the driver's libraries that are loaded fit the module, or no others are here");
  return std::nullopt;
}

Outcome stale_finding(const Machine& machine, const Stale& found) {
  const Picked& picked = found.picked;
  Outcome outcome = fires(
      {fmt::format("{}: {}", name_of(picked.path), picked.real_path),
       fmt::format("{}: {}", machine.kernel.module_version.source, *machine.kernel.module_version),
       found.right + ": is there too"},
      {{"name", std::string(name_of(picked.path))},
       {"old", picked.version},
       {"module", *machine.kernel.module_version},
       {"folder", std::string(folder_of(picked.path))},
       {"right", found.right}});
  if (picked.edge) add_way_out(machine, *picked.edge, outcome.fields);
  if (outcome.fields.count("rule")) outcome.evidence[0] += " (" + outcome.fields["rule"] + ")";
  return outcome;
}

bool same_folder(const Stale& found) {
  return folder_of(found.picked.real_path) == folder_of(found.right);
}

Outcome path_old_driver(const Machine& machine, const Facts&) {
  Outcome instead;
  std::optional<Stale> found = stale(machine, instead);
  if (!found) return instead;
  if (!found->picked.edge || found->picked.edge->rule != FoundBy::ld_library_path)
    return not_applicable("it does not come from LD_LIBRARY_PATH");
  return stale_finding(machine, *found);
}

Outcome conf_old_driver(const Machine& machine, const Facts&) {
  Outcome instead;
  std::optional<Stale> found = stale(machine, instead);
  if (!found) return instead;
  if (!found->picked.edge) return not_known("by which rule the loader finds it");
  if (found->picked.edge->rule == FoundBy::ld_library_path || same_folder(*found))
    return not_applicable("it does not come from the loader's settings");
  return stale_finding(machine, *found);
}

Outcome link_stale(const Machine& machine, const Facts&) {
  Outcome instead;
  std::optional<Stale> found = stale(machine, instead);
  if (!found) return instead;
  bool by_path = found->picked.edge && found->picked.edge->rule == FoundBy::ld_library_path;
  if (!same_folder(*found) || by_path) return not_applicable("the two lie in different folders");
  Outcome outcome = stale_finding(machine, *found);
  outcome.fields["right_name"] = std::string(name_of(found->right));
  outcome.fields["folder"] = std::string(folder_of(found->right));
  return outcome;
}

// --- names that some tools want ------------------------------------------------------------------

Outcome unversioned(const Machine& machine, const Facts&) {
  std::optional<Picked> picked = picked_libcuda(machine);
  if (!picked) return not_applicable("no libcuda.so.1 is found");
  if (machine.driver.libcuda_unversioned) return ok("libcuda.so is found too");
  for (const CudaLibrary& library : machine.libraries) {
    bool eight = library.kind == "cudnn" && (library.file.path.find(".so.8") != std::string::npos ||
                                             library.file.version.starts_with("8."));
    if (!eight) continue;
    return fires({"libcuda.so.1: " + picked->path, "libcuda.so: not found",
                  library.file.path + ": cuDNN 8, which asks for libcuda.so"},
                 {{"folder", std::string(folder_of(picked->path))}});
  }
  return ok("libcuda.so is missing, and nothing here is known to ask for it");
}

Outcome not_in_cache(const Machine& machine, const Facts&) {
  std::optional<Picked> picked = picked_libcuda(machine);
  if (!picked || picked->stub) return not_applicable("no libcuda.so.1 of a driver is found");
  if (!machine.loader.cache_sonames) return not_known(machine.loader.cache_sonames.why_unknown);
  const auto& names = *machine.loader.cache_sonames;
  if (std::find(names.begin(), names.end(), "libcuda.so.1") != names.end())
    return ok("the loader's cache has libcuda.so.1");
  return fires(
      {"libcuda.so.1: " + picked->path, machine.loader.cache_sonames.source + ": no libcuda.so.1"},
      {{"folder", std::string(folder_of(picked->path))}});
}

} // namespace

CheckList loader_checks() {
  return {{"loader-libcuda-off-path", libcuda_off_path},
          {"loader-libcuda-absent", libcuda_absent},
          {"loader-nvml-off-path", nvml_off_path},
          {"loader-nvml-absent", nvml_absent},
          {"loader-libcuda-wrong-machine", wrong_machine},
          {"loader-libcuda-unreadable", unreadable},
          {"loader-libcuda-stub", stub},
          {"loader-stubs-on-path", stubs_on_path},
          {"loader-path-old-driver", path_old_driver},
          {"loader-conf-old-driver", conf_old_driver},
          {"loader-driver-link-stale", link_stale},
          {"loader-libcuda-unversioned", unversioned},
          {"loader-libcuda-not-in-cache", not_in_cache}};
}

} // namespace gpuvet
