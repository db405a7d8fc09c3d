// Parts of ldd_findings(): each looks at one tree for one kind of trouble.
#pragma once

#include "judge/ldd/ldd_result.hpp"
#include "model/report.hpp"

#include <string>
#include <vector>

namespace gpuvet {

using Findings = std::vector<Finding>;

void find_missing(const LddSubject& subject, Findings& findings);
void find_version_gaps(const LoadTree& tree, Findings& findings);
void find_lacking_symbols(const LoadTree& tree, Findings& findings);
void find_mixtures(const LoadTree& tree, Findings& findings);       // CUDA majors, two of a kind
void find_cudnn_mixture(const LoadTree& tree, Findings& findings);  // parts of several releases
void find_odd_drivers(const LoadTree& tree, Findings& findings);    // stubs, compat
void find_lost_run_paths(const LoadTree& tree, Findings& findings); // of the build machine
void find_changes(const LddSubject& subject, Findings& findings);   // of a running process

// Does a file of a Python environment take part?
bool in_python(const std::string& path);

// The edge by which a node was loaded; nullptr for the program.
const LoadEdge* edge_to(const LoadTree& tree, size_t node);

// "runpath $ORIGIN of /x/liba.so", "LD_LIBRARY_PATH /x": how the loader came to a node.
std::string way_to(const LoadTree& tree, size_t node);

} // namespace gpuvet
