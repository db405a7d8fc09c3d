// What the doctor found and a script can take away: each package and each file by its name. What
// lies outside the folders that programs are installed in is told and left.
#include "base/text.hpp"
#include "judge/checks/common.hpp"
#include "judge/here/toolkit.hpp"
#include "judge/setup/parts.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace gpuvet::setup {
namespace {

using Collector = Leftovers (*)(const Situation&, const CheckResult&);

constexpr std::array<std::string_view, 5> kFolders = {"/usr/local/", "/opt/", "/usr/lib/",
                                                      "/usr/lib64/", "/etc/"};

// May a script remove it? Below one of the folders above, and no more than that folder's own parts
// are named: no "..", and not the folder itself.
bool removable(const std::string& path) {
  if (path.find("/../") != std::string::npos || path.ends_with("/..") || path.ends_with('/'))
    return false;
  if (path.find("//") != std::string::npos || path.find("/./") != std::string::npos) return false;
  return std::any_of(kFolders.begin(), kFolders.end(), [&](std::string_view folder) {
    return path.size() > folder.size() && path.starts_with(folder);
  });
}

// A name that package systems allow; others are not passed to them.
bool is_package_name(const std::string& name) {
  if (name.empty() || name.front() == '-') return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return letter || std::string_view("+-._:~").find(c) != std::string_view::npos;
  });
}

Leftovers one_removal(const std::vector<std::string>& items, bool (*allowed)(const std::string&)) {
  Leftovers found;
  Leftover all;
  for (const std::string& item : items) {
    if (!allowed(item))
      found.look_at.push_back(item);
    else if (std::find(all.items.begin(), all.items.end(), item) == all.items.end())
      all.items.push_back(item);
  }
  if (!all.items.empty()) found.removed.push_back(std::move(all));
  return found;
}

Leftovers paths(const std::vector<std::string>& items) {
  return one_removal(items, removable);
}

Leftovers packages(const std::vector<std::string>& items) {
  return one_removal(items, is_package_name);
}

std::string field(const CheckResult& check, const std::string& name) {
  auto at = check.outcome.fields.find(name);
  return at == check.outcome.fields.end() ? std::string() : at->second;
}

// --- packages -----------------------------------------------------------------------------------

std::vector<std::string> packages_where(const Situation& situation,
                                        bool (*wanted)(const Package&)) {
  std::vector<std::string> names;
  const Packages& all = situation.machine->packages;
  if (!all.relevant) return names;
  for (const Package& package : *all.relevant)
    if (wanted(package)) names.push_back(package.name);
  return names;
}

bool is_installed(const Package& package) {
  return package.status != "rc" && package.status != "un";
}

// Of the driver, as NVIDIA and the distributions name its packages. The container toolkit and
// libraries of CUDA are none of it.
bool is_driver(const Package& package) {
  constexpr std::array<std::string_view, 18> kStarts = {"nvidia-driver",
                                                        "nvidia-open",
                                                        "nvidia-dkms",
                                                        "nvidia-kernel",
                                                        "nvidia-compute",
                                                        "nvidia-utils",
                                                        "nvidia-firmware",
                                                        "nvidia-modprobe",
                                                        "nvidia-settings",
                                                        "nvidia-persistenced",
                                                        "nvidia-smi",
                                                        "nvidia-alternative",
                                                        "libnvidia-",
                                                        "libcuda1",
                                                        "cuda-drivers",
                                                        "kmod-nvidia",
                                                        "xserver-xorg-video-nvidia",
                                                        "linux-modules-nvidia"};
  if (package.name.starts_with("libnvidia-container")) return false;
  return is_installed(package) &&
         std::any_of(kStarts.begin(), kStarts.end(),
                     [&](std::string_view start) { return package.name.starts_with(start); });
}

Leftovers driver_packages(const Situation& situation, const CheckResult&) {
  return packages(packages_where(situation, is_driver));
}

Leftovers residual(const Situation& situation, const CheckResult&) {
  return packages(
      packages_where(situation, [](const Package& package) { return package.status == "rc"; }));
}

Leftovers half_configured(const Situation& situation, const CheckResult&) {
  return packages(packages_where(situation, [](const Package& package) {
    return is_installed(package) && package.status.size() == 2 && package.status[1] != 'i';
  }));
}

Leftovers distribution_nvcc(const Situation& situation, const CheckResult&) {
  const std::vector<NvccOnPath>& nvcc = situation.machine->toolkits.nvcc;
  if (!nvcc.empty() && !nvcc.front().owner.empty()) return packages({nvcc.front().owner});
  return packages(packages_where(situation, [](const Package& package) {
    return is_installed(package) && package.name == "nvidia-cuda-toolkit";
  }));
}

// --- files --------------------------------------------------------------------------------------

Leftovers toolkit_folders(const Situation& situation, const CheckResult&) {
  std::vector<std::string> folders;
  for (const InstalledToolkit& toolkit : situation.machine->toolkits.installed)
    if (toolkit.leftover && toolkit.owner.empty()) folders.push_back(toolkit.folder);
  return paths(folders);
}

