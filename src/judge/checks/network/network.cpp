// Checks of what GPUs of several machines talk through: NCCL's choice of network, InfiniBand ports,
// GPUDirect RDMA.
#include "base/text.hpp"
#include "judge/checks/common.hpp"
#include "judge/checks/subjects.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

using Port = NetworkFacts::Port;

// --- NCCL's choice -------------------------------------------------------------------------------

// "^docker,lo", "=eth0", "ib" as NCCL takes them.
struct NameList {
  bool exclude = false, exact = false;
  std::vector<std::string> names;
};

NameList name_list(std::string_view value) {
  NameList list;
  while (!value.empty() && (value.front() == '^' || value.front() == '=')) {
    (value.front() == '^' ? list.exclude : list.exact) = true;
    value.remove_prefix(1);
  }
  for (const std::string& part : split(value, ", "))
    list.names.push_back(part.substr(0, part.find(':')));
  return list;
}

bool named(const NameList& list, std::string_view interface) {
  return std::any_of(list.names.begin(), list.names.end(), [&](const std::string& name) {
    return list.exact ? interface == name : interface.starts_with(name);
  });
}

Outcome ifname_missing(const Machine& machine, const Facts&) {
  std::vector<SetHere> settings = in_force(machine, "NCCL_SOCKET_IFNAME");
  if (settings.empty()) return not_applicable("NCCL_SOCKET_IFNAME is not set");
  if (machine.network.interfaces.empty()) return not_known("the interfaces (ip link)");
  for (const SetHere& setting : settings) {
    NameList list = name_list(setting.value);
    if (list.exclude || list.names.empty()) continue;
    auto any = [&](const std::vector<std::string>& interfaces) {
      return std::any_of(interfaces.begin(), interfaces.end(),
                         [&](const std::string& name) { return named(list, name); });
    };
    if (any(machine.network.interfaces_up) || named(list, "lo")) continue;
    Outcome outcome =
        fires({setting.where, "/sys/class/net, up: " + joined(machine.network.interfaces_up)},
              {{"value", setting.value},
               {"state", any(machine.network.interfaces) ? "is down" : "is not here"},
               {"up", joined(machine.network.interfaces_up)}});
    if (setting.here) outcome.fields["variable"] = "NCCL_SOCKET_IFNAME";
    return outcome;
  }
  return ok("the interface is there and up");
}

Outcome ifname_loopback(const Machine& machine, const Facts&) {
  std::vector<SetHere> settings = in_force(machine, "NCCL_SOCKET_IFNAME");
  if (settings.empty()) return not_applicable("NCCL_SOCKET_IFNAME is not set");
  for (const SetHere& setting : settings) {
    NameList list = name_list(setting.value);
    if (!list.exclude || named(list, "lo")) continue;
    return fires({setting.where}, {{"value", setting.value}});
  }
  return ok("the loopback interface is not let in by an exclusion list");
}

Outcome ifname_unset(const Machine& machine, const Facts&) {
  bool cluster = machine.surroundings.slurm_node || !machine.surroundings.slurm_job.empty() ||
                 !machine.network.ports.empty();
  if (!cluster) return not_applicable("nothing tells of programs on several machines");
  if (!in_force(machine, "NCCL_SOCKET_IFNAME").empty()) return ok("NCCL_SOCKET_IFNAME is set");
  std::vector<std::string> inner;
  for (const std::string& name : machine.network.interfaces_up)
    for (std::string_view start :
         {"virbr", "br-", "cni", "flannel", "cali", "vxlan", "lxc", "podman"})
      if (name.starts_with(start)) {
        inner.push_back(name);
        break;
      }
  if (inner.empty()) return ok("no interface is up that leads nowhere");
  return fires({"/sys/class/net, up: " + joined(machine.network.interfaces_up),
                "NCCL_SOCKET_IFNAME: not set"},
               {{"inner", joined(inner)}});
}

