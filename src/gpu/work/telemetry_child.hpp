// The child of the telemetry: what it asks, and how a moment is written in a line.
#pragma once

#include "gpu/lines.hpp"
#include "model/verify/measurements.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuvet {

// Never returns, but when NVML cannot be had. Tells per GPU, by its place in `uuids`: "moment",
// "xids" (so many more), "problem".
void sample_for_ever(Teller& tell, const std::vector<std::string>& uuids,
                     const std::string& library, Moment start, double every_s);

std::string moment_text(const GpuMoment& moment);
std::optional<GpuMoment> moment_from(std::string_view text);

} // namespace gpuvet