Leftovers dangling_link(const Situation&, const CheckResult&) {
  return paths({"/usr/local/cuda"});
}

Leftovers copied_libraries(const Situation& situation, const CheckResult&) {
  std::vector<std::string> files;
  for (const CudaLibrary& library : situation.machine->libraries) {
    bool separate = library.kind == "cudnn" || library.kind == "nccl" || library.kind == "tensorrt";
    if (!separate || !library.python.empty() || !library.file.owner.empty()) continue;
    for (const InstalledToolkit& toolkit : situation.machine->toolkits.installed) {
      bool packaged = !toolkit.owner.empty() && for_all(toolkit);
      if (packaged && below(library.file.real_path, toolkit.real_folder))
        files.push_back(library.file.path);
    }
  }
  return paths(files);
}

Leftovers repository_file(const Situation&, const CheckResult& check) {
  std::string file = field(check, "file");
  // A file that holds more than NVIDIA's repository is not one to delete.
  if (!file.starts_with("/etc/apt/sources.list.d/") && !file.starts_with("/etc/yum.repos.d/") &&
      !file.starts_with("/etc/zypp/repos.d/"))
    return {{}, {file}};
  return paths({file});
}

Leftovers runfile_driver(const Situation& situation, const CheckResult&) {
  if (!situation.machine->driver.nvidia_uninstall) return {};
  Leftovers found;
  found.removed.push_back({{"/usr/bin/nvidia-uninstall"}, {}, {}});
  return found;
}

// --- lines of files -----------------------------------------------------------------------------

void add_line(Leftovers& found, const std::string& file, const std::string& line,
              const std::string& shown) {
  bool system = file.starts_with("/etc/") && removable(file);
  if (!system || line.empty() || line.find('\n') != std::string::npos)
    found.look_at.push_back(shown);
  else
    found.removed.push_back({{shown}, file, line});
}

std::string without_number(const std::string& place) { // "/etc/x.conf:3" -> "/etc/x.conf"
  size_t at = place.rfind(':');
  bool number = at != std::string::npos && at + 1 < place.size() &&
                std::all_of(place.begin() + static_cast<std::ptrdiff_t>(at) + 1, place.end(),
                            [](char c) { return c >= '0' && c <= '9'; });
  return number ? place.substr(0, at) : place;
}

Leftovers old_driver_line(const Situation&, const CheckResult& check) {
  Leftovers found;
  std::string file = without_number(field(check, "conf_file")), line = field(check, "conf_folder");
  add_line(found, file, line, fmt::format("{}: {}", file, line));
  return found;
}

Leftovers missing_lines(const Situation& situation, const CheckResult&) {
  Leftovers found;
  for (const LoaderState::Folder& folder : situation.machine->loader.conf_folders) {
    bool cuda = lower_ascii(folder.path + folder.file).find("cuda") != std::string::npos ||
                lower_ascii(folder.path + folder.file).find("nvidia") != std::string::npos;
    if (!folder.exists && cuda)
      add_line(found, without_number(folder.file), folder.path,
               fmt::format("{}: {}", folder.file, folder.path));
  }
  return found;
}

Leftovers startup_lines(const Situation& situation, const CheckResult&) {
  Leftovers found;
  for (const SettingLine& line : situation.machine->toolkits.settings)
    if (!line.missing_folders.empty())
      add_line(found, line.file, line.text,
               fmt::format("{}:{}: {}", line.file, line.line, line.text));
  return found;
}

struct Row {
  std::string_view check;
  Collector collect;
};

constexpr std::array<Row, 19> kCollectors = {{
    {"cuda-repository-twice", repository_file},
    {"cuda-repository-no-key", repository_file},
    {"cuda-repository-other-release", repository_file},
    {"cuda-repository-old-signature", repository_file},
    {"driver-packages-half-configured", half_configured},
    {"wsl-linux-driver", driver_packages},
    {"container-driver-in-image", driver_packages},
    {"driver-installed-twice", runfile_driver},
    {"gpu-dropped-by-branch", driver_packages},
    {"gpu-needs-open-module", driver_packages},
    {"gpu-needs-proprietary-module", driver_packages},
    {"packages-residual-config", residual},
    {"nvcc-shadowed", distribution_nvcc},
    {"toolkit-leftover", toolkit_folders},
    {"cuda-link-dangling", dangling_link},
    {"toolkit-copied-libraries", copied_libraries},
    {"loader-conf-old-driver", old_driver_line},
    {"loader-conf-missing", missing_lines},
    {"environment-missing-folder", startup_lines},
}};

} // namespace

Leftovers leftovers_of(const Situation& situation, const CheckResult& check) {
  for (const Row& row : kCollectors)
    if (row.check == check.row->id) return row.collect(situation, check);
  return {};
}

} // namespace gpuvet::setup
