#include "probe/probe.hpp"
#include "probe/software/packages.hpp"
#include "probe/software/testing/build.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

using testing::RecordingBuilder;

const char* const kStatus = R"(Package: bash
Status: install ok installed
Version: 5.2
Architecture: amd64
Maintainer: Somebody

Package: libnvidia-compute-550
Status: hold ok installed
Maintainer: Ubuntu Core Developers <ubuntu-devel-discuss@lists.ubuntu.com>
Architecture: amd64
Multi-Arch: same
Version: 550.120-0ubuntu0.22.04.1
Description: NVIDIA libcompute package
 Package: not a field

Package: nvidia-driver-535
Status: deinstall ok config-files
Architecture: amd64
Version: 535.1-1

Package: nvidia-dkms-550
Status: install reinstreq half-configured
Architecture: amd64
Version: 550.120-1

Package: cuda-nvcc-12-8
Status: install ok installed
Maintainer: cudatools <cudatools@nvidia.com>
Architecture: amd64
Version: 12.8.93-1

Package: cuda-old
Status: unknown ok not-installed
Architecture: amd64

Package: cuda-keyring
Status: install ok installed
Architecture: all
Version: 1.1-1)";

const Package* find(const Packages& packages, const std::string& name) {
  for (const Package& package : *packages.relevant)
    if (package.name == name) return &package;
  return nullptr;
}

TEST(Packages, DpkgStatesAndHolds) {
  RecordingBuilder machine;
  machine.text("/var/lib/dpkg/status", kStatus);
  Packages packages = read_packages(machine.source());
  ASSERT_TRUE(packages.relevant);
  EXPECT_EQ(packages.relevant->size(), 5u);
  EXPECT_EQ(find(packages, "bash"), nullptr);
  EXPECT_EQ(find(packages, "cuda-old"), nullptr);
  EXPECT_EQ(find(packages, "libnvidia-compute-550")->status, "hi");
  EXPECT_EQ(find(packages, "libnvidia-compute-550")->version, "550.120-0ubuntu0.22.04.1");
  EXPECT_EQ(find(packages, "nvidia-driver-535")->status, "rc");
  EXPECT_EQ(find(packages, "nvidia-dkms-550")->status, "iFR");
  EXPECT_EQ(packages.held, std::vector<std::string>{"libnvidia-compute-550"});
  EXPECT_TRUE(packages.keyring);
  EXPECT_EQ(package_origin(packages, "cuda-nvcc-12-8"), Origin::nvidia_repository);
  EXPECT_EQ(package_origin(packages, "libnvidia-compute-550"), Origin::distribution);
  EXPECT_EQ(package_origin(packages, "nvidia-dkms-550"), Origin::unknown);
}

TEST(Packages, NamesThatCount) {
  for (const char* name : {"libcuda1", "cuda-compat-12-4", "libcudnn9-cuda-12", "libnccl2",
                           "libcublas-12-8", "datacenter-gpu-manager-4", "libnvinfer10", "dkms",
                           "linux-modules-nvidia-550-generic", "libnvrtc11.2"})
    EXPECT_TRUE(is_relevant_package(name)) << name;
  for (const char* name : {"libnvme1", "nvme-cli", "bash", "libnvpair3linux", "barracuda"})
    EXPECT_EQ(is_relevant_package(name), std::string(name) == "barracuda") << name;
}

TEST(Packages, NoDatabaseIsNotNoPackages) {
  Packages packages = read_packages(RecordingBuilder().source());
  EXPECT_FALSE(packages.relevant);
  EXPECT_NE(packages.relevant.why_unknown.find("no package database"), std::string::npos);
}

TEST(Packages, RpmIsAskedOrSaysWhyNot) {
  RecordingBuilder machine;
  machine.folder("/var/lib/rpm");
  EXPECT_FALSE(read_packages(machine.source()).relevant);
  machine.answer(
      {"/usr/bin/rpm", "-qa", "--qf", "%{NAME}\\t%{VERSION}-%{RELEASE}\\t%{ARCH}\\t%{VENDOR}\\n"},
      "bash\t5.1-9.el9\tx86_64\tRed Hat\n"
      "nvidia-driver-cuda-libs\t550.90.07-1.el9\tx86_64\t(none)\n"
      "cuda-nvcc-12-4\t12.4.131-1\tx86_64\tNVIDIA Corporation\n");
  machine.text("/etc/dnf/plugins/versionlock.list",
               "# comment\nnvidia-driver-3:550.90.07-1.el9.*\n");
  Packages packages = read_packages(machine.source());
  ASSERT_TRUE(packages.relevant);
  ASSERT_EQ(packages.relevant->size(), 2u);
  EXPECT_EQ(packages.relevant->front().version, "550.90.07-1.el9");
  EXPECT_EQ(packages.relevant->front().vendor, "");
  EXPECT_EQ(package_origin(packages, "cuda-nvcc-12-4"), Origin::nvidia_repository);
  ASSERT_EQ(packages.held.size(), 1u);
}

