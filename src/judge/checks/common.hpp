// What the checks of several subjects ask of a machine.
#pragma once

#include "base/version.hpp"
#include "judge/doctor/check.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuvet {

// --- where we are ------------------------------------------------------------------------------

// Seen to be in one; "not known" counts as no.
bool in_container(const Machine& machine);
bool in_container(const Machine& machine, ContainerKind kind);

// Anything tells of a GPU of NVIDIA: the PCI bus, NVML, WSL, Jetson.
bool has_gpu(const Machine& machine);
// GPUs that work: NVML's, else those on the PCI bus.
size_t gpu_count(const Machine& machine);

// --- driver ------------------------------------------------------------------------------------

bool module_loaded(const Machine& machine, std::string_view name);
// Of the loaded module, else what NVML says; nullopt: neither is known.
std::optional<Version> driver_version(const Machine& machine);
// Highest CUDA version that the driver itself serves, apart from cuda-compat libraries.
std::optional<Version> driver_cuda(const Machine& machine, const Facts& facts);
// "NVIDIA H100 80GB HBM3", or the PCI id, or "the GPU".
std::string first_gpu_name(const Machine& machine);

// Kinds of the GPUs by their PCI ids: "datacenter", "geforce", ...; one entry per GPU, empty where
// the table does not know it.
std::vector<std::string> gpu_segments(const Machine& machine, const Facts& facts);

// A driver library as a program without a run path gets it.
struct Picked {
  std::string path, real_path; // as found; links resolved
  std::string version;         // "580.65.06"; empty: its name does not tell
  bool stub = false, compat = false;
  const LoadEdge* edge = nullptr;    // null: the loader's state is not known
  const LibraryFile* file = nullptr; // null: not among the files that were listed
};
std::optional<Picked> picked_libcuda(const Machine& machine);
std::optional<Picked> picked_nvml(const Machine& machine);

// The row of the GPU with this PCI id ("10de:2335"); null: the tables do not have it.
const Gpu* gpu_by_id(const Facts& facts, const std::string& id);
// "GPU 0000:65:00.0 (NVIDIA H200)", by the tables.
std::string gpu_label(const PciFunction& gpu, const Facts& facts);
// Addresses as the kernel and NVML write them ("0000:65:00.0", "00000000:65:00.0") are compared
// without regard to leading zeroes, case and a missing function.
bool same_address(std::string_view a, std::string_view b);
// NVML's answers for the GPU at this address; null: NVML was not asked or does not list it.
const NvmlGpu* nvml_gpu_at(const Machine& machine, std::string_view address);
// "nvmlDeviceGetRemappedRows, GPU 3 (0000:65:00.0): pending"
std::string nvml_evidence(std::string_view call, const NvmlGpu& gpu, std::string_view value);

// Not meant for programs of this system: reserved for virtual machines (vfio), or excluded by a
// parameter of the driver.
bool is_given_away(const Machine& machine, const PciFunction& gpu);
// "00000000:5D:00.0" -> "0000:5d:00.0"
std::string plain_address(std::string_view address);

// One GPU that fails is an error where others work, and a blocker where it was the only one.
Severity by_others(const Machine& machine);

// The node at this path; null: it is not there, or /dev could not be looked at.
const DeviceNode* node_at(const Machine& machine, std::string_view path);
const ServiceUnit* service_at(const Machine& machine, std::string_view name);
// Installed packages whose name starts with one of these; removed ones ("rc") do not count.
std::vector<const Package*> packages_with(const Machine& machine,
                                          const std::vector<std::string_view>& starts);
// Evidence: lines of the kernel log that hold one of these texts, at most three, then how many
// more.
std::vector<std::string> log_evidence(const Machine& machine,
                                      const std::vector<std::string_view>& texts);

// The last part of a driver library's name: "580.65.06" of ".../libcuda.so.580.65.06".
std::string version_of_path(std::string_view path);

// --- loader ------------------------------------------------------------------------------------

// The version of a CUDA library: as listed, by its package, or by its name; may be its first number
// only.
std::string library_version(const Machine& machine, const std::string& path);

const ResolvedSoname* resolved(const Machine& machine, std::string_view soname);
std::string_view folder_of(std::string_view path);
std::string_view name_of(std::string_view path);
bool below(std::string_view path, std::string_view folder); // in it, or deeper
// The line of the loader's settings that names the folder of `path`; null: none.
const LoaderState::Folder* conf_line(const Machine& machine, std::string_view path);

// The rule by which it was found: "LD_LIBRARY_PATH", "/etc/ld.so.conf.d/nvidia.conf:1", "the
// loader's cache".
std::string rule_name(const Machine& machine, const LoadEdge& edge);
// Fields for rows that take a folder from the loader: "rule" and "folder", and either
// "path_without" or "unset_path" (LD_LIBRARY_PATH without the folder) or "conf_file" and
// "conf_folder".
void add_way_out(const Machine& machine, const LoadEdge& edge,
                 std::map<std::string, std::string>& fields);

// --- environment -------------------------------------------------------------------------------

// A variable as it is set here, in a running GPU process, or by a start-up file.
struct SetHere {
  std::string value;
  std::string where;      // evidence line
  bool here = false;      // in this environment
  std::string process;    // "python3 (pid 12)"; empty: not of a process
  std::string file, line; // of a start-up file, or of NCCL's settings
};
std::vector<SetHere> settings_of(const Machine& machine, const std::string& name);
// As settings_of(), without start-up files: what is in force.
std::vector<SetHere> in_force(const Machine& machine, const std::string& name);
// Value in this environment; empty: not set.
std::string variable(const Machine& machine, const std::string& name);
// Switches are on with anything but "", "0", "false", "no", "off".
bool switched_on(std::string_view value);

// --- words -------------------------------------------------------------------------------------

// "3 GPUs", "1 GPU"
std::string counted(size_t count, std::string_view noun);
std::vector<std::string> split(std::string_view text, std::string_view separators);
std::string cuda_name(uint32_t number); // "13.0" of 13000

} // namespace gpuvet
