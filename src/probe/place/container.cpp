// Are we in a container, and in which? Every sign is weak by itself: images carry /.dockerenv to
// where no container is, and pods show no sign of their runtime. The surest come first.
#include "base/text.hpp"
#include "probe/place/parts.hpp"

#include <algorithm>
#include <array>

namespace gpuvet::place {
namespace {

struct Root { // what is mounted at /
  std::string type, device, part;
  bool is_known = false;
};

// "36 35 98:0 /part / rw,noatime shared:1 - ext4 /dev/sda1 rw": fields of proc(5), mountinfo
Root root_of(const Source& source) {
  Root root;
  for (const std::string& line : lines(source, "/proc/self/mountinfo")) {
    std::vector<std::string> fields = words_of(line);
    auto dash = std::find(fields.begin(), fields.end(), "-");
    if (fields.size() < 8 || fields[4] != "/" || fields.end() - dash < 3) continue;
    root = {*(dash + 1), *(dash + 2), fields[3], true};
  }
  return root;
}

// A disk of its own, as machines and virtual machines have: an image was unpacked there.
bool is_plain_disk(const Root& root) {
  static constexpr std::array<std::string_view, 4> disks = {"ext4", "ext3", "xfs", "squashfs"};
  return root.is_known && root.part == "/" && root.device.starts_with("/dev/") &&
         std::find(disks.begin(), disks.end(), root.type) != disks.end() &&
         !holds_word(root.device, "docker");
}

bool any_set(const Environment& environment, std::initializer_list<const char*> names) {
  return std::any_of(names.begin(), names.end(),
                     [&](const char* name) { return !variable(environment, name).empty(); });
}

bool is_gvisor(const Source& source) {
  // The date is a constant in gVisor's kernel, pkg/sentry/kernel/version.
  std::string version = first_line(source, "/proc/version");
  return holds_word(version, "gVisor") || holds_word(version, "Sun Jan 10 15:06:54 PST 2016") ||
         exists(source, "/proc/gvisor/kernel_is_gvisor");
}

struct Sign {
  ContainerKind kind = ContainerKind::none;
  std::string evidence;
};

// systemd and other managers set `container` for what they start (container interface of systemd).
ContainerKind kind_named(const std::string& name) {
  static constexpr std::array<std::pair<std::string_view, ContainerKind>, 9> names = {
      {{"lxc", ContainerKind::lxc},
       {"lxc-libvirt", ContainerKind::lxc},
       {"systemd-nspawn", ContainerKind::nspawn},
       {"docker", ContainerKind::docker},
       {"podman", ContainerKind::podman},
       {"oci", ContainerKind::podman},
       {"singularity", ContainerKind::singularity},
       {"apptainer", ContainerKind::singularity},
       {"wsl", ContainerKind::none}}};
  for (const auto& [text, kind] : names)
    if (text == name) return kind;
  return name.empty() ? ContainerKind::none : ContainerKind::other;
}

Sign sign_of_variables(const Source& source, const Environment& environment) {
  if (any_set(environment, {"SINGULARITY_CONTAINER", "SINGULARITY_NAME", "APPTAINER_CONTAINER",
                            "APPTAINER_NAME"}))
    return {ContainerKind::singularity, "SINGULARITY_ and APPTAINER_ variables"};
  if (any_set(environment, {"KUBERNETES_SERVICE_HOST"}))
    return {ContainerKind::kubernetes, "variable KUBERNETES_SERVICE_HOST"};
  if (exists(source, "/var/run/secrets/kubernetes.io/serviceaccount"))
    return {ContainerKind::kubernetes, "/var/run/secrets/kubernetes.io"};
  return {};
}

// What an image brings along, also to where it was unpacked as the disk of a virtual machine.
Sign sign_of_image(const Source& source, const Environment& environment) {
  if (is_plain_disk(root_of(source))) return {};
  if (exists(source, "/.dockerenv")) return {ContainerKind::docker, "/.dockerenv"};
  if (exists(source, "/.singularity.d/runscript"))
    return {ContainerKind::singularity, "/.singularity.d"};
  std::string name = variable(environment, "container");
  return {kind_named(name), "variable container=" + name};
}

Sign sign_of_system(const Source& source, const Environment& environment) {
  // Podman makes the first when it starts a container, systemd the second when it is started in
  // one.
  if (exists(source, "/run/.containerenv")) return {ContainerKind::podman, "/run/.containerenv"};
  const std::string file = "/run/systemd/container";
  if (ContainerKind kind = kind_named(first_line(source, file)); kind != ContainerKind::none)
    return {kind, file + ": " + first_line(source, file)};
  ContainerKind kind = kind_named(variable(environment, "container"));
  if (kind == ContainerKind::lxc || kind == ContainerKind::nspawn)
    return {kind, "variable container"};
  // Not /dev/lxd/sock: virtual machines of LXD have that too.
  for (const char* sign : {"/dev/.lxc-boot-id", "/dev/.lxd-mounts"})
    if (exists(source, sign)) return {ContainerKind::lxc, sign};
  return {};
}

// Paths of our own cgroup, where no cgroup namespace hides them.
Sign sign_of_cgroup(const Source& source) {
  static constexpr std::array<std::pair<std::string_view, ContainerKind>, 6> words = {
      {{"kubepods", ContainerKind::kubernetes},
       {"/docker/", ContainerKind::docker},
       {"/docker-", ContainerKind::docker},
       {"/libpod-", ContainerKind::podman},
       {"/lxc/", ContainerKind::lxc},
       {"/lxc.payload", ContainerKind::lxc}}};
  for (const std::string& line : lines(source, "/proc/self/cgroup"))
    for (const auto& [word, kind] : words)
      if (holds_word(line, word)) return {kind, "/proc/self/cgroup: " + line};
  return {};
}

Sign sign_of_root(const Source& source) {
  Root root = root_of(source);
  std::string first = first_line(source, "/proc/1/comm");
  bool layered = root.type == "overlay" || root.type == "fuse-overlayfs" || root.type == "aufs";
  if (layered && !first.empty() && first != "systemd" && first != "init")
    return {ContainerKind::other, "root file system " + root.type + ", first process " + first};
  return {};
}

} // namespace

void probe_container(const Source& source, const Environment& environment, Surroundings& around) {
  around.nvidia_visible_devices = variable(environment, "NVIDIA_VISIBLE_DEVICES");
  around.nvidia_driver_capabilities = variable(environment, "NVIDIA_DRIVER_CAPABILITIES");
  around.nvidia_require_cuda = variable(environment, "NVIDIA_REQUIRE_CUDA");
  if (!exists(source, "/proc/self") && !exists(source, "/proc/version")) {
    around.container = unknown<ContainerKind>("/proc is not there: nothing runs here");
    return;
  }
  Sign sign;
  if (is_gvisor(source)) sign = {ContainerKind::gvisor, "/proc/version"};
  if (sign.kind == ContainerKind::none) sign = sign_of_variables(source, environment);
  if (sign.kind == ContainerKind::none) sign = sign_of_system(source, environment);
  if (sign.kind == ContainerKind::none) sign = sign_of_image(source, environment);
  if (sign.kind == ContainerKind::none) sign = sign_of_cgroup(source);
  if (sign.kind == ContainerKind::none) sign = sign_of_root(source);
  bool on_windows = holds_word(lower_ascii(first_line(source, "/proc/version")), "microsoft");
  if (sign.kind == ContainerKind::docker && on_windows) sign.kind = ContainerKind::wsl_docker;
  bool none = sign.kind == ContainerKind::none;
  around.container = known(sign.kind, none ? "no sign of a container" : sign.evidence);
}

} // namespace gpuvet::place
