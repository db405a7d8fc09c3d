// A pick as text for a person: what to install and the command first, then why nothing newer, then
// what else fits.
#pragma once

#include "cli/pick/pick_query.hpp"
#include "os/terminal.hpp"

namespace gpuvet {

std::string pick_text(const Pick& pick, const PickContext& context, bool all, const Terminal& out);

// Several frameworks: each with its command.
std::string picks_text(const std::vector<Pick>& picks, const PickContext& context,
                       const Terminal& out);

} // namespace gpuvet
