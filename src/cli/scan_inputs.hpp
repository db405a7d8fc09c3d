// Runs the reading part of a scan: jobs over threads, with a progress line for a person.
#pragma once

#include "formats/gpu/inspect.hpp"
#include "os/terminal.hpp"
#include "probe/inputs.hpp"

#include <vector>

namespace gpuvet {

struct ReadFiles {
  std::vector<Binary> binaries; // with GPU code or something to say, in input order
  size_t without_code = 0;
  std::vector<std::string> compilers; // files that make code at run time
  std::vector<Error> errors;
};

ReadFiles read_inputs(Inputs inputs, const InspectOptions& options, const Terminal& terminal);

} // namespace gpuvet
