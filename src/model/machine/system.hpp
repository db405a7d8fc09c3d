// What runs here: kernel, distribution, user, limits, and in what surroundings (container, virtual
// machine, cloud, WSL, Jetson, scheduler). The surroundings decide which checks apply at all.
#pragma once

#include "base/observed.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gpuvet {

// Asked of the kernel and the C library in one go; Source::system() gives it.
struct SystemFacts {
  Observed<std::string> kernel_release;              // uname -r, "6.8.0-45-generic"
  std::string architecture;                          // uname -m, "x86_64"; empty: not known
  Observed<uint64_t> user;                           // effective uid
  std::vector<uint64_t> groups;                      // effective and supplementary gids
  Observed<std::string> glibc;                       // of this machine, "2.35"
  Observed<int64_t> now;                             // seconds since 1970
  Observed<int64_t> booted;                          // seconds since 1970
  std::optional<uint64_t> memlock_bytes, open_files; // soft limits; UINT64_MAX: unlimited
};

enum class PackageSystem : uint8_t { none, apt, dnf, zypper, pacman, apk };

struct Distribution {
  Observed<std::string> id; // of os-release, "ubuntu"
  std::vector<std::string> like;
  std::string version, name; // "22.04", "Ubuntu 22.04.5 LTS"
  PackageSystem packages = PackageSystem::none;
};

enum class ContainerKind : uint8_t {
  none,
  docker,
  podman,
  kubernetes,
  singularity,
  lxc,
  nspawn,
  wsl_docker,
  gvisor,
  other
};

// CUDA's multi-process service: its control daemon, and the folder in which its socket lies.
struct MpsFacts {
  std::string pipe_folder;                    // CUDA_MPS_PIPE_DIRECTORY, else /tmp/nvidia-mps
  std::optional<bool> folder, control_socket; // are they there? nullopt: could not be looked at
  std::optional<uint64_t> owner;              // uid of the socket
  std::optional<bool> daemon;                 // a process nvidia-cuda-mps-control runs
};

struct Surroundings {
  Observed<ContainerKind> container; // none: looked for and not in one
  bool wsl = false;                  // WSL 2
  std::optional<bool> dxg_node;      // /dev/dxg is there; nullopt: could not be looked at
  bool jetson = false;
  std::string jetson_release;          // "R36 (release), REVISION: 4.0"
  Observed<std::string> hypervisor;    // "KVM", "none": by DMI and CPU flags
  Observed<std::string> cloud;         // "aws", "azure", "gcp", "alibaba", "lambda", ..., "none"
  std::string instance_type;           // "p4d.24xlarge"; empty: not told without network
  std::string dmi_vendor, dmi_product; // as written
  bool kubernetes_node = false, slurm_node = false;
  std::map<std::string, std::string> slurm_job; // SLURM_* variables of this job

  // Of the container we are in.
  std::string nvidia_visible_devices, nvidia_driver_capabilities; // as set; empty: not set
  std::string nvidia_require_cuda;
  Observed<uint64_t> shm_bytes, shm_free_bytes; // /dev/shm
  Observed<bool> user_namespace;                // uid 0 here is somebody else outside
  Observed<bool> own_pid_namespace;

  bool wsl1 = false;                        // the first WSL, which has no GPU
  std::vector<std::string> wsl_libraries;   // names in /usr/lib/wsl/lib
  std::string confidential_guest;           // "TDX", "SEV-SNP"; empty: no such guest was seen
  std::optional<bool> cgroup_read_only;     // /sys/fs/cgroup
  std::optional<uint64_t> pids_max;         // of our cgroup; UINT64_MAX: unlimited
  std::optional<uint64_t> memory_max_bytes; // of our cgroup; UINT64_MAX: unlimited
  std::optional<uint64_t> oom_kills;        // in our cgroup
  std::map<std::string, std::string> slurm_settings; // "cgroup.conf:ConstrainDevices" -> "yes"
  std::vector<std::string> gres_lines;               // "file:line: text" of gres.conf
  std::optional<uint64_t> shm_nccl_files;            // segments /dev/shm/nccl-* that lie there
  MpsFacts mps;
};

// What fabric manager wrote, which only systems with NVSwitch need.
struct FabricManager {
  std::string program;            // path of nv-fabricmanager; empty: none
  Observed<std::string> version;  // as it told its log at its last start
  std::string log_file;           // read; empty: none could be
  std::vector<std::string> lines; // of the log that tell trouble, since its last start
};

// A unit file or a running service that bears on GPUs, as far as files tell.
struct ServiceUnit {
  std::string name;       // "nvidia-fabricmanager.service"
  std::string file;       // unit file
  Observed<bool> enabled; // linked from a target's .wants
  Observed<bool> running; // a process of it was found
  std::string state;      // "active", "failed", where systemd was asked; else empty
  std::optional<uint32_t> restarts;
  std::map<std::string, std::string> settings; // PrivateDevices, DevicePolicy, ... as written
};

struct ContainerHost {
  Observed<std::string> toolkit;          // version of nvidia-container-toolkit
  std::vector<std::string> runtime_files; // nvidia-container-runtime-hook, nvidia-ctk, ... found
  Observed<std::string> docker_config;    // text of daemon.json
  bool docker = false, docker_snap = false, docker_rootless = false, podman = false;
  std::optional<bool> docker_knows_nvidia;           // runtimes.nvidia in daemon.json
  std::string docker_problem;                        // what is wrong with daemon.json
  std::string docker_runtime_path;                   // runtimes.nvidia.path
  std::string docker_default_runtime;                // empty: not set
  std::string docker_config_file;                    // the one that was read
  std::map<std::string, std::string> runtime_config; // config.toml of the nvidia runtime:
                                                     // "nvidia-container-cli.no-cgroups" -> "true"
  struct Cdi {
    std::string file, kind;                      // "nvidia.com/gpu"
    std::vector<std::string> devices;            // names
    std::vector<std::string> missing_paths;      // hostPath that does not exist
    std::string driver_version;                  // in the paths of the libraries
    std::map<std::string, uint64_t> node_majors; // "/dev/nvidia-uvm" -> major
    std::string problem;
  };
  std::vector<Cdi> cdi;
  std::vector<std::string> containerd_configs; // files in use, found
  std::map<std::string, std::string>
      containerd_nvidia; // file -> default runtime name, or "" where nvidia is absent
  std::vector<std::string> gpu_operator_validations; // names of files in /run/nvidia/validations
  std::string driver_root;                           // "/run/nvidia/driver" when it holds a driver
};

struct PeriodicJob { // something that calls nvidia-smi again and again
  std::string file;  // "/etc/cron.d/gpu:3", or "process 4711"
  std::string command;
  std::optional<double> period_s;
};

struct NetworkFacts {
  std::vector<std::string> interfaces_up; // without lo
  std::vector<std::string> interfaces;
  struct Port {
    std::string device, state, physical_state,
        rate; // "mlx5_0", "4: ACTIVE", "5: LinkUp", "400 Gb/sec (4X NDR)"
    uint32_t number = 1;
    std::string link_layer;
    std::optional<uint64_t> link_downed;
  };
  std::vector<Port> ports;                // /sys/class/infiniband
  std::optional<bool> verbs_nodes;        // /dev/infiniband/uverbs*
  std::vector<std::string> nccl_settings; // "file:line: NAME=value" of /etc/nccl.conf, ~/.nccl.conf
};

} // namespace gpuvet
