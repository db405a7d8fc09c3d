// What a build is asked to generate, whatever build system says it: a set of images, each machine
// code (SASS) for a target, compiled from a virtual target, or PTX of a virtual target.
//
// "86-real;90" of CMake, "8.6;9.0+PTX" of PyTorch and two -gencode of nvcc are the same set. So a
// conversion is exact when both texts give one set, and a plan is proved by loading the set, as one
// container, on every GPU.
#pragma once

#include "judge/load/load.hpp"

#include <string>
#include <vector>

namespace gpuvet {

struct Code {
  Target target;    // sm_XY, or compute_XY of PTX
  bool ptx = false; // text that the driver compiles
  Target from;      // virtual target that machine code is compiled from; of PTX, the target itself

  auto operator<=>(const Code&) const = default;
};

// Sorted, without repeats.
using CodeSet = std::vector<Code>;

Code sass_code(Target target);              // compiled from itself
Code sass_code(Target target, Target from); // from a family (f), the code is for the family too
Code ptx_code(Target target);

CodeSet normalised(CodeSet codes);

// "sm_86", "compute_90 (PTX)", "sm_86 from compute_80".
std::string code_name(const Code& code);
// "sm_80, sm_86, PTX of compute_90"
std::string codes_text(const CodeSet& codes);

// A container as the build would make it, with PTX of this ISA version.
Container planned_container(const CodeSet& codes, const Version& isa);

} // namespace gpuvet
