// One process as the loader fills it: the program, its preloads, what they need, and what is opened
// while it runs, in the loader's order. Nothing is run.
#pragma once

#include "probe/loader/search.hpp"

#include <map>
#include <string>
#include <vector>

namespace gpuvet {

class LoadedProcess {
 public:
  LoadedProcess(const Source& source, const LoaderSetup& setup) : search_(source, setup) {}

  // Loads the program, or, as ldd does, a library in the place of one. An empty path is a program
  // without run paths that needs nothing.
  Result<bool> start(const std::string& path);

  // dlopen by the code of node `caller`; the edge is kept there. SIZE_MAX: not found.
  size_t open(const std::string& name, size_t caller, FoundBy rule_of_path = FoundBy::dlopen,
              const std::string& why = {});

  // What libraries that are loaded open themselves as soon as they are used: cuDNN its parts, the
  // CUDA runtime the driver's libcuda.so.1.
  void open_known_libraries();

  bool has(const std::string& name) const { return names_.count(name) > 0; }
  const LoadTree& tree() const { return tree_; }
  LoadTree take();

 private:
  size_t add(const LoadEdge& edge, size_t loader);
  LoadEdge load(const std::string& name, size_t asking, const AskedBy& asked_by);
  AskedBy chain_of(size_t node) const;
  void add_interpreter();
  void preload();
  void load_needed();

  LibrarySearch search_;
  LoadTree tree_;
  std::vector<RunPaths> run_paths_;     // by node
  std::vector<size_t> loaders_;         // by node; SIZE_MAX: none
  std::map<std::string, size_t> names_; // names by which nodes answer
  std::map<std::string, size_t> files_; // real paths
  std::vector<size_t> queue_;           // nodes in the order in which their needs are looked up
  size_t queue_at_ = 0;
  std::vector<bool> queued_;
  bool at_run_time_ = false; // from here on libraries are opened by code that runs
};

} // namespace gpuvet
