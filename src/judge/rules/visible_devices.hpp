// CUDA_VISIBLE_DEVICES, read as the CUDA driver reads it.
//
// NVIDIA documents that the list ends at the first entry that is not valid. The rest was tried on a
// machine with two H200 and driver 580.159.04: numbers are read as strtol does ("01", "1.5", " 1"
// and "1gpu" are all 1); "GPU-" must be written in capitals, the digits after it need not, and a
// beginning that fits exactly one GPU is enough; a UUID with a blank before it is not valid;
// numbers and UUIDs don't mix: the list ends where the other kind begins; a device that is named
// twice makes cuInit fail with error 101.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpuvet {

struct VisibleDevices {
  std::vector<size_t> devices;     // positions among the GPUs, in the order of the list
  std::vector<std::string> listed; // entries as written
  bool empty = false;              // nothing but blanks: no device
  bool twice = false;              // `bad` names a device again
  std::string bad;                 // the entry that ended the list; empty: none did
  std::string why_bad;             // "there are 2 GPUs, numbered 0 to 1"
  size_t mig_entries = 0;          // "MIG-...": these are taken as valid
};

// `uuids`: of all GPUs, in CUDA's order; empty strings where a UUID is not known. `has_mig`:
// entries "MIG-..." may be valid.
VisibleDevices read_visible_devices(std::string_view value, const std::vector<std::string>& uuids,
                                    bool has_mig);

} // namespace gpuvet
