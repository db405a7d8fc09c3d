#include "gpu/work/survey/slot.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace gpuvet {
namespace {

namespace fs = std::filesystem;

void write_link(const fs::path& folder, const std::string& speed, const std::string& width) {
  fs::create_directories(folder);
  std::ofstream(folder / "max_link_speed") << speed << "\n";
  std::ofstream(folder / "max_link_width") << width << "\n";
}

TEST(Slot, RatesAreGenerations) {
  EXPECT_EQ(pcie_generation("2.5 GT/s PCIe"), 1u);
  EXPECT_EQ(pcie_generation("8 GT/s"), 3u);
  EXPECT_EQ(pcie_generation("32.0 GT/s PCIe"), 5u);
  EXPECT_EQ(pcie_generation("64.0 GT/s PCIe"), 6u);
  EXPECT_FALSE(pcie_generation("Unknown"));
  EXPECT_FALSE(pcie_generation(""));
}

// A Gen5 x16 card behind a Gen4 switch in a slot of eight lanes; the kernel does not know the width
// of the root port.
TEST(Slot, TheLeastOfAllBridgesCounts) {
  const fs::path root = fs::path(testing::TempDir()) / "gpuvet_slot_test";
  fs::remove_all(root);
  const fs::path port = root / "pci0000:00/0000:00:01.0", up = port / "0000:01:00.0",
                 down = up / "0000:02:00.0", gpu = down / "0000:03:00.0";
  write_link(port, "32.0 GT/s PCIe", "255");
  write_link(up, "16.0 GT/s PCIe", "8");
  write_link(down, "16.0 GT/s PCIe", "16");
  write_link(gpu, "32.0 GT/s PCIe", "16");
  fs::create_directories(root / "devices");
  fs::create_symlink(gpu, root / "devices/0000:03:00.0");
  const SlotSizes sizes = read_slot((root / "devices/0000:03:00.0").string());
  EXPECT_EQ(sizes.own.generation, 5u);
  EXPECT_EQ(sizes.own.width, 16u);
  EXPECT_EQ(sizes.slot.generation, 4u);
  EXPECT_EQ(sizes.slot.width, 8u);
  fs::remove_all(root);
}

TEST(Slot, WithoutBridgesNothingIsMadeUp) {
  const fs::path root = fs::path(testing::TempDir()) / "gpuvet_slot_alone";
  fs::remove_all(root);
  write_link(root / "pci0000:00/0000:00:05.0", "Unknown", "0");
  const SlotSizes sizes = read_slot((root / "pci0000:00/0000:00:05.0").string());
  EXPECT_FALSE(sizes.own.generation || sizes.own.width);
  EXPECT_FALSE(sizes.slot.generation || sizes.slot.width);
  EXPECT_FALSE(read_slot("/nonexistent").own.generation);
  fs::remove_all(root);
}

} // namespace
} // namespace gpuvet
