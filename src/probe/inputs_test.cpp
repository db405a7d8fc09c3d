#include "formats/testing/streams.hpp"
#include "formats/testing/tar_builder.hpp"
#include "formats/testing/zip_builder.hpp"
#include "probe/input_jobs.hpp"
#include "probe/inputs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

namespace gpuvet {
namespace {

using namespace gpuvet::testing;
namespace fs = std::filesystem;

class InputsTest : public ::testing::Test {
 protected:
  InputsTest() {
    std::string name = ::testing::TempDir() + "gpuvet-inputs-XXXXXX";
    root_ = mkdtemp(name.data());
  }
  ~InputsTest() override { fs::remove_all(root_); }

  std::string write(const std::string& name, const std::string& content) {
    fs::path path = fs::path(root_) / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }

  // Leaves by path relative to the root.
  Leaves run(const Inputs& inputs) {
    Leaves leaves;
    for (const Error& error : inputs.errors)
      leaves.errors.push_back(error.where + ": " + error.what);
    LeafSink sink = leaves.sink();
    for (const InputJob& job : inputs.jobs)
      job.run(sink);
    std::map<std::string, std::string> relative;
    for (auto& [path, content] : leaves.files)
      relative[path.substr(std::min(path.size(), root_.size() + 1))] = content;
    leaves.files = relative;
    return leaves;
  }
  Leaves run(const std::vector<std::string>& paths) { return run(find_inputs(paths)); }