TEST(Packages, PacmanNamesAndOwners) {
  RecordingBuilder machine;
  machine.text("/var/lib/pacman/local/nvidia-utils-550.107.02-2/files",
               "%FILES%\nusr/\nusr/lib/libcuda.so.550.107.02\n");
  machine.text("/etc/pacman.conf", "[options]\nIgnorePkg = linux nvidia-utils\n");
  Source source = machine.source();
  Packages packages = read_packages(source);
  ASSERT_TRUE(packages.relevant);
  ASSERT_EQ(packages.relevant->size(), 1u);
  EXPECT_EQ(packages.relevant->front().name, "nvidia-utils");
  EXPECT_EQ(packages.relevant->front().version, "550.107.02-2");
  EXPECT_EQ(packages.held, std::vector<std::string>{"nvidia-utils"});
  auto owners = owners_of(source, packages, {"/usr/lib/libcuda.so.550.107.02", "/usr/lib/x"});
  EXPECT_EQ(owners.size(), 1u);
  EXPECT_EQ(owners["/usr/lib/libcuda.so.550.107.02"], "nvidia-utils");
}

TEST(Packages, OwnersOfFilesAndFolders) {
  RecordingBuilder machine;
  machine.text("/var/lib/dpkg/status", kStatus)
      .text("/var/lib/dpkg/info/libnvidia-compute-550:amd64.list",
            "/.\n/lib/x86_64-linux-gnu/libcuda.so.550.120\n")
      .text("/var/lib/dpkg/info/cuda-nvcc-12-8.list",
            "/.\n/usr/local/cuda-12.8\n/usr/local/cuda-12.8/bin/nvcc\n")
      .text("/var/lib/dpkg/info/nvidia-driver-535.list", "/etc/left/over\n");
  Source source = machine.source();
  auto owners = owners_of(source, read_packages(source),
                          {"/usr/lib/x86_64-linux-gnu/libcuda.so.550.120", "/usr/local/cuda-12.8/",
                           "/usr/local/cuda-12/", "/etc/left/over"});
  EXPECT_EQ(owners.size(), 2u);
  EXPECT_EQ(owners["/usr/lib/x86_64-linux-gnu/libcuda.so.550.120"], "libnvidia-compute-550");
  EXPECT_EQ(owners["/usr/local/cuda-12.8/"], "cuda-nvcc-12-8");
}

TEST(Packages, RpmOwnersLineByLine) {
  RecordingBuilder machine;
  machine.folder("/var/lib/rpm");
  machine.answer({"/usr/bin/rpm", "-qf", "--qf", "%{NAME}\\n", "/usr/lib64/a", "/usr/lib64/b"},
                 "nvidia-driver-cuda-libs\nfile /usr/lib64/b is not owned by any package\n", 1);
  Packages packages;
  packages.relevant = known(std::vector<Package>{{}}, "test");
  auto owners = owners_of(machine.source(), packages, {"/usr/lib64/b", "/usr/lib64/a"});
  EXPECT_EQ(owners.size(), 1u);
  EXPECT_EQ(owners["/usr/lib64/a"], "nvidia-driver-cuda-libs");
}

TEST(Repositories, BothStylesOfAptAndYum) {
  RecordingBuilder machine;
  const std::string url =
      "https://developer.download.nvidia.com/compute/cuda/repos/ubuntu2204/x86_64/";
  machine.text("/etc/apt/sources.list", "# deb " + url + " /\ndeb http://archive.ubuntu.com x y\n")
      .text("/etc/apt/sources.list.d/cuda.list",
            "\ndeb [arch=amd64 signed-by=/usr/share/keyrings/cuda.gpg] " + url + " /\n")
      .text("/etc/apt/sources.list.d/old.list", "deb " + url + " /\n")
      .text("/etc/apt/sources.list.d/cuda.sources", "Types: deb\nURIs: " + url +
                                                        "\nSuites: /\nSigned-By: /k.gpg\n\n"
                                                        "Types: deb\nURIs: " +
                                                        url + "\nEnabled: no\n")
      .text("/etc/yum.repos.d/cuda.repo", "[cuda]\nbaseurl=" + url + "\nenabled=1\ngpgkey=" + url +
                                              "D42D0685.pub\n"
                                              "[off]\nbaseurl=" +
                                              url + "\nenabled=0\n");
  auto found = read_repositories(machine.source());
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0].file, "/etc/apt/sources.list.d/cuda.list:2");
  EXPECT_EQ(found[0].url, url);
  EXPECT_EQ(found[0].signed_by, "/usr/share/keyrings/cuda.gpg");
  EXPECT_EQ(found[1].signed_by, "");
  EXPECT_EQ(found[2].file, "/etc/apt/sources.list.d/cuda.sources:2");
  EXPECT_EQ(found[2].signed_by, "/k.gpg");
  EXPECT_EQ(found[3].file, "/etc/yum.repos.d/cuda.repo:2");
}

