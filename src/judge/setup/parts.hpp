// The decisions that make a plan. Internal to judge/setup.
#pragma once

#include "facts/setup/setup.hpp"
#include "judge/doctor/diagnose.hpp"
#include "judge/setup/setup.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace gpuvet::setup {

template <class T> struct Decided { // a decision, or why there is none
  std::optional<T> value;
  SetupRefusal refusal;
};

struct Situation {
  const Machine* machine = nullptr; // null: a fresh one
  const SetupWish& wish;
  const Facts& facts;
  const SetupTables& tables;
  Diagnosis diagnosis; // empty without a machine
};

bool fires(const Situation& situation, std::string_view check);

// --- where --------------------------------------------------------------------------------------

struct Place {
  const SetupDistribution* row = nullptr;     // whose repository is used
  const SetupDistribution* home = nullptr;    // whose packages and compiler are here
  const PackagedToolkits* packaged = nullptr; // null: nothing is known for this processor
  std::string arch;                           // "x86_64", "sbsa": of the repository
  std::string machine;                        // "x86_64", "aarch64": as uname -m says
  std::string pattern;                        // of `case "$ID:$VERSION_ID" in`, shell words
  bool wsl = false, container = false;
};
Result<Decided<Place>> find_place(const Situation& situation);

// --- toolkit ------------------------------------------------------------------------------------

enum class Offered : uint8_t { yes, no, unsure };

struct ChosenToolkit {
  const Toolkit* row = nullptr;
  const ToolkitRelease* release = nullptr; // of the runfile; null: not established
  std::string version, dashed;             // "12.8", "12-8"
  bool from_packages = false, from_runfile = false;
  Offered offered = Offered::yes; // by the repository
  std::string offered_why;        // where it is not established
  bool compiler_too_new = false;
};
Result<Decided<ChosenToolkit>> choose_toolkit(const Situation& situation, const Place& place);

Offered offered_by(const PackagedToolkits* packaged, const Version& toolkit);
// Versions of toolkits that the repository is known to have, ascending.
std::vector<std::string> toolkits_of(const PackagedToolkits* packaged, const Facts& facts);

// --- driver -------------------------------------------------------------------------------------

struct DriverChoice {
  bool install = false;
  bool open = false;
  std::optional<uint32_t> pinned;      // the branch to stay at; absent: the newest
  std::optional<uint32_t> next_branch; // the first that would be too new, where pinned
  std::string sentence;                // for the head of the script
  std::string flavour_why, branch_why;
  std::string needed; // "525.60.13"
  std::vector<std::string> notes;
  bool gpu_known = false;
};
Result<Decided<DriverChoice>> choose_driver(const Situation& situation, const Place& place,
                                            const ChosenToolkit* toolkit);

// --- leftovers ----------------------------------------------------------------------------------

// One use of a removal's lines: {items} and, for lines of files, {file} and {line}.
struct Leftover {
  std::vector<std::string> items;
  std::string file, line;
};
struct Leftovers {
  std::vector<Leftover> removed;
  std::vector<std::string> look_at; // not touched by the script: outside the folders for programs
};
// What check `id` found here, as far as a script can take it away.
Leftovers leftovers_of(const Situation& situation, const CheckResult& check);

} // namespace gpuvet::setup