Outcome hca_missing(const Machine& machine, const Facts&) {
  std::vector<SetHere> settings = in_force(machine, "NCCL_IB_HCA");
  if (settings.empty()) return not_applicable("NCCL_IB_HCA is not set");
  for (const SetHere& setting : settings) {
    NameList list = name_list(setting.value);
    if (list.exclude || list.names.empty()) continue;
    bool found = std::any_of(machine.network.ports.begin(), machine.network.ports.end(),
                             [&](const Port& port) { return named(list, port.device); });
    if (found) continue;
    std::vector<std::string> devices;
    for (const Port& port : machine.network.ports)
      devices.push_back(port.device);
    Outcome outcome = fires(
        {setting.where, "/sys/class/infiniband: " + (devices.empty() ? "empty" : joined(devices))},
        {{"value", setting.value}});
    if (setting.here) outcome.fields["variable"] = "NCCL_IB_HCA";
    return outcome;
  }
  return ok("the RDMA devices are there");
}

// --- ports ---------------------------------------------------------------------------------------

std::string port_name(const Port& port) {
  return fmt::format("{} port {}", port.device, port.number);
}

std::string port_source(const Port& port) {
  return fmt::format("/sys/class/infiniband/{}/ports/{}", port.device, port.number);
}

template <class Wrong>
std::vector<const Port*> ports_that(const Machine& machine, const Wrong& wrong) {
  std::vector<const Port*> found;
  for (const Port& port : machine.network.ports)
    if (wrong(port)) found.push_back(&port);
  return found;
}

bool active(const Port& port) {
  return port.state.find("ACTIVE") != std::string::npos;
}

Outcome port_outcome(const std::vector<const Port*>& ports) {
  Outcome outcome = fires({});
  std::vector<std::string> names;
  for (const Port* port : ports) {
    names.push_back(port_name(*port));
    outcome.evidence.push_back(fmt::format("{}: state {}, {}, {}", port_source(*port), port->state,
                                           port->physical_state, port->rate));
  }
  outcome.fields = {{"ports", joined(names)},
                    {"state", ports.front()->physical_state.substr(
                                  std::min(ports.front()->physical_state.find(' ') + 1,
                                           ports.front()->physical_state.size()))}};
  return outcome;
}

Outcome port_down(const Machine& machine, const Facts&) {
  if (machine.network.ports.empty()) return not_applicable("there is no RDMA device");
  auto down = ports_that(machine, [](const Port& port) {
    return port.state.find("DOWN") != std::string::npos &&
           port.physical_state.find("Disabled") == std::string::npos;
  });
  if (down.empty()) return ok("no port that is switched on is down");
  Outcome outcome = port_outcome(down);
  bool any_active = std::any_of(machine.network.ports.begin(), machine.network.ports.end(), active);
  if (!any_active) outcome.severity = Severity::error;
  return outcome;
}

Outcome no_subnet_manager(const Machine& machine, const Facts&) {
  if (machine.network.ports.empty()) return not_applicable("there is no RDMA device");
  auto waiting = ports_that(machine, [](const Port& port) {
    return port.state.find("INIT") != std::string::npos && port.link_layer != "Ethernet";
  });
  return waiting.empty() ? ok("no port waits for a subnet manager") : port_outcome(waiting);
}

double gbit_of(const Port& port) {
  std::optional<Version> rate = parse_version(port.rate);
  return rate ? rate->major() + rate->minor() / 10.0 : 0;
}

Outcome port_slow(const Machine& machine, const Facts&) {
  double best = 0;
  for (const Port& port : machine.network.ports)
    if (active(port)) best = std::max(best, gbit_of(port));
  auto slow = ports_that(machine, [&](const Port& port) {
    bool alike = std::any_of(machine.network.ports.begin(), machine.network.ports.end(),
                             [&](const Port& other) {
                               return active(other) && other.link_layer == port.link_layer &&
                                      gbit_of(other) > gbit_of(port);
                             });
    return active(port) && gbit_of(port) > 0 && alike;
  });
  if (machine.network.ports.size() < 2) return not_applicable("fewer than two RDMA ports");
  if (slow.empty()) return ok(fmt::format("all ports run at {:.0f} Gb/s", best));
  Outcome outcome = port_outcome(slow);
  outcome.fields["rate"] = slow.front()->rate;
  outcome.fields["best"] = fmt::format("{:.0f} Gb/s", best);
  return outcome;
}

