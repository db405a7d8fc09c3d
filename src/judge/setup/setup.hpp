// The plan of an installation: which repository, which toolkit package, which driver with which
// kernel module, what is taken away first. Pure: it sees a machine that was read before (or none:
// a fresh one of a named distribution) and the tables.
#pragma once

#include "facts/facts.hpp"
#include "model/machine.hpp"
#include "model/setup_plan.hpp"

#include <optional>
#include <string>

namespace gpuvet {

struct SetupWish {
  std::string toolkit;      // "12.8", "12.8.1"; empty: none (driver_only)
  std::string distribution; // "ubuntu2404", "rocky9"; empty: that of the machine
  std::string arch;         // "x86_64", "aarch64"; empty: that of the machine, else x86_64
  std::string gpu;          // name; empty: those of the machine
  bool wsl = false, container = false;
  bool runfile = false, offline = false; // offline: the runfile, carried there
  bool driver_only = false, no_driver = false, cudnn = false;
};

struct SetupAnswer {
  std::optional<SetupPlan> plan;
  SetupRefusal refusal; // when there is no plan
};

// `machine` null: a fresh one. Errors: a toolkit, distribution or GPU that the tables do not know.
Result<SetupAnswer> plan_setup(const Machine* machine, const SetupWish& wish, const Facts& facts);

} // namespace gpuvet
