#include "probe/loader/loaded_process.hpp"

#include "probe/loader/elsewhere.hpp"
#include "probe/loader/runtime_loads.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

constexpr size_t kMostNodes = 20'000;

std::string identity(const LibrarySearch::File& file) {
  if (file.inode != 0) return fmt::format("{}:{}", file.device, file.inode);
  return file.real_path;
}

// Of what was found only the file and what lies behind it are worth keeping.
void keep_what_is_shadowed(LoadEdge& edge) {
  bool any = false;
  std::erase_if(edge.tried, [&](const Candidate& candidate) {
    bool shadowed = candidate.why_not == "shadowed";
    any = any || shadowed;
    return !shadowed && !candidate.why_not.empty();
  });
  if (!any) edge.tried.clear();
}

// Folders of a run path that are written in full and are not there.
std::vector<std::string> lost_folders(LibrarySearch& search, const ElfFacts& elf) {
  std::vector<std::string> lost;
  for (const auto* folders : {&elf.rpath, &elf.runpath})
    for (const std::string& folder : *folders)
      if (folder.starts_with('/') && !search.has_folder(folder)) lost.push_back(folder);
  return lost;
}

bool is_of_driver(const std::string& name) {
  return name.starts_with("libcuda.so") || name.starts_with("libnvidia-ml.so");
}

RunPaths run_paths_of(const LoadNode& node, bool is_program) {
  RunPaths paths;
  paths.path = node.path;
  // The kernel tells a started program its path without links; files that the loader opens keep
  // theirs.
  paths.origin = folder_of_path(is_program ? node.real_path : node.path);
  if (!node.elf) return paths;
  paths.rpath = node.elf->rpath;
  paths.runpath = node.elf->runpath;
  paths.has_runpath = !node.elf->runpath.empty();
  paths.nodeflib = node.elf->nodeflib;
  return paths;
}

} // namespace

size_t LoadedProcess::add(const LoadEdge& edge, size_t loader) {
  const LibrarySearch::File& file = search_.look_at(edge.path);
  std::string key = identity(file);
  if (auto known_file = files_.find(key); known_file != files_.end()) {
    names_.emplace(edge.name, known_file->second);
    return known_file->second;
  }
  size_t index = tree_.nodes.size();
  LoadNode node;
  node.path = edge.path;
  node.real_path = file.real_path;
  node.device = file.device;
  node.inode = file.inode;
  node.elf = file.elf;
  if (node.elf) {
    node.soname = node.elf->soname;
    node.lost_run_paths = lost_folders(search_, *node.elf);
  }
  bool is_program = index == 0 && node.elf && !node.elf->interpreter.empty() && node.soname.empty();
  run_paths_.push_back(run_paths_of(node, is_program));
  loaders_.push_back(loader);
  queued_.push_back(false);
  files_.emplace(std::move(key), index);
  for (const std::string& name : {edge.name, edge.path, node.soname})
    if (!name.empty()) names_.emplace(name, index);
  tree_.nodes.push_back(std::move(node));
  return index;
}

AskedBy LoadedProcess::chain_of(size_t node) const {
  AskedBy chain;
  bool has_program = false;
  for (size_t at = node; at != SIZE_MAX && chain.size() < kMostNodes; at = loaders_[at]) {
    chain.push_back(&run_paths_[at]);
    has_program = has_program || at == 0;
  }
  if (!has_program && !chain.empty()) chain.push_back(run_paths_.data());
  return chain;
}

LoadEdge LoadedProcess::load(const std::string& name, size_t asking, const AskedBy& asked_by) {
  const Platform& platform = search_.setup().platform;
  LoadEdge edge;
  edge.name = name;
  bool is_loader = name == platform.interpreter ||
                   name == platform.interpreter.substr(platform.interpreter.rfind('/') + 1);
  if (auto loaded = names_.find(name); loaded != names_.end()) {
    edge.rule = FoundBy::already_loaded;
    edge.by = "loaded before";
    edge.node = loaded->second;
  } else if (is_loader && search_.look_at(platform.interpreter).why_not.empty()) {
    edge.rule = FoundBy::already_loaded;
    edge.by = "the loader itself";
    edge.path = platform.interpreter;
    edge.node = add(edge, SIZE_MAX);
  } else {
    edge = search_.find(name, asked_by);
    if (edge.path.empty()) {
      edge.rule = FoundBy::not_found;
      edge.elsewhere = files_elsewhere(search_, name, tree_.nodes[asking].path);
      return edge;
    }
    keep_what_is_shadowed(edge);
    edge.node = add(edge, asking);
  }
  edge.path = tree_.nodes[edge.node].path;
  edge.real_path = tree_.nodes[edge.node].real_path;
  if (!queued_[edge.node]) {
    queued_[edge.node] = true;
    queue_.push_back(edge.node);
  }
  return edge;
}

