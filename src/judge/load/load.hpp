// Which image of a container the driver loads on a GPU, how, and if none, with which error number.
// This is the heart of gpuvet: pure, and tested against a table measured on an H200.
//
// The driver looks at entry headers only. Machine code (SASS) that fits always wins over PTX; of
// several that fit, the highest target wins, `a` before `f` before plain. There is no second
// choice: when the chosen image is damaged the load fails. Rules whose sources disagree answer
// `may_fail`.
#pragma once

#include "facts/facts.hpp"
#include "model/binary.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gpuvet {

struct LoadDevice {
  std::string name; // as shown: "T4", "8.6"
  uint32_t sm = 0;
  bool tegra = false;
};

// A driver by version text ("535.104.05") or branch ("535").
struct LoadDriver {
  std::string text;
  Version version;
  std::optional<Version> cuda;    // highest CUDA version; nullopt: branch not in the table
  std::optional<Version> max_isa; // highest PTX ISA that its JIT reads
};

struct LoadEnvironment {
  bool force_ptx_jit = false;   // CUDA_FORCE_PTX_JIT=1 or CUDA_FORCE_JIT=1
  bool disable_ptx_jit = false; // CUDA_DISABLE_PTX_JIT=1 or CUDA_DISABLE_JIT=1
  bool jit_cache_warm = false;  // the compiled PTX is in ~/.nv/ComputeCache: used all the same
};

enum class LoadOutcome {
  native,     // SASS for exactly this capability
  same_major, // SASS for a lower minor of the same major, or for the family
  jit,        // PTX, compiled by the driver
  linked,     // parts (relocatable SASS, LTO IR) that a library links at run time
  may_fail,   // sources disagree, or a fact is missing: see reason
  none,       // refused with `error`
};

struct LoadVerdict {
  LoadOutcome outcome = LoadOutcome::none;
  int image = -1;             // index into Container::images, -1 when none
  int error = 0;              // CUDA error that the program sees; 0 when it loads
  std::string reason;         // one clause, without the GPU's name
  std::optional<Version> isa; // of the PTX to be compiled
};

// A driver row from the table for what the user typed.
LoadDriver make_driver(const LoadRules& rules, std::string_view text, const Version& version);

// Does machine code for `target` run on a device? (PTX: see ptx_fits.)
bool sass_fits(const LoadRules& rules, Target target, const LoadDevice& device);
bool ptx_fits(const LoadRules& rules, Target target, const LoadDevice& device);

// One container by itself; `driver` may be null: then the newest is assumed and no PTX is too new.
LoadVerdict load_container(const Container& container, const LoadDevice& device,
                           const LoadDriver* driver, const LoadEnvironment& environment,
                           const LoadRules& rules);

// A device-linked container and the relocatable parts that the runtime links when it has nothing.
LoadVerdict load_linked(const Container& linked, const std::vector<const Container*>& parts,
                        const LoadDevice& device, const LoadDriver* driver,
                        const LoadEnvironment& environment, const LoadRules& rules);

bool loads(const LoadVerdict& verdict);

std::string outcome_name(LoadOutcome outcome); // "same-major"

} // namespace gpuvet
