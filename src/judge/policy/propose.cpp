#include "judge/policy/propose.hpp"

#include "base/text.hpp"
#include "judge/here/here.hpp"
#include "judge/load/find_device.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>

namespace gpuvet {
namespace {

struct FleetGpu {
  uint32_t sm = 0;
  size_t count = 0;
  size_t with_mig = 0;
  std::vector<std::string> machines;
};

struct Fleet {
  std::map<std::string, FleetGpu> gpus; // by the name in the policy
  std::string driver, driver_of;        // the oldest, and where
  std::vector<std::string> unknown;     // what could not be told, as comments
};

// A name that the policy's reader takes: the card's where the table has it, else its capability.
std::string policy_name(const GpuHere& gpu, const Facts& facts) {
  std::string name = gpu.name;
  if (name.starts_with("NVIDIA ")) name = name.substr(7);
  auto device = find_device(name, facts);
  return device && device->sm == gpu.sm && !name.empty() ? name : cc_name(gpu.sm);
}

bool has_mig(const Machine& machine, const GpuHere& gpu) {
  for (const NvmlGpu& seen : machine.nvml.gpus)
    if (seen.pci_address == gpu.pci_address && seen.mig && *seen.mig) return true;
  return false;
}

void add_machine(Fleet& fleet, const FleetMachine& one, const Facts& facts,
                 const LoadRules& rules) {
  Observed<std::vector<GpuHere>> gpus = gpus_here(one.machine, facts);
  if (!gpus)
    fleet.unknown.push_back(
        fmt::format("{}: its GPUs are not known: {}", one.name, gpus.why_unknown));
  else if (gpus->empty())
    fleet.unknown.push_back(fmt::format("{}: no NVIDIA GPU", one.name));
  if (!gpus || gpus->empty()) return;
  for (const GpuHere& gpu : *gpus) {
    FleetGpu& entry = fleet.gpus[policy_name(gpu, facts)];
    entry.sm = gpu.sm;
    ++entry.count;
    entry.with_mig += has_mig(one.machine, gpu);
    if (std::find(entry.machines.begin(), entry.machines.end(), one.name) == entry.machines.end())
      entry.machines.push_back(one.name);
  }
  Observed<DriverHere> driver = driver_here(one.machine, rules);
  if (!driver || driver->driver.version.parts.empty()) {
    fleet.unknown.push_back(
        fmt::format("{}: its driver is not known: {}", one.name,
                    driver ? "only " + driver->driver.text : driver.why_unknown));
    return;
  }
  auto oldest = parse_version(fleet.driver);
  if (oldest && *oldest <= driver->driver.version) return;
  fleet.driver = driver->driver.text;
  fleet.driver_of = one.name;
}

// TOML text in quotes; names of cards and files may hold anything.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) out += c;
  }
  return out + "\"";
}

std::string comment(std::string_view text) {
  std::string out;
  for (char c : text)
    if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) out += c;
  return out;
}

std::string seen_on(const std::vector<std::string>& machines) {
  constexpr size_t most = 3;
  std::vector<std::string> some(
      machines.begin(), machines.begin() + static_cast<ptrdiff_t>(std::min(most, machines.size())));
  std::string text = joined(some);
  return machines.size() > most ? fmt::format("{} and {} more", text, machines.size() - most)
                                : text;
}

} // namespace

Result<std::string> propose_policy(const std::vector<FleetMachine>& machines, const Facts& facts) {
  auto rules = facts.load_rules();
  if (!rules) return tl::unexpected<Error>(rules.error());
  Fleet fleet;
  for (const FleetMachine& one : machines)
    add_machine(fleet, one, facts, **rules);
  if (fleet.gpus.empty())
    return fail("there is no GPU to make a policy for: " +
                (fleet.unknown.empty() ? std::string("no machine was looked at")
                                       : joined(fleet.unknown, "; ")));
  std::string text =
      "# What the GPU code of this repository has to run on: gpuvet check dist/*.whl\n"
      "# Proposed by gpuvet check --init; a key that is not known is an error.\n\n[run]\n"
      "# Machine code for these GPUs: nothing is left to the driver's compiler.\nnative = [\n";
  for (const auto& [name, gpu] : fleet.gpus) {
    text += fmt::format("  {}, # {}: {}, on {}\n", quoted(name), cc_name(gpu.sm), gpu.count,
                        comment(seen_on(gpu.machines)));
    if (gpu.with_mig)
      text += fmt::format(
          "  # MIG is on on {} of them: an instance has the capability of its GPU\n", gpu.with_mig);
  }
  text += "]\n# These too, by machine code or by PTX that the driver compiles at first use.\n"
          "# jit = [\"RTX 5090\"]\n\n";
  if (fleet.driver.empty()) {
    text += "# The oldest driver in the field.\n# driver = \"535\"\n";
  } else {
    text += fmt::format("# The oldest driver in the field, of {}.\ndriver = {}\n",
                        comment(fleet.driver_of), quoted(fleet.driver));
  }
  text += "\n# PTX for cards to come.\nfuture-gpus = true\n\n"
          "[size]\n# gpu-code = \"300 MB\" # of each artefact\n# file = \"1 GB\"       # of each "
          "artefact\n"
          "# total = \"4 GB\"      # of all together\n";
  if (!fleet.unknown.empty()) text += "\n# Not taken in:\n";
  for (const std::string& line : fleet.unknown)
    text += "#   " + comment(line) + "\n";
  return text;
}

} // namespace gpuvet
