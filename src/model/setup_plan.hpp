// What to do to install CUDA on one machine, in order, with the reason for each step. Made by the
// judgement; printed as a script, never run by gpuvet.
#pragma once

#include <string>
#include <vector>

namespace gpuvet {

struct SetupAction {
  std::string id;                 // "driver-open", or "remove-" and the check of the doctor
  std::string title, why;         // for a person; may hold names from the machine
  std::vector<std::string> lines; // of bash; names from the machine are quoted
  std::vector<std::string> items; // of a removal: each package and file
  std::string source;
};

struct SetupPlan {
  std::string what;  // "CUDA 12.8 on Ubuntu 24.04 (x86_64)"
  std::string where; // "this machine", "a machine without CUDA so far"
  std::string toolkit, package, repository, arch;
  std::string packaged;             // "yes", "not established"; empty: not from the repository
  std::string driver;               // one sentence: which, or why none
  std::string driver_branch;        // "newest", "580"; empty: none is installed
  std::string driver_module;        // "open", "proprietary"; empty: none is installed
  std::string driver_needed;        // oldest that starts programs of this toolkit; empty: not known
  std::vector<std::string> notes;   // sentences
  std::vector<std::string> helpers; // lines of shell functions that the steps call
  std::vector<SetupAction> steps;
};

// Why there is no plan, and what can be done instead, best first.
struct SetupRefusal {
  std::string why;
  std::vector<std::string> ways;
};

} // namespace gpuvet
