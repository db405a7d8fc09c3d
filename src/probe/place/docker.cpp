// Docker and podman on this host, and the files of NVIDIA's container toolkit.
#include "base/text.hpp"
#include "formats/json_read.hpp"
#include "probe/place/parts.hpp"

#include <algorithm>
#include <array>

namespace gpuvet::place {
namespace {

constexpr std::array<std::string_view, 3> kPrograms = {"/usr/bin/", "/usr/local/bin/",
                                                       "/usr/local/nvidia/toolkit/"};
constexpr std::array<std::string_view, 5> kRuntimeFiles = {
    "nvidia-container-runtime-hook", "nvidia-container-runtime", "nvidia-ctk",
    "nvidia-container-cli", "nvidia-cdi-hook"};

bool any_exists(const Source& source, std::initializer_list<const char*> paths) {
  return std::any_of(paths.begin(), paths.end(),
                     [&](const char* path) { return exists(source, path); });
}

// A bare name is looked for on the daemon's PATH.
bool program_exists(const Source& source, const std::string& path) {
  if (path.find('/') != std::string::npos) return exists(source, path);
  return std::any_of(kPrograms.begin(), kPrograms.end(), [&](std::string_view folder) {
    return exists(source, std::string(folder) + path);
  });
}

void read_config(const Source& source, const std::string& text, ContainerHost& host) {
  auto json = parse_json(text, host.docker_config_file);
  if (!json) {
    host.docker_problem = host.docker_config_file + ": " + json.error().what;
    return;
  }
  const Json& runtime = (*json)["runtimes"]["nvidia"];
  host.docker_knows_nvidia = runtime.kind == Json::Kind::object;
  host.docker_default_runtime = (*json)["default-runtime"].text;
  host.docker_runtime_path = runtime["path"].text;
  if (!host.docker_runtime_path.empty() && !program_exists(source, host.docker_runtime_path))
    host.docker_problem = host.docker_config_file + ": runtimes.nvidia.path is " +
                          host.docker_runtime_path + ", which is not there";
}

std::vector<std::string> config_files(const Environment& environment, const ContainerHost& host) {
  std::vector<std::string> files;
  if (host.docker_snap) files.emplace_back("/var/snap/docker/current/config/daemon.json");
  std::string home = variable(environment, "HOME");
  if (host.docker_rootless && !home.empty()) files.push_back(home + "/.config/docker/daemon.json");
  files.emplace_back("/etc/docker/daemon.json");
  return files;
}

void find_config(const Source& source, const Environment& environment, ContainerHost& host) {
  std::string why;
  for (const std::string& file : config_files(environment, host)) {
    auto text = source.read_file(file, size_t{1} << 20);
    if (!text) {
      if (why.empty() || !is_missing(text.error())) why = file + ": " + text.error().what;
      if (is_missing(text.error())) continue;
      host.docker_config_file = file;
      break;
    }
    host.docker_config_file = file;
    host.docker_config = known(*text, file);
    read_config(source, *text, host);
    return;
  }
  host.docker_config = unknown<std::string>(why);
  // Without a file there is no runtime; an unreadable file leaves it open.
  if (host.docker && host.docker_config_file.empty()) host.docker_knows_nvidia = false;
}

} // namespace

void probe_docker(const Source& source, const Environment& environment, ContainerHost& host) {
  for (std::string_view folder : kPrograms)
    for (std::string_view name : kRuntimeFiles) {
      std::string path = std::string(folder) + std::string(name);
      if (exists(source, path)) host.runtime_files.push_back(std::move(path));
    }
  std::string home = variable(environment, "HOME");
  host.docker_snap = any_exists(source, {"/snap/docker/current", "/var/snap/docker/current"});
  host.docker =
      host.docker_snap ||
      any_exists(source, {"/usr/bin/dockerd", "/usr/local/bin/dockerd", "/run/docker.sock"});
  host.docker_rootless =
      !home.empty() && (exists(source, home + "/.config/systemd/user/docker.service") ||
                        exists(source, home + "/.config/docker/daemon.json"));
  host.podman = any_exists(source, {"/usr/bin/podman", "/usr/local/bin/podman"});
  find_config(source, environment, host);
}

} // namespace gpuvet::place
