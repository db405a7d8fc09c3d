#include "gpu/library.hpp"
#include "gpu/testing/fakes.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <unistd.h>

namespace gpuvet {
namespace {

const std::string kSoname = "libgpuvet-test-only.so.1";

struct Folder { // with a link to a fake, or what else is put there
  Folder() {
    path = ::testing::TempDir() + "gpuvet-library-XXXXXX";
    EXPECT_NE(mkdtemp(path.data()), nullptr);
  }
  ~Folder() {
    unlink(file().c_str());
    rmdir(path.c_str());
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string file() const { return path + "/" + kSoname; }

  std::string path;
};

TEST(Library, IsLookedForWhereTheLoaderDoesNotLook) {
  Folder folder;
  std::string real = fake("current", "libcuda.so.580.65.06");
  ASSERT_EQ(symlink(real.c_str(), folder.file().c_str()), 0);
  auto library = open_library({kSoname.c_str(), {"/nowhere", folder.path}}, "");
  ASSERT_TRUE(library);
  EXPECT_EQ(library->file, real);
  EXPECT_EQ(library->loader_problem, kSoname + ": cannot open shared object file: "
                                               "No such file or directory");
  EXPECT_NE(find_symbol(*library, "cuInit"), nullptr);
  EXPECT_EQ(find_symbol(*library, "cuInitMore"), nullptr);
}

TEST(Library, TheTextsOfAllTriesAreKept) {
  Folder folder;
  std::ofstream(folder.file()) << "short";
  auto library = open_library({kSoname.c_str(), {folder.path}}, "");
  ASSERT_FALSE(library);
  EXPECT_NE(library.error().what.find("No such file"), std::string::npos);
  EXPECT_NE(library.error().what.find("file too short"), std::string::npos);
}

TEST(Library, NoOtherStandsInForANamedOne) {
  Folder folder;
  std::string real = fake("current", "libcuda.so.580.65.06");
  ASSERT_EQ(symlink(real.c_str(), folder.file().c_str()), 0);
  EXPECT_FALSE(open_library({kSoname.c_str(), {folder.path}}, "/nowhere/" + kSoname));
}

TEST(Library, GivesTheFileThatTheLoaderChose) {
  auto library = open_library({"libc.so.6", {}}, "");
  ASSERT_TRUE(library);
  EXPECT_TRUE(library->file.starts_with("/")) << library->file;
  EXPECT_EQ(library->loader_problem, "");
}

} // namespace
} // namespace gpuvet
