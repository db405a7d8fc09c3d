#include "judge/checks/common.hpp"

#include "base/text.hpp"
#include "judge/doctor/diagnose.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>

namespace gpuvet {

bool in_container(const Machine& machine) {
  const Observed<ContainerKind>& kind = machine.surroundings.container;
  return kind && *kind != ContainerKind::none;
}

bool in_container(const Machine& machine, ContainerKind kind) {
  return machine.surroundings.container && *machine.surroundings.container == kind;
}

bool has_gpu(const Machine& machine) {
  return gpu_count(machine) > 0 || machine.surroundings.wsl || machine.surroundings.jetson;
}

size_t gpu_count(const Machine& machine) {
  if (machine.nvml.asked.state == AskState::answered && machine.nvml.count)
    return *machine.nvml.count;
  return pci_gpus(machine).size();
}

bool module_loaded(const Machine& machine, std::string_view name) {
  const auto& modules = machine.kernel.modules;
  return modules && std::any_of(modules->begin(), modules->end(),
                                [&](const KernelModule& module) { return module.name == name; });
}

std::optional<Version> driver_version(const Machine& machine) {
  if (machine.kernel.module_version) return parse_version(*machine.kernel.module_version);
  return parse_version(machine.nvml.driver_version);
}

// NVML's number is that of the libcuda that it finds, a compat one included: the branch decides.
std::optional<Version> driver_cuda(const Machine& machine, const Facts& facts) {
  std::optional<Version> version = driver_version(machine);
  auto rules = facts.load_rules();
  if (version && rules) {
    const DriverBranch* found = nullptr;
    for (const DriverBranch& branch : (*rules)->branches)
      if (branch.branch <= version->major()) found = &branch;
    if (found && (found->branch == version->major() || found != &(*rules)->branches.back()))
      return found->cuda;
  }
  auto api = machine.cuda.driver_api ? machine.cuda.driver_api : machine.nvml.cuda_version;
  return api ? parse_version(cuda_name(*api)) : std::nullopt;
}

std::string first_gpu_name(const Machine& machine) {
  for (const NvmlGpu& gpu : machine.nvml.gpus)
    if (!gpu.name.empty()) return gpu.name;
  for (const auto& [address, information] : machine.kernel.proc_gpu_information)
    if (auto at = information.find("Model"); at != information.end()) return at->second;
  std::vector<const PciFunction*> gpus = pci_gpus(machine);
  return gpus.empty() ? "the GPU" : "GPU " + gpus.front()->id;
}

std::vector<std::string> gpu_segments(const Machine& machine, const Facts& facts) {
  std::vector<std::string> segments;
  auto gpus = facts.gpus();
  for (const PciFunction* function : pci_gpus(machine)) {
    std::string segment;
    if (gpus)
      if (const Gpu* gpu = find_gpu(**gpus, function->id).gpu) segment = gpu->segment;
    segments.push_back(segment);
  }
  if (!segments.empty() || !gpus) return segments;
  for (const NvmlGpu& answer : machine.nvml.gpus) {
    const Gpu* gpu = answer.name.empty() ? nullptr : find_gpu(**gpus, answer.name).gpu;
    segments.push_back(gpu ? gpu->segment : std::string());
  }
  return segments;
}

namespace {

std::optional<Picked> picked(const Machine& machine, std::string_view soname,
                             const std::string& real_path, const std::vector<LibraryFile>& files) {
  Picked found;
  if (const ResolvedSoname* entry = resolved(machine, soname)) {
    found.edge = &entry->found;
    found.path = entry->found.path;
    found.real_path = entry->found.real_path;
  }
  if (found.real_path.empty()) found.real_path = real_path;
  if (found.path.empty()) found.path = found.real_path;
  if (found.path.empty()) return std::nullopt;
  for (const LibraryFile& file : files)
    if (file.path == found.path || file.real_path == found.real_path ||
        file.path == found.real_path)
      found.file = &file;
  found.version = version_of_path(found.real_path);
  if (found.file && !found.file->version.empty()) found.version = found.file->version;
  if (found.version.find('.') == std::string::npos) found.version.clear();
  auto under = [&](std::string_view part) {
    return found.path.find(part) != std::string::npos ||
           found.real_path.find(part) != std::string::npos;
  };
  found.stub = (found.file && found.file->stub) || under("/stubs/");
  found.compat = (found.file && found.file->compat) || under("/compat/");
  return found;
}

} // namespace

std::optional<Picked> picked_libcuda(const Machine& machine) {
  return picked(machine, "libcuda.so.1", machine.driver.resolved_libcuda, machine.driver.libcuda);
}

std::optional<Picked> picked_nvml(const Machine& machine) {
  return picked(machine, "libnvidia-ml.so.1", machine.driver.resolved_libnvidia_ml,
                machine.driver.libnvidia_ml);
}

const Gpu* gpu_by_id(const Facts& facts, const std::string& id) {
  auto gpus = facts.gpus();
  if (!gpus || id.empty()) return nullptr;
  GpuMatch match = find_gpu(**gpus, id);
  if (match.gpu) return match.gpu;
  return match.candidates.empty() ? nullptr : match.candidates.front();
}

std::string gpu_label(const PciFunction& gpu, const Facts& facts) {
  const Gpu* known = gpu_by_id(facts, gpu.id);
  return fmt::format("GPU {} ({})", gpu.address, known ? known->name : "id " + gpu.id);
}

bool same_address(std::string_view a, std::string_view b) {
  auto plain = [](std::string_view address) {
    std::string text = lower_ascii(address);
    if (text.find('.') == std::string::npos) text += ".0";
    size_t at = text.find_first_not_of("0:");
    return text.substr(at == std::string::npos ? text.size() : at);
  };
  return !a.empty() && !b.empty() && plain(a) == plain(b);
}

const NvmlGpu* nvml_gpu_at(const Machine& machine, std::string_view address) {
  for (const NvmlGpu& gpu : machine.nvml.gpus)
    if (same_address(gpu.pci_address, address)) return &gpu;
  return nullptr;
}

bool is_given_away(const Machine& machine, const PciFunction& gpu) {
  if (gpu.driver.starts_with("vfio")) return true;
  auto information = machine.kernel.proc_gpu_information.find(gpu.address);
  if (information == machine.kernel.proc_gpu_information.end()) return false;
  auto excluded = information->second.find("GPU Excluded");
  return excluded != information->second.end() && excluded->second == "Yes";
}

std::string plain_address(std::string_view address) {
  constexpr size_t domain = 4; // hexadecimal digits that the kernel writes
  std::string plain = lower_ascii(address);
  size_t colon = plain.find(':');
  while (colon != std::string::npos && colon > domain && plain[0] == '0') {
    plain.erase(0, 1);
    --colon;
  }
  return plain;
}

std::string nvml_evidence(std::string_view call, const NvmlGpu& gpu, std::string_view value) {
  return fmt::format("{}, GPU {} ({}): {}", call, gpu.index, plain_address(gpu.pci_address), value);
}

Severity by_others(const Machine& machine) {
  bool others = std::any_of(machine.nvml.gpus.begin(), machine.nvml.gpus.end(),
                            [](const NvmlGpu& gpu) { return gpu.error == 0; });
  return others ? Severity::error : Severity::blocker;
}

const DeviceNode* node_at(const Machine& machine, std::string_view path) {
  for (const DeviceNode& node : machine.kernel.nodes)
    if (node.path == path) return node.exists ? &node : nullptr;
  return nullptr;
}

const ServiceUnit* service_at(const Machine& machine, std::string_view name) {
  for (const ServiceUnit& unit : machine.services)
    if (unit.name == name) return &unit;
  return nullptr;
}

std::vector<const Package*> packages_with(const Machine& machine,
                                          const std::vector<std::string_view>& starts) {
  std::vector<const Package*> found;
  if (!machine.packages.relevant) return found;
  for (const Package& package : *machine.packages.relevant) {
    bool removed = package.status.starts_with("r") || package.status.starts_with("u") ||
                   package.status.starts_with("p") || package.status.ends_with("n");
    auto named = [&](std::string_view start) { return package.name.starts_with(start); };
    if (!removed && std::any_of(starts.begin(), starts.end(), named)) found.push_back(&package);
  }
  return found;
}

std::vector<std::string> log_evidence(const Machine& machine,
                                      const std::vector<std::string_view>& texts) {
  constexpr size_t shown = 3;
  std::vector<std::string> evidence;
  if (!machine.kernel.log.lines) return evidence;
  size_t found = 0;
  for (const LogLine& line : *machine.kernel.log.lines) {
    auto holds = [&](std::string_view text) { return line.text.find(text) != std::string::npos; };
    if (std::none_of(texts.begin(), texts.end(), holds)) continue;
    if (++found <= shown) evidence.push_back("kernel log: " + line.text);
  }
  if (found > shown) evidence.push_back(fmt::format("and {} more such lines", found - shown));
  return evidence;
}

std::string version_of_path(std::string_view path) {
  size_t at = path.rfind(".so.");
  return at == std::string_view::npos ? std::string() : std::string(path.substr(at + 4));
}

namespace {

// "9.1.0.70" of nvidia-cudnn-cu12, for a library of that wheel.
std::string wheel_version(const Machine& machine, const CudaLibrary& library) {
  std::string name = library.kind;
  if (name == "cudart") name = "cuda-runtime";
  if (name == "nvrtc") name = "cuda-nvrtc";
  name = "nvidia-" + name;
  for (const PythonEnv& env : machine.pythons) {
    if (!env.packages) continue;
    for (const PythonPackage& package : *env.packages)
      if (package.folder == library.python &&
          (package.name == name || package.name.starts_with(name + "-cu")))
        return package.version;
  }
  return {};
}

} // namespace

std::string library_version(const Machine& machine, const std::string& path) {
  for (const CudaLibrary& library : machine.libraries) {
    if (library.file.path != path && library.file.real_path != path) continue;
    if (library.file.version.find('.') != std::string::npos) return library.file.version;
    std::string version = wheel_version(machine, library);
    if (!version.empty()) return version;
    return version_of_path(library.file.real_path.empty() ? path : library.file.real_path);
  }
  return version_of_path(path);
}

const ResolvedSoname* resolved(const Machine& machine, std::string_view soname) {
  for (const ResolvedSoname& entry : machine.loader.sonames)
    if (entry.soname == soname && !entry.found.path.empty()) return &entry;
  return nullptr;
}

std::string_view folder_of(std::string_view path) {
  size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

std::string_view name_of(std::string_view path) {
  size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

namespace {

std::string_view without_slash(std::string_view folder) {
  while (folder.size() > 1 && folder.ends_with('/'))
    folder.remove_suffix(1);
  return folder;
}

} // namespace

bool below(std::string_view path, std::string_view folder) {
  folder = without_slash(folder);
  return !folder.empty() && path.starts_with(folder) &&
         (path.size() == folder.size() || path[folder.size()] == '/' || folder == "/");
}

const LoaderState::Folder* conf_line(const Machine& machine, std::string_view path) {
  std::string_view folder = folder_of(path);
  for (const LoaderState::Folder& line : machine.loader.conf_folders)
    if (without_slash(line.path) == folder) return &line;
  return nullptr;
}

std::string rule_name(const Machine& machine, const LoadEdge& edge) {
  switch (edge.rule) {
  case FoundBy::ld_library_path:
    return "LD_LIBRARY_PATH";
  case FoundBy::preload:
    return "LD_PRELOAD";
  case FoundBy::cache:
    if (const LoaderState::Folder* line = conf_line(machine, edge.path)) return line->file;
    return "the loader's cache";
  case FoundBy::default_folder:
    return "the loader's default folders";
  default:
    return edge.by.empty() ? "the loader" : edge.by;
  }
}

void add_way_out(const Machine& machine, const LoadEdge& edge,
                 std::map<std::string, std::string>& fields) {
  fields["rule"] = rule_name(machine, edge);
  std::string folder(folder_of(edge.path));
  fields["folder"] = folder;
  if (edge.rule == FoundBy::ld_library_path) {
    std::vector<std::string> kept;
    for (const LoaderState::PathElement& element : machine.loader.library_path)
      if (without_slash(element.text) != folder) kept.push_back(element.text);
    if (kept.empty())
      fields["unset_path"] = "LD_LIBRARY_PATH";
    else
      fields["path_without"] = joined(kept, ":");
  } else if (const LoaderState::Folder* line = conf_line(machine, edge.path)) {
    fields["conf_file"] = line->file.substr(0, line->file.rfind(':'));
    fields["conf_folder"] = line->path;
  }
}

std::string variable(const Machine& machine, const std::string& name) {
  auto at = machine.environment.find(name);
  return at == machine.environment.end() ? std::string() : at->second;
}

std::vector<SetHere> in_force(const Machine& machine, const std::string& name) {
  std::vector<SetHere> found;
  auto add = [&](const std::string& value, std::string where) -> SetHere& {
    found.push_back({value, std::move(where), false, {}, {}, {}});
    return found.back();
  };
  if (auto at = machine.environment.find(name); at != machine.environment.end())
    add(at->second, fmt::format("environment: {}={}", name, at->second)).here = true;
  // NCCL reads these in every program; the environment goes before them.
  for (const std::string& line : machine.network.nccl_settings) {
    size_t at = line.find(": " + name + "=");
    if (at == std::string::npos) continue;
    SetHere& setting = add(line.substr(at + name.size() + 3), line);
    setting.file = line.substr(0, line.rfind(':', at - 1));
    setting.line = line.substr(setting.file.size() + 1, at - setting.file.size() - 1);
  }
  if (!machine.processes) return found;
  for (const GpuProcess& process : *machine.processes)
    if (auto at = process.environment.find(name); at != process.environment.end())
      add(at->second, fmt::format("/proc/{}/environ: {}={}", process.pid, name, at->second))
          .process = fmt::format("{} (pid {})", process.name, process.pid);
  return found;
}

namespace {

// The value that a line such as `export NAME="value"` gives; nullopt: it sets another variable.
std::optional<std::string> assigned(std::string_view text, std::string_view name) {
  for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    bool starts = at == 0 || (!std::isalnum(static_cast<unsigned char>(text[at - 1])) &&
                              text[at - 1] != '_' && text[at - 1] != '$' && text[at - 1] != '{');
    std::string_view rest = text.substr(at + name.size());
    if (!starts || !(rest.starts_with('=') || rest.starts_with(' '))) continue;
    std::string_view before = text.substr(0, at);
    if (before.find('#') != std::string_view::npos) return std::nullopt;
    if (rest.starts_with(' ') && before.find("setenv") == std::string_view::npos) continue;
    rest.remove_prefix(1);
    rest =
        rest.substr(0, rest.find_first_of(" ;\t", rest.starts_with('"') ? rest.find('"', 1) : 0));
    std::string value;
    for (char c : rest)
      if (c != '"' && c != '\'') value += c;
    return value;
  }
  return std::nullopt;
}

} // namespace

std::vector<SetHere> settings_of(const Machine& machine, const std::string& name) {
  std::vector<SetHere> found = in_force(machine, name);
  for (const SettingLine& line : machine.toolkits.settings)
    if (std::optional<std::string> value = assigned(line.text, name))
      found.push_back({*value,
                       fmt::format("{}:{}: {}", line.file, line.line, line.text),
                       false,
                       {},
                       line.file,
                       fmt::format("{}", line.line)});
  return found;
}

bool switched_on(std::string_view value) {
  std::string word = lower_ascii(value);
  return !word.empty() && word != "0" && word != "false" && word != "no" && word != "off";
}

std::string counted(size_t count, std::string_view noun) {
  if (count == 1) return fmt::format("1 {}", noun);
  if (noun.ends_with('y')) return fmt::format("{} {}ies", count, noun.substr(0, noun.size() - 1));
  return fmt::format("{} {}{}", count, noun, noun.ends_with('s') ? "es" : "s");
}

std::vector<std::string> split(std::string_view text, std::string_view separators) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    size_t end = text.find_first_of(separators);
    if (end != 0) parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return parts;
}

std::string cuda_name(uint32_t number) {
  return fmt::format("{}.{}", number / 1000, number % 1000 / 10);
}

} // namespace gpuvet
