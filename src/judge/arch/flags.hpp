// nvcc's own flags, and the forms of other systems that name virtual and real targets as nvcc does.
// Internal to judge/arch.
#pragma once

#include "judge/arch/dialect.hpp"

namespace gpuvet {

// "-gencode arch=compute_80,code=sm_80 -arch=sm_90"
Result<CodeSet> read_flags(const ArchSystem& system, std::string_view value,
                           const ArchContext& context);
// CuPy: "arch=compute_80,code=sm_80;arch=compute_90,code=[sm_90,compute_90]"
Result<CodeSet> read_pairs(const ArchSystem& system, std::string_view value,
                           const ArchContext& context);
// Bazel: "compute_80:compute_80,sm_80,sm_86;sm_90"
Result<CodeSet> read_specs(const ArchSystem& system, std::string_view value,
                           const ArchContext& context);
// xmake: "\"sm_86\", \"compute_90,sm_90\""
Result<CodeSet> read_arguments(const ArchSystem& system, std::string_view value,
                               const ArchContext& context);

} // namespace gpuvet
