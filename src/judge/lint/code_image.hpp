// A made-up image of GPU code, so that the rules of loading can be asked about code that isn't
// there yet.
#pragma once

#include "facts/facts.hpp"
#include "model/binary.hpp"

namespace gpuvet {

// PTX gets the newest version of the table: which one a compiler writes isn't known, and no version
// that it can write for the target is too old.
Image code_image(Target target, bool ptx, const LoadRules& rules);

} // namespace gpuvet