TEST(History, AptTransactionsThatTouchTheDriver) {
  RecordingBuilder machine;
  machine.text("/var/log/apt/history.log",
               "\nStart-Date: 2025-03-01  10:00:00\nCommandline: apt install vim\n"
               "Install: vim:amd64 (9.0)\nEnd-Date: 2025-03-01  10:00:01\n"
               "\nStart-Date: 2025-03-04  06:25:10\nCommandline: /usr/bin/unattended-upgrade\n"
               "Install: cuda-new:amd64 (1.0, automatic)\n"
               "Upgrade: curl:amd64 (1, 2), libnvidia-compute-550:amd64 (550.90-1, 550.120-1)\n"
               "Remove: nvidia-old:amd64 (1)\nEnd-Date: 2025-03-04  06:25:40\n");
  auto events = read_history(machine.source(), PackageDatabase::dpkg);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].date, "2025-03-04 06:25:10");
  EXPECT_EQ(events[0].command, "/usr/bin/unattended-upgrade");
  ASSERT_EQ(events[0].changes.size(), 3u);
  EXPECT_EQ(events[0].changes[0].from, "");
  EXPECT_EQ(events[0].changes[0].to, "1.0");
  EXPECT_EQ(events[0].changes[1].package, "libnvidia-compute-550");
  EXPECT_EQ(events[0].changes[1].from, "550.90-1");
  EXPECT_EQ(events[0].changes[1].to, "550.120-1");
  EXPECT_EQ(events[0].changes[2].from, "1");
  EXPECT_EQ(events[0].text, "install cuda-new 1.0 and 2 more");
}

TEST(History, OtherLogs) {
  RecordingBuilder machine;
  machine.text("/var/log/dpkg.log.1", "2025-03-04 06:25:10 upgrade libcuda1:amd64 550.90 550.120\n"
                                      "2025-03-04 06:25:11 status unpacked libcuda1:amd64 550.120\n"
                                      "2025-03-04 06:25:44 install nvidia-x:amd64 <none> 1\n"
                                      "2025-03-05 06:25:44 remove nvidia-x:amd64 1 <none>\n");
  auto events = read_history(machine.source(), PackageDatabase::dpkg);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].changes.size(), 2u);
  EXPECT_EQ(events[0].text, "upgrade libcuda1 550.90 -> 550.120 and 1 more");
  EXPECT_EQ(events[1].text, "remove nvidia-x 1");

  machine.text("/var/log/dnf.rpm.log",
               "2025-03-04T06:25:10+0000 SUBDEBUG Upgrade: nvidia-driver-3:550.120-1.el9.x86_64\n"
               "2025-03-04T06:25:12+0000 SUBDEBUG Upgraded: nvidia-driver-3:550.90-1.el9.x86_64\n");
  events = read_history(machine.source(), PackageDatabase::rpm);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].changes[0].package, "nvidia-driver");
  EXPECT_EQ(events[0].changes[0].to, "3:550.120-1.el9.x86_64");
  EXPECT_EQ(events[0].changes[1].from, "3:550.90-1.el9.x86_64");

  machine.text("/var/log/pacman.log",
               "[2025-03-04T06:25:10+0100] [ALPM] upgraded nvidia (550.90-1 -> 550.120-1)\n"
               "[2025-03-04T06:25:10+0100] [ALPM] running 'x' hook...\n");
  events = read_history(machine.source(), PackageDatabase::pacman);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].date, "2025-03-04 06:25:10");
  EXPECT_EQ(events[0].text, "upgraded nvidia 550.90-1 -> 550.120-1");
}

TEST(Attribution, DriverFilesByOwnerMountAndKind) {
  RecordingBuilder machine;
  machine.text("/var/lib/dpkg/status", kStatus)
      .text("/var/lib/dpkg/info/libnvidia-compute-550:amd64.list",
            "/usr/lib/x86_64-linux-gnu/libcuda.so.550.120\n")
      .text("/proc/self/mountinfo",
            "36 35 98:0 /a /usr/lib/x86_64-linux-gnu/libcuda.so.570.1 ro - ext4 /dev/sda1 rw\n");
  auto file = [](std::string path) {
    LibraryFile library;
    library.path = path;
    library.real_path = std::move(path);
    return library;
  };
  Machine seen;
  seen.driver.libcuda = {file("/usr/lib/x86_64-linux-gnu/libcuda.so.550.120"),
                         file("/usr/lib/x86_64-linux-gnu/libcuda.so.570.1"),
                         file("/usr/lib64/libcuda.so.535.1"),
                         file("/usr/local/cuda/lib64/stubs/libcuda.so")};
  seen.driver.libcuda[3].stub = true;
  probe_software(machine.source(), seen);
  attribute_driver_files(machine.source(), seen);
  EXPECT_EQ(seen.driver.libcuda[0].owner, "libnvidia-compute-550");
  EXPECT_EQ(seen.driver.libcuda[0].origin, Origin::distribution);
  EXPECT_EQ(seen.driver.libcuda[1].origin, Origin::container_injected);
  EXPECT_EQ(seen.driver.libcuda[2].origin, Origin::copied);
  EXPECT_EQ(seen.driver.libcuda[3].origin, Origin::toolkit_stub);
  seen.driver.nvidia_uninstall = true;
  attribute_driver_files(machine.source(), seen);
  EXPECT_EQ(seen.driver.libcuda[2].origin, Origin::runfile);
}

} // namespace
} // namespace gpuvet
