#include "render/load_tree.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

LoadTree made_tree() {
  LoadTree tree;
  tree.nodes.resize(3);
  tree.nodes[0].path = "/app/run";
  tree.nodes[1].path = "/a/liba.so.1";
  tree.nodes[2].path = "/lib/libc.so.6";
  LoadEdge a{.name = "liba.so.1", .rule = FoundBy::runpath, .by = "runpath /a of /app/run"};
  a.path = "/a/liba.so.1";
  a.node = 1;
  a.tried = {{"/a/liba.so.1", FoundBy::runpath, ""}, {"/b/liba.so.1", FoundBy::cache, "shadowed"}};
  LoadEdge c{.name = "libc.so.6", .rule = FoundBy::cache, .by = "/etc/ld.so.cache"};
  c.path = "/lib/libc.so.6";
  c.node = 2;
  LoadEdge lost{.name = "libcu\x1b.so"};
  lost.tried = {{"", FoundBy::rpath, "rpath is skipped: x has a runpath"},
                {"/lib/libcu.so", FoundBy::default_folder, "no such file"}};
  tree.nodes[0].needs = {a, c};
  tree.nodes[1].needs = {lost};
  return tree;
}

TEST(LoadTreeText, ShowsRulesAndTheSearchOfWhatIsMissing) {
  EXPECT_EQ(render_load_tree(made_tree(), {.ascii = true}),
            "/app/run\n"
            "`-- liba.so.1 => /a/liba.so.1  [runpath]\n"
            "    : hides /b/liba.so.1  [ld.so.cache]\n"
            "    `-- libcu\\x1b.so  not found\n"
            "        : looked for in this order:\n"
            "        :  1. rpath is skipped: x has a runpath\n"
            "        :  2. /lib/libcu.so: no such file  [default folder]\n"
            "(1 of the system's libraries not shown: -v)\n");
}

TEST(LoadTreeText, VerboseShowsEveryLibraryAndTheWholeRule) {
  std::string text = render_load_tree(made_tree(), {.verbose = true});
  EXPECT_NE(text.find("[runpath /a of /app/run]"), std::string::npos);
  EXPECT_NE(text.find("└── libc.so.6 => /lib/libc.so.6  [/etc/ld.so.cache]"), std::string::npos);
}

TEST(LoadTreeText, ACircleEnds) {
  LoadTree tree = made_tree();
  tree.nodes[1].needs[0] = tree.nodes[0].needs[0]; // liba needs itself
  EXPECT_LT(render_load_tree(tree, {}).size(), 1000u);
  EXPECT_EQ(render_load_tree({}, {}), "");
}

} // namespace
} // namespace gpuvet
