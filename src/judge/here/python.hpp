// Python environments as checks ask about them: which packages, built for which CUDA, and what to
// install instead.
#pragma once

#include "judge/doctor/check.hpp"
#include "judge/here/here.hpp"
#include "judge/load/driver_needs.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuvet {

// By normalised name ("nvidia-cudnn-cu12"); the copy that Python would import. Null: not there.
const PythonPackage* find_package(const PythonEnv& env, std::string_view name);
std::vector<const PythonPackage*> packages_with_prefix(const PythonEnv& env,
                                                       std::string_view prefix);

std::string local_tag(std::string_view version);      // "cu128" of "2.8.0+cu128"
std::string without_tag(std::string_view version);    // "2.8.0"
std::string minor_release(std::string_view version);  // "2.8" of "2.8.0+cu128"
std::optional<Version> cuda_of_tag(std::string_view); // 12.8 of "cu128"

std::string env_name(const PythonEnv& env);                   // where it lies, for evidence
std::string shown(const PythonPackage& package);              // "torch 2.8.0+cu128 (FOLDER)"
std::string pip_command(const PythonEnv& env);                // "/home/u/venv/bin/python -m pip"
bool from_conda(const PythonEnv& env, std::string_view name); // is the package conda's?

// A framework with the CUDA version that it was built for.
struct CudaBuild {
  std::string package, version;
  std::optional<Version> cuda; // nullopt: built without CUDA
  std::string evidence;
};

// PyTorch of an environment. Unknown: it is there and what it was built for is not known; known
// and without a version: it is not there.
Observed<std::optional<CudaBuild>> torch_build(const PythonEnv& env);

// All packages whose CUDA version is known.
std::vector<CudaBuild> cuda_builds(const PythonEnv& env, const Facts& facts);

// A released PyTorch wheel for Linux with code for every GPU here that the driver can run: of the
// same release as `wanted` ("2.8") where there is one, else the newest.
struct TorchWheel {
  std::string version, variant; // "2.8", "cu126"
  std::string command;          // that installs it; empty: not established
};
std::optional<TorchWheel> fitting_torch(const Facts& facts, const Machine& machine,
                                        std::string_view wanted);

// The command that installs it with the companions that the environment has.
std::string install_torch(const PythonEnv& env, const std::optional<TorchWheel>& wheel);

// Asks of each environment whose packages are known. One that fires decides; else one that is
// unknown; else one that is ok.
Outcome over_pythons(const Machine& machine,
                     const std::function<Outcome(const PythonEnv&)>& question);

} // namespace gpuvet
