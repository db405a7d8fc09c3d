// How each build system writes its list of GPU targets: facts/arch/systems.toml, whose head
// explains the columns. One row per build system of buildvars.toml, which says the same for people.
#pragma once

#include "base/compute_capability.hpp"
#include "base/version.hpp"
#include "facts/rows.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gpuvet {

struct ArchSystem {
  std::string id;                 // "cmake"
  std::vector<std::string> names; // other words for it
  std::string tool;               // as in buildvars.toml
  std::string form, number, suffixes, split, join, ptx;
  bool dotted_too = false, drops_dots = false, one_digit = false, paren = false;
  std::string takes; // "one": a single target; "one -arch": of nvcc's option; empty: any number
  std::string words; // set of keywords
  std::string set_by, variable, ptx_variable, before, option, after, file, line;
  std::vector<std::string> also_set;
  bool common = false;   // shown when nobody names a system
  bool cmake = false;    // its value goes through CMake's check
  std::string product;   // whose releases the accept rows are about
  std::string cannot;    // why it cannot name targets
  std::string otherwise; // what to do when it does not take a target
  std::string source;
};

struct ArchWord {
  std::string set, word, meaning, value, ptx;
  std::vector<Target> leaves_out;
  std::optional<Version> first_toolkit, last_toolkit;
  std::string source;
};

// What `value` becomes in a system that builds something else than machine code for it compiled
// from itself.
struct ArchRewrite {
  std::string system;
  Target value, target, from;
  std::optional<Target> ptx; // of the entry, where it is another one too
  std::optional<Version> first_toolkit, last_toolkit;
  std::string source;
};

// Targets that a product takes, in a range of its releases or of toolkits.
struct ArchAccept {
  std::string product;
  std::optional<Version> first_release, last_release, first_toolkit, last_toolkit;
  std::vector<Target> targets;
  std::string source;
};

struct ArchTables {
  std::vector<ArchSystem> systems;
  std::vector<ArchWord> words;
  std::vector<ArchRewrite> rewrites;
  std::vector<ArchAccept> accepts;
};

void read_arch(FactFile& file, ArchTables& tables);

// By id, other name or the name in buildvars.toml; ignores case. Null: none.
const ArchSystem* find_arch_system(const ArchTables& tables, std::string_view name);

} // namespace gpuvet
