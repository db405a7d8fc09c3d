#include "probe/loader/subjects.hpp"
#include "probe/loader/testing/fake_machine.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace gpuvet {
namespace {

using List = std::vector<std::string>;

const LoadNode* node(const LoadTree& tree, const std::string& soname) {
  auto at = std::find_if(tree.nodes.begin(), tree.nodes.end(),
                         [&](const LoadNode& one) { return one.soname == soname; });
  return at == tree.nodes.end() ? nullptr : &*at;
}

uint64_t inode(const FakeMachine& machine, const std::string& path) {
  return machine.source().entry(path)->inode;
}

std::string map_line(const FakeMachine& machine, const std::string& path, uint64_t other = 0) {
  uint64_t number = other ? other : inode(machine, path);
  return "7f00-7f01 r-xp 00000000 08:01 " + std::to_string(number) + "  " + path + "\n";
}

TEST(TreesOfProcess, ShowWhatIsMappedAndWhatWouldBeChosenNow) {
  FakeMachine machine;
  machine.program("/usr/bin/run", {.needed = {"libcublas.so.12", "libc.so.6"}});
  machine.lib("/old/libcublas.so.12", {.soname = "libcublas.so.12"});
  machine.lib("/new/libcublas.so.12", {.soname = "libcublas.so.12"});
  machine.lib("/plug/libplug.so", {.soname = "libplug.so", .needed = {"libcublas.so.12"}});
  machine.lib("/plug/libgone.so", {.soname = "libgone.so"});
  machine.link("/proc/7/exe", "/usr/bin/run");
  machine.text("/proc/7/environ", std::string("A=1\0LD_LIBRARY_PATH=/new\0", 25));
  machine.text("/proc/7/maps", map_line(machine, "/old/libcublas.so.12") +
                                   map_line(machine, "/usr/bin/run") +
                                   map_line(machine, "/plug/libplug.so") +
                                   map_line(machine, "/plug/libgone.so", 12345) +
                                   map_line(machine, "/usr/lib/x86_64-linux-gnu/libc.so.6"));
  auto trees = trees_of_process(machine.source(), 7);
  ASSERT_TRUE(trees) << trees.error().what;
  EXPECT_EQ(trees->name, "run");
  ASSERT_EQ(trees->mapped.nodes.size(), 5u);
  EXPECT_EQ(trees->mapped.nodes[0].path, "/usr/bin/run");
  EXPECT_EQ(trees->deleted, (List{"/plug/libgone.so"}));
  const auto& needs = trees->mapped.nodes[0].needs;
  ASSERT_EQ(needs.size(), 4u);
  EXPECT_EQ(needs[0].rule, FoundBy::mapped);
  EXPECT_EQ(needs[0].path, "/old/libcublas.so.12");
  EXPECT_EQ(needs[2].path, "/plug/libplug.so");
  EXPECT_EQ(needs[2].rule, FoundBy::dlopen);
  ASSERT_NE(node(trees->now, "libcublas.so.12"), nullptr);
  EXPECT_EQ(node(trees->now, "libcublas.so.12")->path, "/new/libcublas.so.12");
  EXPECT_FALSE(trees_of_process(machine.source(), 8));
}

struct Torch : FakeMachine {
  std::string site = "/v/lib/python3.12/site-packages";

  Torch() {
    program("/v/bin/python", {.needed = {"libc.so.6"}});
    lib(site + "/torch/lib/libtorch_python.so", {.soname = "libtorch_python.so"});
    lib(site + "/nvidia/cuda_runtime/lib/libcudart.so.12", {.soname = "libcudart.so.12"});
    lib(site + "/nvidia/nvjitlink/lib/libnvJitLink.so.12", {.soname = "libnvJitLink.so.12"});
    lib("/sys/libnvJitLink.so.12", {.soname = "libnvJitLink.so.12"});
    recording->environment["LD_LIBRARY_PATH"] = "/sys";
  }
  void dependencies(const List& runpath) {
    lib(site + "/torch/lib/libtorch_global_deps.so",
        {.soname = "libtorch_global_deps.so", .needed = {"libcudart.so.12"}, .runpath = runpath});
    lib(site + "/torch/_C.cpython-312.so",
        {.needed = {"libtorch_python.so", "libnvJitLink.so.12"}, .runpath = {"$ORIGIN/lib"}});
  }
  LoadTree tree() const {
    auto trees = trees_of_python(source(), "/v/bin/python", {site});
    EXPECT_EQ(trees.size(), 1u);
    return trees.empty() ? LoadTree{} : trees[0].tree;
  }
};

TEST(TreesOfPython, TorchOpensItsWheelsWhereTheSearchFails) {
  Torch torch;
  torch.dependencies({"$ORIGIN"}); // libcudart is not found
  LoadTree tree = torch.tree();
  EXPECT_TRUE(tree.missing.empty());
  ASSERT_NE(node(tree, "libcudart.so.12"), nullptr);
  EXPECT_EQ(node(tree, "libnvJitLink.so.12")->path,
            torch.site + "/nvidia/nvjitlink/lib/libnvJitLink.so.12");
}

TEST(TreesOfPython, NewerTorchOpensNvJitLinkOfTheWheelOlderTakesTheLoaders) {
  Torch torch;
  torch.dependencies({"$ORIGIN/../../nvidia/cuda_runtime/lib"});
  EXPECT_EQ(node(torch.tree(), "libnvJitLink.so.12")->path, "/sys/libnvJitLink.so.12");
  torch.text(torch.site + "/torch/__init__.py",
             "if \"nvidia/cuda_runtime/lib/libcudart.so\" not in _maps: return\n");
  EXPECT_EQ(node(torch.tree(), "libnvJitLink.so.12")->path,
            torch.site + "/nvidia/nvjitlink/lib/libnvJitLink.so.12");
}

TEST(TreesOfPython, ExtensionsComeBehindTorch) {
  Torch torch;
  torch.dependencies({"$ORIGIN/../../nvidia/cuda_runtime/lib"});
  torch.lib(torch.site + "/xformers/_C.so", {.needed = {"libtorch_python.so", "libgone.so.1"}});
  auto trees = trees_of_python(torch.source(), "/v/bin/python", {torch.site});
  ASSERT_EQ(trees.size(), 2u);
  EXPECT_EQ(trees[1].package, "xformers");
  EXPECT_EQ(trees[1].tree.missing, (List{"libgone.so.1"}));
}

TEST(TreeOfName, StandsForAProgramWithoutRunPaths) {
  FakeMachine machine;
  machine.lib("/usr/lib/libcudart.so.12", {.soname = "libcudart.so.12"});
  LoadTree tree = tree_of_name(machine.source(), "libcudart.so.12");
  EXPECT_TRUE(tree.nodes[0].path.empty());
  ASSERT_EQ(tree.nodes[0].needs.size(), 1u);
  EXPECT_EQ(tree.nodes[0].needs[0].rule, FoundBy::default_folder);
  EXPECT_EQ(tree_of_name(machine.source(), "libno.so").missing, (List{"libno.so"}));
  EXPECT_FALSE(tree_of_file(machine.source(), "/no"));
}

} // namespace
} // namespace gpuvet
