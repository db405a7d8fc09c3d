// The cloud by devices that only its machines have: there where a container or a small hypervisor
// hides the firmware's tables.
#include "base/text.hpp"
#include "probe/place/parts.hpp"

#include <algorithm>
#include <array>

namespace gpuvet::place {
namespace {

struct CloudDevice {
  std::string_view vendor, device, cloud; // an empty device: every one of this vendor
};

// Sources: pci.ids, in which 1d0f is Amazon.com, and the drivers' tables in Linux (google/gve,
// microsoft/mana, infiniband/erdma). The other vendors' numbers are found elsewhere too (phones,
// Hyper-V, servers of Alibaba's make): there the device decides.
constexpr std::array<CloudDevice, 6> kDevices = {{{"0x1d0f", "", "aws"},
                                                  {"0x1ae0", "0x0042", "gcp"},     // gVNIC
                                                  {"0x1ae0", "0x001f", "gcp"},     // NVMe
                                                  {"0x1414", "0x00ba", "azure"},   // MANA
                                                  {"0x1ded", "0x107f", "alibaba"}, // eRDMA
                                                  {"0x1ded", "0x5007", "alibaba"}}};

} // namespace

ToldCloud cloud_by_devices(const Source& source) {
  const std::string folder = "/sys/bus/pci/devices";
  for (const std::string& address : names_in(source, folder)) {
    const std::string base = folder + "/" + address;
    const std::string vendor = lower_ascii(first_line(source, base + "/vendor"));
    if (std::none_of(kDevices.begin(), kDevices.end(),
                     [&](const CloudDevice& row) { return row.vendor == vendor; }))
      continue;
    const std::string device = lower_ascii(first_line(source, base + "/device"));
    for (const CloudDevice& row : kDevices)
      if (row.vendor == vendor && (row.device.empty() || row.device == device))
        return {std::string(row.cloud), base + " (" + vendor + ":" + device + ")"};
  }
  return {};
}

} // namespace gpuvet::place
