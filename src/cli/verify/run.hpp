// Runs a verification: surveys the GPUs, runs the plan, asks the frameworks, and gives everything
// as Measurements. What is measured is handed on as soon as it is there, so that a crash keeps it.
#pragma once

#include "cli/verify/options.hpp"
#include "facts/facts.hpp"
#include "facts/verify/verify.hpp"
#include "model/verify/measurements.hpp"
#include "os/terminal.hpp"

#include <atomic>
#include <functional>
#include <string>

namespace gpuvet {

struct RunHooks {
  std::function<void(const std::string& lines)> record; // JSON lines; from one thread at a time
  const std::atomic<bool>* interrupted = nullptr;
  Terminal progress; // of standard error
};

Measurements run_verification(const VerifyOptions& options, const RunHooks& hooks,
                              const VerifyTables& tables, const Facts& facts);

} // namespace gpuvet
