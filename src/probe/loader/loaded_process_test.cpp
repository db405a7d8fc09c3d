#include "probe/loader/ld_conf.hpp"
#include "probe/loader/loaded_process.hpp"
#include "probe/loader/testing/fake_machine.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

using List = std::vector<std::string>;

LoadTree load(const FakeMachine& machine, const std::string& program) {
  Source source = machine.source();
  LoaderSetup setup = loader_setup(source);
  LoadedProcess process(source, setup);
  auto started = process.start(program);
  EXPECT_TRUE(started) << started.error().what;
  return process.take();
}

// "libx.so.1" -> the edge by which it is needed, wherever.
const LoadEdge& edge(const LoadTree& tree, const std::string& name) {
  static const LoadEdge none;
  for (const LoadNode& node : tree.nodes)
    for (const LoadEdge& one : node.needs)
      if (one.name == name) return one;
  return none;
}

TEST(LoadedProcess, RunpathIsForTheObjectOnlyAndRpathForAllBelow) {
  FakeMachine machine;
  machine.program("/app/bin/run", {.needed = {"liba.so.1"}, .runpath = {"$ORIGIN/../lib"}});
  machine.lib("/app/lib/liba.so.1", {.soname = "liba.so.1", .needed = {"libb.so.1"}});
  machine.lib("/app/lib/libb.so.1", {.soname = "libb.so.1"});
  LoadTree tree = load(machine, "/app/bin/run");
  EXPECT_EQ(edge(tree, "liba.so.1").rule, FoundBy::runpath);
  EXPECT_EQ(edge(tree, "liba.so.1").path, "/app/bin/../lib/liba.so.1");
  EXPECT_EQ(edge(tree, "liba.so.1").real_path, "/app/lib/liba.so.1");
  EXPECT_EQ(edge(tree, "libb.so.1").rule, FoundBy::not_found);
  EXPECT_EQ(tree.missing, (List{"libb.so.1"}));

  machine.program("/app/bin/run", {.needed = {"liba.so.1"}, .rpath = {"${ORIGIN}/../lib"}});
  tree = load(machine, "/app/bin/run");
  EXPECT_EQ(edge(tree, "libb.so.1").rule, FoundBy::rpath);
  EXPECT_EQ(edge(tree, "libb.so.1").by, "rpath ${ORIGIN}/../lib of /app/bin/run");
  EXPECT_TRUE(tree.missing.empty());
}

TEST(LoadedProcess, ARunpathTurnsEveryRpathOff) {
  FakeMachine machine;
  machine.program("/app/run", {.needed = {"liba.so.1"}, .rpath = {"/r"}});
  machine.lib("/r/liba.so.1",
              {.soname = "liba.so.1", .needed = {"libb.so.1"}, .runpath = {"/gone"}});
  machine.lib("/r/libb.so.1", {.soname = "libb.so.1"});
  LoadTree tree = load(machine, "/app/run");
  const LoadEdge& missing = edge(tree, "libb.so.1");
  EXPECT_EQ(missing.rule, FoundBy::not_found);
  ASSERT_GE(missing.tried.size(), 5u);
  EXPECT_EQ(missing.tried[0].rule, FoundBy::rpath);
  EXPECT_EQ(missing.tried[0].why_not, "rpath is skipped: /r/liba.so.1 has a runpath");
  EXPECT_EQ(missing.tried[1].path, "/r/libb.so.1");
  EXPECT_EQ(missing.tried[1].why_not, "skipped, as /r/liba.so.1 has a runpath");
  EXPECT_EQ(missing.tried[2].path, "/gone/libb.so.1");
  EXPECT_EQ(missing.tried[2].why_not, "no such folder");
  EXPECT_EQ(missing.tried[3].rule, FoundBy::cache);
  EXPECT_EQ(missing.tried[4].path, "/lib/x86_64-linux-gnu/libb.so.1");
  EXPECT_EQ(missing.tried[4].why_not, "no such file");
}

TEST(LoadedProcess, LibraryPathComesBehindRpathAndBeforeRunpath) {
  FakeMachine machine;
  machine.recording->environment["LD_LIBRARY_PATH"] = "/env;/env2";
  for (const char* folder : {"/env", "/own"})
    machine.lib(std::string(folder) + "/liba.so.1", {.soname = "liba.so.1"});
  machine.program("/new", {.needed = {"liba.so.1"}, .runpath = {"/own"}});
  machine.program("/old", {.needed = {"liba.so.1"}, .rpath = {"/own"}});
  LoadEdge found = edge(load(machine, "/new"), "liba.so.1");
  EXPECT_EQ(found.rule, FoundBy::ld_library_path);
  EXPECT_EQ(found.path, "/env/liba.so.1");
  ASSERT_EQ(found.tried.size(), 2u); // the file taken and the one behind it
  EXPECT_EQ(found.tried[1].path, "/own/liba.so.1");
  EXPECT_EQ(found.tried[1].why_not, "shadowed");
  EXPECT_EQ(edge(load(machine, "/old"), "liba.so.1").path, "/own/liba.so.1");
}