Outcome port_flaps(const Machine& machine, const Facts&) {
  constexpr uint64_t kMany = 5; // since boot; one or two belong to starting up
  if (machine.network.ports.empty()) return not_applicable("there is no RDMA device");
  auto flapping =
      ports_that(machine, [](const Port& port) { return port.link_downed.value_or(0) >= kMany; });
  if (flapping.empty()) return ok("no port lost its link often");
  Outcome outcome = fires({});
  for (const Port* port : flapping)
    outcome.evidence.push_back(
        fmt::format("{}/counters/link_downed: {}", port_source(*port), *port->link_downed));
  outcome.fields = {{"port", port_name(*flapping.front())},
                    {"count", fmt::format("{}", *flapping.front()->link_downed)}};
  return outcome;
}

Outcome verbs_missing(const Machine& machine, const Facts&) {
  if (machine.network.ports.empty()) return not_applicable("there is no RDMA device");
  if (!machine.network.verbs_nodes) return not_known("whether /dev/infiniband has nodes");
  if (*machine.network.verbs_nodes) return ok("/dev/infiniband/uverbs* are there");
  return fires({"/sys/class/infiniband: " + machine.network.ports.front().device,
                "/dev/infiniband/uverbs*: none"},
               {{"device", machine.network.ports.front().device}});
}

// --- GPUDirect RDMA ------------------------------------------------------------------------------

Outcome peermem_missing(const Machine& machine, const Facts&) {
  if (machine.network.ports.empty()) return not_applicable("there is no RDMA device");
  if (!machine.kernel.module_version) return not_applicable("the nvidia module is not loaded");
  if (!machine.kernel.modules) return not_known(machine.kernel.modules.why_unknown);
  for (const char* name : {"nvidia_peermem", "nv_peer_mem"})
    if (module_loaded(machine, name)) return ok(std::string(name) + " is loaded");
  std::optional<Version> kernel =
      machine.system.kernel_release ? parse_version(*machine.system.kernel_release) : std::nullopt;
  if (!kernel)
    return not_known("the kernel's release: " + machine.system.kernel_release.why_unknown);
  bool new_kernel = *kernel >= Version{{5, 12}};
  if (new_kernel && !machine.kernel.flavour)
    return not_known("whether the kernel module is the open one: " +
                     machine.kernel.flavour.why_unknown);
  if (new_kernel && *machine.kernel.flavour == Flavour::open)
    return ok("DMA-BUF does it: open kernel module, kernel " + *machine.system.kernel_release);
  return fires({"/proc/modules: no nvidia_peermem",
                fmt::format("/sys/class/infiniband: {}", machine.network.ports.front().device),
                fmt::format("kernel {}, {} kernel module", *machine.system.kernel_release,
                            machine.kernel.flavour && *machine.kernel.flavour == Flavour::open
                                ? "open"
                                : "proprietary")});
}

Outcome old_peer_mem(const Machine& machine, const Facts&) {
  std::optional<Version> driver = driver_version(machine);
  std::string evidence;
  if (module_loaded(machine, "nv_peer_mem")) evidence = "/proc/modules: nv_peer_mem";
  if (machine.packages.relevant && evidence.empty())
    for (const Package& package : *machine.packages.relevant)
      if (package.name.starts_with("nvidia-peer-memory") || package.name == "nvidia_peer_memory")
        evidence = fmt::format("{}: {} {}", machine.packages.relevant.source, package.name,
                               package.version);
  if (evidence.empty()) return ok("no nv_peer_mem");
  if (!driver) return not_known("the driver's version");
  if (driver->major() < 470) return not_applicable("drivers before 470 need nv_peer_mem");
  return fires(
      {evidence},
      {{"driver", machine.kernel.module_version.value.value_or(machine.nvml.driver_version)}});
}

} // namespace

CheckList network_checks() {
  return {
      {"network-ifname-missing", ifname_missing}, {"network-ifname-loopback", ifname_loopback},
      {"network-ifname-unset", ifname_unset},     {"network-hca-missing", hca_missing},
      {"network-port-down", port_down},           {"network-no-subnet-manager", no_subnet_manager},
      {"network-port-slow", port_slow},           {"network-port-flaps", port_flaps},
      {"network-verbs-missing", verbs_missing},   {"network-peermem-missing", peermem_missing},
      {"network-nv-peer-mem", old_peer_mem}};
}

} // namespace gpuvet
