// What gpuvet knows about the field, as typed rows read from facts/*.toml (embedded in the binary;
// `--facts DIR` replaces them for a try-out). Every row names its source. An absent optional is
// "not established", never "no".
//
// Tables load on first use and only the ones that a command asks for: the GPU table is large.
#pragma once

#include "base/compute_capability.hpp"
#include "base/result.hpp"
#include "base/version.hpp"
#include "facts/checks.hpp"

#include <cstdint>
#include <functional>
#include <memory>
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
  bool mobile = false;              // notebooks and embedded modules
  bool tegra = false;
  std::vector<std::string> pci_ids; // "10de:2335"
  std::string first_driver;         // oldest driver that is known to list the name; no minimum
  std::optional<uint32_t> last_driver_branch; // absent: still supported
  std::vector<double> memory_sizes_gb;        // as sold
  std::optional<double> memory_gb;            // where there is one size
  std::optional<double> memory_bandwidth_gb_s, fp32_tflops, tdp_w;
  std::optional<double> fp16_tensor_tflops;         // dense, fp32 accumulate
  std::optional<double> fp16_tensor_fp16acc_tflops; // dense, fp16 accumulate
  bool board_tdp = false;                           // tdp_w is that of a board with several GPUs
  std::string pcie;                                 // "5.0 x16"
  std::optional<uint32_t> sm_count;
  std::string confidence, spec_source; // of the specifications
  std::string capability_page;         // of NVIDIA, that names the same capability
  std::string note;
  std::string source;
};

struct Capability {
  uint32_t sm = 0;
  std::string architecture;
  std::optional<uint32_t> year; // of the first product
  std::string examples;         // typical cards
  std::string last_cuda;        // where it is older than the table of targets
  std::string note, source;
};

struct GpuMatch {
  const Gpu* gpu = nullptr;             // set when exactly one compute capability fits
  std::vector<const Gpu*> candidates;   // set when the name is ambiguous
  std::vector<std::string> suggestions; // set when nothing fits: names that look alike
};

// --- toolkits.toml, drivers.toml, loading.toml ------------------------------------------------

struct ToolkitRelease {
  std::string version;                      // "12.4.1"
  std::string driver_linux, driver_windows; // that its release notes ask for
  std::string runfile;                      // driver that the runfile installs
  std::string source;
};

struct Toolkit {
  std::string version;              // "12.8"
  std::vector<Target> sass_targets; // with a and f
  std::vector<Target> ptx_targets;
  std::string targets_from; // not empty: targets are assumed to be those of this toolkit
  std::string ptx_isa;
  std::string driver_branch;                            // empty: not established
  std::string min_driver_linux, min_driver_windows;     // full function, PTX JIT included
  std::string minor_driver_linux, minor_driver_windows; // minor-version compatibility
  std::string default_arch;
  std::string max_gcc, min_gcc, max_clang; // empty: not established
  std::vector<ToolkitRelease> releases;    // ascending
  std::string confidence = "high";
  std::string note;
  std::vector<std::string> sources;
};

struct DriverBranch {
  uint32_t branch = 0; // 580
  Version cuda;        // highest CUDA version, "13.0"
  Version ptx_isa;     // highest PTX ISA that its JIT reads
  std::string confidence = "high";
  std::string note, source;
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
  Version cuda;            // that introduced it
  bool has_toolkit = true; // false: only drivers had this CUDA version
  std::string note, source;
};

// An `f` target and the devices that it runs on.
struct Family {
  uint32_t sm = 0;
  std::vector<uint32_t> devices;
  std::string first_cuda, last_cuda, note, source;
};

// A word in kernel names that stands for an architecture, such as "ampere" in cuBLAS.
struct ArchitectureWord {
  std::string word; // lower case
  uint32_t first_sm = 0, last_sm = 0;
  std::string source;
};

// A library that holds kernels for single architectures and picks among them by the GPU at hand.
struct DispatchingLibrary {
  std::string prefix; // of the file name, "libcublasLt"
  std::string source;
};

struct MinorFloor {
  uint32_t cuda_major = 0;
  std::string min_linux, min_windows;
  std::optional<uint32_t> until_branch; // newer branches are compatible without this rule
  std::string note, source;
};

struct SassRange { // which toolkits know a target
  Target target;
  std::string first_cuda, last_cuda; // last empty: still known
  std::string note, source;
};

struct TegraCapability {
  uint32_t sm = 0;
  std::string name, note, source;
};

struct EnvironmentVariable { // that changes which code is loaded, or when
  std::string name, values, effect;
  std::string default_value; // empty: none, or not established
  std::string confidence = "high";
  std::string source;
};

// Rules of loading, LOADING.md's tables.
struct LoadRules {
  std::vector<Family> families;
  std::vector<uint32_t> tegra; // capabilities of Tegra devices: exact match only
  std::vector<TegraCapability> tegra_rows;
  std::vector<PtxIsa> ptx_isas;       // ascending
  std::vector<DriverBranch> branches; // ascending
  std::vector<ArchitectureEnd> ends;
  std::vector<MinorFloor> floors;
  std::vector<SassRange> sass_ranges;
  std::vector<ArchitectureWord> architecture_words;
  std::vector<DispatchingLibrary> dispatching_libraries;
  std::vector<EnvironmentVariable> environment;
};

// --- errors.toml, frameworks.toml, buildvars.toml ---------------------------------------------

