// A policy, gpuvet.toml: what the artefacts of a repository have to run on. Every key is known or
// an error with its line, so that no misspelt requirement passes in silence.
//
//   [run]
//   native = ["T4", "A100 1g.5gb"]  machine code for these, nothing left to the driver's compiler
//   jit = ["RTX 5090"]              these too, by machine code or by PTX
//   driver = "525.60.13"            the oldest driver in the field
//   future-gpus = true              PTX for cards to come
//   [size]
//   gpu-code = "300 MB"  file = "1 GB"  total = "2 GB"
//   [artefacts]
//   gpu-code-optional = true        an upload without any GPU code is fine
#pragma once

#include "judge/load/load.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuvet {

struct PolicyGpu {
  std::string name; // as written, "A100 1g.5gb"
  uint32_t line = 0;
  LoadDevice device;
  bool native = false;              // machine code is required
  std::optional<LoadDriver> driver; // the oldest for it: the policy's, or the first that knows it
};

struct SizeLimit {
  uint64_t bytes = 0;
  uint32_t line = 0;
};

struct Policy {
  std::string file; // as named
  std::vector<PolicyGpu> gpus;
  std::optional<LoadDriver> driver;
  uint32_t driver_line = 0;
  std::optional<uint32_t> future_line; // set: PTX for cards to come is required
  std::optional<SizeLimit> gpu_code, file_size, total;
  bool code_optional = false;
  std::vector<std::string> notes; // a GPU that needs a newer driver than the policy's
};

// Errors carry "FILE:LINE". A policy that requires nothing is an error too.
Result<Policy> read_policy(std::string_view text, const std::string& file, const Facts& facts);

// "300 MB", "1.5 GiB", "4096": bytes.
std::optional<uint64_t> size_in_bytes(std::string_view text);

// A GPU with a MIG profile behind its name, "A100 1g.5gb": the profile, and the name without it.
struct MigName {
  std::string gpu, profile; // profile empty: none
};
MigName split_mig(std::string_view name);

} // namespace gpuvet
