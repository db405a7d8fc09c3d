#include "gpu/work/survey/slot.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>

namespace gpuvet {
namespace {

constexpr int kMostBridges = 32; // one above the other

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

LinkSize read_link(const std::string& folder) {
  LinkSize size;
  size.generation = pcie_generation(first_line(folder + "/max_link_speed"));
  const std::string width = first_line(folder + "/max_link_width");
  uint32_t lanes = 0;
  const auto read = std::from_chars(width.data(), width.data() + width.size(), lanes);
  if (read.ec == std::errc() && lanes > 0 && lanes <= 32) size.width = lanes; // 255: not known
  return size;
}

void lessen(std::optional<uint32_t>& to, const std::optional<uint32_t>& by) {
  if (by) to = to ? std::min(*to, *by) : *by;
}

} // namespace

std::optional<uint32_t> pcie_generation(std::string_view speed) {
  struct Rate {
    std::string_view text;
    uint32_t generation;
  };
  // 10^9 transfers per second and lane: PCI Express base specification.
  constexpr std::array<Rate, 6> rates = {{{"2.5 GT/s", 1},
                                          {"5.0 GT/s", 2},
                                          {"8.0 GT/s", 3},
                                          {"16.0 GT/s", 4},
                                          {"32.0 GT/s", 5},
                                          {"64.0 GT/s", 6}}};
  for (const Rate& rate : rates)
    if (speed.starts_with(rate.text)) return rate.generation;
  if (speed.starts_with("5 GT/s")) return 2; // kernels before 5.0 leave ".0" out
  if (speed.starts_with("8 GT/s")) return 3;
  if (speed.starts_with("16 GT/s")) return 4;
  return std::nullopt;
}

SlotSizes read_slot(const std::string& device) {
  SlotSizes sizes;
  std::error_code code;
  std::filesystem::path folder = std::filesystem::canonical(device, code);
  if (code) return sizes;
  sizes.own = read_link(folder.string());
  for (int at = 0; at < kMostBridges; ++at) {
    folder = folder.parent_path();
    if (!std::filesystem::exists(folder / "max_link_speed", code)) break;
    const LinkSize bridge = read_link(folder.string());
    lessen(sizes.slot.generation, bridge.generation);
    lessen(sizes.slot.width, bridge.width);
  }
  return sizes;
}

} // namespace gpuvet