TEST(LoadedProcess, TheCacheGivesItsFirstEntryOnly) {
  FakeMachine machine;
  machine.program("/run", {.needed = {"liba.so.1", "libb.so.1"}});
  machine.lib("/second/liba.so.1", {.soname = "liba.so.1"});
  machine.lib("/usr/lib/libb.so.1", {.soname = "libb.so.1"});
  machine.cache({{"liba.so.1", "/first/liba.so.1"}, {"liba.so.1", "/second/liba.so.1"}});
  LoadTree tree = load(machine, "/run");
  EXPECT_EQ(edge(tree, "liba.so.1").rule, FoundBy::not_found);
  EXPECT_EQ(edge(tree, "libb.so.1").rule, FoundBy::default_folder);
  machine.lib("/first/liba.so.1", {.soname = "liba.so.1"});
  EXPECT_EQ(edge(load(machine, "/run"), "liba.so.1").path, "/first/liba.so.1");
}

TEST(LoadedProcess, NodeflibSkipsDefaultFolders) {
  FakeMachine machine;
  machine.program("/run", {.needed = {"liba.so.1"}, .nodeflib = true});
  machine.lib("/usr/lib/liba.so.1", {.soname = "liba.so.1"});
  EXPECT_EQ(load(machine, "/run").missing, (List{"liba.so.1"}));
  machine.cache({{"liba.so.1", "/usr/lib/liba.so.1"}});
  EXPECT_EQ(load(machine, "/run").missing, (List{"liba.so.1"}));
}

TEST(LoadedProcess, ALoadedSonameAnswersWhereverItCameFrom) {
  FakeMachine machine;
  machine.program("/run", {.needed = {"/odd/name.so", "libb.so.1"}});
  machine.lib("/odd/name.so", {.soname = "liba.so.1"});
  machine.lib("/usr/lib/libb.so.1", {.soname = "libb.so.1", .needed = {"liba.so.1"}});
  machine.lib("/usr/lib/liba.so.1", {.soname = "liba.so.1"});
  LoadTree tree = load(machine, "/run");
  EXPECT_EQ(edge(tree, "liba.so.1").rule, FoundBy::already_loaded);
  EXPECT_EQ(edge(tree, "liba.so.1").path, "/odd/name.so");
}

TEST(LoadedProcess, BreadthComesBeforeDepth) {
  FakeMachine machine;
  machine.program("/run", {.needed = {"liba.so.1", "libb.so.1"}});
  machine.lib("/usr/lib/liba.so.1",
              {.soname = "liba.so.1", .needed = {"libx.so.1"}, .runpath = {"/x1"}});
  machine.lib("/usr/lib/libb.so.1",
              {.soname = "libb.so.1", .needed = {"libx.so.1"}, .runpath = {"/x2"}});
  machine.lib("/x1/libx.so.1", {.soname = "libx.so.1"});
  machine.lib("/x2/libx.so.1", {.soname = "libx.so.1"});
  LoadTree tree = load(machine, "/run");
  List order;
  for (const LoadNode& node : tree.nodes)
    order.push_back(node.real_path);
  EXPECT_EQ(order, (List{"/run", "/usr/lib/liba.so.1", "/usr/lib/libb.so.1", "/x1/libx.so.1"}));
}

TEST(LoadedProcess, OtherProcessorsAreSkippedAndRubbishEndsTheSearch) {
  FakeMachine machine;
  machine.recording->environment["LD_LIBRARY_PATH"] = "/a:/b:/c";
  machine.program("/run", {.needed = {"liba.so.1"}});
  machine.lib("/a/liba.so.1", {.machine = 183, .soname = "liba.so.1"});
  machine.lib("/b/liba.so.1", {.bits = 32, .machine = 3, .soname = "liba.so.1"});
  machine.lib("/c/liba.so.1", {.soname = "liba.so.1"});
  EXPECT_EQ(edge(load(machine, "/run"), "liba.so.1").path, "/c/liba.so.1");
  machine.folder("/b/liba.so.1");
  machine.recording->files.erase("/b/liba.so.1");
  LoadEdge given_up = edge(load(machine, "/run"), "liba.so.1");
  EXPECT_EQ(given_up.rule, FoundBy::not_found);
  EXPECT_EQ(given_up.tried[0].why_not, "for AArch64, and the program is for x86-64");
  EXPECT_EQ(given_up.tried[1].why_not, "not a file; the loader gives up here");
  EXPECT_EQ(given_up.tried[2].why_not, "the loader has given up before");
}

