// WSL, Jetson, virtual machine, cloud: by files that any user may read, without the network.
#include "base/text.hpp"
#include "probe/place/parts.hpp"

#include <array>

namespace gpuvet::place {
namespace {

const std::string kDmi = "/sys/class/dmi/id/";

struct Dmi { // what the firmware says of the machine
  std::string vendor, product, version, bios, asset, board;
  bool is_known = false;
};

struct Rule { // `text` stands in the field
  std::string Dmi::*field;
  std::string_view text, name;
};

// Sources: cloud-init, tools/ds-identify and the data sources' pages; each cloud's page on how to
// identify an instance from inside.
const std::array<Rule, 18> kClouds = {{{&Dmi::vendor, "Amazon EC2", "aws"},
                                       {&Dmi::bios, "Amazon EC2", "aws"},
                                       {&Dmi::version, "amazon", "aws"},
                                       {&Dmi::asset, "7783-7084-3265-9085-8269-3286-77", "azure"},
                                       {&Dmi::product, "Google Compute Engine", "gcp"},
                                       {&Dmi::product, "Alibaba Cloud ECS", "alibaba"},
                                       {&Dmi::asset, "OracleCloud.com", "oracle"},
                                       {&Dmi::vendor, "Tencent Cloud", "tencent"},
                                       {&Dmi::asset, "HUAWEICLOUD", "huawei"},
                                       {&Dmi::asset, "ibmcloud", "ibm"},
                                       {&Dmi::vendor, "DigitalOcean", "digitalocean"},
                                       {&Dmi::vendor, "Hetzner", "hetzner"},
                                       {&Dmi::vendor, "Scaleway", "scaleway"},
                                       {&Dmi::vendor, "Vultr", "vultr"},
                                       {&Dmi::vendor, "UpCloud", "upcloud"},
                                       {&Dmi::vendor, "Linode", "linode"},
                                       {&Dmi::vendor, "Akamai", "linode"},
                                       {&Dmi::vendor, "Nebius", "nebius"}}};

const std::array<Rule, 16> kHypervisors = {{{&Dmi::product, ".metal", "none"}, // of Amazon EC2
                                            {&Dmi::vendor, "Amazon EC2", "KVM"},
                                            {&Dmi::product, "Google Compute Engine", "KVM"},
                                            {&Dmi::product, "Alibaba Cloud ECS", "KVM"},
                                            {&Dmi::vendor, "QEMU", "KVM"},
                                            {&Dmi::product, "KVM", "KVM"},
                                            {&Dmi::product, "OpenStack", "KVM"},
                                            {&Dmi::product, "RHEV", "KVM"},
                                            {&Dmi::product, "Virtual Machine", "Hyper-V"},
                                            {&Dmi::vendor, "VMware", "VMware"},
                                            {&Dmi::vendor, "Xen", "Xen"},
                                            {&Dmi::product, "HVM domU", "Xen"},
                                            {&Dmi::vendor, "innotek", "VirtualBox"},
                                            {&Dmi::product, "VirtualBox", "VirtualBox"},
                                            {&Dmi::vendor, "Parallels", "Parallels"},
                                            {&Dmi::product, "Apple Virtualization", "Apple"}}};

Dmi dmi_of(const Source& source) {
  Dmi dmi;
  dmi.vendor = first_line(source, kDmi + "sys_vendor");
  dmi.product = first_line(source, kDmi + "product_name");
  dmi.version = first_line(source, kDmi + "product_version");
  dmi.bios = first_line(source, kDmi + "bios_vendor");
  dmi.asset = first_line(source, kDmi + "chassis_asset_tag");
  dmi.board = first_line(source, kDmi + "board_asset_tag");
  dmi.is_known = !dmi.vendor.empty() || !dmi.product.empty();
  return dmi;
}

template <size_t N> std::string first_match(const Dmi& dmi, const std::array<Rule, N>& rules) {
  for (const Rule& rule : rules)
    if (holds_word(dmi.*rule.field, rule.text)) return std::string(rule.name);
  return {};
}

// Clocks that only guests have; there also where no firmware tables are.
std::string hypervisor_of_clock(const Source& source) {
  std::string clocks =
      first_line(source, "/sys/devices/system/clocksource/clocksource0/available_clocksource");
  if (holds_word(clocks, "kvm-clock")) return "KVM";
  if (holds_word(clocks, "hyperv_clocksource")) return "Hyper-V";
  if (holds_word(clocks, "xen")) return "Xen";
  return {};
}

void find_hypervisor(const Source& source, const Dmi& dmi, Surroundings& around) {
  std::string by_dmi = first_match(dmi, kHypervisors);
  std::string by_clock = hypervisor_of_clock(source);
  if (!by_dmi.empty())
    around.hypervisor = known(by_dmi, kDmi);
  else if (!by_clock.empty())
    around.hypervisor = known(by_clock, "clocks of the kernel");
  else if (around.wsl)
    around.hypervisor = known(std::string("Hyper-V"), "WSL 2");
  else if (dmi.is_known)
    around.hypervisor = known(std::string("none"), kDmi + " names no hypervisor");
  else
    around.hypervisor = unknown<std::string>(kDmi + " is not readable here");
}

// EC2's Nitro machines have their instance's id there: "i-0af01c0123456789a" (EC2 user guide,
// "Detect whether a host is an EC2 instance").
bool is_ec2_instance(std::string_view board) {
  return board.starts_with("i-") && (board.size() == 10 || board.size() == 19) &&
         board.find_first_not_of("0123456789abcdef", 2) == std::string_view::npos;
}

void find_cloud(const Source& source, const Dmi& dmi, Surroundings& around) {
  const std::string told_by_cloud_init = "/run/cloud-init/cloud-id";
  std::string cloud = first_match(dmi, kClouds);
  if (cloud.empty() && is_ec2_instance(dmi.board)) cloud = "aws";
  std::string id = first_line(source, told_by_cloud_init);
  if (id == "gce") id = "gcp";
  bool id_names_one = !id.empty() && id != "nocloud" && id != "none" && id != "configdrive";
  if (!cloud.empty())
    around.cloud = known(cloud, kDmi);
  else if (id_names_one)
    around.cloud = known(id, told_by_cloud_init);
  else if (dmi.is_known)
    around.cloud = known(std::string("none"), kDmi + " names no cloud");
  else if (ToldCloud told = cloud_by_devices(source); !told.cloud.empty())
    around.cloud = known(told.cloud, told.by);
  else
    around.cloud = unknown<std::string>(kDmi + " is not readable here, and no device tells");
  // "p4d.24xlarge"; other clouds tell the type over the network only.
  if (cloud == "aws" && holds_word(dmi.product, ".")) around.instance_type = dmi.product;
}

void find_wsl(const Source& source, Surroundings& around) {
  SystemFacts system = source.system();
  std::string release = system.kernel_release ? *system.kernel_release : "";
  bool of_microsoft = holds_word(lower_ascii(release), "microsoft");
  bool interop = exists(source, "/proc/sys/fs/binfmt_misc/WSLInterop") ||
                 exists(source, "/proc/sys/fs/binfmt_misc/WSLInterop-late");
  // The first WSL has no Linux kernel; it calls itself 4.4.0-19041-Microsoft.
  around.wsl1 = holds_word(release, "-Microsoft") && !holds_word(release, "WSL2");
  around.wsl = (of_microsoft || interop) && !around.wsl1;
  auto node = source.entry("/dev/dxg");
  if (node || (is_missing(node.error()) && source.kind != Seen::image_folder))
    around.dxg_node = node.has_value();
  around.wsl_libraries = names_in(source, "/usr/lib/wsl/lib");
}

// "# R36 (release), REVISION: 4.0, GCID: 37537400, BOARD: generic, ..."
void find_jetson(const Source& source, Surroundings& around) {
  std::string line = first_line(source, "/etc/nv_tegra_release");
  if (line.starts_with("# ")) line.erase(0, 2);
  std::vector<std::string> parts = split_at(line, ',');
  around.jetson_release = parts[0];
  if (parts.size() > 1) around.jetson_release += "," + parts[1];
  auto compatible = source.read_file("/proc/device-tree/compatible", 4096);
  around.jetson = !line.empty() || (compatible && holds_word(*compatible, "nvidia,tegra"));
}

} // namespace

void probe_machine_kind(const Source& source, Surroundings& around) {
  Dmi dmi = dmi_of(source);
  around.dmi_vendor = dmi.vendor;
  around.dmi_product = dmi.product;
  find_wsl(source, around);
  find_jetson(source, around);
  find_hypervisor(source, dmi, around);
  find_cloud(source, dmi, around);
  if (exists(source, "/dev/tdx_guest")) around.confidential_guest = "TDX";
  if (exists(source, "/dev/sev-guest")) around.confidential_guest = "SEV-SNP";
}

} // namespace gpuvet::place
