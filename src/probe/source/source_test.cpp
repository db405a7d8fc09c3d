#include "probe/source.hpp"
#include "probe/source/paths.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

namespace gpuvet {
namespace {

namespace fs = std::filesystem;

TEST(Paths, LinksStayInsideTheTree) {
  auto link_at = [](const std::string& path) -> std::optional<std::string> {
    if (path == "/usr/local/cuda") return "/usr/local/cuda-12.8";
    if (path == "/out") return "../../../etc";
    if (path == "/loop") return "loop";
    return std::nullopt;
  };
  EXPECT_EQ(*resolve_links("/usr/local/cuda/lib64/../bin", LastLink::follow, link_at),
            "/usr/local/cuda-12.8/bin");
  EXPECT_EQ(*resolve_links("/out/passwd", LastLink::follow, link_at), "/etc/passwd");
  EXPECT_EQ(*resolve_links("/out", LastLink::keep, link_at), "/out");
  EXPECT_EQ(*resolve_links("/../..//.", LastLink::follow, link_at), "/");
  EXPECT_FALSE(resolve_links("/loop", LastLink::follow, link_at));
}

TEST(Paths, PatternsAreThoseOfTheShell) {
  EXPECT_TRUE(matches_pattern("libcuda.so.550.54", "libcuda.so*"));
  EXPECT_TRUE(matches_pattern("libcuda.so", "libcuda.so*"));
  EXPECT_FALSE(matches_pattern("libcudart.so", "libcuda.so*"));
  EXPECT_TRUE(matches_pattern("nvidia0", "nvidia[0-9]"));
  EXPECT_FALSE(matches_pattern("nvidiactl", "nvidia[0-9]*"));
  EXPECT_TRUE(matches_pattern("nvidia-uvm", "nvidia[!0-9]*"));
  EXPECT_TRUE(matches_pattern("a]b", "a]?"));
  EXPECT_TRUE(matches_pattern("a[b", "a[b"));
  EXPECT_TRUE(matches_pattern("a*b", "a\\*b"));
  EXPECT_FALSE(matches_pattern("axb", "a\\*b"));
  EXPECT_FALSE(matches_pattern("", "?"));
  EXPECT_FALSE(matches_pattern(std::string(5000, 'a'), "*a*a*a*a*a*a*a*a*b"));
}

class TreeTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / ("gpuvet-source-" + std::to_string(::getpid()));
    fs::remove_all(root_);
    fs::create_directories(root_ / "usr/local/cuda-12.8/lib64");
    fs::create_directories(root_ / "etc");
    fs::create_symlink("/usr/local/cuda-12.8", root_ / "usr/local/cuda");
    fs::create_symlink("/nowhere", root_ / "usr/local/gone");
    fs::create_symlink("../../../../../../../../etc", root_ / "escape");
    std::ofstream(root_ / "etc/hostname") << "inside \r\nsecond\r\n";
    std::ofstream(root_ / "usr/local/cuda-12.8/version.json") << "{}\n";
  }
  void TearDown() override { fs::remove_all(root_); }

  fs::path root_;
};

TEST_F(TreeTest, AnImageFollowsItsLinksAsChrootWould) {
  Source image = image_source(root_.string() + "/");
  EXPECT_EQ(first_line(image, "/escape/hostname"), "inside");
  EXPECT_EQ(lines(image, "/etc/hostname"), (std::vector<std::string>{"inside ", "second"}));
  EXPECT_EQ(*image.real_path("/usr/local/cuda/version.json"), "/usr/local/cuda-12.8/version.json");
  EXPECT_EQ(*image.link_target("/usr/local/cuda"), "/usr/local/cuda-12.8");
  EXPECT_EQ(image.entry("/usr/local/cuda")->kind, EntryKind::link);
  EXPECT_TRUE(exists(image, "/usr/local/cuda"));
  EXPECT_TRUE(is_folder(image, "/usr/local/cuda"));
  EXPECT_FALSE(exists(image, "/usr/local/gone"));
  EXPECT_TRUE(image.entry("/usr/local/gone"));
  EXPECT_EQ(matching(image, "/usr/local", "cuda-*"),
            std::vector<std::string>{"/usr/local/cuda-12.8"});
  EXPECT_TRUE(is_missing(image.list("/opt").error()));
  EXPECT_TRUE(is_missing(image.read_file("/etc/hostname/x", 10).error()));
  EXPECT_EQ(image.read_file("/opt", 10).error().where, "/opt");
}

