// PTX is text: a .version line with the ISA, a .target line with the compute capability, then code.
// Source: PTX ISA, "PTX Module Directives".
#pragma once

#include "base/compute_capability.hpp"
#include "base/version.hpp"

#include <optional>
#include <string_view>

namespace gpuvet {

struct PtxHead {
  Version isa; // two numbers
  Target target;
};

// From text that begins with, or in its comments leads to, ".version". nullopt: no PTX.
std::optional<PtxHead> parse_ptx_head(std::string_view text);

} // namespace gpuvet