TEST(LoadedProcess, FoldersForTheProcessorComeFirst) {
  FakeMachine machine;
  machine.program("/run", {.needed = {"liba.so.1"}, .runpath = {"/own"}});
  machine.lib("/own/liba.so.1", {.soname = "liba.so.1"});
  machine.lib("/own/glibc-hwcaps/x86-64-v3/liba.so.1", {.soname = "liba.so.1"});
  machine.lib("/own/glibc-hwcaps/x86-64-v4/liba.so.1", {.soname = "liba.so.1"});
  LoadTree tree = load(machine, "/run");
  EXPECT_EQ(edge(tree, "liba.so.1").path, "/own/liba.so.1");
  ASSERT_EQ(tree.notes.size(), 2u); // no cache, no flags
  EXPECT_NE(tree.notes[1].find("glibc-hwcaps"), std::string::npos);
  machine.text("/proc/cpuinfo", "flags\t\t: cx16 lahf_lm popcnt pni sse4_1 sse4_2 ssse3 avx avx2 "
                                "bmi1 bmi2 f16c fma abm movbe\n");
  tree = load(machine, "/run");
  EXPECT_EQ(edge(tree, "liba.so.1").path, "/own/glibc-hwcaps/x86-64-v3/liba.so.1");
}

TEST(LoadedProcess, PreloadsComeFirstAndDlopenUsesTheCallersRunPath) {
  FakeMachine machine;
  machine.recording->environment["LD_PRELOAD"] = "libp.so /gone.so";
  machine.lib("/usr/lib/libp.so", {.soname = "libc.so.6"});
  machine.program("/run", {.needed = {"libc.so.6", "libcudnn.so.9"}, .rpath = {"/dnn"}});
  machine.lib("/dnn/libcudnn.so.9", {.soname = "libcudnn.so.9", .runpath = {"$ORIGIN/parts"}});
  machine.lib("/dnn/parts/libcudnn_graph.so.9", {.soname = "libcudnn_graph.so.9"});
  machine.lib("/usr/lib/libcudnn_ops.so.9", {.soname = "libcudnn_ops.so.9"});
  Source source = machine.source();
  LoaderSetup setup = loader_setup(source);
  LoadedProcess process(source, setup);
  ASSERT_TRUE(process.start("/run"));
  process.open_known_libraries();
  LoadTree tree = process.take();
  EXPECT_EQ(tree.nodes[0].needs[0].rule, FoundBy::preload);
  EXPECT_EQ(edge(tree, "libc.so.6").path, "/lib/libp.so");
  EXPECT_EQ(edge(tree, "libcudnn_graph.so.9").path, "/dnn/parts/libcudnn_graph.so.9");
  EXPECT_TRUE(edge(tree, "libcudnn_graph.so.9").at_run_time);
  EXPECT_EQ(edge(tree, "libcudnn_ops.so.9").rule, FoundBy::default_folder);
  EXPECT_EQ(edge(tree, "libcudnn_adv.so.9").rule, FoundBy::not_found);
  EXPECT_TRUE(tree.missing.empty()); // run-time names are no needs
}

TEST(LoadedProcess, WhatIsMissingIsLookedForElsewhere) {
  FakeMachine machine;
  machine.program("/run", {.needed = {"libcudart.so.12"}});
  machine.lib("/usr/local/cuda-12.8/targets/x86_64-linux/lib/libcudart.so.12.8.90",
              {.soname = "libcudart.so.12"});
  machine.link("/usr/local/cuda-12.8/targets/x86_64-linux/lib/libcudart.so.12",
               "libcudart.so.12.8.90");
  machine.link("/usr/local/cuda-12.8/lib64", "targets/x86_64-linux/lib");
  LoadEdge missing = edge(load(machine, "/run"), "libcudart.so.12");
  EXPECT_EQ(missing.rule, FoundBy::not_found);
  EXPECT_EQ(missing.elsewhere, (List{"/usr/local/cuda-12.8/lib64/libcudart.so.12"}));
}

TEST(LdConf, IncludesAreReadInPlace) {
  FakeMachine machine;
  machine.text("/etc/ld.so.conf", "# first\n/one\ninclude ld.so.conf.d/*.conf\n/last # c\n");
  machine.text("/etc/ld.so.conf.d/b.conf", "/b\n");
  machine.text("/etc/ld.so.conf.d/a.conf", "\n/a/\ninclude /etc/ld.so.conf\nhwcap 0 nosegneg\n");
  machine.folder("/b");
  std::vector<std::string> notes;
  std::string all;
  for (const auto& folder : read_ld_conf(machine.source(), notes))
    all += folder.path + "=" + folder.file + (folder.exists ? "+ " : " ");
  EXPECT_EQ(all, "/one=/etc/ld.so.conf:2 /a=/etc/ld.so.conf.d/a.conf:2 "
                 "/b=/etc/ld.so.conf.d/b.conf:1+ /last=/etc/ld.so.conf:4 ");
  EXPECT_EQ(notes.size(), 1u);
}

TEST(ExpandTokens, FollowsTheRulesOfTheAbi) {
  LoaderSetup setup;
  setup.lib = "lib64";
  EXPECT_EQ(expand_tokens("$ORIGIN/../$LIB", "/o", setup), "/o/../lib64");
  EXPECT_EQ(expand_tokens("${LIB}x", "/o", setup), "lib64x");
  EXPECT_EQ(expand_tokens("$LIBx/$OTHER", "/o", setup), "$LIBx/$OTHER");
  EXPECT_EQ(expand_tokens("/a/$PLATFORM", "/o", setup), ""); // not known: the folder is dropped
}

} // namespace
} // namespace gpuvet