TEST_F(TreeTest, AnImageKnowsNothingThatRuns) {
  Source image = image_source(root_.string());
  EXPECT_TRUE(image.environment().empty());
  EXPECT_FALSE(image.system().kernel_release);
  EXPECT_FALSE(image.kernel_log().lines);
  EXPECT_FALSE(image.processes());
  EXPECT_EQ(image.nvml().asked.state, AskState::skipped);
  EXPECT_NE(image.cuda().asked.problem.find("folder of files"), std::string::npos);
  EXPECT_FALSE(image.space("/etc"));
  EXPECT_FALSE(image.open_node("/dev/null"));
  EXPECT_FALSE(image.run({"/bin/true"}, 1));
}

TEST_F(TreeTest, OnlyRegularFilesAreRead) {
  Source live = live_source({});
  fs::path fifo = root_ / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_FALSE(live.read_file(fifo, 10));
  EXPECT_FALSE(live.read_file("/dev/zero", 10));
  EXPECT_FALSE(live.read_file(root_, 10));
  EXPECT_FALSE(live.read_file(root_ / "etc/hostname", 3)); // larger than asked for
}

TEST(LiveSource, ReadsWhatTheKernelMakesUp) {
  Source live = live_source({});
  EXPECT_NE(first_line(live, "/proc/version").find("Linux"), std::string::npos);
  EXPECT_TRUE(is_missing(live.read_file("/proc/no-such-file", 10).error()));
  EXPECT_TRUE(is_missing(live.real_path("/no/such/file").error()));
  EXPECT_TRUE(is_missing(live.list("/no/such/folder").error()));
  EXPECT_TRUE(is_missing(live.space("/no/such/folder").error()));
  EXPECT_EQ(live.entry("/dev/null")->kind, EntryKind::character);
  EXPECT_EQ(live.entry("/dev/null")->major, 1u);
  EXPECT_EQ(live.entry("/dev/null")->minor, 3u);
  EXPECT_EQ(*live.open_node("/dev/null"), 0);
  EXPECT_EQ(*live.access_node("/dev/null"), 0);
  EXPECT_FALSE(live.open_node("/proc/version"));
  EXPECT_GT(live.space("/")->total, 0u);
  SystemFacts system = live.system();
  EXPECT_FALSE(system.kernel_release->empty());
  EXPECT_GT(*system.now, *system.booted);
  EXPECT_EQ(live.nvml().asked.state, AskState::skipped);
}

TEST_F(TreeTest, TextIsFoundAcrossAnyBorder) {
  Source live = live_source({});
  std::string text((size_t{16} << 20) - 3, '.');
  text += "needle 1.2\nmore";
  std::ofstream(root_ / "large") << text;
  EXPECT_EQ(*live.text_after(root_ / "large", "needle "), "1.2");
  EXPECT_EQ(*live.text_after(root_ / "large", "more"), "");
  EXPECT_FALSE(live.text_after(root_ / "large", "absent"));
  EXPECT_TRUE(is_missing(live.text_after(root_ / "gone", "x").error()));
  EXPECT_TRUE(is_missing(live.elf(root_ / "gone").error()));
  EXPECT_FALSE(live.elf(root_ / "large"));
}

TEST(LiveSource, ReadsLibrariesAndRunsPrograms) {
  Source live = live_source({});
  auto elf = live.elf("/proc/self/exe");
  ASSERT_TRUE(elf) << elf.error().what;
  EXPECT_FALSE(elf->needed.empty());
  auto code = live.gpu_code("/proc/self/exe");
  ASSERT_TRUE(code) << code.error().what;
  EXPECT_TRUE(code->sass->empty());
  auto answer = live.run({"/bin/sh", "-c", "echo out; echo err >&2; exit 3"}, 5);
  ASSERT_TRUE(answer) << answer.error().what;
  EXPECT_EQ(answer->status, 3);
  EXPECT_EQ(answer->output, "out\n");
  EXPECT_EQ(answer->errors, "err\n");
  EXPECT_TRUE(live.run({"/bin/sleep", "10"}, 0.05)->timed_out);
  EXPECT_FALSE(live.run({"/no/such/program"}, 1));
}

TEST(LiveSource, TellsWhatGpuCodeALibraryHolds) {
  Source live = live_source({});
  auto code = live.gpu_code(std::string(GPUVET_SOURCE_DIR) + "/tests/inputs/every_major.so");
  ASSERT_TRUE(code) << code.error().what;
  EXPECT_GT(code->sass->size(), 3u);
}

