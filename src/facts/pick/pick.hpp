// How released builds of frameworks are named and installed: facts/pick.toml.
#pragma once

#include "facts/facts.hpp"

namespace gpuvet {

// A framework of the table of builds under the names that people give it.
struct FrameworkName {
  std::string framework; // "torch", as the builds say
  std::string title;     // "PyTorch"
  std::vector<std::string> aliases;
  std::string source;
};

// What `--platform` takes, and the builds' platforms that it stands for.
struct PickPlatform {
  std::string name; // "linux-x86_64"
  std::vector<std::string> builds;
  std::string source;
};

// The command that installs builds of a framework; rows are tried in order.
struct InstallCommand {
  std::string framework;
  std::string platform;               // start of the build's platform
  std::string variant, cuda;          // start of the build's; empty: any
  std::optional<Version> first, last; // releases by major and minor number
  std::string command;                // with {placeholders}
  std::string note;
  std::string source;
};

struct NewestPatch {
  std::string framework, minor, release; // "torch", "1.7", "1.7.1"
  std::string source;
};

// The highest PTX version in a release, where it is not that of the toolkit (clang writes older
// ones).
struct MeasuredPtx {
  std::string framework, version; // as the build says
  Version isa;
  std::string source;
};

// A capability of which some cards can be cut into MIG instances.
struct MigCapability {
  uint32_t sm = 0;
  std::string cards, source;
};

struct PickTables {
  std::vector<FrameworkName> frameworks;
  std::vector<PickPlatform> platforms;
  std::vector<InstallCommand> commands;
  std::vector<NewestPatch> newest;
  std::vector<MeasuredPtx> ptx;
  std::vector<MigCapability> mig;
};

// The row of a name or alias, in any case; null: none.
const FrameworkName* find_framework(const PickTables& tables, std::string_view name);

// Releases as rows of frameworks.toml write them: "2.7", "1.5-1.7", "13.6, 14", "0.10.2+".
struct ReleaseRange {
  Version first, last;
  bool open = false; // and later ones
};
std::vector<ReleaseRange> release_ranges(std::string_view text);

// The newest release that the row names, as it is written there: "14" of "13.6, 14".
std::string newest_release(std::string_view text);

// Is a release among them, by major and minor number?
bool holds_release(const std::vector<ReleaseRange>& ranges, const Version& release);

} // namespace gpuvet
