// Which targets a build needs so that named GPUs run it as machine code.
//
// A list is chosen by what fits (judge/load), and then proved: the images that it makes are put
// into a container, and each GPU loads that container by the same function that judges real files.
// What a build system makes of its value is read back and proved in the same way, since some
// rewrite entries, add PTX or lack targets.
#pragma once

#include "judge/arch/dialect.hpp"

#include <string>
#include <vector>

namespace gpuvet {

struct SystemChoice {
  const ArchSystem* system = nullptr;
  std::optional<Version> release; // of its product
};

struct PlanRequest {
  std::vector<LoadDevice> devices; // without repeats
  std::vector<SystemChoice> systems;
  const Toolkit* toolkit = nullptr; // null: the newest that knows every GPU
  bool toolkit_named = false;       // by a person
  std::optional<Version> cmake;
  bool ptx = true;         // PTX of the highest target, for cards to come
  bool ptx_wanted = false; // a system without PTX falls short
  bool min_size = false;   // fewest entries: code for a lower minor serves too
  char suffix = 0;         // a, f: targets with it where the toolkit has them
};

// The tables that a plan needs.
struct PlanFacts {
  const ArchTables* tables = nullptr;
  const LoadRules* rules = nullptr;
  const std::vector<Toolkit>* toolkits = nullptr;
  const std::vector<CMakeFeature>* cmake = nullptr;
};

// How one GPU runs what was built.
struct PlannedRun {
  LoadVerdict verdict;
  std::optional<Code> code; // that it loads
};

struct Shortcoming {
  std::string what; // "CUDA 12.4 does not know 12.0 (RTX 5090)"
  std::vector<std::string> fixes;
};

struct SystemPlan {
  const ArchSystem* system = nullptr;
  std::string value; // empty when there is none
  CodeSet builds;    // what the system makes of the value
  std::vector<PlannedRun> runs;
  std::vector<Shortcoming> shortcomings; // a GPU is not served, the system cannot say it
  std::vector<std::string> notes;
};

struct Plan {
  const Toolkit* toolkit = nullptr;        // null: none knows any of the GPUs
  std::vector<Target> targets;             // ascending
  std::optional<Target> ptx;               // of the highest
  CodeSet codes;                           // the same as images
  std::vector<PlannedRun> runs;            // one per device
  std::vector<size_t> unserved;            // devices without machine code
  std::vector<Shortcoming> shortcomings;   // why, and what to do
  std::string first_toolkit, last_toolkit; // that know every target; last empty: the newest too
  std::vector<SystemPlan> systems;
};

Plan make_plan(const PlanRequest& request, const PlanFacts& facts);

// The first part: toolkit, targets, code and its proof; no words and no build systems.
Plan choose_targets(const PlanRequest& request, const PlanFacts& facts);

bool stands(const Plan& plan); // every GPU runs machine code, every system has its line

// --- parts
// ----------------------------------------------------------------------------------------

// Fewest targets of `candidates` so that each device gets the best machine code that there is, or
// with `min_size` any. Ascending.
std::vector<Target> cover(const std::vector<LoadDevice>& devices,
                          const std::vector<Target>& candidates, bool min_size,
                          const LoadRules& rules);

// Each device loads the container that the code makes.
std::vector<PlannedRun> prove(const CodeSet& codes, const std::vector<LoadDevice>& devices,
                              const Toolkit& toolkit, const LoadRules& rules);

bool runs_machine_code(const PlannedRun& run);

std::vector<Target> plain_targets(const Toolkit& toolkit);

// What a list may choose among: plain targets, and those with the suffix that was asked for.
std::vector<Target> candidates_of(const Toolkit& toolkit, char suffix);

// The newest toolkit that knows the capability of each device; else the newest with some code for
// each; else null.
const Toolkit* toolkit_for(const std::vector<LoadDevice>& devices,
                           const std::vector<Toolkit>& toolkits, const LoadRules& rules);

SystemPlan plan_for_system(const SystemChoice& choice, const PlanRequest& request, const Plan& plan,
                           const PlanFacts& facts);

// Why this CMake does not take the value; empty: it does.
std::string cmake_complaint(const ArchSystem& system, std::string_view value, const Version& cmake,
                            const std::vector<CMakeFeature>& features);

// "T4 (7.5)"; the capability alone where that is the name.
std::string device_text(const LoadDevice& device);

} // namespace gpuvet