struct ErrorCode {
  int code = 0;
  std::vector<std::string> names; // runtime and driver spelling
  std::string text;               // what the program prints
  std::string cause;              // empty: not established
  std::string fix;                // what to do first; empty: not established
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
  std::string confidence = "high";
};

// A variable that people are told to set and that nothing reads.
struct WrongVariable {
  std::string name, seen_in, truth;
  std::vector<std::string> use;
  std::string source;
};

struct CMakeFeature {
  std::string feature;               // "CMAKE_CUDA_ARCHITECTURES"
  std::vector<std::string> versions; // that brought it, oldest first
  std::string note, source;
};

// One target as each tool wants it written; empty: the tool can't say it.
struct ArchSpelling {
  std::string meaning, nvcc, cmake, torch, tensorflow, spack;
  std::string note, source;
};

// --- features.toml ----------------------------------------------------------------------------

// Something that the hardware can do, and on which capabilities.
struct Feature {
  std::string id, name, group;
  uint32_t first_sm = 0;
  std::optional<uint32_t> last_sm; // absent: later ones have it too
  std::vector<uint32_t> except;    // in between, without it
  std::string target;              // code target that is needed: "a", "f"; empty: any
  std::string note;
  std::vector<uint32_t> note_for; // capabilities that the note is about; empty: all
  std::vector<std::string> sources;
};

bool has_feature(const Feature& feature, uint32_t sm);

struct CapabilityLimits { // of one SM and of one thread block
  uint32_t sm = 0;
  std::string fp64_ratio; // FP32 to FP64 throughput, "2:1"
  uint32_t blocks = 0, warps = 0, threads = 0;
  uint32_t shared_sm_kib = 0, shared_block_kib = 0;
  std::string source;
};

// --- expected.toml ---------------------------------------------------------------------------

// A package that is built against one release of another.
struct Companion {
  std::string package; // "torchvision"
  Version version;     // its release, "0.22"
  std::string of;      // "torch"
  Version of_version;  // "2.7"
  bool or_newer = false;
  std::string source;
};

// Headers of toolkits and of the C library that no compiler takes together.
struct GlibcClash {
  Version last_cuda;     // this toolkit and older ones
  Version first_glibc;   // this C library and newer ones
  std::string functions; // that both declare
  std::string source;
};

// An instance type of a cloud.
struct InstanceType {
  std::string cloud, type; // "aws", "p5.48xlarge"; a trailing '*' stands for any rest
  uint32_t gpus = 0;
  std::string gpu;
  bool nvswitch = false, vgpu = false;
  std::string source;
};

struct Expected {
  std::vector<Companion> companions;
  std::vector<GlibcClash> glibc_clashes;
  std::vector<InstanceType> instances;
};

// The row of the exact type, else one that ends in '*'; null: none.
const InstanceType* find_instance(const Expected& expected, std::string_view cloud,
                                  std::string_view type);

// Tables with a header of their own: facts/checks.hpp, facts/NAME.hpp.
struct ArchTables;
struct LintTables;
struct PickTables;
struct SetupTables;
struct SignatureTables;
struct OomTables;
struct VerifyTables;
struct TextTables;

// --- access -----------------------------------------------------------------------------------

// Gives the text of facts file "gpus.toml".
using FactsReader = std::function<Result<std::string>(const std::string& name)>;

// Reads a table; a damaged --facts file is an error with its line. May be used by several threads.
class Facts {
 public:
  Facts();                            // the embedded tables
  explicit Facts(FactsReader reader); // --facts DIR: TOML from elsewhere
  ~Facts();
  Facts(Facts&&) noexcept;
  Facts& operator=(Facts&&) noexcept;

  Result<const std::vector<Gpu>*> gpus() const;
  Result<const std::vector<Capability>*> capabilities() const;
  Result<const std::vector<Toolkit>*> toolkits() const;
  Result<const LoadRules*> load_rules() const;
  Result<const std::vector<ErrorCode>*> errors() const;
  Result<const std::vector<FrameworkBuild>*> frameworks() const;
  Result<const std::vector<BuildVariable>*> buildvars() const;
  Result<const std::vector<WrongVariable>*> wrong_variables() const;
  Result<const std::vector<CMakeFeature>*> cmake_features() const;
  Result<const std::vector<ArchSpelling>*> arch_spellings() const;
  Result<const std::vector<Feature>*> features() const;
  Result<const std::vector<CapabilityLimits>*> capability_limits() const;
  Result<const Expected*> expected() const;
  Result<const CheckTables*> checks() const; // areas.toml, checks/*.toml, xids.toml
  Result<const ArchTables*> arch() const;
  Result<const LintTables*> lint() const;
  Result<const PickTables*> pick() const;
  Result<const SetupTables*> setup() const;
  Result<const SignatureTables*> signatures() const;
  Result<const OomTables*> oom() const;
  Result<const TextTables*> texts() const;
  Result<const VerifyTables*> verify() const;

 private:
  struct Tables;
  std::unique_ptr<Tables> tables_;
};

// Finds a GPU by PCI id, exact name or alias, in that order; ignores case, spaces, '-', '_' and
// brackets, and a leading "NVIDIA". A name that was sold with several capabilities is refused with
// the candidates. Cards of one capability that share a name are not ambiguous: the first is given.
GpuMatch find_gpu(const std::vector<Gpu>& gpus, std::string_view query);

// The form in which names are compared: lower case, without spaces, '-', '_' and brackets.
std::string normalised_name(std::string_view name);

} // namespace gpuvet
