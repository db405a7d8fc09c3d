#include "probe/local_gpus.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace gpuvet {
namespace {

class LocalGpusTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = std::filesystem::temp_directory_path() /
            ("gpuvet-local-gpus-" + std::to_string(::getpid()));
    std::filesystem::remove_all(root_);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text << "\n";
  }
  void device(const std::string& address, const std::string& vendor, const std::string& klass,
              const std::string& id) {
    std::string folder = "sys/bus/pci/devices/" + address + "/";
    write(folder + "vendor", vendor);
    write(folder + "class", klass);
    write(folder + "device", id);
  }

  std::filesystem::path root_;
};

TEST_F(LocalGpusTest, TakesDisplayControllersOfNvidiaOnly) {
  device("0000:65:00.0", "0x10de", "0x030200", "0x2335");
  device("0000:01:00.0", "0x10de", "0x030000", "0x2684");
  device("0000:01:00.1", "0x10de", "0x040300", "0x22ba"); // its audio function
  device("0000:00:02.0", "0x8086", "0x030000", "0x9bc5");
  auto found = local_gpus(root_.string());
  ASSERT_EQ(found.gpus.size(), 2u);
  EXPECT_EQ(found.gpus[0].pci_id, "10de:2684");
  EXPECT_EQ(found.gpus[1].pci_id, "10de:2335");
  EXPECT_FALSE(found.driver);
  EXPECT_NE(found.driver.why_unknown.find("no nvidia kernel module"), std::string::npos);
}

TEST_F(LocalGpusTest, ReadsTheDriverFromEitherPlace) {
  write("proc/driver/nvidia/version",
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build");
  EXPECT_EQ(*local_gpus(root_.string()).driver, "580.159.04");
  write("sys/module/nvidia/version", "535.104.05");
  EXPECT_EQ(*local_gpus(root_.string()).driver, "535.104.05");
}

TEST_F(LocalGpusTest, AMachineWithoutPciHasNone) {
  EXPECT_TRUE(local_gpus(root_.string()).gpus.empty());
}

} // namespace
} // namespace gpuvet
