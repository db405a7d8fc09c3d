// What a run came to, as JSON lines after those of verify_lines.hpp.
#pragma once

#include "model/verify/judged.hpp"

#include <string>
#include <vector>

namespace gpuvet {

std::string judged_line(const JudgedStep& step); // {"type": "judged", ...}

// {"type": "verdict", ...}: the last line.
std::string verdict_line(const std::string& verdict, int exit_status,
                         const std::vector<JudgedStep>& steps);

} // namespace gpuvet
