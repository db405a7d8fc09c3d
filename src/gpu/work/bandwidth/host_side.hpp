// The host's end of the link: which NUMA node the GPU is on, memory there, and a thread there.
#pragma once

#include "gpu/work/bandwidth/sizes.hpp"
#include "gpu/work/pieces.hpp"
#include "os/memory/numa.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gpuvet {

struct NodesOfGpu {
  std::vector<NumaNode> nodes;  // that have CPUs: those of a GPU's or an expander's memory are not
                                // where programs run
  std::optional<NumaNode> near; // where there is only one node, that one
  std::string why_unknown;      // near
};

NodesOfGpu nodes_of_gpu(Bench& bench);

Room room_of(Bench& bench);

// While it lives, this thread and what it allocates are on a node.
class HostSide {
 public:
  // `node` may be absent: then everything stays where the system puts it.
  HostSide(const NodesOfGpu& machine, const std::optional<NumaNode>& node, uint64_t bytes);

  // Pinned; every page is touched.
  HostMemory pinned(Bench& bench, size_t bytes);

  // The words numa_wanted, memory, numa_problem and the reading numa_node, once; the last of what
  // was obtained and not of what was wanted.
  void tell(Bench& bench, const HostMemory& memory, const char* where);

  // Is anything where it was wanted? A container may refuse to place memory but not threads, and
  // the kernel's own choice is the node of the thread.
  bool placed() const { return placed_; }
  const std::string& problem() const { return problem_; }

 private:
  std::string wanted_, problem_;
  int node_ = -1;
  bool placed_ = false, only_one_ = false;
  std::optional<OnNode> on_node_;
};

} // namespace gpuvet
