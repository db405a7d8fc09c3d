#include "formats/recording/recording.hpp"
#include "probe/probe.hpp"
#include "probe/source/recorder.hpp"
#include "probe/source/redact.hpp"
#include "probe/testing/recorded_machine.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

namespace gpuvet {
namespace {

using testing::RecordedMachine;

// Everything is asked through the recorder, then asked again of what it kept.
class RecorderTest : public ::testing::Test {
 protected:
  RecorderTest() {
    RecordedMachine machine;
    machine.text("/proc/modules", "nvidia 1 0 - Live 0x0\n")
        .link("/usr/local/cuda", "/etc/alternatives/cuda")
        .link("/etc/alternatives/cuda", "/usr/local/cuda-12.8")
        .text("/usr/local/cuda-12.8/version.json", "{}")
        .unreadable("/etc/sudoers", "Permission denied")
        .link("/ring", "ring")
        .folder("/opt")
        .binary("/etc/ld.so.cache", std::string("a\0b", 3));
    machine.node("/dev/nvidia0", 195, 0).open_error = 13;
    machine.recording->files["/root"] = {.kind = RecordedFile::Kind::hidden,
                                         .content = "Permission denied"};
    machine.recording->elf["/usr/local/cuda-12.8/libx.so"].soname = "libx.so";
    machine.recording->files["/usr/local/cuda-12.8/libx.so"].kind = RecordedFile::Kind::present;
    machine.recording->commands = {{.command = {"/bin/x"}, .status = 3, .output = "out"}};
    machine.recording->spaces["/opt"] = {.total = 5};
    inner_ = replay_source(machine.recording);
  }

  Source again(const Recorder& recorder) const {
    auto read = parse_recording(write_recording(recorder.recording()), "x");
    EXPECT_TRUE(read) << read.error().what;
    return replay_source(std::make_shared<Recording>(std::move(*read)));
  }

