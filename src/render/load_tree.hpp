// A load tree as a person reads it: who needs what, which file that is, and by which rule the
// loader comes to it. What is missing shows every place that was looked at.
#pragma once

#include "model/machine/loader.hpp"

#include <string>

namespace gpuvet {

struct LoadTreeStyle {
  bool colour = false;
  bool verbose = false; // every library, every rule in full
  bool ascii = false;   // the terminal has no UTF-8
};

// "runpath", "LD_LIBRARY_PATH", "ld.so.cache", ...
std::string rule_name(FoundBy rule);

std::string render_load_tree(const LoadTree& tree, const LoadTreeStyle& style);

} // namespace gpuvet