  std::string root_;
};

using Files = std::map<std::string, std::string>;

TEST_F(InputsTest, AFolderYieldsCodeByContentInOrder) {
  write("b/lib.so.1", elf("1"));
  write("a/kernel", elf("2"));
  write("a/x.py", elf("3")); // by name never opened
  write("a/data.bin", "no code");
  write("a/k.ptx", ".version 8.0\n");
  write("c.cubin", "raw");
  write("empty.so", "");
  Inputs inputs = find_inputs({root_});
  std::vector<std::string> order;
  for (const InputJob& job : inputs.jobs)
    order.push_back(job.path.substr(root_.size() + 1));
  EXPECT_EQ(order, (std::vector<std::string>{"c.cubin", "a/k.ptx", "a/kernel", "b/lib.so.1"}));
  EXPECT_EQ(run(inputs).files["a/kernel"], elf("2"));
}

TEST_F(InputsTest, ANamedFileCountsWhateverItIs) {
  std::string path = write("data.txt", "no code");
  EXPECT_EQ(run({path}).files, (Files{{"data.txt", "no code"}}));
}

TEST_F(InputsTest, EachFileOnce) {
  std::string path = write("a.so", elf("1"));
  fs::create_hard_link(path, root_ + "/b.so");
  fs::create_symlink("a.so", root_ + "/c.so");
  EXPECT_EQ(run({path, root_, root_ + "/c.so"}).files, (Files{{"a.so", elf("1")}}));
}

TEST_F(InputsTest, LinksLeadingOutAreNotedAndLoopsEnd) {
  write("in/a.so", elf("1"));
  write("out/b.so", elf("2"));
  fs::create_directory_symlink("../out", root_ + "/in/away");
  fs::create_directory_symlink(".", root_ + "/in/self");
  fs::create_symlink("loop", root_ + "/in/loop");
  fs::create_symlink("absent", root_ + "/in/dangling");
  Inputs inputs = find_inputs({root_ + "/in"});
  EXPECT_EQ(run(inputs).files, (Files{{"in/a.so", elf("1")}}));
  ASSERT_EQ(inputs.notes.size(), 1u);
  EXPECT_NE(inputs.notes[0].find("in/away -> "), std::string::npos);
  // A link that the user names is followed.
  EXPECT_EQ(run({root_ + "/in/away"}).files, (Files{{"in/away/b.so", elf("2")}}));
}

TEST_F(InputsTest, AFifoIsNeverOpened) {
  ASSERT_EQ(mkfifo((root_ + "/fifo.so").c_str(), 0600), 0);
  write("a.so", elf("1"));
  EXPECT_EQ(run({root_}).files.size(), 1u);
  EXPECT_TRUE(run({root_ + "/fifo.so"}).has_error("neither a file nor a folder"));
}

TEST_F(InputsTest, UnreadableFilesAreErrorsAndTheRestGoesOn) {
  std::string path = write("a.so", elf("1"));
  write("b.so", elf("2"));
  EXPECT_TRUE(run({root_ + "/absent", root_}).has_error("absent: No such file"));
  if (geteuid() == 0) GTEST_SKIP() << "root may read everything";
  chmod(path.c_str(), 0);
  Leaves leaves = run({root_});
  EXPECT_TRUE(leaves.has_error("Permission denied"));
  EXPECT_EQ(leaves.files, (Files{{"b.so", elf("2")}}));
}

TEST_F(InputsTest, WheelsAreOpenedDocumentsAreNot) {
  std::string zip = make_zip({{"pkg/a.so", elf("1")}, {"pkg/b.py", "import a"}, {"x.txt", "t"}});
  write("p.whl", zip);
  std::string document = write("p.docx", zip);
  EXPECT_EQ(run({root_}).files, (Files{{"p.whl!pkg/a.so", elf("1")}}));
  EXPECT_EQ(run({document}).files, (Files{{"p.docx!pkg/a.so", elf("1")}}));
}

TEST_F(InputsTest, ALargeWheelIsOneJobPerMember) {
  write("p.whl", make_zip({{"small.so", elf("1"), 0},
                           {"large.so", elf("2") + std::string(40'000'000, 'x'), 0},
                           {"a.py", "x"}}));
  Inputs inputs = find_inputs({root_});
  ASSERT_EQ(inputs.jobs.size(), 2u);
  EXPECT_EQ(inputs.jobs[largest_first(inputs.jobs)[0]].path, root_ + "/p.whl!large.so");
  Leaves leaves = run(inputs);
  EXPECT_EQ(leaves.files.size(), 2u);
  EXPECT_TRUE(leaves.errors.empty());
}

TEST_F(InputsTest, ADamagedMemberNamesItselfAndTheRestGoesOn) {
  write("p.whl", make_zip({{.name = "a.so", .content = elf("1"), .crc_error = 1},
                           {.name = "b.so", .content = elf("2")},
                           {.name = "c.so", .content = elf("3"), .flags = 1}}));
  Leaves leaves = run({root_});
  EXPECT_EQ(leaves.files, (Files{{"p.whl!b.so", elf("2")}}));
  EXPECT_TRUE(leaves.has_error("p.whl!a.so: the member's checksum"));
  EXPECT_TRUE(leaves.has_error("p.whl!c.so: the zip member cannot be read: it is encrypted"));
}

TEST_F(InputsTest, MembersOfANamedThinArchive) {
  write("obj/a.o", elf("a"));
  auto header = [](const std::string& name, size_t size) {
    std::string line = name;
    line.resize(48, ' ');
    line += std::to_string(size);
    line.resize(58, ' ');
    return line + "`\n";
  };
  std::string names = "obj/a.o/\nobj/absent.o/\n";
  std::string path =
      write("lib.a", "!<thin>\n" + header("//", names.size()) + names +
                         (names.size() % 2 ? "\n" : "") + header("/0", 5) + header("/9", 5));
  Leaves leaves = run({path});
  EXPECT_EQ(leaves.files, (Files{{"obj/a.o", elf("a")}}));
  EXPECT_TRUE(leaves.has_error("obj/absent.o: this member of the thin archive"));
}

TEST_F(InputsTest, OciLayoutInAFolder) {
  std::string layer(64, '1'), manifest(64, 'a');
  write("img/oci-layout", "{}");
  write("img/index.json", R"({"manifests":[{"digest":"sha256:)" + manifest + R"("}]})");
  write("img/blobs/sha256/" + manifest, R"({"layers":[{"digest":"sha256:)" + layer + R"("}]})");
  write("img/blobs/sha256/" + layer, make_archive({{.name = "a.so", .content = elf("a")}}));
  EXPECT_EQ(run({root_ + "/img"}).files, (Files{{"img!a.so", elf("a")}}));
  EXPECT_EQ(run({root_}).files, (Files{{"img!a.so", elf("a")}}));
}

TEST(InputJobs, SpoolFilesKeepWhatIsAppended) {
  auto file = temporary_spool_files()();
  ASSERT_TRUE(file) << file.error().what;
  ASSERT_TRUE((*file)->append(Bytes(std::string_view("one "))));
  ASSERT_TRUE((*file)->append(Bytes(std::string_view("two"))));
  EXPECT_EQ((*file)->content()->text(), "one two");
}

} // namespace
} // namespace gpuvet
