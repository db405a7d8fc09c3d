#include "gpu/work/bandwidth/host_side.hpp"

#include "gpu/text.hpp"
#include "os/memory/memory_available.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace gpuvet {

NodesOfGpu nodes_of_gpu(Bench& bench) {
  NodesOfGpu machine;
  NumaNodes all = numa_nodes();
  for (NumaNode& node : all.nodes)
    if (!node.cpus.empty()) machine.nodes.push_back(std::move(node));
  if (machine.nodes.size() == 1) {
    machine.near = machine.nodes.front();
    return machine;
  }
  if (machine.nodes.empty()) {
    machine.why_unknown = all.problem.empty() ? "no NUMA node has CPUs and memory" : all.problem;
    return machine;
  }
  std::array<char, 32> address{};
  bench.call(bench.cuda.cuDeviceGetPCIBusId, address.data(), int{address.size()}, bench.device);
  const std::string pci = bounded_text(address.data(), address.size());
  auto number = numa_node_of_pci(pci);
  if (!number) {
    machine.why_unknown = "the kernel does not tell the NUMA node of " + pci;
    return machine;
  }
  for (const NumaNode& node : machine.nodes)
    if (node.number == *number) machine.near = node;
  if (!machine.near)
    machine.why_unknown = fmt::format(
        "{} is on NUMA node {}, of which this process may not use memory", pci, *number);
  return machine;
}

Room room_of(Bench& bench) {
  size_t free = 0, total = 0;
  bench.call(bench.cuda.cuMemGetInfo_v2, &free, &total);
  return {free, memory_available()};
}

HostSide::HostSide(const NodesOfGpu& machine, const std::optional<NumaNode>& node, uint64_t bytes)
    : only_one_(machine.nodes.size() == 1) {
  if (!node) {
    wanted_ = "unknown: " + machine.why_unknown;
    return;
  }
  wanted_ = std::to_string(node->number);
  if (only_one_) return; // there is nowhere else
  on_node_.emplace(*node, bytes);
  placed_ = on_node_->memory_set || on_node_->on_cpus;
  node_ = node->number;
  problem_ = on_node_->problem;
}

HostMemory HostSide::pinned(Bench& bench, size_t bytes) {
  HostMemory memory(bench, bytes);
  for (size_t at = 0; at < bytes; at += 4096) // the smallest page
    memory.as<volatile char>()[at] = 0;
  return memory;
}

void HostSide::tell(Bench& bench, const HostMemory& memory, const char* where) {
  bench.tell.word("numa_wanted", wanted_);
  auto got = placement_of(memory.as(), memory.bytes());
  if (got) {
    bench.tell.reading("numa_node", "1", got->node);
    if (got->share < 0.99)
      problem_ += fmt::format("{}{:.0f} % of the pages are on other nodes",
                              problem_.empty() ? "" : "; ", 100 * (1 - got->share));
  } else {
    problem_ += fmt::format("{}where the pages are is not told: {}: {}",
                            problem_.empty() ? "" : "; ", got.error().where, got.error().what);
  }
  std::string word = "pinned, wherever the system put it";
  if (only_one_)
    word = "pinned, the only node";
  else if (placed_ && !got)
    word = fmt::format("pinned, asked for on the {} node", where);
  else if (placed_ && got->node == node_)
    word = fmt::format("pinned, {} node", where);
  else if (placed_)
    word = fmt::format("pinned, on node {} instead of the {} node", got->node, where);
  bench.tell.word("memory", word);
  if (!problem_.empty()) bench.tell.word("numa_problem", problem_);
}

} // namespace gpuvet
