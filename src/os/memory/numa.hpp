// Where memory and CPUs are: NUMA nodes as the kernel shows them in /sys and /proc, and placing
// this thread and its memory on one of them. Raw system calls: no libnuma is needed.
#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuvet {

// "0-3,8,10-11"; empty where it is no such list, or holds a number above 65535.
std::vector<int> numbers_of_list(std::string_view list);

struct NumaNode {
  int number = 0;
  std::vector<int> cpus;        // may be none: memory without CPUs
  uint64_t available_bytes = 0; // free, or holding files that could be dropped
};

struct NumaNodes {
  std::vector<NumaNode> nodes; // with memory that this process may use, by number
  std::string problem;         // not empty: they could not be read; then there are none
};

// `root` is "" but in tests.
NumaNodes numa_nodes(const std::string& root = {});

// Of a PCI device, "0000:3b:00.0" in either case; nullopt where the kernel does not know it, as on
// machines with one node and in many virtual machines.
std::optional<int> numa_node_of_pci(const std::string& address, const std::string& root = {});

// While it lives, this thread runs on the CPUs of a node, and what it (or a driver that it calls)
// allocates comes from there. Threads that it starts inherit both. The destructor puts back what
// was. What the machine refuses, as containers do, is told and not tried again.
class OnNode {
 public:
  // `bytes` is what will be allocated: where the node has not twice as much, other nodes may help
  // out, for a strict policy would have the kernel kill a process.
  OnNode(const NumaNode& node, uint64_t bytes);
  OnNode(const OnNode&) = delete;
  OnNode& operator=(const OnNode&) = delete;
  ~OnNode();

  bool on_cpus = false;    // the thread runs on the node's CPUs
  bool memory_set = false; // the policy was accepted
  std::string problem;     // what was refused: "set_mempolicy: Operation not permitted"

 private:
  std::vector<unsigned long> old_cpus_, old_nodes_;
  int old_mode_ = 0;
  bool old_policy_known_ = false;
};

struct Placement {
  int node = -1;    // that most of the pages looked at are on
  double share = 0; // of them, 0 to 1
};

// Looks at some hundred pages spread over the memory, which must have been touched.
Result<Placement> placement_of(const void* memory, size_t bytes);

// How many CPUs this thread may run on; at least 1.
unsigned cpus_allowed();

} // namespace gpuvet
