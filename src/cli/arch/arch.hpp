// gpuvet arch: subcommands about lists of GPU targets.
#pragma once

#include "cli/command.hpp"
#include "judge/arch/plan.hpp"

namespace gpuvet {

std::function<int(Context&)> define_arch_plan(CLI::App& app);
std::function<int(Context&)> define_arch_convert(CLI::App& app);

// --- shared
// ---------------------------------------------------------------------------------------

// "12.8", "12.8.1": the toolkit of that series; null when the text is empty.
Result<const Toolkit*> named_toolkit(const std::string& text, const Facts& facts);

// "pytorch" or, with a release of its product, "pytorch=2.6".
Result<SystemChoice> named_system(const std::string& text, const ArchTables& tables,
                                  const std::string& option);

} // namespace gpuvet
