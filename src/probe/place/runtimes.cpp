// Configuration of NVIDIA's container runtime, of containerd and CRI-O in the places where each
// Kubernetes distribution keeps it, and what the GPU operator left behind.
#include "base/text.hpp"
#include "probe/place/parts.hpp"

#include <algorithm>
#include <array>

namespace gpuvet::place {
namespace {

constexpr std::array<std::string_view, 2> kRuntimeConfigs = {
    "/etc/nvidia-container-runtime/config.toml",
    "/usr/local/nvidia/toolkit/.config/nvidia-container-runtime/config.toml"};
constexpr std::array<std::string_view, 12> kContainerdConfigs = {
    "/etc/containerd/config.toml",
    "/var/lib/rancher/k3s/agent/etc/containerd/config.toml",
    "/var/lib/rancher/k3s/agent/etc/containerd/config.toml.tmpl",
    "/var/lib/rancher/k3s/agent/etc/containerd/config-v3.toml.tmpl",
    "/var/lib/rancher/rke2/agent/etc/containerd/config.toml",
    "/var/lib/rancher/rke2/agent/etc/containerd/config.toml.tmpl",
    "/var/lib/rancher/rke2/agent/etc/containerd/config-v3.toml.tmpl",
    "/var/snap/microk8s/current/args/containerd.toml",
    "/var/snap/microk8s/current/args/containerd-template.toml",
    "/etc/k0s/containerd.toml",
    "/run/k0s/containerd-cri.toml",
    "/etc/crio/crio.conf"};
constexpr std::array<std::string_view, 5> kContainerdFolders = {
    "/etc/containerd/conf.d", "/etc/k0s/containerd.d",
    "/var/lib/rancher/k3s/agent/etc/containerd/conf.d", "/etc/crio/crio.conf.d",
    "/usr/share/crio/crio.conf.d"};
// A driver in a container or on a read-only system: a root of its own, and what shows it is there.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kDriverRoots = {
    {{"/run/nvidia/driver", "/usr/bin/nvidia-smi"},
     {"/run/nvidia/driver", "/bin/nvidia-smi"},
     {"/home/kubernetes/bin/nvidia", "/lib64/libcuda.so.1"},
     {"/opt/nvidia/driver", "/bin/nvidia-smi"}}};

void read_runtime_config(const Source& source, ContainerHost& host) {
  for (std::string_view file : kRuntimeConfigs) {
    std::vector<std::string> text = lines(source, std::string(file));
    if (text.empty()) continue;
    for (const Setting& setting : settings_in(text)) {
      std::string prefix = setting.section.empty() ? "" : setting.section + ".";
      host.runtime_config[prefix + setting.key] = setting.value;
    }
    return;
  }
}

// "containerd --config /some/file": what the running daemon was told.
std::string config_of_daemon(const Source& source) {
  std::string pid =
      first_line(source, "/sys/fs/cgroup/system.slice/containerd.service/cgroup.procs");
  if (!decimal_number(pid)) return {};
  auto text = source.read_file("/proc/" + pid + "/cmdline", 4096);
  if (!text) return {};
  std::vector<std::string> words = split_at(*text, '\0');
  for (size_t i = 1; i < words.size(); ++i) {
    if ((words[i] == "--config" || words[i] == "-c") && i + 1 < words.size()) return words[i + 1];
    if (words[i].starts_with("--config=")) return words[i].substr(9);
  }
  return {};
}

bool defines_nvidia(const std::vector<std::string>& sections) {
  return std::any_of(sections.begin(), sections.end(), [](const std::string& section) {
    return holds_word(section + ".", ".runtimes.nvidia");
  });
}

void read_containerd_config(const Source& source, const std::string& file, ContainerHost& host) {
  std::vector<std::string> text = lines(source, file);
  if (text.empty()) return;
  host.containerd_configs.push_back(file);
  std::string by_default;
  for (const Setting& setting : settings_in(text))
    if (setting.key == "default_runtime_name" || setting.key == "default_runtime")
      by_default = setting.value;
  bool known_here = defines_nvidia(sections_in(text));
  if (known_here && by_default.empty()) by_default = "runc";
  host.containerd_nvidia[file] = known_here ? by_default : "";
}

void read_containerd(const Source& source, ContainerHost& host) {
  std::vector<std::string> files;
  std::string told = config_of_daemon(source);
  if (!told.empty()) files.push_back(told);
  for (std::string_view file : kContainerdConfigs)
    files.emplace_back(file);
  for (std::string_view folder : kContainerdFolders)
    for (const char* pattern : {"*.toml", "*.conf"})
      for (std::string& file : matching(source, std::string(folder), pattern))
        files.push_back(std::move(file));
  for (const std::string& file : files) {
    auto& done = host.containerd_configs;
    if (std::find(done.begin(), done.end(), file) == done.end())
      read_containerd_config(source, file, host);
  }
}

} // namespace

void probe_runtimes(const Source& source, ContainerHost& host) {
  read_runtime_config(source, host);
  read_containerd(source, host);
  host.gpu_operator_validations = names_in(source, "/run/nvidia/validations");
  for (const auto& [root, sign] : kDriverRoots)
    if (host.driver_root.empty() && exists(source, std::string(root) + std::string(sign)))
      host.driver_root = root;
}

} // namespace gpuvet::place
