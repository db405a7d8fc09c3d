#include "probe/python_env.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace gpuvet {
namespace {

namespace fs = std::filesystem;

class PythonEnvTest : public ::testing::Test {
 protected:
  PythonEnvTest() {
    std::string name = ::testing::TempDir() + "gpuvet-python-XXXXXX";
    root_ = fs::canonical(mkdtemp(name.data()));
  }
  ~PythonEnvTest() override { fs::remove_all(root_); }

  std::string write(const std::string& name, const std::string& content) {
    fs::path path = fs::path(root_) / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << content;
    return path;
  }
  void folder(const std::string& name) { fs::create_directories(fs::path(root_) / name); }
  void link(const std::string& target, const std::string& name) {
    fs::create_directories((fs::path(root_) / name).parent_path());
    fs::create_symlink(target, fs::path(root_) / name);
  }
  // Folders relative to the root.
  std::vector<std::string> folders(const std::string& executable, const std::string& home = {}) {
    auto python =
        find_python(live_source({}), root_ + "/" + executable, {.path = {}, .home = home});
    if (!python) return {python.error().what};
    std::vector<std::string> result;
    for (const std::string& path : python->folders)
      result.push_back(path.substr(root_.size() + 1));
    return result;
  }

  std::string root_;
};

using Paths = std::vector<std::string>;

TEST_F(PythonEnvTest, InstallationOfTheRightVersion) {
  write("usr/bin/python3.11", "\x7f"
                              "ELF");
  link("python3.11", "usr/bin/python3");
  folder("usr/lib/python3.11/site-packages");
  folder("usr/lib/python3.12/site-packages");
  folder("usr/lib64/python3.11/site-packages");
  folder("usr/lib/python3/dist-packages");
  folder("usr/local/lib/python3.11/dist-packages");
  EXPECT_EQ(folders("usr/bin/python3"),
            (Paths{"usr/lib/python3.11/site-packages", "usr/lib64/python3.11/site-packages",
                   "usr/local/lib/python3.11/dist-packages", "usr/lib/python3/dist-packages"}));
}

TEST_F(PythonEnvTest, VirtualEnvironmentWithAndWithoutTheSystem) {
  write("usr/bin/python3.11", "\x7f"
                              "ELF");
  folder("usr/lib/python3.11/site-packages");
  folder("home/.local/lib/python3.11/site-packages");
  link(root_ + "/usr/bin/python3.11", "venv/bin/python");
  folder("venv/lib/python3.11/site-packages");
  link("lib", "venv/lib64");
  write("venv/pyvenv.cfg", "home = " + root_ + "/usr/bin\ninclude-system-site-packages = false\n");
  EXPECT_EQ(folders("venv/bin/python", root_ + "/home"),
            (Paths{"venv/lib/python3.11/site-packages"}));
  write("venv/pyvenv.cfg", "home = " + root_ + "/usr/bin\ninclude-system-site-packages = true\n");
  EXPECT_EQ(folders("venv/bin/python", root_ + "/home"),
            (Paths{"venv/lib/python3.11/site-packages", "home/.local/lib/python3.11/site-packages",
                   "usr/lib/python3.11/site-packages"}));
}

TEST_F(PythonEnvTest, CondaKeepsLibrariesBesidePython) {
  write("env/bin/python3.12", "\x7f"
                              "ELF");
  folder("env/conda-meta");
  folder("env/lib/python3.12/site-packages");
  EXPECT_EQ(folders("env/bin/python3.12"), (Paths{"env/lib/python3.12/site-packages", "env/lib"}));
  EXPECT_EQ(find_python(live_source({}), root_ + "/env/bin/python3.12", {})->kind,
            "conda environment");
}

TEST_F(PythonEnvTest, PthLinesAreFoldersAndCodeIsNotRun) {
  write("p/bin/python3.9", "\x7f"
                           "ELF");
  folder("src/project");
  write("p/lib/python3.9/site-packages/a.pth",
        "# comment\n../../../../src/project\nabsent\nimport os; os.abort()\n");
  write("p/lib/python3.9/site-packages/__editable__.x.pth", "import __editable___x_finder\n");
  auto python = find_python(live_source({}), root_ + "/p/bin/python3.9", {});
  ASSERT_TRUE(python);
  ASSERT_EQ(python->folders.size(), 2u);
  EXPECT_EQ(fs::canonical(python->folders[1]), root_ + "/src/project");
  ASSERT_EQ(python->notes.size(), 1u);
  EXPECT_NE(python->notes[0].find("editable"), std::string::npos);
}

TEST_F(PythonEnvTest, FoundInPathAndFreeThreaded) {
  write("p/bin/python3.13t", "\x7f"
                             "ELF");
  folder("p/lib/python3.13t/site-packages");
  folder("p/lib/python3.13/site-packages");
  auto python = find_python(live_source({}), "python3.13t",
                            {.path = "/nowhere:" + root_ + "/p/bin", .home = {}});
  ASSERT_TRUE(python);
  EXPECT_EQ(python->folders, (Paths{root_ + "/p/lib/python3.13t/site-packages"}));
  EXPECT_FALSE(find_python(live_source({}), "python9", {.path = root_ + "/p/bin", .home = {}}));
}

TEST_F(PythonEnvTest, WhatIsNotAnInterpreterIsSaid) {
  write("shims/python", "#!/usr/bin/env bash\n");
  write("empty/bin/python3.9", "\x7f"
                               "ELF");
  EXPECT_NE(folders("shims/python")[0].find("script"), std::string::npos);
  EXPECT_NE(folders("empty/bin/python3.9")[0].find("no folder"), std::string::npos);
  EXPECT_FALSE(find_python(live_source({}), root_ + "/absent", {}));
}

} // namespace
} // namespace gpuvet
