// What a build file says about GPU architectures: each setting with the place where its value is
// written, and what the file tells about the build around it (toolkit, CMake, is there a GPU?).
//
// A reader only reports what is certainly a setting. A value that holds a reference to something
// outside the file is not known, and nothing may be concluded from it.
#pragma once

#include "base/version.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gpuvet {

enum class BuildFileKind : uint8_t {
  dockerfile,
  shell,
  shell_profile, // .bashrc and its like: one person's shell
  cmake,
  cmake_presets,
  python,
  pyproject,
  makefile,
  bazelrc,
  conda_recipe,
  github_workflow,
  gitlab_ci,
  arguments, // words of a command line
};

// A stretch of the file.
struct FilePlace {
  size_t begin = 0, end = 0;     // bytes from its start
  uint32_t line = 0, column = 0; // from 1; columns in Unicode characters
};

enum class SettingForm : uint8_t {
  environment, // NAME=VALUE of a shell, ENV, env:
  definition,  // -DNAME=VALUE, set(NAME VALUE), a preset's cache variable
  argument,    // NAME=VALUE behind a command: make, spack
  option,      // of a compiler or build script
  assignment,  // of a Makefile
  value,       // a bare list on gpuvet's command line
};

struct BuildSetting {
  std::string name;  // "TORCH_CUDA_ARCH_LIST", "-gencode"
  std::string value; // without quotes; the items of a CMake list are joined by ';'
  SettingForm form = SettingForm::environment;
  std::string command;      // that holds it: "ENV", "nvcc", "set"; may be empty
  FilePlace at;             // of the value, quotes excluded
  FilePlace name_at;        // of the name; empty where it isn't written out
  bool known = true;        // false: holds a reference that the file doesn't resolve
  bool literal = true;      // the file's bytes at `at` are the value
  bool quoted = false;      // written in quotes, or where none are needed
  bool blank_list = false;  // in the file, blanks part what `value` parts by ';'
  bool yaml_number = false; // 8.0 without quotes, which GitHub reads as the number 8
  bool fallback = false;    // a default that the outside may replace
  bool several = false;     // one of several values that the name gets in this file
  std::string after;        // what a shell reads as the next command or word, although it
  size_t after_end = 0;     // belongs to the value: ";86"; and where it ends
  std::string without_gpu;  // why this build sees no GPU: "docker build"; empty: it may
  std::string scope;        // stage, job: settings of one build share it
};

struct VersionMention {
  Version version;
  std::string text; // as written: "nvidia/cuda:12.4.1-devel-ubuntu22.04"
  FilePlace at;
  bool minimum = false; // this version or a newer one
};

struct BuildFile {
  BuildFileKind kind = BuildFileKind::shell;
  std::vector<BuildSetting> settings;
  std::vector<VersionMention> toolkits; // CUDA
  std::vector<VersionMention> cmakes;
  std::vector<VersionMention> publishes; // what sends the product to others; no version
  bool asks_cmake_version = false;       // has code for several CMake versions
  std::vector<std::string> images;       // base images, as written
  bool runs_scripts = false;             // that aren't seen here and may set anything
};

} // namespace gpuvet
