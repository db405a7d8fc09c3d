// One reader per kind of build file. Each takes the whole text and tells a Collector what it finds;
// what it doesn't understand it passes over.
#pragma once

#include "formats/buildfile/collect.hpp"

#include <functional>

namespace gpuvet {

void read_dockerfile(std::string_view text, Collector& found);
void read_cmake(std::string_view text, Collector& found);
void read_cmake_presets(std::string_view text, Collector& found);
void read_python(std::string_view text, Collector& found);
void read_toml_settings(std::string_view text, Collector& found);
void read_makefile(std::string_view text, Collector& found);
void read_bazelrc(std::string_view text, Collector& found);
void read_conda_recipe(std::string_view text, Collector& found);
void read_github_workflow(std::string_view text, Collector& found);
void read_gitlab_ci(std::string_view text, Collector& found);

// Scalars of a YAML file with the keys above them: "jobs/build/env/CUDAARCHS", list items as "-".
// Takes one-line and block scalars, flow lists and maps; passes over what else there is.
struct YamlScalar {
  std::string path;
  Written value;
  bool block = false; // | or >
};
std::vector<YamlScalar> yaml_scalars(std::string_view text);

} // namespace gpuvet
