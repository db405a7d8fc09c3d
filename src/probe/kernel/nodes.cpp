// Device nodes of the driver, and the majors that the kernel gave them.
#include "base/text.hpp"
#include "probe/kernel/parts.hpp"

#include <algorithm>
#include <array>

namespace gpuvet::kernel {
namespace {

const std::string kMajors = "/proc/devices";
constexpr size_t kMostNodes = 512;
constexpr std::array<std::string_view, 3> kExpected = {"nvidiactl", "nvidia-uvm",
                                                       "nvidia-uvm-tools"};
constexpr std::array<std::string_view, 2> kFolders = {"nvidia-caps", "nvidia-caps-imex-channels"};

void read_majors(const Source& source, KernelSide& side) {
  auto text = source.read_file(kMajors, size_t{1} << 20);
  if (!text) {
    side.char_majors = unknown<std::map<std::string, uint32_t>>(kMajors + ": " + text.error().what);
    return;
  }
  std::map<std::string, uint32_t> majors;
  bool in_characters = true; // they come first, under a title
  for (const std::string& line : split_at(*text, '\n')) {
    if (line.starts_with("Block devices")) in_characters = false;
    std::vector<std::string> fields = words_of(line);
    if (!in_characters || fields.size() != 2) continue;
    auto major = decimal_number(fields[0]);
    if (major && *major <= UINT32_MAX) majors[fields[1]] = static_cast<uint32_t>(*major);
  }
  side.char_majors = known(std::move(majors), kMajors);
}

std::vector<std::string> node_paths(const Source& source, const std::vector<std::string>& names) {
  std::vector<std::string> paths;
  for (std::string_view name : kExpected)
    paths.push_back("/dev/" + std::string(name));
  for (const std::string& name : names) {
    std::string path = "/dev/" + name;
    bool wanted = name.starts_with("nvidia") &&
                  std::find(kFolders.begin(), kFolders.end(), name) == kFolders.end() &&
                  std::find(paths.begin(), paths.end(), path) == paths.end();
    if (wanted) paths.push_back(std::move(path));
  }
  for (std::string_view folder : kFolders) {
    auto inside = source.list("/dev/" + std::string(folder));
    if (!inside) continue;
    for (const std::string& name : *inside)
      paths.push_back("/dev/" + std::string(folder) + "/" + name);
  }
  if (paths.size() > kMostNodes) paths.resize(kMostNodes);
  return paths;
}

// These two can be opened without consequence: the first counts a user, the second prepares an
// empty address space, and both forget it at once. Opening a GPU's own node would start the GPU,
// which takes seconds without persistence and may never end on a lost one.
bool may_be_opened(const std::string& path) {
  return path == "/dev/nvidiactl" || path == "/dev/nvidia-uvm";
}

void try_access(const Source& source, DeviceNode& node) {
  const auto& ask = may_be_opened(node.path) ? source.open_node : source.access_node;
  if (!ask || !node.character) return;
  Observed<int> error = ask(node.path);
  if (error) node.open_error = *error;
}

void read_node(const Source& source, const std::string& path, KernelSide& side) {
  DeviceNode node;
  node.path = path;
  auto entry = source.entry(path);
  if (!entry && !is_missing(entry.error())) return;
  node.exists = entry.has_value();
  if (entry) {
    node.character = entry->kind == EntryKind::character;
    node.major = entry->major;
    node.minor = entry->minor;
    node.mode = entry->mode;
    node.uid = entry->uid;
    node.gid = entry->gid;
    try_access(source, node);
  }
  side.nodes.push_back(std::move(node));
}

// The container runtime's cgroup rules need /dev/char/195:255 and the like on the host.
void find_char_links(const Source& source, KernelSide& side) {
  if (!is_folder(source, "/dev/char")) return;
  for (const DeviceNode& node : side.nodes)
    if (node.path == "/dev/nvidiactl" && node.exists)
      side.dev_char_links =
          source.entry("/dev/char/" + std::to_string(node.major) + ":" + std::to_string(node.minor))
              .has_value();
}

} // namespace

void probe_nodes(const Source& source, KernelSide& side) {
  read_majors(source, side);
  auto names = source.list("/dev");
  // Nobody fills /dev where nothing runs; on a running machine an empty one means that nodes lack.
  bool empty = !names && is_missing(names.error()) && source.kind != Seen::image_folder;
  if (!names && !empty) return;
  for (const std::string& path : node_paths(source, names ? *names : std::vector<std::string>{}))
    read_node(source, path, side);
  find_char_links(source, side);
}

} // namespace gpuvet::kernel
