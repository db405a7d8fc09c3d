// Artefacts against a policy. Every requirement is judged for every artefact by the loader's rules:
//
//   native       nothing of it may be left to the driver's compiler: the program is judged as if
//   the
//                JIT were switched off (CUDA_DISABLE_PTX_JIT)
//   jit          machine code or PTX that the GPU's oldest driver compiles
//   driver       programs of the artefact's CUDA start on the policy's driver
//   future-gpus  PTX that a capability above all known ones compiles
//   gpu-code, file, total   sizes
//   gpu-code-found          some artefact has GPU code at all
#pragma once

#include "judge/load/coverage.hpp"
#include "judge/policy/policy.hpp"

namespace gpuvet {

// A capability that no card has yet.
constexpr uint32_t kFutureSm = 990;

struct Artefact {
  std::string path;
  uint64_t bytes = 0;                 // of the file, or of all files of a folder
  std::vector<Binary> binaries;       // with GPU code or something to say
  std::vector<Error> errors;          // what could not be read
  std::vector<std::string> compilers; // files that make code at run time
};

struct PolicyRequirement {
  std::string id;    // "native", "jit", "driver", "future-gpus", "gpu-code", "file", "total",
                     // "gpu-code-found"
  std::string name;  // "T4 by machine code"
  uint32_t line = 0; // in the policy; 0: not written there
  const PolicyGpu* gpu = nullptr;
};

enum class Met : uint8_t { yes, no, not_applicable };

// One file of an artefact that falls short.
struct ShortFile {
  std::string path;
  FileVerdict verdict;
};

struct CheckedRequirement {
  size_t requirement = 0;
  Met met = Met::not_applicable;
  std::string why;              // what was found: "sm_80, no PTX"; "412 MB of 300 MB"
  std::string fix;              // empty: none to name
  std::vector<ShortFile> files; // that fall short
};

struct CheckedArtefact {
  std::string path;
  uint64_t bytes = 0, gpu_code = 0;
  size_t files_with_code = 0;
  std::vector<CheckedRequirement> requirements;
  std::vector<Error> errors;
  std::vector<std::string> problems; // damaged GPU code, with the file
};

struct PolicyCheck {
  Policy policy;
  std::vector<PolicyRequirement> requirements;
  std::vector<CheckedArtefact> artefacts;
  std::vector<CheckedRequirement> overall; // total and gpu-code-found
  std::vector<std::string> compilers;
  bool readable = true; // everything could be read
  bool met() const;
};

std::vector<PolicyRequirement> requirements_of(const Policy& policy);

PolicyCheck check_artefacts(const Policy& policy, const std::vector<Artefact>& artefacts,
                            const LoadRules& rules);

// Which kernel names matter to the check: those of containers that fall short of some requirement.
std::vector<size_t> containers_to_name(const std::vector<Container>& containers,
                                       const Policy& policy, const LoadRules& rules);
bool names_would_help(const Container& container, const Policy& policy, const LoadRules& rules);

} // namespace gpuvet
