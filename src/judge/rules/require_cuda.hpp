// NVIDIA_REQUIRE_CUDA and its like: what an image asks of the driver, as the container toolkit
// evaluates it. Words between blanks are alternatives, conditions joined by commas must all hold:
// "cuda>=12.8 brand=tesla,driver>=535,driver<536". Source: NVIDIA/nvidia-container-toolkit
// internal/requirements.
#pragma once

#include "base/version.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace gpuvet {

struct Properties { // of this machine; nullopt or empty: not known
  std::optional<Version> cuda, driver, arch;
  std::string brand; // lower case, without blanks: "tesla", "quadrortx", "geforcertx"
};

enum class RequirementState : uint8_t { met, not_met, not_known };

struct RequirementAnswer {
  RequirementState state = RequirementState::met;
  std::string cuda; // of the first condition "cuda>=": what a person understands
};

RequirementAnswer judge_requirement(std::string_view text, const Properties& properties);

} // namespace gpuvet
