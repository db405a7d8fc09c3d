// From what a person types behind --gpu and --driver to devices and drivers.
#pragma once

#include "judge/scan/scan_result.hpp"

#include <string>
#include <vector>

namespace gpuvet {

// A name ("T4", "RTX 4090"), PCI id or capability ("8.6", "sm_86"). Errors name the candidates of
// an ambiguous name.
Result<LoadDevice> device_from(const std::string& query, const Facts& facts);

// "535" or "580.65.06"
Result<LoadDriver> driver_from(const std::string& text, const LoadRules& rules);

// Fills devices, driver and where they come from: named ones, else this machine's, else common
// ones.
Result<bool> choose_devices(ScanResult& result, const std::vector<std::string>& gpus,
                            const std::string& driver, const Facts& facts);

} // namespace gpuvet
