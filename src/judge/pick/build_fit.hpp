// Does a released build of a framework run on a GPU with a driver and a Python? The row of the
// table becomes the container that its wheel holds, and the loader's rules (judge/load) decide, as
// they do for a file: there is no second table of "supported" cards.
#pragma once

#include "facts/pick/pick.hpp"
#include "judge/load/load.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gpuvet {

enum class Fit : uint8_t { fits, unknown, no };

// What stands in the way; the first that applies, in this order.
enum class Obstacle : uint8_t {
  none,
  planned,      // the row is a plan or a guess, not what was released
  code_unknown, // its machine code is not established
  no_code,      // nothing in it loads on the GPU
  ptx_unknown,  // no machine code, and whether it has PTX (or of which version) is not established
  ptx_too_new,  // its PTX is newer than the driver reads
  may_fail,     // sources disagree
  older_than_gpu, // only its PTX fits, and its CUDA, so the libraries with it, are older than the
                  // GPU
  drops_gpu,      // the driver no longer drives the GPU
  driver_old,     // the driver does not know the GPU yet
  toolkit_new,    // the driver is below the floor of the build's CUDA
  cuda_unknown,   // the CUDA version is not established, so the driver cannot be judged
  python,         // there is no wheel for this Python
  python_maybe,   // experimental wheels only
  python_unknown  // for which Pythons there are wheels is not established
};

struct PickDriver {
  LoadDriver driver;        // of Linux; `version` may be empty where only its CUDA version is known
  std::string from;         // "named", "/sys/module/nvidia/version"
  bool drives_gpus = false; // it was seen to: NVML or CUDA told the GPUs
};

struct PickQuery {
  std::vector<LoadDevice> devices; // a build has to run on all of them
  std::optional<PickDriver> driver;
  std::optional<Version> python;      // "3.12"
  std::optional<Version> cuda;        // of the build: 12 or 12.8; absent: any
  std::vector<std::string> platforms; // of the builds, "pip linux x86_64"
  const PickTables* tables =
      nullptr; // for PTX versions that were measured; null: those of toolkits
};

struct BuildFit {
  const FrameworkBuild* build = nullptr;
  std::string release; // the newest that the row covers, "2.14"
  Version version;     // the same
  Version cuda;        // as far as known, for ordering
  Fit fit = Fit::no;
  Obstacle obstacle = Obstacle::none;
  std::string why;                            // one clause; empty when it fits
  std::vector<LoadVerdict> loads;             // one per device
  bool jit = false;                           // on some device only by compiling PTX
  bool minor_compatibility = false;           // the driver serves this CUDA only by that rule
  std::optional<Version> ptx_isa;             // of its PTX, where that is established
  std::string needs_driver, needs_driver_why; // the least for these GPUs; empty: not established
};

// CUDA of a build as the table writes it. "12.6" is exact; of "12.x" only the major is known.
struct BuildCuda {
  std::optional<Version> version;
  bool exact = false;
};
BuildCuda cuda_of(const FrameworkBuild& build);

// PTX versions that a build may hold: one where it was measured or the CUDA version is known
// exactly, else those of all toolkits of its major version. nullopt: not established.
struct IsaRange {
  Version low, high;
};
std::optional<IsaRange> isa_range(const FrameworkBuild& build, const PickTables* tables,
                                  const LoadRules& rules);

// The code of a build as one container, its PTX of the given ISA.
Container container_of(const FrameworkBuild& build, const Version& isa);

// For which Pythons are there wheels? "3.10-3.14 (3.15 exp.)"
enum class PythonAnswer : uint8_t { yes, experimental, no, unknown };
PythonAnswer python_in(std::string_view range, const Version& python);

BuildFit judge_build(const FrameworkBuild& build, const PickQuery& query, const LoadRules& rules);

// Fills needs_driver: the least driver over all devices, as for a file with this code.
void add_needed_driver(BuildFit& fit, const PickQuery& query, const LoadRules& rules);

} // namespace gpuvet
