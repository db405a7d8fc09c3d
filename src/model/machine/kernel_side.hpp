// The GPUs and the driver as the kernel shows them, without NVML: works when everything above is
// broken.
#pragma once

#include "base/observed.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gpuvet {

struct PciFunction {
  std::string address;       // "0000:65:00.0"
  std::string id;            // "10de:2335"
  std::string subsystem;     // "10de:16c1"; empty: not readable
  uint32_t device_class = 0; // 0x030200
  std::string driver;        // bound: "nvidia", "nouveau", "vfio-pci"; empty: none
  std::optional<uint32_t> numa_node;
  std::string link_speed, link_speed_max; // "16.0 GT/s PCIe"; empty: not readable
  std::optional<uint32_t> link_width, link_width_max;
  std::string port_speed_max; // of the bridge above
  std::optional<uint32_t> port_width_max;
  std::string port_address, port_runtime_power; // of that bridge; empty: on the root bus
  // Does a bridge above send traffic between GPUs up to the root (ACS)? nullopt: only root may see.
  std::optional<bool> acs_redirects;
  struct Bar {
    uint64_t start = 0, size = 0;
  };
  std::vector<Bar> bars;               // six, in order; size 0: unused
  std::optional<bool> config_all_ones; // config space reads 0xff: fell off the bus
  std::optional<uint64_t> aer_correctable, aer_nonfatal, aer_fatal; // totals since boot
  std::string runtime_power;                                        // power/control: "on", "auto"
  std::string runtime_status;   // power/runtime_status: "active", "suspended"
  std::string iommu_group_type; // "DMA", "DMA-FQ", "identity"; empty: no IOMMU group
  std::optional<bool> enabled;
  std::optional<uint64_t> interrupts; // message-signalled ones, /sys/.../msi_irqs
};

struct KernelModule {
  std::string name;    // "nvidia_uvm"
  std::string version; // /sys/module/NAME/version; empty: none
  std::string srcversion;
  std::string state; // "live"
  std::optional<uint64_t> references;
  std::vector<std::string> holders;
  std::map<std::string, std::string> parameters; // readable ones
  std::string taint;                             // "OE", "POE"
};

// What a module file says of itself; Source::module_info() reads it, compressed or not.
struct ModuleInfo {
  std::string version, license, srcversion, vermagic; // of section .modinfo; empty: not there
  std::optional<bool> is_signed; // a signature is appended; nullopt: the end was not read
  std::string signer;            // of the signature's PKCS #7 block; empty: not told
};

struct ModuleFile { // nvidia*.ko* below /lib/modules/RELEASE
  std::string path, kernel;
  std::string version; // modinfo; empty: not read
  std::string license; // "NVIDIA" or "Dual MIT/GPL"
  std::string signer;  // empty: unsigned, when `is_signed` is false
  std::optional<bool> is_signed;
  std::string told_by; // the neighbour that was read instead; empty: the file itself
  std::string problem; // why nothing was read; empty: it was
};

enum class Flavour : uint8_t { proprietary, open };

struct DeviceNode {
  std::string path;
  bool exists = false;
  bool character = false;
  uint32_t major = 0, minor = 0;
  uint32_t mode = 0; // permission bits
  uint64_t uid = 0, gid = 0;
  // errno of opening it read-write; 0: opened; nullopt: not tried. A GPU's own node is not opened,
  // since that would wake the GPU: there the kernel is asked for permission only (access(2)), which
  // asks the device cgroup too.
  std::optional<int> open_error;
};

struct DriverCapability {        // below /proc/driver/nvidia/capabilities
  std::string name;              // "gpu0/mig/gi1/access"
  std::optional<uint32_t> minor; // of /dev/nvidia-caps/nvidia-capN
};

struct DkmsEntry {
  std::string module, version, kernel; // "nvidia", "550.127.05", "6.8.0-45-generic"
  std::string state;                   // "added", "built", "installed"
  std::string log;                     // build/make.log, when a build failed
  std::string error;                   // the first error line in it
};

struct LogLine {
  std::optional<double> seconds; // since boot
  std::string text;              // without time stamp
  uint64_t more = 0;             // lines that followed and differ in numbers only; not kept
};

struct KernelLog {
  Observed<std::vector<LogLine>> lines; // only those that bear on GPUs, oldest first
  std::string from;                     // "/dev/kmsg", "journalctl -k -b"
  uint64_t left_out = 0;                // lines that bear on GPUs and were not kept, in all
};

// One Xid, many lines: the driver may print the same one hundreds of thousands of times.
struct XidEvent {
  uint32_t code = 0;
  bool sxid = false;       // of an NVSwitch
  std::string pci_address; // "0000:65:00"
  std::string detail;      // rest of the first line
  std::string process;     // "pid=123, name=python"
  uint64_t count = 1;
  std::optional<double> first_s, last_s; // since boot
};

struct KernelSide {
  Observed<std::vector<PciFunction>> functions; // vendor 10de: displays, NVSwitches, bridges
  Observed<std::vector<KernelModule>>
      modules; // nvidia*, nouveau, nova_core, vfio*, nv_peer_mem, gdrdrv, ib_core
  Observed<std::vector<ModuleFile>> module_files;        // for the running kernel
  std::vector<std::string> other_kernels_with_module;    // releases
  Observed<bool> headers;                                // /lib/modules/RELEASE/build is complete
  Observed<std::string> module_version;                  // of the loaded nvidia module
  Observed<Flavour> flavour;                             // of the loaded one
  Observed<std::string> kernel_compiler;                 // of /proc/version, "gcc 12.2.0"
  Observed<std::map<std::string, uint32_t>> char_majors; // /proc/devices: "nvidia-uvm" -> 511
  // /dev/nvidiactl and /dev/nvidia-uvm always, there or not; the others as found. Empty: /dev could
  // not be looked at.
  std::vector<DeviceNode> nodes;
  Observed<std::vector<std::string>> proc_gpus; // /proc/driver/nvidia/gpus
  std::map<std::string, std::map<std::string, std::string>>
      proc_gpu_information;                       // address -> "Model", "GPU Excluded", ...
  std::map<std::string, std::string> proc_params; // /proc/driver/nvidia/params
  std::vector<DriverCapability> capabilities;     // MIG and others
  std::vector<DkmsEntry> dkms;
  Observed<bool> secure_boot;
  std::string lockdown;                    // "none", "integrity"
  std::vector<std::string> modprobe_lines; // "file:line: text" that name nvidia, nouveau, nova
  Observed<std::string> command_line;      // /proc/cmdline
  // Areas that the kernel keeps for contiguous buffers (CMA), and free pages of that kind. Pages of
  // this kind can't be pinned for devices; more of them than the areas hold is somebody else's
  // doing.
  Observed<uint64_t> cma_bytes, cma_free_bytes; // of /proc/meminfo; 0: the kernel has none
  Observed<bool> iommu;                         // /sys/class/iommu has entries
  KernelLog log;
  std::vector<XidEvent> xids;
  std::optional<uint64_t> suspends;          // resumes since boot, from the log
  std::optional<bool> suspend_units_enabled; // nvidia-suspend.service and nvidia-resume.service
  Observed<bool> selinux_enforcing;
  Observed<bool> modprobe_setuid;          // may nvidia-modprobe make nodes for users?
  std::vector<std::string> modules_load;   // "file:line: text" of modules-load.d that name nvidia
  std::optional<bool> dev_char_links;      // /dev/char/MAJOR:MINOR of the GPUs' nodes are there
  std::optional<bool> persistenced_socket; // /run/nvidia-persistenced/socket
};

} // namespace gpuvet
