// Every container of a scan, for `scan --explain` and `scan --kernels`.
#pragma once

#include "judge/scan/scan_result.hpp"
#include "model/report.hpp"

namespace gpuvet {

std::string role_name(Role role); // "registered"

// The verdict of each container by itself, in the order of binary.containers.
std::vector<LoadVerdict> container_verdicts(const Binary& binary, const LoadDevice& device,
                                            const LoadDriver* driver,
                                            const LoadEnvironment& environment,
                                            const LoadRules& rules);

void add_containers(Report& report, const ScanResult& result, const LoadRules& rules);

// One row per kernel and container; names as a person wrote them.
void add_kernels(Report& report, const ScanResult& result, const LoadRules& rules);

} // namespace gpuvet
