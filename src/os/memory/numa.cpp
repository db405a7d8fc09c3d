#include "os/memory/numa.hpp"

#include "base/text.hpp"
#include "os/file_tree.hpp"
#include "os/memory/memory_available.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace gpuvet {
namespace {

constexpr size_t kSmallFile = 1 << 16; // bytes; such files of the kernel are shorter
constexpr int kMostCpus = 65536;       // more than any kernel is built for
constexpr size_t kBits = 8 * sizeof(unsigned long);
constexpr size_t kNodeWords = 1024 / kBits; // the kernel has at most 1024 nodes

// As in linux/mempolicy.h
constexpr int kPolicyPreferred = 1, kPolicyBind = 2;

std::string text_of(const std::string& path) {
  auto text = read_small_file(path, kSmallFile);
  return text ? std::string(trimmed(*text)) : std::string();
}

void put_in(std::vector<unsigned long>& bits, int number) {
  auto at = static_cast<size_t>(number);
  if (at / kBits < bits.size()) bits[at / kBits] |= 1UL << (at % kBits);
}

bool holds(const std::vector<unsigned long>& bits, int number) {
  auto at = static_cast<size_t>(number);
  return at / kBits < bits.size() && (bits[at / kBits] >> (at % kBits) & 1) != 0;
}

std::vector<unsigned long> cpus_of_this_thread() {
  std::vector<unsigned long> bits(kMostCpus / kBits);
  long bytes = syscall(SYS_sched_getaffinity, 0, bits.size() * sizeof(bits[0]), bits.data());
  if (bytes < 0) bits.clear();
  return bits;
}

bool run_on(const std::vector<unsigned long>& bits) {
  return syscall(SYS_sched_setaffinity, 0, bits.size() * sizeof(bits[0]), bits.data()) == 0;
}

bool set_policy(int mode, const std::vector<unsigned long>& nodes) {
  return syscall(SYS_set_mempolicy, mode, nodes.empty() ? nullptr : nodes.data(),
                 nodes.size() * kBits) == 0;
}

std::string refused(const char* call) {
  return std::string(call) + ": " + strerror(errno);
}

} // namespace

std::vector<int> numbers_of_list(std::string_view list) {
  std::vector<int> numbers;
  for (const std::string& part : split_at(trimmed(list), ',')) {
    size_t dash = part.find('-');
    auto first = decimal_number(part.substr(0, dash));
    auto last = dash == std::string::npos ? first : decimal_number(part.substr(dash + 1));
    if (!first || !last || *first > *last || *last >= kMostCpus) return {};
    for (uint64_t number = *first; number <= *last; ++number)
      numbers.push_back(static_cast<int>(number));
  }
  return numbers;
}

NumaNodes numa_nodes(const std::string& root) {
  const std::string folder = root + "/sys/devices/system/node/";
  NumaNodes found;
  std::vector<int> with_memory = numbers_of_list(text_of(folder + "has_memory"));
  if (with_memory.empty()) with_memory = numbers_of_list(text_of(folder + "online"));
  if (with_memory.empty()) {
    found.problem = "cannot read NUMA nodes from " + folder;
    return found;
  }
  std::vector<int> allowed;
  auto status = read_small_file(root + "/proc/self/status", kSmallFile);
  for (const std::string& line : split_at(status ? *status : std::string(), '\n'))
    if (auto pair = key_and_value(line, ':'); pair && pair->first == "Mems_allowed_list")
      allowed = numbers_of_list(pair->second);
  for (int number : with_memory) {
    if (!allowed.empty() && std::find(allowed.begin(), allowed.end(), number) == allowed.end())
      continue;
    const std::string node = folder + "node" + std::to_string(number);
    const std::string memory = text_of(node + "/meminfo");
    uint64_t available = meminfo_bytes(memory, "MemFree") + meminfo_bytes(memory, "FilePages") / 2;
    found.nodes.push_back({number, numbers_of_list(text_of(node + "/cpulist")), available});
  }
  return found;
}

std::optional<int> numa_node_of_pci(const std::string& address, const std::string& root) {
  auto node = decimal_number(
      text_of(root + "/sys/bus/pci/devices/" + lower_ascii(address) + "/numa_node")); // or "-1"
  if (!node || *node >= kMostCpus) return std::nullopt;
  return static_cast<int>(*node);
}

OnNode::OnNode(const NumaNode& node, uint64_t bytes) {
  old_cpus_ = cpus_of_this_thread();
  std::vector<unsigned long> wanted(old_cpus_.size());
  bool any = false;
  for (int cpu : node.cpus)
    if (holds(old_cpus_, cpu)) {
      put_in(wanted, cpu);
      any = true;
    }
  if (any) {
    on_cpus = run_on(wanted);
    if (!on_cpus) problem = refused("sched_setaffinity");
  } else {
    problem = "none of the CPUs of NUMA node " + std::to_string(node.number) +
              " is among those that this process may run on";
  }

  old_nodes_.resize(kNodeWords);
  old_policy_known_ = syscall(SYS_get_mempolicy, &old_mode_, old_nodes_.data(),
                              old_nodes_.size() * kBits, nullptr, 0) == 0;
  std::vector<unsigned long> nodes(kNodeWords);
  put_in(nodes, node.number);
  // Without knowing what was, it could not be put back.
  memory_set =
      old_policy_known_ &&
      set_policy(node.available_bytes / 2 >= bytes ? kPolicyBind : kPolicyPreferred, nodes);
  if (!memory_set)
    problem += (problem.empty() ? "" : "; ") +
               refused(old_policy_known_ ? "set_mempolicy" : "get_mempolicy");
}

OnNode::~OnNode() {
  if (on_cpus) run_on(old_cpus_);
  if (!memory_set) return;
  bool none = std::all_of(old_nodes_.begin(), old_nodes_.end(),
                          [](unsigned long bits) { return bits == 0; });
  set_policy(old_mode_, none ? std::vector<unsigned long>() : old_nodes_);
}

Result<Placement> placement_of(const void* memory, size_t bytes) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t pages = bytes / page, looked_at = std::min<size_t>(pages, 512);
  std::vector<void*> places;
  for (size_t at = 0; at < looked_at; ++at)
    places.push_back(const_cast<char*>(static_cast<const char*>(memory)) +
                     pages * at / looked_at * page);
  std::vector<int> nodes(places.size(), -ENOENT);
  // With no target nodes this moves nothing and tells where each page is.
  if (syscall(SYS_move_pages, 0, places.size(), places.data(), nullptr, nodes.data(), 0) != 0)
    return fail(strerror(errno), "move_pages");
  std::map<int, size_t> counts;
  for (int node : nodes)
    ++counts[node];
  if (counts.empty()) return fail("no page to look at", "move_pages");
  auto most = std::max_element(counts.begin(), counts.end(),
                               [](auto& a, auto& b) { return a.second < b.second; });
  if (most->first < 0) return fail(strerror(-most->first), "move_pages");
  return Placement{most->first,
                   static_cast<double>(most->second) / static_cast<double>(nodes.size())};
}

unsigned cpus_allowed() {
  int count = 0;
  for (unsigned long bits : cpus_of_this_thread())
    count += __builtin_popcountl(bits);
  return static_cast<unsigned>(std::max(count, 1));
}

} // namespace gpuvet
