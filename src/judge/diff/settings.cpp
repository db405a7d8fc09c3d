// What is set around the GPUs: environment, start-up files, nodes, services, surroundings.
#include "base/text.hpp"
#include "base/units.hpp"
#include "judge/diff/parts.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace gpuvet::diff {
namespace {

// Variables that differ from one shell or job to the next and say nothing about the machine.
bool differs_anyway(std::string_view name) {
  return name.starts_with("SLURM_") || name == "CONDA_PROMPT_MODIFIER" || name == "CONDA_SHLVL" ||
         name == "VIRTUAL_ENV_PROMPT" || name == "LS_COLORS";
}

bool is_list(std::string_view name) {
  return name == "PATH" || name.ends_with("_PATH") || name == "LD_PRELOAD";
}

std::map<std::string, std::string> environment_of(const Machine& machine) {
  std::map<std::string, std::string> variables;
  for (const auto& [name, value] : machine.environment)
    if (!differs_anyway(name)) variables[name] = value;
  return variables;
}

// Of long lists what came and went, not both lists.
void compare_variable(const std::string& name, const std::string& before, const std::string& after,
                      Changes& changes) {
  const std::vector<std::string> old_parts = split_at(before, ':'),
                                 new_parts = split_at(after, ':');
  std::set<std::string> was(old_parts.begin(), old_parts.end());
  std::set<std::string> is(new_parts.begin(), new_parts.end());
  if (!is_list(name) || was == is || before.empty() || after.empty()) {
    changes.compare("environment", "variable " + name, before, after);
    return;
  }
  changes.compare_sets("environment", "element of " + name, was, is);
}

template <class Lines> std::set<std::string> text_set(const Lines& lines) {
  return {lines.begin(), lines.end()};
}

// A line that moved within its file is the same setting.
std::set<std::string> setting_lines(const Machine& machine) {
  std::set<std::string> lines;
  for (const SettingLine& line : machine.toolkits.settings)
    lines.insert(line.file + ": " + line.text);
  return lines;
}

std::set<std::string> without_numbers(const std::vector<std::string>& lines) {
  std::set<std::string> texts;
  for (const std::string& line : lines) { // "file:12: text"
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    texts.insert(second == std::string::npos ? line : line.substr(0, first) + line.substr(second));
  }
  return texts;
}

std::string described(const DeviceNode& node) {
  if (!node.exists) return "";
  std::string text =
      fmt::format("{:04o}, owner {}:{}, major {}", node.mode, node.uid, node.gid, node.major);
  if (!node.character) text += ", not a device";
  if (node.open_error && *node.open_error != 0)
    text += fmt::format(", cannot be opened (error {})", *node.open_error);
  return text;
}

std::map<std::string, std::string> nodes_of(const Machine& machine) {
  std::map<std::string, std::string> nodes;
  for (const DeviceNode& node : machine.kernel.nodes)
    nodes[node.path] = described(node);
  std::erase_if(nodes, [](const auto& node) { return node.second.empty(); });
  return nodes;
}

std::map<std::string, std::string> services_of(const Machine& machine) {
  std::map<std::string, std::string> services;
  for (const ServiceUnit& unit : machine.services) {
    std::string text = "installed";
    if (unit.enabled) text += *unit.enabled ? ", enabled" : ", not enabled";
    if (unit.running) text += *unit.running ? ", runs" : ", does not run";
    if (unit.state == "failed") text += ", failed";
    services[unit.name] = text;
  }
  return services;
}

std::string limit(const std::optional<uint64_t>& value) {
  if (!value) return "";
  return *value == UINT64_MAX ? "unlimited" : human_bytes(*value);
}

std::map<std::string, std::string> ports_of(const Machine& machine) {
  std::map<std::string, std::string> ports;
  for (const NetworkFacts::Port& port : machine.network.ports)
    ports[fmt::format("{}/{}", port.device, port.number)] = port.state + ", " + port.rate;
  return ports;
}

std::string kind_of(ContainerKind kind) {
  constexpr std::array<std::string_view, 10> names = {
      "none", "Docker",         "Podman",        "Kubernetes", "Singularity or Apptainer",
      "LXC",  "systemd-nspawn", "Docker on WSL", "gVisor",     "some container"};
  const auto index = static_cast<size_t>(kind);
  return std::string(index < names.size() ? names[index] : "not known");
}

std::string cdi_text(const ContainerHost::Cdi& cdi) {
  std::string text = fmt::format("{} devices", cdi.devices.size());
  if (!cdi.driver_version.empty()) text += ", driver " + cdi.driver_version;
  if (!cdi.missing_paths.empty())
    text += fmt::format(", {} paths missing", cdi.missing_paths.size());
  return text;
}

void compare_container_host(const ContainerHost& before, const ContainerHost& after,
                            Changes& changes) {
  changes.compare("container-toolkit", "nvidia-container-toolkit",
                  before.toolkit.value.value_or(""), after.toolkit.value.value_or(""));
  changes.compare("docker-runtime", "Docker's default runtime", before.docker_default_runtime,
                  after.docker_default_runtime);
  changes.compare("docker-nvidia", "Docker knows the nvidia runtime", before.docker_knows_nvidia,
                  after.docker_knows_nvidia);
  changes.compare_maps("container-setting", "container setting ", before.runtime_config,
                       after.runtime_config);
  std::map<std::string, std::string> old_cdi, new_cdi;
  for (const ContainerHost::Cdi& cdi : before.cdi)
    old_cdi[cdi.file] = cdi_text(cdi);
  for (const ContainerHost::Cdi& cdi : after.cdi)
    new_cdi[cdi.file] = cdi_text(cdi);
  changes.compare_maps("cdi", "CDI specification ", old_cdi, new_cdi);
}

} // namespace

