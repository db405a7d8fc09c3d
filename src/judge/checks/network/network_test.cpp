#include "base/regex.hpp"
#include "judge/checks/testing/machines.hpp"

#include <gtest/gtest.h>

namespace gpuvet::testing {
namespace {

Outcome ask_network(std::string_view id, const Machine& machine) {
  return ask(network_checks(), id, machine);
}
Outcome ask_traffic(std::string_view id, const Machine& machine) {
  return ask(peer_traffic_checks(), id, machine);
}

NetworkFacts::Port port(const std::string& device,
                        const std::string& rate = "400 Gb/sec (4X NDR)") {
  NetworkFacts::Port made;
  made.device = device;
  made.state = "4: ACTIVE";
  made.physical_state = "5: LinkUp";
  made.rate = rate;
  made.link_layer = "InfiniBand";
  made.link_downed = 0U;
  return made;
}

Machine node() {
  Machine machine = healthy_h100();
  machine.network.interfaces = {"lo", "eth0", "ib0", "docker0"};
  machine.network.interfaces_up = {"eth0", "docker0"};
  machine.network.ports = {port("mlx5_0"), port("mlx5_1")};
  machine.network.verbs_nodes = true;
  return machine;
}

TEST(NetworkInterface, NcclSocketIfname) {
  Machine machine = node();
  EXPECT_EQ(ask_network("network-ifname-missing", machine).answer, Answer::not_applicable);
  for (const char* good : {"eth", "eth0", "=eth0", "ib,eth", "^docker0,lo", "lo"}) {
    machine.environment["NCCL_SOCKET_IFNAME"] = good;
    EXPECT_EQ(ask_network("network-ifname-missing", machine).answer, Answer::ok) << good;
  }
  machine.environment["NCCL_SOCKET_IFNAME"] = "eno1";
  EXPECT_EQ(ask_network("network-ifname-missing", machine).fields["state"], "is not here");
  machine.environment["NCCL_SOCKET_IFNAME"] = "=eth";
  EXPECT_EQ(ask_network("network-ifname-missing", machine).answer, Answer::fires);
  machine.environment["NCCL_SOCKET_IFNAME"] = "ib0";
  EXPECT_EQ(ask_network("network-ifname-missing", machine).fields["state"], "is down");
  machine.network.interfaces.clear();
  EXPECT_EQ(ask_network("network-ifname-missing", machine).answer, Answer::unknown);
}

TEST(NetworkInterface, AnExclusionThatLetsLoIn) {
  Machine machine = node();
  machine.environment["NCCL_SOCKET_IFNAME"] = "^docker0,lo";
  EXPECT_EQ(ask_network("network-ifname-loopback", machine).answer, Answer::ok);
  machine.environment.clear();
  machine.network.nccl_settings = {"/etc/nccl.conf:1: NCCL_SOCKET_IFNAME=^docker0"};
  EXPECT_EQ(ask_network("network-ifname-loopback", machine).fields["value"], "^docker0");
}

TEST(NetworkInterface, InterfacesThatLeadNowhere) {
  EXPECT_EQ(ask_network("network-ifname-unset", healthy_h100()).answer, Answer::not_applicable);
  Machine machine = node();
  EXPECT_EQ(ask_network("network-ifname-unset", machine).answer, Answer::ok)
      << "NCCL leaves docker0 alone by itself";
  machine.network.interfaces_up.emplace_back("virbr0");
  EXPECT_EQ(ask_network("network-ifname-unset", machine).fields["inner"], "virbr0");
  machine.environment["NCCL_SOCKET_IFNAME"] = "eth0";
  EXPECT_EQ(ask_network("network-ifname-unset", machine).answer, Answer::ok);
}

TEST(NetworkInterface, NcclIbHca) {
  Machine machine = node();
  EXPECT_EQ(ask_network("network-hca-missing", machine).answer, Answer::not_applicable);
  for (const char* good : {"mlx5", "=mlx5_0:1", "^mlx5_3"}) {
    machine.environment["NCCL_IB_HCA"] = good;
    EXPECT_EQ(ask_network("network-hca-missing", machine).answer, Answer::ok) << good;
  }
  machine.environment["NCCL_IB_HCA"] = "mlx4_0";
  EXPECT_EQ(ask_network("network-hca-missing", machine).answer, Answer::fires);
}

TEST(NetworkPorts, DownWaitingSlowFlapping) {
  Machine machine = node();
  for (const char* id : {"network-port-down", "network-no-subnet-manager", "network-port-slow",
                         "network-port-flaps", "network-verbs-missing"}) {
    EXPECT_EQ(ask_network(id, machine).answer, Answer::ok) << id;
    EXPECT_EQ(ask_network(id, healthy_h100()).answer, Answer::not_applicable) << id;
  }
  machine.network.ports[1].state = "1: DOWN";
  machine.network.ports[1].physical_state = "2: Polling";
  Outcome down = ask_network("network-port-down", machine);
  EXPECT_EQ(down.fields["ports"], "mlx5_1 port 1");
  EXPECT_EQ(down.fields["state"], "Polling");
  EXPECT_EQ(down.severity, std::nullopt);
  machine.network.ports[0].state = "2: INIT";
  EXPECT_EQ(ask_network("network-port-down", machine).severity, Severity::error);
  EXPECT_EQ(ask_network("network-no-subnet-manager", machine).fields["ports"], "mlx5_0 port 1");
  machine.network.ports[1].physical_state = "3: Disabled";
  EXPECT_EQ(ask_network("network-port-down", machine).answer, Answer::ok) << "switched off";

  machine = node();
  machine.network.ports[1].rate = "100 Gb/sec (4X EDR)";
  EXPECT_EQ(ask_network("network-port-slow", machine).fields["best"], "400 Gb/s");
  machine.network.ports[1].link_layer = "Ethernet";
  EXPECT_EQ(ask_network("network-port-slow", machine).answer, Answer::ok) << "another network";
  machine.network.ports[0].link_downed = 12U;
  EXPECT_EQ(ask_network("network-port-flaps", machine).fields["count"], "12");
  machine.network.verbs_nodes = false;
  EXPECT_EQ(ask_network("network-verbs-missing", machine).answer, Answer::fires);
  machine.network.verbs_nodes.reset();
  EXPECT_EQ(ask_network("network-verbs-missing", machine).answer, Answer::unknown);
}

TEST(NetworkGpuDirect, PeermemOrDmaBuf) {
  Machine machine = node();
  EXPECT_EQ(ask_network("network-peermem-missing", machine).answer, Answer::ok) << "DMA-BUF";
  machine.kernel.flavour = known(Flavour::proprietary, "/proc/driver/nvidia/version");
  EXPECT_EQ(ask_network("network-peermem-missing", machine).answer, Answer::fires);
  machine.kernel.modules.value->push_back(kernel_module("nvidia_peermem"));
  EXPECT_EQ(ask_network("network-peermem-missing", machine).answer, Answer::ok);
  unload(machine, "nvidia_peermem");
  machine.kernel.flavour = unknown<Flavour>("not readable");
  EXPECT_EQ(ask_network("network-peermem-missing", machine).answer, Answer::unknown);
  machine.system.kernel_release = known<std::string>("4.18.0-553.el8", "uname");
  EXPECT_EQ(ask_network("network-peermem-missing", machine).answer, Answer::fires);
  EXPECT_EQ(ask_network("network-peermem-missing", healthy_h100()).answer, Answer::not_applicable);
}

TEST(NetworkGpuDirect, TheOldModule) {
  Machine machine = node();
  EXPECT_EQ(ask_network("network-nv-peer-mem", machine).answer, Answer::ok);
  machine.packages.relevant.value->push_back({"nvidia-peer-memory-dkms", "1.2", "ii", "all"});
  EXPECT_EQ(ask_network("network-nv-peer-mem", machine).answer, Answer::fires);
  machine.kernel.module_version = known<std::string>("460.106.00", "/sys/module/nvidia/version");
  EXPECT_EQ(ask_network("network-nv-peer-mem", machine).answer, Answer::not_applicable);
}

// Two GPUs without NVLink.
Machine pci_only() {
  return with_driver("580.65.06", 2, "10de:2684", "NVIDIA GeForce RTX 4090", 89);
}

TEST(PeerTraffic, Iommu) {
  Machine machine = pci_only();
  EXPECT_EQ(ask_traffic("network-iommu", machine).answer, Answer::ok);
  for (PciFunction& function : *machine.kernel.functions.value)
    function.iommu_group_type = "DMA-FQ";
  Outcome outcome = ask_traffic("network-iommu", machine);
  EXPECT_EQ(outcome.answer, Answer::fires);
  EXPECT_FALSE(outcome.missing.empty());
  EXPECT_EQ(ask_traffic("network-iommu", healthy_h100()).answer, Answer::not_applicable)
      << "NVLink";
  machine.surroundings.hypervisor = known<std::string>("KVM", "DMI");
  EXPECT_EQ(ask_traffic("network-iommu", machine).answer, Answer::not_applicable);
  machine.kernel.functions = unknown<std::vector<PciFunction>>("no /sys");
  EXPECT_EQ(ask_traffic("network-iommu", machine).answer, Answer::unknown);
}

TEST(PeerTraffic, Acs) {
  Machine machine = pci_only();
  EXPECT_EQ(ask_traffic("network-acs", machine).answer, Answer::unknown) << "only root may see";
  for (PciFunction& function : *machine.kernel.functions.value)
    function.acs_redirects = false;
  EXPECT_EQ(ask_traffic("network-acs", machine).answer, Answer::ok);
  machine.kernel.functions.value->at(0).acs_redirects = true;
  EXPECT_EQ(ask_traffic("network-acs", machine).fields["count"], "1");
  EXPECT_EQ(ask_traffic("network-acs", healthy_desktop_4090()).answer, Answer::not_applicable);
}

TEST(Limits, LockedMemory) {
  Machine machine = node();
  EXPECT_EQ(ask_traffic("network-memlock-low", machine).answer, Answer::ok);
  machine.system.memlock_bytes = 8ULL << 20U;
  EXPECT_EQ(ask_traffic("network-memlock-low", machine).fields["limit"], "8192 KiB");
  machine.system.user = known<uint64_t>(0, "geteuid");
  EXPECT_EQ(ask_traffic("network-memlock-low", machine).answer, Answer::not_applicable);
  machine.surroundings.container = known(ContainerKind::docker, "/.dockerenv");
  EXPECT_EQ(ask_traffic("network-memlock-low", machine).answer, Answer::fires);
  machine.system.memlock_bytes.reset();
  EXPECT_EQ(ask_traffic("network-memlock-low", machine).answer, Answer::unknown);
  EXPECT_EQ(ask_traffic("network-memlock-low", healthy_h100()).answer, Answer::not_applicable);
}

TEST(Limits, LockedMemoryOfAProcess) {
  Machine machine = node();
  EXPECT_EQ(ask_traffic("network-memlock-of-process", machine).answer, Answer::ok);
  GpuProcess process;
  process.pid = 4711;
  process.name = "python3";
  process.memlock_bytes = 64ULL << 10U;
  process.unit = "slurmd.service";
  machine.processes.value->push_back(process);
  EXPECT_EQ(ask_traffic("network-memlock-of-process", machine).fields["unit"], "slurmd.service");
  machine.system.memlock_bytes = 64ULL << 10U;
  EXPECT_EQ(ask_traffic("network-memlock-of-process", machine).answer, Answer::not_applicable);
}

TEST(Limits, MemoryThatCannotBePinned) {
  Machine machine = node();
  EXPECT_EQ(ask_traffic("network-memory-not-pinnable", machine).answer, Answer::unknown);
  machine.kernel.cma_bytes = known<uint64_t>(32ULL << 20U, "/proc/meminfo");
  machine.kernel.cma_free_bytes = known<uint64_t>(31ULL << 20U, "/proc/meminfo");
  EXPECT_EQ(ask_traffic("network-memory-not-pinnable", machine).answer, Answer::ok);
  machine.kernel.cma_free_bytes.value = 10ULL << 30U;
  Outcome outcome = ask_traffic("network-memory-not-pinnable", machine);
  EXPECT_EQ(outcome.answer, Answer::fires);
  EXPECT_EQ(outcome.fields["bytes"], "10.7 GB");
  EXPECT_FALSE(outcome.missing.empty());
  // An area that the administrator asked for is large by intent.
  machine.kernel.cma_bytes.value = 10ULL << 30U;
  EXPECT_EQ(ask_traffic("network-memory-not-pinnable", machine).answer, Answer::ok);
  machine.network.ports.clear();
  EXPECT_EQ(ask_traffic("network-memory-not-pinnable", machine).answer, Answer::not_applicable);
}

TEST(Limits, FilesAndPids) {
  Machine machine = node();
  EXPECT_EQ(ask_traffic("network-few-open-files", machine).answer, Answer::unknown);
  machine.system.open_files = 1024U;
  EXPECT_EQ(ask_traffic("network-few-open-files", machine).answer, Answer::fires);
  machine.system.open_files = 65536U;
  EXPECT_EQ(ask_traffic("network-few-open-files", machine).answer, Answer::ok);
  EXPECT_EQ(ask_traffic("network-few-pids", machine).answer, Answer::not_applicable);
  machine.surroundings.pids_max = 100U;
  EXPECT_EQ(ask_traffic("network-few-pids", machine).answer, Answer::fires);
  machine.surroundings.pids_max = UINT64_MAX;
  EXPECT_EQ(ask_traffic("network-few-pids", machine).answer, Answer::ok);
}

// Kernel log lines as the drivers print them, against the rows' patterns.
TEST(NetworkLog, PatternsFit) {
  auto tables = facts().checks();
  ASSERT_TRUE(tables);
  auto fields = [&](const std::string& id, const std::string& line) {
    for (const CheckRow& row : (*tables)->checks)
      if (row.id == id) return Regex::compile(row.log)->fields_in(line);
    return std::optional<std::map<std::string, std::string>>();
  };
  auto symbol =
      fields("network-peermem-symbols", "nvidia_peermem: disagrees about version of symbol "
                                        "ib_register_peer_memory_client");
  ASSERT_TRUE(symbol);
  EXPECT_EQ((*symbol)["symbol"], "ib_register_peer_memory_client");
  auto power = fields("network-nic-power",
                      "mlx5_core 0000:5c:00.0: mlx5_pcie_event:299:(pid 268269): Detected "
                      "insufficient power on the PCIe slot (27W).");
  ASSERT_TRUE(power);
  EXPECT_EQ((*power)["device"], "0000:5c:00.0");
  EXPECT_EQ((*power)["watts"], "27");
  auto cable = fields("network-nic-cable",
                      "mlx5_core 0000:5c:00.0: Port module event[error]: module 0, Cable error, "
                      "High Temperature");
  ASSERT_TRUE(cable);
  EXPECT_EQ((*cable)["what"], "High Temperature");
  EXPECT_TRUE(fields("network-nic-failed", "mlx5_core 0000:5c:00.0: poll_health:830:(pid 0): "
                                           "device's health compromised - reached miss count"));
  auto crash = fields("libraries-nccl-crash",
                      "python3[4711]: segfault at 0 ip 00007f2 sp 00007ff error 4 in "
                      "libnccl.so.2.18.1[7f20+1000]");
  ASSERT_TRUE(crash);
  EXPECT_EQ((*crash)["program"], "python3");
  EXPECT_EQ((*crash)["library"], "libnccl.so.2.18.1");
  EXPECT_FALSE(fields("libraries-nccl-crash", "python3[1]: segfault at 0 in libc.so.6"));
}

} // namespace
} // namespace gpuvet::testing
