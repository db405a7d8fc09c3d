#include "facts/facts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace gpuvet {
namespace {

const std::vector<Gpu>& table() {
  static const Facts facts;
  return **facts.gpus();
}

uint32_t sm_of(std::string_view query) {
  GpuMatch match = find_gpu(table(), query);
  return match.gpu ? match.gpu->sm : 0;
}

TEST(FindGpu, NamesThatPeopleType) {
  const std::map<std::string, uint32_t> names = {
      {"T4", 75},
      {"A100", 80},
      {"H100", 90},
      {"h200", 90},
      {"V100", 70},
      {"L4", 89},
      {"L40S", 89},
      {"RTX 4090", 89},
      {"3090", 86},
      {"P100", 60},
      {"GTX 1080 Ti", 61},
      {"RTX 6000 Ada", 89},
      {"Orin", 87},
      {"Thor", 110},
      {"GB10", 121},
      {"DGX Spark", 121},
      {"B200", 100},
      {"B300", 103},
      {"RTX 5090", 120},
      {"RTX PRO 6000", 120},
      {"rtx-4090", 89},
      {"NVIDIA H200", 90},
      {"geforce rtx 3090", 86},
      {"K80", 37},
      {"A10G", 86},
      {"GH200", 90},
      {"GB200", 100},
      {"4090 laptop", 89},
      {"RTX 3070 Mobile", 86},
      {"2080s", 75},
      {"Titan V", 70},
      {"TITAN X (Pascal)", 61},
      {"Quadro RTX 4000", 75},
      {"Jetson AGX Orin", 87},
      {"RTX A6000", 86},
      {"A6000", 86},
  };
  for (const auto& [name, sm] : names)
    EXPECT_EQ(sm_of(name), sm) << name;
}

TEST(FindGpu, PciIdsInEverySpelling) {
  EXPECT_EQ(sm_of("10de:2335"), 90u);
  EXPECT_EQ(sm_of("10DE:2335"), 90u);
  EXPECT_EQ(sm_of("0x2335"), 90u);
  EXPECT_EQ(sm_of("0x233510DE"), 90u); // nvidia-smi --query-gpu=pci.device_id
  EXPECT_EQ(sm_of("2335"), 90u);
  EXPECT_EQ(sm_of("1080"), 61u); // the card, though device 1080 exists
  EXPECT_EQ(sm_of("0x1080"), 20u);
}

TEST(FindGpu, ExactNameIsEveryRow) {
  std::map<std::string, std::set<uint32_t>> capabilities;
  for (const Gpu& gpu : table())
    capabilities[normalised_name(gpu.name)].insert(gpu.sm);
  for (const Gpu& gpu : table()) {
    GpuMatch match = find_gpu(table(), gpu.name);
    if (capabilities[normalised_name(gpu.name)].size() > 1) {
      EXPECT_EQ(match.gpu, nullptr) << gpu.name;
      EXPECT_GE(match.candidates.size(), 2u) << gpu.name;
    } else {
      ASSERT_NE(match.gpu, nullptr) << gpu.name;
      EXPECT_EQ(match.gpu->sm, gpu.sm) << gpu.name;
    }
  }
}

TEST(FindGpu, EveryAliasFindsItsCardOrIsRefused) {
  for (const Gpu& gpu : table())
    for (const std::string& alias : gpu.aliases) {
      GpuMatch match = find_gpu(table(), alias);
      if (match.gpu) {
        EXPECT_EQ(match.gpu->sm, gpu.sm) << alias;
      } else {
        auto is_this = [&](const Gpu* g) { return g->name == gpu.name; };
        EXPECT_TRUE(std::any_of(match.candidates.begin(), match.candidates.end(), is_this))
            << alias;
      }
    }
}

TEST(FindGpu, NamesOfSeveralCardsAreRefused) {
  auto capabilities = [](std::string_view name) {
    std::set<uint32_t> all;
    for (const Gpu* gpu : find_gpu(table(), name).candidates)
      all.insert(gpu->sm);
    return all;
  };
  EXPECT_EQ(capabilities("RTX 4000"), (std::set<uint32_t>{75, 89, 120}));
  EXPECT_EQ(find_gpu(table(), "RTX 4000").candidates.size(), 3u);
  EXPECT_EQ(capabilities("RTX 5000"), (std::set<uint32_t>{75, 89, 120}));
  EXPECT_EQ(capabilities("RTX 6000"), (std::set<uint32_t>{75, 89, 120}));
  EXPECT_EQ(capabilities("TITAN X"), (std::set<uint32_t>{52, 61}));
  EXPECT_EQ(capabilities("GT 730"), (std::set<uint32_t>{21, 30, 35}));
  EXPECT_EQ(capabilities("GTX 860M"), (std::set<uint32_t>{30, 50}));
}

TEST(FindGpu, RowsOfOneCapabilityAreNoAmbiguity) {
  // Device 1b02 is TITAN Xp and its collector's edition.
  GpuMatch match = find_gpu(table(), "10de:1b02");
  ASSERT_NE(match.gpu, nullptr);
  EXPECT_EQ(match.gpu->sm, 61u);
}

TEST(FindGpu, UnknownNamesGetNeighbours) {
  GpuMatch match = find_gpu(table(), "RTX 4091");
  EXPECT_EQ(match.gpu, nullptr);
  EXPECT_TRUE(match.candidates.empty());
  ASSERT_FALSE(match.suggestions.empty());
  EXPECT_EQ(match.suggestions[0], "NVIDIA GeForce RTX 4090");
  EXPECT_LE(match.suggestions.size(), 5u);
  EXPECT_TRUE(find_gpu(table(), "").suggestions.empty());
  EXPECT_TRUE(find_gpu(table(), "Radeon RX 7900 XTX").suggestions.empty());
  EXPECT_EQ(find_gpu(table(), std::string(1 << 20, 'x')).gpu, nullptr);
}

} // namespace
} // namespace gpuvet
