// Everything that one scan found and concluded, before it becomes a Report or JSON.
#pragma once

#include "judge/load/coverage.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gpuvet {

struct ScannedFile {
  Binary binary;
  std::vector<FileVerdict> verdicts; // one per device, same order
};

struct ScanResult {
  std::vector<LoadDevice> devices;
  std::string devices_from; // "named", "this machine", "common GPUs"
  bool asked = false;       // somebody named the GPUs, or they are this machine's
  std::optional<LoadDriver> driver;
  std::string driver_from;
  LoadEnvironment environment;
  std::vector<ScannedFile> files; // with GPU code, worst first
  size_t files_without_code = 0;
  std::vector<std::string> compilers; // "libx.so (NVRTC)": code made at run time
  std::vector<Error> errors;          // what could not be read
  std::vector<std::string> notes;
};

// Judges every file for every device and sorts: what fails first, then by size of the GPU code.
void judge_scan(ScanResult& result, const LoadRules& rules);

// Did every device that somebody asked about get everything?
bool falls_short(const ScanResult& result);

uint64_t gpu_code_bytes(const Binary& binary); // stored, headers included

} // namespace gpuvet