std::shared_ptr<Recording> small_machine() {
  auto recording = std::make_shared<Recording>();
  recording->files = {
      {"/proc/modules", {.content = "nvidia 1 0 - Live 0x0\n"}},
      {"/usr/local/cuda", {.kind = RecordedFile::Kind::link, .content = "cuda-12.8"}},
      {"/usr/local/cuda-12.8/version.json", {.content = "{}"}},
      {"/dev/nvidia0",
       {.kind = RecordedFile::Kind::node, .mode = 0660, .gid = 44, .major = 195, .open_error = 13}},
      {"/etc/shadow", {.kind = RecordedFile::Kind::unreadable, .content = "Permission denied"}},
      {"/root", {.kind = RecordedFile::Kind::hidden, .content = "Permission denied"}},
      {"/usr/lib/libcuda.so.1", {.kind = RecordedFile::Kind::present, .size = 99}},
      {"/dev/nvidia-uvm", {.kind = RecordedFile::Kind::missing}},
  };
  recording->folders = {"/opt"};
  recording->elf["/usr/lib/libcuda.so.1"].soname = "libcuda.so.1";
  recording->texts["/usr/local/cuda-12.8/version.json"]["{"] = "}";
  return recording;
}

TEST(ReplaySource, FoldersFollowFromPaths) {
  Source replay = replay_source(small_machine());
  EXPECT_EQ(*replay.list("/"),
            (std::vector<std::string>{"dev", "etc", "opt", "proc", "root", "usr"}));
  EXPECT_EQ(*replay.list("/usr/local/cuda"), std::vector<std::string>{"version.json"});
  EXPECT_EQ(*replay.list("/dev"), std::vector<std::string>{"nvidia0"});
  EXPECT_TRUE(replay.list("/opt")->empty());
  EXPECT_TRUE(is_folder(replay, "/usr/local/cuda"));
  EXPECT_TRUE(is_missing(replay.entry("/dev/nvidia-uvm").error()));
  EXPECT_TRUE(is_missing(replay.entry("/dev/nvidia1").error()));
  EXPECT_TRUE(is_missing(replay.list("/proc/modules").error()));
}

TEST(ReplaySource, EachKindAnswersAsItsFileWould) {
  Source replay = replay_source(small_machine());
  EXPECT_EQ(first_line(replay, "/proc/modules"), "nvidia 1 0 - Live 0x0");
  EXPECT_EQ(*replay.real_path("/usr/local/cuda/version.json"), "/usr/local/cuda-12.8/version.json");
  EXPECT_EQ(*replay.open_node("/dev/nvidia0"), 13);
  EXPECT_EQ(*replay.access_node("/dev/nvidia0"), 13);
  EXPECT_EQ(replay.entry("/dev/nvidia0")->gid, 44u);
  EXPECT_EQ(replay.read_file("/etc/shadow", 10).error().what, "Permission denied");
  EXPECT_TRUE(replay.entry("/etc/shadow"));
  EXPECT_EQ(replay.entry("/root").error().what, "Permission denied");
  EXPECT_EQ(replay.entry("/usr/lib/libcuda.so.1")->size, 99u);
  EXPECT_FALSE(replay.read_file("/usr/lib/libcuda.so.1", 1000));
  EXPECT_EQ(replay.elf("/usr/lib/libcuda.so.1")->soname, "libcuda.so.1");
  EXPECT_TRUE(is_missing(replay.elf("/usr/lib/libcuda.so.2").error()));
  EXPECT_EQ(*replay.text_after("/usr/local/cuda/version.json", "{"), "}");
  EXPECT_FALSE(replay.system().glibc);
  EXPECT_FALSE(replay.processes());
}

TEST(ReplaySource, WhatNobodyAskedIsNotAbsent) {
  auto recording = small_machine();
  recording->partial = true;
  recording->listings["/etc"] = {"fstab", "shadow"};
  Source replay = replay_source(recording);
  EXPECT_TRUE(is_missing(replay.entry("/dev/nvidia-uvm").error()));
  EXPECT_TRUE(is_missing(replay.entry("/dev/nvidia-uvm/below").error()));
  EXPECT_TRUE(is_missing(replay.entry("/etc/not-listed").error()));
  EXPECT_FALSE(is_missing(replay.entry("/etc/fstab").error()));
  EXPECT_FALSE(is_missing(replay.entry("/dev/nvidia1").error()));
  EXPECT_EQ(replay.entry("/root/.bashrc").error().what, "Permission denied");
}

} // namespace
} // namespace gpuvet
