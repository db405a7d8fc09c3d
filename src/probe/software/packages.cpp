#include "probe/software/packages.hpp"

#include "probe/software/text.hpp"

#include <algorithm>
#include <array>

namespace gpuvet {
namespace {

constexpr std::array<std::string_view, 7> kParts = {
    "nvidia", "cuda", "cudnn", "nccl", "nvinfer", "tensorrt", "datacenter-gpu-manager"};
// Debian's split of the toolkit, NVIDIA's libraries, and what builds modules.
constexpr std::array<std::string_view, 24> kBeginnings = {
    "libcublas",   "libcufft",      "libcurand", "libcusolver",
    "libcusparse", "libcupti",      "libnpp",    "libnvblas",
    "libnvfatbin", "libnvjitlink",  "libnvjpeg", "libnvrtc",
    "libnvvm",     "libnvtoolsext", "libaccinj", "libcuinj",
    "nsight-",     "gds-tools",     "dkms",      "akmods",
    "kmod-nvidia", "bumblebee",     "dcgm",      "xserver-xorg-video-nv"};

} // namespace

bool is_relevant_package(std::string_view name) {
  auto stands_in = [name](std::string_view part) { return holds_word(name, part); };
  auto begins = [name](std::string_view part) { return name.starts_with(part); };
  return std::any_of(kParts.begin(), kParts.end(), stands_in) ||
         std::any_of(kBeginnings.begin(), kBeginnings.end(), begins);
}

PackageDatabase package_database(const Source& source) {
  if (exists(source, "/var/lib/dpkg/status")) return PackageDatabase::dpkg;
  for (const char* folder : {"/var/lib/rpm", "/usr/lib/sysimage/rpm"})
    if (exists(source, folder)) return PackageDatabase::rpm;
  if (exists(source, "/var/lib/pacman/local")) return PackageDatabase::pacman;
  return PackageDatabase::none;
}

Packages read_packages(const Source& source) {
  Packages packages;
  PackageDatabase database = package_database(source);
  switch (database) {
  case PackageDatabase::dpkg:
    read_dpkg(source, packages);
    break;
  case PackageDatabase::rpm:
    read_rpm(source, packages);
    break;
  case PackageDatabase::pacman:
    read_pacman(source, packages);
    break;
  case PackageDatabase::none:
    packages.relevant = unknown<std::vector<Package>>("no package database of dpkg, rpm or pacman");
    return packages;
  }
  packages.repositories = read_repositories(source);
  packages.history = read_history(source, database);
  return packages;
}

Origin package_origin(const Packages& packages, std::string_view name) {
  if (!packages.relevant || name.empty()) return Origin::unknown;
  for (const Package& package : *packages.relevant) {
    if (package.name != name || package.vendor.empty()) continue;
    std::string vendor = lower_ascii(package.vendor);
    // "Debian NVIDIA Maintainers" make the distribution's packages.
    bool nvidia = holds_word(vendor, "nvidia corp") || holds_word(vendor, "@nvidia.com") ||
                  vendor.starts_with("nvidia");
    return nvidia ? Origin::nvidia_repository : Origin::distribution;
  }
  return Origin::unknown;
}

} // namespace gpuvet
