// How CUDA and its driver are installed, in rows: NVIDIA's repositories by release of a
// distribution, the toolkits that each is known to have, which kernel module a GPU takes, and the
// texts and commands of each step. The judgement decides which steps apply and fills in names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gpuvet {

// A release of a distribution that NVIDIA has a repository for.
struct SetupDistribution {
  std::string name;             // the repository's folder: "ubuntu2404"
  std::string title;            // "Ubuntu 24.04"
  std::vector<std::string> ids; // of os-release
  std::string version;          // "24.04"; "9" stands for 9.0, 9.1, ... too
  std::string packages;         // "apt", "dnf", "zypper"
  std::vector<std::string> tags;
  std::string codename;        // "bookworm"; empty: no step needs it
  std::string crb;             // repository that EPEL wants; empty: none
  std::optional<uint32_t> gcc; // major version of its own compiler; absent: not established
  std::string source;
};

// Toolkits of one repository; versions are those of toolkits.toml.
struct PackagedToolkits {
  std::string repository, arch; // "x86_64", "sbsa"
  std::string first;            // oldest that was seen; empty: not established
  std::string unsure; // from this one up to `first`: not established; empty: none before `first`
  std::string seen;   // newest that was seen
  std::string last;   // no newer one came; empty: not established
  bool none = false;  // the repository has no toolkit
  std::optional<uint32_t> first_driver; // it has no older branch; absent: not established
  std::string source;
};

// Which kernel module drives a range of compute capabilities.
struct ModuleFlavour {
  uint32_t first_sm = 0, last_sm = 0;
  std::string arch;   // only on this processor; empty: on all. The first row that fits counts
  std::string module; // "proprietary", "open", "either"
  std::string text, source;
};

struct PackageWords { // of a package system
  std::string packages, install, remove, alternatives, initramfs, compiler, source;
};

struct SetupHelper { // a shell function
  std::string name;
  std::vector<std::string> needs, unless, run;
};

struct SetupStep {
  std::string id, title, why;
  std::vector<std::string> needs, unless; // tags
  std::vector<std::string> run;           // lines of bash; empty: a place for removals
  std::string source;
};

struct SetupRemoval { // of what a check of the doctor found
  std::string check, stage, title, why;
  bool each = false; // the lines once per item
  std::vector<std::string> needs, run;
  std::string source;
};

struct SetupTables {
  std::vector<SetupDistribution> distributions;
  std::vector<PackagedToolkits> packaged;
  std::vector<ModuleFlavour> flavours;
  std::vector<PackageWords> systems;
  std::vector<SetupHelper> helpers;
  std::vector<SetupStep> steps;
  std::vector<SetupRemoval> removals;
};

class FactFile;
void read_setup(FactFile& file, SetupTables& tables);

} // namespace gpuvet
