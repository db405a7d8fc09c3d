#include "os/memory/memory_available.hpp"
#include "os/memory/numa.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>

namespace gpuvet {
namespace {

namespace fs = std::filesystem;

class Root { // a folder that stands for /
 public:
  Root() {
    std::string name = testing::TempDir() + "numa-XXXXXX";
    path = mkdtemp(name.data());
  }
  Root(const Root&) = delete;
  Root& operator=(const Root&) = delete;
  ~Root() { fs::remove_all(path); }

  void put(const std::string& file, const std::string& text) const {
    fs::create_directories(fs::path(path + file).parent_path());
    std::ofstream(path + file) << text << "\n";
  }
  void node(int number, const std::string& cpus, int free_kib, int files_kib) const {
    const std::string folder = "/sys/devices/system/node/node" + std::to_string(number);
    put(folder + "/cpulist", cpus);
    put(folder + "/meminfo",
        "Node 0 MemTotal:  99999 kB\nNode 0 MemFree:  " + std::to_string(free_kib) +
            " kB\nNode 0 FilePages:  " + std::to_string(files_kib) + " kB");
  }

  std::string path;
};

TEST(Numa, ListsOfNumbers) {
  EXPECT_EQ(numbers_of_list("0-3,8,10-11\n"), (std::vector<int>{0, 1, 2, 3, 8, 10, 11}));
  EXPECT_EQ(numbers_of_list("7"), std::vector<int>{7});
  for (const char* none : {"", "\n", "3-1", "a", "0-", "0-99999999999", "1,,2", "-1"})
    EXPECT_TRUE(numbers_of_list(none).empty()) << none;
}

TEST(Numa, NodesThatThisProcessMayUse) {
  Root root;
  root.put("/sys/devices/system/node/has_memory", "0-2");
  root.put("/proc/self/status", "Name:\tx\nMems_allowed:\t5\nMems_allowed_list:\t0,2");
  root.node(0, "0-3", 1000, 500);
  root.node(1, "4-7", 1000, 0);
  root.node(2, "", 4000, 0); // a GPU's memory has no CPUs
  NumaNodes nodes = numa_nodes(root.path);
  EXPECT_EQ(nodes.problem, "");
  ASSERT_EQ(nodes.nodes.size(), 2u);
  EXPECT_EQ(nodes.nodes[0].number, 0);
  EXPECT_EQ(nodes.nodes[0].cpus, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(nodes.nodes[0].available_bytes, 1250u * 1024);
  EXPECT_EQ(nodes.nodes[1].number, 2);
  EXPECT_TRUE(nodes.nodes[1].cpus.empty());
}

TEST(Numa, WithoutSysTheReasonIsSaid) {
  Root root;
  NumaNodes nodes = numa_nodes(root.path);
  EXPECT_TRUE(nodes.nodes.empty());
  EXPECT_NE(nodes.problem.find("/sys/devices/system/node"), std::string::npos) << nodes.problem;
}

TEST(Numa, NodeOfADevice) {
  Root root;
  root.put("/sys/bus/pci/devices/0000:3b:00.0/numa_node", "1");
  root.put("/sys/bus/pci/devices/0000:3c:00.0/numa_node", "-1");
  EXPECT_EQ(numa_node_of_pci("0000:3B:00.0", root.path), 1);
  EXPECT_EQ(numa_node_of_pci("0000:3c:00.0", root.path), std::nullopt);
  EXPECT_EQ(numa_node_of_pci("0000:3d:00.0", root.path), std::nullopt);
}

TEST(Numa, PutsBackWhatWas) {
  NumaNodes nodes = numa_nodes();
  if (nodes.nodes.empty() || nodes.nodes[0].cpus.empty()) GTEST_SKIP() << nodes.problem;
  const unsigned before = cpus_allowed();
  NumaNode one = nodes.nodes[0];
  one.cpus.resize(1);
  {
    OnNode on(one, 1 << 20);
    if (on.on_cpus) {
      EXPECT_EQ(cpus_allowed(), 1u);
    }
    EXPECT_EQ(on.problem.empty(), on.on_cpus && on.memory_set) << on.problem;
    std::unique_ptr<char[]> memory(new char[8 << 20]);
    std::memset(memory.get(), 1, 8 << 20);
    auto placed = placement_of(memory.get(), 8 << 20);
    if (on.memory_set && placed) {
      EXPECT_EQ(placed->node, one.number);
      EXPECT_GT(placed->share, 0.9);
    }
  }
  EXPECT_EQ(cpus_allowed(), before);
}

TEST(Numa, ANodeWithoutOurCpusIsNoPlaceForAThread) {
  NumaNode none;
  none.number = 0;
  none.cpus = {65000};
  OnNode on(none, 1 << 20);
  EXPECT_FALSE(on.on_cpus);
  EXPECT_NE(on.problem.find("NUMA node 0"), std::string::npos) << on.problem;
}

TEST(Numa, MemoryThatWasNeverTouchedIsNowhere) {
  EXPECT_FALSE(placement_of(nullptr, 0));
}

TEST(MemoryAvailable, TheLeastOfMachineAndGroups) {
  Root root;
  root.put("/proc/meminfo", "MemTotal: 4000 kB\nMemAvailable:    3000 kB");
  EXPECT_EQ(memory_available(root.path), 3000u * 1024);
  root.put("/proc/self/cgroup", "0::/a/b");
  root.put("/sys/fs/cgroup/a/b/memory.max", "max");
  root.put("/sys/fs/cgroup/a/b/memory.current", "1");
  EXPECT_EQ(memory_available(root.path), 3000u * 1024);
  root.put("/sys/fs/cgroup/a/memory.max", "2000000"); // of the group above
  root.put("/sys/fs/cgroup/a/memory.current", "500000");
  EXPECT_EQ(memory_available(root.path), 1500000u);
  root.put("/sys/fs/cgroup/a/memory.current", "2500000");
  EXPECT_EQ(memory_available(root.path), 0u);
}

TEST(MemoryAvailable, InAContainerTheRootIsTheGroup) {
  Root root;
  root.put("/proc/meminfo", "MemAvailable:    3000 kB");
  root.put("/proc/self/cgroup", "0::/");
  root.put("/sys/fs/cgroup/memory.max", "1000000");
  root.put("/sys/fs/cgroup/memory.current", "1");
  EXPECT_EQ(memory_available(root.path), 999999u);
}

TEST(MemoryAvailable, GroupsOfTheFirstVersion) {
  Root root;
  root.put("/proc/self/cgroup", "9:cpu:/x\n8:memory:/docker/abc");
  EXPECT_EQ(memory_available(root.path), std::nullopt);
  root.put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "1000");
  root.put("/sys/fs/cgroup/memory/memory.usage_in_bytes", "100");
  EXPECT_EQ(memory_available(root.path), 900u);
}

} // namespace
} // namespace gpuvet
