// Subcommands of `gpuvet arch` that read: build files and build logs.
#pragma once

#include "cli/command.hpp"

namespace gpuvet {

std::function<int(Context&)> define_arch_lint(CLI::App& app);
std::function<int(Context&)> define_arch_log(CLI::App& app);

} // namespace gpuvet
