// What the doctor asks, in rows: each check with its texts, its fixes by distribution and its place
// among the others; the symptoms that several causes share; NVIDIA's Xid codes, each of which is a
// check too. The code of a check only decides whether it fires and on what evidence, so that one
// cause is written once, for the doctor, for `gpuvet explain ID` and for the docs.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuvet {

enum class Safety : uint8_t {
  safe,          // reads, or changes this shell only
  changes_files, // of the user
  needs_root,
  restarts_service, // or ends programs that use the GPU
  reboot,
  hardware, // hands on the machine
  provider, // only the cloud or cluster operator can
};

// As the tables write it: "needs-root".
std::string_view safety_name(Safety safety);
std::optional<Safety> safety_of(std::string_view name);

struct CheckFix {
  std::string check;
  std::string command; // a command line; or a step in words, when `prose`
  bool prose = false;
  Safety safety = Safety::safe;
  std::vector<std::string> on; // "apt", "dnf", "ubuntu", "wsl", "container", ...; empty: everywhere
};

enum class Severity : uint8_t { info, warning, error, blocker };

struct CheckRow {
  std::string id;   // kebab-case, stable
  std::string area; // of areas.toml
  std::string asks; // the question, with its question mark
  Severity severity = Severity::error;
  std::string title; // when it fires; {fields} are filled in
  std::string cause; // why such a thing happens, and what follows
  std::string blame; // "node", "user", "provider", "application"
  std::string log;   // fires on kernel log lines that match this (RE2); named groups are fields
  std::vector<std::string> symptoms; // that it explains
  std::vector<std::string> hides;    // checks whose firing is only a consequence of this one
  std::string note;                  // misleading advice and the like
  std::string action;                // NVIDIA's word for it: "RESET_GPU", "RESTART_APP"
  std::vector<CheckFix> fixes;       // best first
  std::string source;
};

struct CheckArea {
  std::string id, title; // "loader", "shared libraries"
};

// A message or state with several possible causes.
struct Symptom {
  std::string id;     // "cuda-999"
  std::string title;  // "CUDA does not start: error 999 (unknown error)"
  std::string decide; // how the causes are told apart, in a sentence
  std::string source;
};

struct Xid {
  uint32_t code = 0;
  std::string name; // as the catalogue has it
  std::string meaning;
  Severity severity = Severity::error;
  std::string action, blame, source;
  std::vector<uint32_t> with; // codes that come along as consequences
};

struct CheckTables {
  std::vector<CheckArea> areas; // in the order of the output
  std::vector<CheckRow> checks; // by area; Xid rows among them as "xid-79"
  std::vector<Symptom> symptoms;
  std::vector<Xid> xids; // by code
};

} // namespace gpuvet
