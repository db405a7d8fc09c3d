#include "judge/load/driver_needs.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

// First branch whose highest CUDA is at least `cuda`.
const DriverBranch* branch_for_cuda(const LoadRules& rules, const Version& cuda) {
  for (const DriverBranch& branch : rules.branches)
    if (branch.cuda >= cuda) return &branch;
  return nullptr;
}

const DriverBranch* branch_for_isa(const LoadRules& rules, const Version& isa) {
  for (const DriverBranch& branch : rules.branches)
    if (branch.ptx_isa >= isa) return &branch;
  return nullptr;
}

// The first branch that knows a capability: that of the first toolkit with this target.
const DriverBranch* branch_for_device(const LoadRules& rules, uint32_t sm) {
  for (const SassRange& range : rules.sass_ranges)
    if (range.target == Target{sm, 0})
      if (auto cuda = parse_version(range.first_cuda)) return branch_for_cuda(rules, *cuda);
  return nullptr;
}

const MinorFloor* floor_for(const LoadRules& rules, const Version& toolkit) {
  for (const MinorFloor& floor : rules.floors)
    if (floor.cuda_major == toolkit.major()) return &floor;
  return nullptr;
}

// Toolkit of code that the CUDA runtime registers. Code loaded by address says nothing about the
// runtime in use.
std::optional<Version> runtime_toolkit(const Binary& binary) {
  bool registered = std::any_of(
      binary.containers.begin(), binary.containers.end(), [](const Container& container) {
        return container.role == Role::registered || container.role == Role::linked;
      });
  if (!registered || !binary.toolkit) return std::nullopt;
  return *binary.toolkit;
}

void raise(FileVerdict& verdict, const std::string& driver, const std::string& why) {
  auto now = parse_version(verdict.needs_driver), wanted = parse_version(driver);
  if (!wanted || (now && *now >= *wanted)) return;
  verdict.needs_driver = driver;
  verdict.needs_driver_why = why;
}

} // namespace

Refusal driver_refuses(const LoadDevice& device, const LoadDriver& driver, const LoadRules& rules) {
  for (const ArchitectureEnd& end : rules.ends)
    if (device.sm >= end.first_sm && device.sm <= end.last_sm &&
        driver.version.major() > end.last_branch)
      return {fmt::format("driver {} no longer drives {} GPUs: branch {} was the last", driver.text,
                          end.architecture, end.last_branch),
              fmt::format("install a driver of branch {}", end.last_branch)};
  const DriverBranch* first = branch_for_device(rules, device.sm);
  if (first && driver.version.major() < first->branch)
    return {fmt::format("driver {} does not know compute capability {}: branch {} is the first",
                        driver.text, cc_name(device.sm), first->branch),
            fmt::format("install driver {} or newer", first->branch)};
  return {};
}

Refusal toolkit_refuses(const Binary& binary, const LoadDriver& driver, const LoadRules& rules) {
  auto toolkit = runtime_toolkit(binary);
  if (!toolkit) return {};
  std::string built =
      fmt::format("built with CUDA {} ({})", to_string(*toolkit), binary.toolkit.source);
  if (const MinorFloor* floor = floor_for(rules, *toolkit)) {
    auto least = parse_version(floor->min_linux);
    bool branch_only = driver.version.parts.size() == 1;
    if (least && driver.version < *least &&
        !(branch_only && driver.version.major() == least->major()))
      return {fmt::format("{}, which needs driver {} or newer", built, floor->min_linux),
              fmt::format("install driver {} or newer, or a build for CUDA {}", floor->min_linux,
                          driver.cuda ? std::to_string(driver.cuda->major()) : "of that driver")};
    return {};
  }
  const DriverBranch* own = branch_for_cuda(rules, *toolkit);
  if (toolkit->major() < 11 && own && driver.version.major() < own->branch)
    return {fmt::format("{}, which needs driver branch {} or newer", built, own->branch),
            fmt::format("install driver {} or newer", own->branch)};
  return {};
}

Refusal cuda_refuses(const LoadRules& rules, const LoadDriver& driver, const Version& cuda) {
  Version minor{{cuda.major(), cuda.minor()}};
  if (driver.cuda && *driver.cuda >= minor) return {};
  if (driver.version.parts.empty()) { // only its CUDA version is known
    if (!driver.cuda || (driver.cuda->major() == cuda.major() && cuda.major() >= 11)) return {};
    return {fmt::format("a driver with CUDA {} does not run programs of CUDA {}",
                        to_string(*driver.cuda), to_string(minor)),
            fmt::format("install a driver with CUDA {} or newer", to_string(minor))};
  }
  Binary binary;
  binary.containers.emplace_back(); // code that the CUDA runtime registers
  binary.toolkit = known(minor, "package");
  return toolkit_refuses(binary, driver, rules);
}

void add_driver_needs(FileVerdict& verdict, const Binary& binary, const LoadDevice& device,
                      const LoadRules& rules) {
  // Where nothing loads, only PTX that is too new could be helped by a driver.
  if (verdict.coverage == Coverage::none && verdict.error != 222) return;
  if (const DriverBranch* branch = branch_for_device(rules, device.sm))
    raise(verdict, std::to_string(branch->branch),
          "the first branch for compute capability " + cc_name(device.sm));
  if (auto toolkit = runtime_toolkit(binary)) {
    if (const MinorFloor* floor = floor_for(rules, *toolkit))
      raise(verdict, floor->min_linux, fmt::format("the floor of CUDA {}", toolkit->major()));
    else if (const DriverBranch* own = branch_for_cuda(rules, *toolkit);
             own && toolkit->major() < 11)
      raise(verdict, std::to_string(own->branch), "the branch of CUDA " + to_string(*toolkit));
  }
  if (verdict.needs_isa)
    if (const DriverBranch* branch = branch_for_isa(rules, *verdict.needs_isa))
      raise(verdict, std::to_string(branch->branch),
            fmt::format("the first that compiles PTX {}", to_string(*verdict.needs_isa)));
}

std::optional<uint32_t> last_driver_branch(const Gpu& gpu, const LoadRules& rules) {
  if (gpu.last_driver_branch) return gpu.last_driver_branch;
  for (const ArchitectureEnd& end : rules.ends)
    if (end.first_sm <= gpu.sm && gpu.sm <= end.last_sm) return end.last_branch;
  return std::nullopt;
}

} // namespace gpuvet
