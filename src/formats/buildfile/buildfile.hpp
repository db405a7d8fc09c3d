// Build files to what they say about GPU architectures: Dockerfiles, shell scripts, CMake, Python,
// TOML, make, Bazel, conda recipes, CI files. Pure: bytes in, settings with their places out. A
// damaged file gives fewer settings, never an error.
#pragma once

#include "model/build_file.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace gpuvet {

constexpr size_t kLargestBuildFile = size_t{4} << 20; // bytes; longer ones are data

// By its path; nullopt: no build file.
std::optional<BuildFileKind> build_file_kind(std::string_view path);

// Could the text hold any setting? Cheap; false is certain.
bool may_set_architectures(std::string_view text);

BuildFile read_build_file(BuildFileKind kind, std::string_view text);

// Words as a program gets them; `line` becomes the text that the places are in.
BuildFile read_arguments(const std::vector<std::string>& words, std::string& line);

std::string_view kind_name(BuildFileKind kind); // "Dockerfile", "GitHub workflow"

} // namespace gpuvet
