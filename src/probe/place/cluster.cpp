// Slurm, Kubernetes, and CUDA's multi-process service.
#include "base/text.hpp"
#include "probe/place/parts.hpp"

#include <algorithm>
#include <array>

namespace gpuvet::place {
namespace {

constexpr std::array<std::string_view, 9> kSlurmKeys = {
    "GresTypes",  "Prolog",      "Epilog",        "HealthCheckProgram",     "HealthCheckInterval",
    "TaskPlugin", "PrologFlags", "ProctrackType", "PropagateResourceLimits"};

// Where slurmd keeps its configuration: named, usual, and fetched from the controller.
std::vector<std::string> slurm_folders(const Environment& environment) {
  std::vector<std::string> folders;
  std::string named = variable(environment, "SLURM_CONF");
  if (named.find('/') != std::string::npos) folders.push_back(named.substr(0, named.rfind('/')));
  for (const char* folder :
       {"/etc/slurm", "/etc/slurm-llnl", "/usr/local/etc/slurm", "/run/slurm/conf",
        "/var/spool/slurmd/conf-cache", "/var/spool/slurm/d/conf-cache"})
    folders.emplace_back(folder);
  return folders;
}

void read_slurm_file(const Source& source, const std::string& folder, const std::string& name,
                     Surroundings& around) {
  for (const Setting& setting : settings_in(lines(source, folder + "/" + name))) {
    auto same = [&](std::string_view key) { return lower_ascii(key) == lower_ascii(setting.key); };
    auto wanted = std::find_if(kSlurmKeys.begin(), kSlurmKeys.end(), same);
    if (name == "slurm.conf" && wanted == kSlurmKeys.end()) continue;
    std::string key = wanted == kSlurmKeys.end() ? setting.key : std::string(*wanted);
    around.slurm_settings[name + ":" + key] = setting.value;
  }
}

void read_gres(const Source& source, const std::string& file, Surroundings& around) {
  constexpr size_t most = 200;
  size_t number = 0;
  for (const std::string& line : lines(source, file)) {
    ++number;
    std::string text(trimmed(line));
    if (!text.empty() && text[0] != '#' && around.gres_lines.size() < most)
      around.gres_lines.push_back(file + ":" + std::to_string(number) + ": " + text);
  }
}

void find_slurm(const Source& source, const Environment& environment, Surroundings& around) {
  for (const auto& [name, value] : environment)
    if (name.starts_with("SLURM_")) around.slurm_job[name] = value;
  for (const std::string& folder : slurm_folders(environment)) {
    if (!exists(source, folder + "/slurm.conf") && !exists(source, folder + "/cgroup.conf"))
      continue;
    read_slurm_file(source, folder, "slurm.conf", around);
    read_slurm_file(source, folder, "cgroup.conf", around);
    read_gres(source, folder + "/gres.conf", around);
    break;
  }
  around.slurm_node = !around.slurm_job.empty() || exists(source, "/run/slurmd.pid") ||
                      exists(source, "/run/slurm/slurmd.pid") ||
                      exists(source, "/var/spool/slurmd") ||
                      exists(source, "/sys/fs/cgroup/system.slice/slurmd.service");
}

void find_kubernetes(const Source& source, Surroundings& around) {
  static constexpr std::array<std::string_view, 6> signs = {
      "/etc/kubernetes/kubelet.conf", "/var/lib/kubelet/config.yaml", "/var/lib/kubelet/pods",
      "/var/lib/rancher/k3s/agent",   "/var/lib/rancher/rke2/agent",  "/var/snap/microk8s/current"};
  around.kubernetes_node = std::any_of(signs.begin(), signs.end(), [&](std::string_view sign) {
    return exists(source, std::string(sign));
  });
}

} // namespace

void probe_cluster(const Source& source, const Environment& environment, Surroundings& around) {
  find_slurm(source, environment, around);
  find_kubernetes(source, around);
}

void probe_mps(const Source& source, const Environment& environment, Surroundings& around) {
  MpsFacts& mps = around.mps;
  mps.pipe_folder = variable(environment, "CUDA_MPS_PIPE_DIRECTORY");
  if (mps.pipe_folder.empty()) mps.pipe_folder = "/tmp/nvidia-mps";
  auto folder = source.entry(mps.pipe_folder);
  if (!folder && !is_missing(folder.error())) return;
  mps.folder = folder.has_value();
  if (!folder) {
    mps.control_socket = false;
    return;
  }
  auto control = source.entry(mps.pipe_folder + "/control");
  if (control || is_missing(control.error())) mps.control_socket = control.has_value();
  if (control) mps.owner = control->uid;
  // The daemon writes its number here.
  std::string pid = first_line(source, mps.pipe_folder + "/nvidia-cuda-mps-control.pid");
  if (decimal_number(pid)) // the kernel keeps 15 letters of a name
    mps.daemon = first_line(source, "/proc/" + pid + "/comm") == "nvidia-cuda-mps";
}

} // namespace gpuvet::place
