// Sizes and shares in the words of a report.
#pragma once

#include <string>

namespace gpuvet {

// "10.74 GiB", "320 MiB", "512 bytes": binary units, as the messages have them.
std::string size_text(double bytes);

} // namespace gpuvet
