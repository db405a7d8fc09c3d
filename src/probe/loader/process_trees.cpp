// A running process: what it has mapped, and what the loader would choose for it now.
#include "base/text.hpp"
#include "probe/loader/loaded_process.hpp"
#include "probe/loader/subjects.hpp"
#include "probe/process_maps.hpp"

#include <algorithm>
#include <map>

namespace gpuvet {
namespace {

constexpr size_t kLargestTable = size_t{256} << 20;
constexpr size_t kLargestEnvironment = size_t{8} << 20;

std::string name_of(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

std::map<std::string, std::string> environment_of(const Source& source, const std::string& process,
                                                  std::vector<std::string>& notes) {
  std::map<std::string, std::string> environment;
  auto text = source.read_file(process + "/environ", kLargestEnvironment);
  if (!text) {
    notes.push_back("the process's environment cannot be read (" + text.error().what +
                    "): LD_LIBRARY_PATH is taken to be unset");
    return environment;
  }
  for (const std::string& variable : split_at(*text, '\0'))
    if (size_t equals = variable.find('='); equals != std::string::npos)
      environment.emplace(variable.substr(0, equals), variable.substr(equals + 1));
  return environment;
}

// The files as the process sees them: a container's are below its root.
Source source_inside(const Source& source, const std::string& process) {
  auto theirs = source.link_target(process + "/ns/mnt");
  auto ours = source.link_target("/proc/self/ns/mnt");
  auto root = source.link_target(process + "/root");
  bool same = (!theirs || !ours || *theirs == *ours) && (!root || *root == "/");
  return same ? source : image_source(process + "/root");
}

LoadNode mapped_node(const Source& inside, const MappedFile& file, ProcessTrees& trees) {
  LoadNode node;
  node.path = file.path;
  node.real_path = file.path;
  node.inode = file.inode;
  auto real = inside.real_path(file.path);
  auto entry = real ? inside.entry(*real) : Result<Entry>(tl::unexpected(real.error()));
  if (file.deleted || !entry || entry->inode != file.inode) {
    node.elf = unknown<ElfFacts>("the file was replaced or removed since the process started");
    node.soname = name_of(file.path);
    if (node.soname.find(".so") != std::string::npos) trees.deleted.push_back(file.path);
    return node;
  }
  node.real_path = *real;
  auto elf = inside.elf(*real);
  node.elf = elf ? known(std::move(*elf), *real) : unknown<ElfFacts>(elf.error().what);
  if (node.elf) node.soname = node.elf->soname.empty() ? name_of(file.path) : node.elf->soname;
  return node;
}

bool is_code(const LoadNode& node) {
  return node.elf ? node.elf->has_dynamic : node.soname.find(".so") != std::string::npos;
}

LoadEdge mapped_edge(const LoadTree& tree, size_t to, const std::string& name, FoundBy rule,
                     const char* by) {
  LoadEdge edge;
  edge.name = name;
  edge.rule = rule;
  edge.by = by;
  edge.node = to;
  edge.path = tree.nodes[to].path;
  edge.real_path = tree.nodes[to].real_path;
  return edge;
}

using ByName = std::map<std::string, size_t>;

// The files that a node needs, among those that are mapped.
std::vector<std::pair<std::string, size_t>> needs_of(const LoadNode& node, const ByName& by_name) {
  std::vector<std::pair<std::string, size_t>> needs;
  if (!node.elf) return needs;
  for (const std::string& name : node.elf->needed)
    if (auto at = by_name.find(name_of(name)); at != by_name.end())
      needs.emplace_back(name, at->second);
  return needs;
}

// Who needs whom among the mapped files, breadth first from the program; what nobody needs was
// opened at run time.
void connect(LoadTree& tree) {
  ByName by_name;
  for (size_t i = 1; i < tree.nodes.size(); ++i) {
    by_name.emplace(tree.nodes[i].soname, i);
    by_name.emplace(name_of(tree.nodes[i].path), i);
  }
  std::vector<bool> needed(tree.nodes.size(), false), reached(tree.nodes.size(), false);
  for (const LoadNode& node : tree.nodes)
    for (const auto& [name, to] : needs_of(node, by_name))
      needed[to] = true;
  std::vector<size_t> queue = {0};
  reached[0] = true;
  auto follow = [&](size_t at) {
    for (; at < queue.size(); ++at) {
      LoadNode& node = tree.nodes[queue[at]];
      for (const auto& [name, to] : needs_of(node, by_name)) {
        bool again = reached[to];
        node.needs.push_back(mapped_edge(tree, to, name,
                                         again ? FoundBy::already_loaded : FoundBy::mapped,
                                         again ? "loaded before" : "the process has it mapped"));
        if (!again) queue.push_back(to);
        reached[to] = true;
      }
    }
    return at;
  };
  size_t done = follow(0);
  for (bool only_unneeded : {true, false}) // then what only a circle of libraries needs
    for (size_t i = 1; i < tree.nodes.size(); ++i) {
      if (reached[i] || (only_unneeded && needed[i])) continue;
      tree.nodes[0].needs.push_back(mapped_edge(tree, i, tree.nodes[i].soname, FoundBy::dlopen,
                                                "opened at run time, or preloaded"));
      reached[i] = true;
      queue.push_back(i);
      done = follow(done);
    }
}

} // namespace

Result<ProcessTrees> trees_of_process(const Source& source, uint64_t pid) {
  std::string process = "/proc/" + std::to_string(pid);
  if (!exists(source, process)) return fail("there is no process " + std::to_string(pid), process);
  auto table = source.read_file(process + "/maps", kLargestTable);
  auto program = source.link_target(process + "/exe");
  if (!table || !program)
    return fail("what the process has mapped cannot be read (" +
                    (table ? program.error().what : table.error().what) +
                    "); run gpuvet as root or as the process's user",
                process);
  ProcessTrees trees;
  Source inside = source_inside(source, process);
  auto environment = environment_of(source, process, trees.mapped.notes);
  inside.environment = [environment] { return environment; };
  trees.name = name_of(*program);

  std::vector<MappedFile> files = parse_process_maps(*table);
  auto is_program = [&](const MappedFile& file) { return file.path == *program; };
  std::stable_partition(files.begin(), files.end(), is_program);
  for (const MappedFile& file : files) {
    LoadNode node = mapped_node(inside, file, trees);
    if (trees.mapped.nodes.empty() || is_code(node)) trees.mapped.nodes.push_back(std::move(node));
  }
  if (trees.mapped.nodes.empty()) return fail("the process has no files mapped", process);
  if (trees.mapped.nodes[0].path == *program) trees.mapped.nodes[0].soname.clear();
  connect(trees.mapped);

  const LoadNode& first = trees.mapped.nodes[0];
  std::optional<Platform> platform;
  if (first.elf) platform = Platform{first.elf->bits, first.elf->machine, first.elf->interpreter};
  LoaderSetup setup = loader_setup(inside, platform);
  LoadedProcess now(inside, setup);
  if (now.start(first.path))
    for (const LoadEdge& edge : first.needs)
      if (edge.rule == FoundBy::dlopen && edge.path != setup.platform.interpreter)
        now.open(edge.path, 0);
  trees.now = now.take();
  return trees;
}

} // namespace gpuvet
