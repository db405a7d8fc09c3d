#include "probe/loader/subjects.hpp"

#include "probe/loader/loaded_process.hpp"

#include <algorithm>

namespace gpuvet {

Result<LoadTree> tree_of_file(const Source& source, const std::string& path) {
  auto real = source.real_path(path);
  if (!real) return tl::unexpected(real.error());
  auto elf = source.elf(*real);
  if (!elf) return fail(elf.error().what, path);
  LoaderSetup setup = loader_setup(source, Platform{elf->bits, elf->machine, elf->interpreter});
  LoadedProcess process(source, setup);
  if (auto started = process.start(path); !started) return tl::unexpected(started.error());
  process.open_known_libraries();
  return process.take();
}

LoadTree tree_of_name(const Source& source, const std::string& name) {
  LoaderSetup setup = loader_setup(source);
  LoadedProcess process(source, setup);
  (void)process.start("");
  bool found = process.open(name, 0) != SIZE_MAX;
  if (found) process.open_known_libraries();
  LoadTree tree = process.take();
  for (LoadEdge& edge : tree.nodes[0].needs)
    edge.at_run_time = false; // it is what was asked for
  if (!found) tree.missing.push_back(name);
  return tree;
}

void read_symbols(const Source& source, LoadTree& tree) {
  if (!source.gpu_symbols) return;
  auto of_cuda = [](const LoadNode& node) {
    return node.soname.starts_with("libcu") || node.soname.starts_with("libnv") ||
           node.soname.starts_with("libnccl");
  };
  if (std::none_of(tree.nodes.begin(), tree.nodes.end(), of_cuda)) return;
  for (LoadNode& node : tree.nodes) {
    if (node.real_path.empty() || !node.elf) continue;
    auto symbols = source.gpu_symbols(node.real_path);
    node.symbols = symbols ? known(std::move(*symbols), node.real_path)
                           : unknown<GpuSymbols>(symbols.error().what);
  }
}

} // namespace gpuvet
