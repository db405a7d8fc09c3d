// Specifications of the Container Device Interface that name NVIDIA's devices.
// Source: github.com/cncf-tags/container-device-interface, SPEC.md.
#include "base/text.hpp"
#include "formats/json_read.hpp"
#include "formats/simple_yaml.hpp"
#include "probe/place/parts.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace gpuvet::place {
namespace {

constexpr size_t kMostFiles = 32, kMostPaths = 4096, kMostMissing = 50;

// Every edit of the specification: its own, and each device's.
std::vector<const Json*> edits_of(const Json& spec) {
  std::vector<const Json*> edits{&spec["containerEdits"]};
  for (const Json& device : spec["devices"].items)
    edits.push_back(&device["containerEdits"]);
  return edits;
}

void take_driver_version(const std::string& path, ContainerHost::Cdi& cdi) {
  constexpr std::string_view sign = "/libcuda.so.";
  size_t at = path.rfind(sign);
  if (at == std::string::npos) return;
  std::string version = path.substr(at + sign.size());
  if (holds_word(version, ".")) cdi.driver_version = version;
}

void take_edit(const Json& edit, std::set<std::string>& host_paths, ContainerHost::Cdi& cdi) {
  for (const Json& node : edit["deviceNodes"].items) {
    const std::string& inside = node["path"].text;
    const std::string& outside = node["hostPath"].text;
    host_paths.insert(outside.empty() ? inside : outside);
    const Json& major = node["major"];
    if (major.kind == Json::Kind::number && major.number >= 0 && major.number < 1e9)
      cdi.node_majors[inside] = static_cast<uint64_t>(major.number);
  }
  for (const Json& mount : edit["mounts"].items) {
    host_paths.insert(mount["hostPath"].text);
    take_driver_version(mount["hostPath"].text, cdi);
  }
  // A hook is a program of the host; a container does not start without it.
  for (const Json& hook : edit["hooks"].items)
    host_paths.insert(hook["path"].text);
}

void read_spec(const Source& source, const Json& spec, ContainerHost::Cdi& cdi) {
  cdi.kind = spec["kind"].text;
  for (const Json& device : spec["devices"].items)
    cdi.devices.push_back(device["name"].text);
  std::set<std::string> host_paths;
  for (const Json* edit : edits_of(spec))
    take_edit(*edit, host_paths, cdi);
  host_paths.erase("");
  size_t looked_at = 0;
  for (const std::string& path : host_paths) {
    if (++looked_at > kMostPaths || cdi.missing_paths.size() == kMostMissing) break;
    auto entry = source.entry(path);
    if (!entry && is_missing(entry.error())) cdi.missing_paths.push_back(path);
  }
}

void read_file(const Source& source, const std::string& file, ContainerHost& host) {
  ContainerHost::Cdi cdi;
  cdi.file = file;
  auto text = source.read_file(file, size_t{4} << 20);
  if (!text) {
    cdi.problem = text.error().what;
  } else {
    auto spec = file.ends_with(".json") ? parse_json(*text, file) : parse_simple_yaml(*text, file);
    if (spec)
      read_spec(source, *spec, cdi);
    else
      cdi.problem = spec.error().what;
  }
  bool ours = cdi.kind.starts_with("nvidia.com/") || holds_word(file, "nvidia");
  if (ours) host.cdi.push_back(std::move(cdi));
}

} // namespace

void probe_cdi(const Source& source, ContainerHost& host) {
  size_t files = 0;
  // /var/run is a link to /run on all but very old systems.
  for (const char* folder : {"/etc/cdi", "/var/run/cdi"})
    for (const char* pattern : {"*.yaml", "*.yml", "*.json"})
      for (const std::string& file : matching(source, folder, pattern))
        if (++files <= kMostFiles) read_file(source, file, host);
}

} // namespace gpuvet::place