void compare_environment(const Machine& before, const Machine& after, Changes& changes) {
  const auto old_variables = environment_of(before), new_variables = environment_of(after);
  // An image has none; that is no change.
  if (before.seen == Seen::image_folder || after.seen == Seen::image_folder) return;
  std::set<std::string> names;
  for (const auto& [name, value] : old_variables)
    names.insert(name);
  for (const auto& [name, value] : new_variables)
    names.insert(name);
  auto value_in = [](const std::map<std::string, std::string>& variables, const std::string& name) {
    auto at = variables.find(name);
    if (at == variables.end()) return std::string();
    return at->second.empty() ? std::string("(empty)") : at->second;
  };
  for (const std::string& name : names)
    compare_variable(name, value_in(old_variables, name), value_in(new_variables, name), changes);
}

void compare_settings_files(const Machine& before, const Machine& after, Changes& changes) {
  changes.compare_sets("setting", "line of a start-up file", setting_lines(before),
                       setting_lines(after));
  changes.compare_sets("modprobe", "modprobe setting",
                       without_numbers(before.kernel.modprobe_lines),
                       without_numbers(after.kernel.modprobe_lines));
  changes.compare_sets("modules-load", "module to load at boot",
                       without_numbers(before.kernel.modules_load),
                       without_numbers(after.kernel.modules_load));
  std::set<std::string> old_folders, new_folders;
  for (const LoaderState::Folder& folder : before.loader.conf_folders)
    old_folders.insert(folder.path);
  for (const LoaderState::Folder& folder : after.loader.conf_folders)
    new_folders.insert(folder.path);
  changes.compare_sets("loader-folder", "folder in ld.so.conf", old_folders, new_folders);
  changes.compare_sets("nccl-setting", "setting of NCCL",
                       without_numbers(before.network.nccl_settings),
                       without_numbers(after.network.nccl_settings));
}

void compare_nodes(const Machine& before, const Machine& after, MachineDiff& diff) {
  const size_t first = diff.changes.size();
  Changes(diff).compare_maps("node", "node ", nodes_of(before), nodes_of(after));
  merge_equal(diff, first, "node ", 0, "");
}

void compare_services(const Machine& before, const Machine& after, Changes& changes) {
  changes.compare_maps("service", "service ", services_of(before), services_of(after));
  compare_container_host(before.container_host, after.container_host, changes);
  changes.compare_maps("network-port", "network port ", ports_of(before), ports_of(after));
}

void compare_surroundings(const Machine& before, const Machine& after, Changes& changes) {
  changes.compare("distribution", "distribution", before.distribution.name,
                  after.distribution.name);
  changes.compare("glibc", "glibc", before.system.glibc, after.system.glibc);
  const auto& old_kind = before.surroundings.container;
  const auto& new_kind = after.surroundings.container;
  if (old_kind && new_kind)
    changes.compare("container", "container", kind_of(*old_kind), kind_of(*new_kind));
  changes.compare("hypervisor", "hypervisor", before.surroundings.hypervisor,
                  after.surroundings.hypervisor);
  changes.compare("cloud", "cloud", before.surroundings.cloud, after.surroundings.cloud);
  changes.compare("memlock", "limit of locked memory", limit(before.system.memlock_bytes),
                  limit(after.system.memlock_bytes));
  changes.compare("open-files", "limit of open files", before.system.open_files,
                  after.system.open_files);
  changes.compare("shm", "size of /dev/shm", limit(before.surroundings.shm_bytes.value),
                  limit(after.surroundings.shm_bytes.value));
}

} // namespace gpuvet::diff
