// The line that gives a value to a build system, as one pastes it: quoted for the shell or the file
// that it goes into.
#pragma once

#include "base/result.hpp"
#include "facts/arch/arch.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gpuvet {

enum class Shell { bash, fish, powershell, cmd, dockerfile, cmake_preset, yaml };

std::optional<Shell> shell_named(std::string_view name);
const std::vector<std::string>& shell_names(); // "bash", "fish", ...

// One word of a command line, in quotes where the shell needs them. cmd and PowerShell break
// unquoted words at commas and semicolons; a value of ours holds no quote, dollar or percent sign,
// which are escaped all the same.
std::string shell_word(Shell shell, std::string_view word);

// Lines to paste. An error where the system cannot be told from there, such as nvcc's flags from a
// CMake preset.
Result<std::vector<std::string>> value_lines(const ArchSystem& system, std::string_view value,
                                             Shell shell);

} // namespace gpuvet
