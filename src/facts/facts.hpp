// What gpuvet knows about the field, as typed rows read from facts/*.toml (embedded in the binary;
// `--facts DIR` replaces them for a try-out). Every row names its source. An absent optional is
// "not established", never "no".
//
// Tables load on first use and only the ones that a command asks for: the GPU table is large.
#pragma once

#include "base/compute_capability.hpp"
#include "base/result.hpp"
#include "base/version.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuvet {

// --- gpus.toml -------------------------------------------------------------------------------

// One marketing name on one compute capability.
struct Gpu {
  std::string name;                 // as nvidia-smi prints it, "NVIDIA H200"
  std::vector<std::string> aliases; // what people type
  uint32_t sm = 0;                  // compute capability x 10
  std::string architecture;         // "Hopper"
  std::vector<std::string> chips;   // "GH100"
  std::string segment;              // "datacenter", "geforce", ...
  bool tegra = false;
  std::vector<std::string> pci_ids;           // "10de:2335"
  std::optional<uint32_t> last_driver_branch; // absent: still supported
  std::optional<double> memory_gb, memory_bandwidth_gb_s, fp32_tflops, fp16_tensor_tflops, tdp_w;
  std::optional<int> sm_count;
  std::string confidence; // of the specifications
  std::string source;
};

struct GpuMatch {
  const Gpu* gpu = nullptr;             // set when exactly one compute capability fits
  std::vector<const Gpu*> candidates;   // set when the name is ambiguous
  std::vector<std::string> suggestions; // set when nothing fits: names that look alike
};

// --- toolkits.toml, drivers.toml, loading.toml ------------------------------------------------

struct Toolkit {
  std::string version;              // "12.8"
  std::vector<Target> sass_targets; // with a and f
  std::vector<Target> ptx_targets;
  std::string ptx_isa;
  std::string driver_branch;                            // empty: not established
  std::string min_driver_linux, min_driver_windows;     // full function, PTX JIT included
  std::string minor_driver_linux, minor_driver_windows; // minor-version compatibility
  std::string default_arch;
  std::string max_gcc, min_gcc, max_clang; // empty: not established
  std::vector<std::string> sources;
};

struct DriverBranch {
  uint32_t branch = 0; // 580
  Version cuda;        // highest CUDA version, "13.0"
  Version ptx_isa;     // highest PTX ISA that its JIT reads
  std::string source;
};

// The last driver branch for a range of compute capabilities.
struct ArchitectureEnd {
  std::string architecture;
  uint32_t first_sm = 0, last_sm = 0;
  uint32_t last_branch = 0;
  std::string source;
};

struct PtxIsa {
  Version isa;
  Version cuda; // that introduced it
};

// An `f` target and the devices that it runs on.
struct Family {
  uint32_t sm = 0;
  std::vector<uint32_t> devices;
  std::string first_cuda, last_cuda, note, source;
};

struct MinorFloor {
  uint32_t cuda_major = 0;
  std::string min_linux, min_windows;
  std::string source;
};

struct SassRange { // which toolkits know a target
  Target target;
  std::string first_cuda, last_cuda; // last empty: still known
};

// Rules of loading, LOADING.md's tables.
struct LoadRules {
  std::vector<Family> families;
  std::vector<uint32_t> tegra;        // capabilities of Tegra devices: exact match only
  std::vector<PtxIsa> ptx_isas;       // ascending
  std::vector<DriverBranch> branches; // ascending
  std::vector<ArchitectureEnd> ends;
  std::vector<MinorFloor> floors;
  std::vector<SassRange> sass_ranges;
};

// --- errors.toml, frameworks.toml, buildvars.toml ---------------------------------------------

struct ErrorCode {
  int code = 0;
  std::vector<std::string> names; // runtime and driver spelling
  std::string text;               // what the program prints
  std::string cause;              // empty: not established
  std::string source;
};

struct FrameworkBuild {
  std::string framework; // "torch"
  std::string version;   // may be a range, as released: "1.5-1.7"
  std::string variant;   // "cu128"; empty where there is one
  std::string platform;
  std::string cuda;
  std::vector<Target> sass;
  bool sass_known = false;
  std::vector<Target> ptx;
  bool ptx_known = false; // true with an empty list: no PTX
  std::string cudnn, python, confidence, note;
  std::vector<std::string> sources;
};

struct BuildVariable {
  std::string tool;
  std::vector<std::string> variables;
  std::string number_format, separator, ptx_syntax, example, since;
  std::vector<std::string> keywords, gotchas, sources;
};

// --- access -----------------------------------------------------------------------------------

// Reads a table; a damaged --facts file is an error with its line.
class Facts {
 public:
  Facts();                               // the embedded tables
  explicit Facts(std::string directory); // --facts DIR
  ~Facts();
  Facts(Facts&&) noexcept;
  Facts& operator=(Facts&&) noexcept;

  Result<const std::vector<Gpu>*> gpus() const;
  Result<const std::vector<Toolkit>*> toolkits() const;
  Result<const LoadRules*> load_rules() const;
  Result<const std::vector<ErrorCode>*> errors() const;
  Result<const std::vector<FrameworkBuild>*> frameworks() const;
  Result<const std::vector<BuildVariable>*> buildvars() const;

 private:
  struct Tables;
  Tables* tables_;
};

// Finds a GPU by PCI id, exact name or alias, in that order; ignores case, spaces, '-', '_' and
// brackets, and a leading "NVIDIA". A name that was sold with several capabilities is refused with
// the candidates.
GpuMatch find_gpu(const std::vector<Gpu>& gpus, std::string_view query);

} // namespace gpuvet
