// Network interfaces, InfiniBand and RoCE ports, NCCL's own settings files.
#include "base/text.hpp"
#include "probe/place/parts.hpp"

#include <algorithm>

namespace gpuvet::place {
namespace {

constexpr size_t kMost = 256;

// Tunnels and dummies never know their state; there the interface's own flag counts.
bool is_up(const Source& source, const std::string& folder) {
  std::string state = first_line(source, folder + "/operstate");
  if (state != "unknown") return state == "up";
  auto flags = hexadecimal_number(first_line(source, folder + "/flags"));
  return flags && (*flags & 1) != 0;
}

void read_interfaces(const Source& source, NetworkFacts& network) {
  const std::string folder = "/sys/class/net/";
  for (const std::string& name : names_in(source, "/sys/class/net")) {
    if (network.interfaces.size() == kMost) return;
    network.interfaces.push_back(name);
    if (name != "lo" && is_up(source, folder + name)) network.interfaces_up.push_back(name);
  }
}

void read_ports(const Source& source, const std::string& device, NetworkFacts& network) {
  std::string folder = "/sys/class/infiniband/" + device + "/ports";
  for (const std::string& name : names_in(source, folder)) {
    auto number = decimal_number(name);
    if (!number || *number > UINT32_MAX || network.ports.size() == kMost) continue;
    NetworkFacts::Port port;
    std::string base = folder + "/" + name + "/";
    port.device = device;
    port.number = static_cast<uint32_t>(*number);
    port.state = first_line(source, base + "state");
    port.physical_state = first_line(source, base + "phys_state");
    port.rate = first_line(source, base + "rate");
    port.link_layer = first_line(source, base + "link_layer");
    port.link_downed = decimal_number(first_line(source, base + "counters/link_downed"));
    network.ports.push_back(std::move(port));
  }
}

void read_nccl_file(const Source& source, const std::string& file, NetworkFacts& network) {
  size_t number = 0;
  for (const std::string& line : lines(source, file)) {
    ++number;
    std::string text(trimmed(line));
    if (text.starts_with("NCCL_") && network.nccl_settings.size() < kMost)
      network.nccl_settings.push_back(file + ":" + std::to_string(number) + ": " + text);
  }
}

} // namespace

void probe_network(const Source& source, const Environment& environment, NetworkFacts& network) {
  read_interfaces(source, network);
  std::vector<std::string> devices = names_in(source, "/sys/class/infiniband");
  for (const std::string& device : devices)
    read_ports(source, device, network);
  if (!devices.empty()) {
    std::vector<std::string> nodes = names_in(source, "/dev/infiniband");
    network.verbs_nodes = std::any_of(nodes.begin(), nodes.end(), [](const std::string& name) {
      return name.starts_with("uverbs");
    });
  }
  // What the user's file sets goes before /etc/nccl.conf; variables go before both.
  std::string home = variable(environment, "HOME"), named = variable(environment, "NCCL_CONF_FILE");
  if (!named.empty())
    read_nccl_file(source, named, network);
  else if (!home.empty())
    read_nccl_file(source, home + "/.nccl.conf", network);
  read_nccl_file(source, "/etc/nccl.conf", network);
}

} // namespace gpuvet::place