void LoadedProcess::load_needed() {
  for (; queue_at_ < queue_.size() && tree_.nodes.size() < kMostNodes; ++queue_at_) {
    size_t index = queue_[queue_at_];
    if (!tree_.nodes[index].elf) continue;
    const ElfFacts elf = *tree_.nodes[index].elf;
    AskedBy asked_by = chain_of(index);
    for (const std::string& name : elf.filters) {
      LoadEdge edge = load(name, index, asked_by);
      edge.at_run_time = true; // an auxiliary one may be missing
      tree_.nodes[index].needs.push_back(std::move(edge));
      asked_by = chain_of(index);
    }
    for (const std::string& name : elf.needed) {
      LoadEdge edge = load(name, index, asked_by);
      // What only code that runs later wants of the driver need not be there to load.
      edge.at_run_time = at_run_time_ && is_of_driver(name);
      if (edge.rule == FoundBy::not_found && !edge.at_run_time) tree_.missing.push_back(name);
      tree_.nodes[index].needs.push_back(std::move(edge));
      asked_by = chain_of(index); // run paths may have moved in memory
    }
  }
  if (tree_.nodes.size() >= kMostNodes)
    tree_.notes.push_back(fmt::format("more than {} libraries: the rest is left out", kMostNodes));
}

void LoadedProcess::preload() {
  const LoaderSetup& setup = search_.setup();
  auto take = [&](const std::vector<std::string>& names, const char* from) {
    for (const std::string& name : names) {
      LoadEdge edge = load(name, 0, chain_of(0));
      edge.at_run_time = true;
      if (edge.rule == FoundBy::not_found) {
        tree_.notes.push_back(fmt::format(
            "{} names {}, which is not found; the loader says so and goes on", from, name));
        continue;
      }
      edge.rule = FoundBy::preload;
      edge.by = from + (edge.by.empty() ? "" : ", " + edge.by);
      tree_.nodes[0].needs.push_back(std::move(edge));
    }
  };
  take(setup.preload_environment, "LD_PRELOAD");
  take(setup.preload_file, "/etc/ld.so.preload");
}

Result<bool> LoadedProcess::start(const std::string& path) {
  tree_.notes = search_.setup().notes;
  if (path.empty()) {
    tree_.nodes.emplace_back();
    run_paths_.emplace_back();
    loaders_.push_back(SIZE_MAX);
    queued_.push_back(true);
    return true;
  }
  const LibrarySearch::File& file = search_.look_at(path);
  if (!file.why_not.empty()) return fail(file.why_not, path);
  if (!file.elf) return fail(file.elf.why_unknown, path);
  LoadEdge edge;
  edge.path = path;
  add(edge, SIZE_MAX);
  queued_[0] = true;
  queue_.push_back(0);
  if (!file.elf->has_dynamic) {
    tree_.notes.push_back(path + " is linked statically: nothing is loaded");
    return true;
  }
  preload();
  load_needed();
  return true;
}

size_t LoadedProcess::open(const std::string& name, size_t caller, FoundBy rule_of_path,
                           const std::string& why) {
  LoadEdge edge = load(name, caller, chain_of(caller));
  // What dlopen loads has no loader: only its own run paths and the program's count.
  if (edge.node != SIZE_MAX && loaders_[edge.node] == caller && edge.node + 1 == loaders_.size())
    loaders_[edge.node] = SIZE_MAX;
  if (edge.rule == FoundBy::path) edge.rule = rule_of_path;
  if (!why.empty()) edge.by = why + (edge.by.empty() ? "" : "; " + edge.by);
  edge.at_run_time = true;
  size_t node = edge.node;
  tree_.nodes[caller].needs.push_back(std::move(edge));
  load_needed();
  return node;
}

void LoadedProcess::open_known_libraries() {
  at_run_time_ = true;
  for (size_t index = 0; index < tree_.nodes.size(); ++index)
    for (const std::string& name : opened_at_run_time(tree_.nodes[index].soname))
      open(name, index);
}

LoadTree LoadedProcess::take() {
  std::sort(tree_.missing.begin(), tree_.missing.end());
  tree_.missing.erase(std::unique(tree_.missing.begin(), tree_.missing.end()), tree_.missing.end());
  tree_.notes.insert(tree_.notes.end(), search_.notes().begin(), search_.notes().end());
  return std::move(tree_);
}

} // namespace gpuvet
