#include "probe/source/live_parts.hpp"
#include "probe/source/process_facts.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace gpuvet {
namespace {

namespace fs = std::filesystem;

class GpuProcesses : public testing::Test {
 protected:
  void SetUp() override {
    proc_ = fs::temp_directory_path() / ("gpuvet-proc-" + std::to_string(::getpid()));
    fs::remove_all(proc_);
    fs::create_directories(proc_);
  }
  void TearDown() override { fs::remove_all(proc_); }

  void process(const std::string& pid, const std::string& name, char state,
               const std::vector<std::string>& open) const {
    const fs::path folder = proc_ / pid;
    fs::create_directories(folder / "fd");
    for (size_t i = 0; i < open.size(); ++i)
      fs::create_symlink(open[i], folder / "fd" / std::to_string(i));
    write(pid, "stat",
          pid + " (" + name + ") " + state +
              " 1 1 1 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 12345 0");
  }
  void write(const std::string& pid, const std::string& file, const std::string& text) const {
    std::ofstream(proc_ / pid / file) << text;
  }
  std::vector<GpuProcess> found() const { return *gpu_processes(proc_.string()); }

 private:
  fs::path proc_;
};

TEST_F(GpuProcesses, AreThoseWithANodeOpen) {
  process("4711", "py) (thon", 'S',
          {"/dev/null", "/dev/nvidia0", "/dev/nvidiactl", "/dev/nvidia0"});
  process("4712", "bash", 'S', {"/dev/pts/0", "socket:[5]"});
  write("4711", "limits",
        "Max cpu time  unlimited  unlimited  seconds\n"
        "Max locked memory         8388608              8388608      bytes\n");
  write("4711", "cgroup", "0::/user.slice/user-1000.slice/session-3.scope\n");
  write("4711", "environ",
        std::string("HOME=/home/jane\0CUDA_VISIBLE_DEVICES=1\0AWS_SECRET=x\0", 52));
  write("4711", "maps",
        "7f00-7f01 r-xp 00000000 08:01 42 /usr/lib/libcuda.so.550.54\n"
        "7f01-7f02 r-xp 00000000 08:01 42 /usr/lib/libcuda.so.550.54\n"
        "7f02-7f03 r-xp 00000000 08:01 43 /usr/lib/libc.so.6\n"
        "7f03-7f04 r-xp 00000000 08:01 44 /opt/v/libcudnn.so.9 (deleted)\n");
  ASSERT_EQ(found().size(), 1u);
  const GpuProcess process = found().front();
  EXPECT_EQ(process.pid, 4711u);
  EXPECT_EQ(process.name, "py) (thon");
  EXPECT_EQ(process.state, "S (sleeping)");
  EXPECT_EQ(process.nodes, (std::vector<std::string>{"/dev/nvidia0", "/dev/nvidiactl"}));
  EXPECT_EQ(process.memlock_bytes, 8388608u);
  EXPECT_EQ(process.unit, "session-3.scope");
  EXPECT_EQ(process.environment,
            (std::map<std::string, std::string>{{"CUDA_VISIBLE_DEVICES", "1"}}));
  EXPECT_EQ(process.libraries, (std::vector<std::string>{"/opt/v/libcudnn.so.9 (deleted)",
                                                         "/usr/lib/libcuda.so.550.54"}));
  EXPECT_GT(*process.started, 0);
  EXPECT_TRUE(process.ours);
}

TEST_F(GpuProcesses, AHangingThreadIsSeen) {
  process("90", "train", 'S', {"/dev/nvidia-uvm"});
  write("90", "wchan", "os_acquire_rwlock_read");
  EXPECT_EQ(found().front().wait, "");
  process("90/task/91", "worker", 'D', {});
  EXPECT_EQ(found().front().state, "D (disk sleep)");
  EXPECT_EQ(found().front().wait, "os_acquire_rwlock_read");
}

TEST_F(GpuProcesses, OfManyNoneIsLostAndNoneIsTwice) {
  std::vector<uint64_t> expected;
  for (int pid = 1000; pid < 1700; ++pid) {
    const bool on_gpu = pid % 7 == 0;
    process(std::to_string(pid), "p", 'S', {on_gpu ? "/dev/nvidia0" : "/dev/null"});
    if (on_gpu) expected.push_back(static_cast<uint64_t>(pid));
  }
  std::vector<uint64_t> seen;
  for (const GpuProcess& process : found())
    seen.push_back(process.pid);
  EXPECT_EQ(seen, expected);
}

TEST(ProcessFacts, ContainersAndUnitsComeFromControlGroups) {
  const std::string id(64, 'a');
  EXPECT_EQ(parse_control_group("0::/system.slice/docker-" + id + ".scope\n").container,
            "aaaaaaaaaaaa");
  EXPECT_EQ(parse_control_group("0::/system.slice/docker-" + id + ".scope\n").unit, "");
  EXPECT_EQ(parse_control_group("12:devices:/docker/" + id + "\n0::/x\n").container,
            "aaaaaaaaaaaa");
  EXPECT_EQ(
      parse_control_group("0::/kubepods.slice/kubepods-pod1.slice/cri-containerd-" + id + ".scope")
          .container,
      "aaaaaaaaaaaa");
  EXPECT_EQ(parse_control_group("0::/system.slice/jupyter.service").unit, "jupyter.service");
  EXPECT_EQ(parse_control_group("0::/").unit, "");
}

TEST(ProcessFacts, DamagedTextIsNoProcess) {
  EXPECT_FALSE(parse_process_stat(""));
  EXPECT_FALSE(parse_process_stat("1 (x) S 1 2 3"));
  EXPECT_FALSE(parse_process_stat(") ("));
  EXPECT_EQ(soft_limit_in("Max locked memory  unlimited unlimited bytes", "Max locked memory"),
            UINT64_MAX);
  EXPECT_FALSE(soft_limit_in("Max locked memory", "Max locked memory"));
  EXPECT_FALSE(soft_limit_in("", "Max locked memory"));
}

} // namespace
} // namespace gpuvet
