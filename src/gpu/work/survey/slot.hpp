// What the way to a GPU can carry, as the kernel tells it for the GPU and for each bridge above it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gpuvet {

struct LinkSize {
  std::optional<uint32_t> generation, width; // PCI Express generation, lanes; absent: not told
};

struct SlotSizes {
  LinkSize own;  // of the GPU
  LinkSize slot; // the least of all bridges above it; absent: there is none that tells
};

// "16.0 GT/s PCIe" is generation 4. Absent for what is no transfer rate of PCI Express.
std::optional<uint32_t> pcie_generation(std::string_view speed);

// `device`: folder of the GPU, "/sys/bus/pci/devices/0000:3b:00.0". Reads max_link_speed and
// max_link_width there and in each folder above it that has them.
SlotSizes read_slot(const std::string& device);

} // namespace gpuvet