  Source inner_;
};

TEST_F(RecorderTest, WhatWasAskedIsAnsweredAgain) {
  Recorder recorder(inner_);
  auto ask = [](const Source& source) {
    std::vector<std::string> answers;
    auto note = [&](const auto& result) { answers.push_back(result ? "ok" : result.error().what); };
    for (const std::string path :
         {"/proc/modules", "/usr/local/cuda/version.json", "/etc/sudoers", "/root/x", "/opt",
          "/ring", "/usr/local/cuda/libx.so", "/no/such", "/dev/nvidia0", "/etc/ld.so.cache",
          "/proc/modules/below"}) {
      note(source.read_file(path, 1000));
      if (path.find("libx") == std::string::npos) note(source.list(path));
      note(source.entry(path));
      note(source.link_target(path));
      note(source.real_path(path));
      note(source.elf(path));
      auto opened = source.open_node(path);
      answers.push_back(opened ? std::to_string(*opened) : opened.why_unknown);
      answers.push_back(source.real_path(path).value_or("-"));
      answers.push_back(source.read_file(path, 1000).value_or("-"));
    }
    note(source.space("/opt"));
    answers.push_back(source.run({"/bin/x"}, 1)->output);
    note(source.run({"/bin/y"}, 1));
    answers.push_back(source.nvml().asked.problem);
    return answers;
  };
  const std::vector<std::string> first = ask(recorder.source());
  const std::vector<std::string> second = ask(again(recorder));
  ASSERT_EQ(first.size(), second.size());
  for (size_t i = 0; i < first.size(); ++i)
    EXPECT_EQ(first[i], second[i]) << "answer " << i;
}

TEST_F(RecorderTest, WhatWasNotAskedIsNotKnown) {
  Recorder recorder(inner_);
  (void)recorder.source().entry("/proc/modules");
  Source replay = again(recorder);
  EXPECT_FALSE(is_missing(replay.entry("/etc/sudoers").error()));
  EXPECT_FALSE(replay.read_file("/proc/modules", 100));
  EXPECT_NE(replay.nvml().asked.problem.find("recording"), std::string::npos);
}

// --- what a snapshot must not tell ------------------------------------------------------------

const std::string kUuid = "8932f937-d72c-4106-c12f-20bd9faed9f6";

Recording full_of_secrets() {
  RecordedMachine machine;
  machine.text("/etc/os-release", "ID=ubuntu\nNAME=Ubuntu\nVERSION_ID=\"22.04\"\n")
      .text("/proc/driver/nvidia/version",
            "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar 5\n")
      .text("/proc/driver/nvidia/gpus/0000:65:00.0/information",
            "Model: NVIDIA H100\nGPU UUID: GPU-" + kUuid + "\n")
      .text("/sys/class/dmi/id/product_serial", "CZJ1234567\n")
      .text("/sys/class/dmi/id/product_uuid", "11111111-2222-3333-4444-555555555555\n")
      .text("/sys/class/dmi/id/sys_vendor", "Supermicro\n")
      .text("/home/jdoe/.bashrc",
            "export HF_TOKEN=hf_abcdefghijklmnopqrst\nexport CUDA_HOME=/usr/local/cuda\nalias x=y\n"
            "export PATH=/home/jdoe/bin:$PATH\n")
      .text("/etc/hosts", "10.1.2.3 node7.acme-corp.example node7\n")
      .text("/etc/passwd", "jdoe:x:1000:1000:Jane Doe:/home/jdoe:/bin/bash\n")
      .text("/etc/apt/sources.list.d/cuda.list",
            "deb https://jdoe:hunter2@mirror.acme-corp.example/cuda /\n"
            "deb https://developer.download.nvidia.com/compute/cuda/repos/ubuntu2204/x86_64/ /\n")
      .text("/etc/docker/daemon.json", "{\"registry-token\": \"s3cr3tvalue\", \"hosts\": "
                                       "[\"tcp://10.1.2.3:2375\"]}\n")
      .text("/var/log/apt/history.log",
            "Commandline: apt install cuda\nRequested-By: jdoe (1000)\n"
            "Install: vim:amd64 (9, automatic), libcublas-12-4:amd64 (12.4.5.8-1), emacs (1)\n")
      .text("/var/log/dpkg.log",
            "2025-03-04 06:25:10 install vim:amd64 <none> 9\n"
            "2025-03-04 06:25:11 install libcublas-12-4:amd64 <none> 12.4.5.8-1\n")
      .text("/var/lib/dpkg/status",
            "Package: vim\nStatus: install ok installed\nVersion: 9\nMaintainer: jdoe\n\n"
            "Package: libcublas-12-4\nStatus: install ok installed\nVersion: 12.4.5.8-1\n"
            "Architecture: amd64\nDescription: long\n text\n")
      .text("/usr/lib/python3/dist-packages/torch-2.6.0.dist-info/METADATA",
            "Metadata-Version: 2.1\nName: torch\nVersion: 2.6.0\nAuthor-email: "
            "jane@acme-corp.example\n"
            "Requires-Dist: triton==3.2.0\n\n# torch\nRequires-Dist: vim\n")
      .text("/var/lib/dpkg/info/libcublas-12-4:amd64.list",
            "/.\n/usr\n/usr/share/doc/libcublas-12-4/copyright\n/usr/include/cublas.h\n"
            "/usr/lib/libcublas.so.12\n")
      .text("/proc/4711/cmdline", std::string("python\0--password\0hunter2\0", 26))
      .text("/proc/4712/cmdline", std::string("watch\0nvidia-smi\0", 17))
      .text("/proc/4711/environ",
            std::string("AWS_SECRET_ACCESS_KEY=x9x9x9\0CUDA_VISIBLE_DEVICES=0\0", 53))
      .text("/proc/self/mountinfo", "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
                                    "30 22 0:44 / /home rw - nfs4 filer.acme-corp.example:/h rw\n")
      .text("/etc/slurm/slurm.conf", "NodeName=node7 StoragePass=hunter2 Gres=gpu:8\n")
      .text("/sys/class/infiniband/mlx5_0/node_guid", "506b:4b03:00c2:d3a4\n")
      .text("/sys/class/net/eth0/address", "0c:42:a1:5d:3e:9f\n")
      .text("/home/jdoe/.ssh/id_rsa", "-----BEGIN RSA PRIVATE KEY-----\nabc\n")
      .log(5, "nfs: server 10.1.2.3 not responding")
      .log(6, "python[4711] user jdoe on node7: NVRM: Xid (PCI:0000:65:00): 31")
      .binary("/etc/ld.so.cache", std::string("\x01/home/jdoe/lib\0", 16));
  Recording recording = *machine.recording;
  recording.environment = {{"HOME", "/home/jdoe"},
                           {"USER", "jdoe"},
                           {"HF_TOKEN", "hf_abcdefghijklmnopqrst"},
                           {"NVIDIA_API_KEY", "nvapi-1234567890abcdef"},
                           {"WANDB_API_KEY", "x9x9x9"},
                           {"CUDA_VISIBLE_DEVICES", "GPU-8932f937"},
                           {"NV_LIBCUBLAS_VERSION", "12.4.5.8-1"},
                           {"NCCL_COMM_ID", "10.1.2.3:1234"},
                           {"LD_LIBRARY_PATH", "/home/jdoe/lib:/usr/local/cuda/lib64"}};
  NvmlGpu gpu;
  gpu.name = "NVIDIA H100";
  gpu.uuid = "GPU-" + kUuid;
  gpu.serial = "1650221000123";
  recording.nvml = NvmlAnswers{.asked = {.state = AskState::answered}, .gpus = {gpu}};
  recording.cuda = CudaAnswers{.asked = {.state = AskState::answered},
                               .devices = {CudaDevice{.uuid = "GPU-" + kUuid}}};
  return recording;
}

Recording redacted() {
  Recording recording = full_of_secrets();
  redact(recording, {.host_names = {"node7.acme-corp.example"}, .user_names = {"jdoe"}});
  return recording;
}

TEST(Redact, NoSecretIsLeft) {
  const std::string text = write_recording(redacted());
  ASSERT_GT(text.size(), 1000u);
  for (const std::string secret :
       {"jdoe",     "Jane",          "node7",         "acme",     "hunter2",
        "hf_abc",   "nvapi",         "x9x9",          "s3cr3t",   "CZJ123",
        "8932f937", "11111111-2222", "1650221000123", "10.1.2.3", "506b:4b03",
        "0c:42:a1", "PRIVATE",       "vim",           "filer",    "alias x"})
    EXPECT_EQ(text.find(secret), std::string::npos) << secret;
}

TEST(Redact, WhatBelongsTogetherStillDoes) {
  const Recording recording = redacted();
  const std::string uuid = recording.nvml->gpus.at(0).uuid;
  EXPECT_EQ(recording.cuda->devices.at(0).uuid, uuid);
  EXPECT_EQ(uuid.size(), 40u);
  EXPECT_TRUE(uuid.starts_with(recording.environment.at("CUDA_VISIBLE_DEVICES"))) << uuid;
  EXPECT_NE(
      recording.files.at("/proc/driver/nvidia/gpus/0000:65:00.0/information").content.find(uuid),
      std::string::npos);
  const std::string home = recording.environment.at("HOME");
  EXPECT_EQ(home, "/home/USER1");
  EXPECT_TRUE(recording.files.count(home + "/.bashrc"));
  EXPECT_EQ(recording.environment.at("LD_LIBRARY_PATH"), home + "/lib:/usr/local/cuda/lib64");
}

TEST(Redact, WhatJudgementNeedsStays) {
  const Recording recording = redacted();
  EXPECT_EQ(recording.environment.at("NV_LIBCUBLAS_VERSION"), "12.4.5.8-1");
  EXPECT_EQ(recording.files.at("/var/lib/dpkg/status").content,
            "Package: libcublas-12-4\nStatus: install ok installed\nVersion: 12.4.5.8-1\n"
            "Architecture: amd64\n\n");
  EXPECT_EQ(recording.files.at("/var/log/apt/history.log").content,
            "Commandline: apt install cuda\nRequested-By: redacted (1000)\n"
            "Install: libcublas-12-4:amd64 (12.4.5.8-1)\n");
  EXPECT_EQ(recording.files.at("/var/log/dpkg.log").content,
            "2025-03-04 06:25:11 install libcublas-12-4:amd64 <none> 12.4.5.8-1\n");
  EXPECT_EQ(
      recording.files.at("/usr/lib/python3/dist-packages/torch-2.6.0.dist-info/METADATA").content,
      "Metadata-Version: 2.1\nName: torch\nVersion: 2.6.0\nRequires-Dist: triton==3.2.0\n");
  EXPECT_EQ(recording.files.at("/var/lib/dpkg/info/libcublas-12-4:amd64.list").content,
            "/.\n/usr\n/usr/lib/libcublas.so.12\n");
  // Lines keep their numbers.
  EXPECT_EQ(recording.files.at("/home/USER1/.bashrc").content,
            "\nexport CUDA_HOME=/usr/local/cuda\n\nexport PATH=/home/USER1/bin:$PATH\n");
  EXPECT_NE(recording.files.at("/etc/apt/sources.list.d/cuda.list")
                .content.find("https://developer.download.nvidia.com/compute"),
            std::string::npos);
  EXPECT_EQ(recording.files.at("/proc/4712/cmdline").content,
            std::string("watch\0nvidia-smi\0", 17));
  EXPECT_EQ(recording.files.at("/proc/4711/environ").content,
            std::string("CUDA_VISIBLE_DEVICES=0\0", 23));
  EXPECT_EQ(recording.files.at("/sys/class/dmi/id/sys_vendor").content, "Supermicro\n");
  EXPECT_EQ(recording.log->lines->at(1).text,
            "python[4711] user USER1 on HOST1: NVRM: Xid (PCI:0000:65:00): 31");
  EXPECT_EQ(recording.files.at("/etc/ld.so.cache").content.size(), 16u);
}

TEST(Redact, TheSameMachineIsSeen) {
  auto seen = [](Recording recording) {
    const Source source = replay_source(std::make_shared<Recording>(std::move(recording)));
    return probe_machine(source, {}, 60);
  };
  Machine before = seen(full_of_secrets()), after = seen(redacted());
  EXPECT_EQ(*before.kernel.module_version, "550.54.15");
  EXPECT_EQ(*after.kernel.module_version, "550.54.15");
  EXPECT_EQ(before.distribution.name, after.distribution.name);
  ASSERT_TRUE(after.packages.relevant);
  EXPECT_EQ(before.packages.relevant->size(), after.packages.relevant->size());
  EXPECT_EQ(before.toolkits.settings.size(), after.toolkits.settings.size());
  EXPECT_EQ(before.kernel.xids.size(), after.kernel.xids.size());
  EXPECT_EQ(before.surroundings.dmi_vendor, after.surroundings.dmi_vendor);
}

TEST(Redact, CommonWordsAreNoNames) {
  Recording recording;
  recording.files["/etc/os-release"] = {.content = "ID=ubuntu\nx nvidia gpu\n"};
  redact(recording, {.host_names = {"nvidia", "gpu"}, .user_names = {"ubuntu", "ab"}});
  EXPECT_EQ(recording.files.at("/etc/os-release").content, "ID=ubuntu\nx nvidia gpu\n");
}

TEST(Redact, KeepsTheNamesThatFirmwareUses) {
  Recording recording;
  const std::string path =
      "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";
  recording.files[path] = {.content = "x"};
  redact(recording, {});
  EXPECT_TRUE(recording.files.count(path));
}

} // namespace
} // namespace gpuvet
