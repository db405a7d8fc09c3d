// `gpuvet oom --json`, schema gpuvet-oom/1: docs/oom.md has the fields.
#pragma once

#include "formats/json_read.hpp"
#include "judge/oom/holders.hpp"
#include "judge/oom/oom.hpp"

#include <string>
#include <vector>

namespace gpuvet {

// One text and what was concluded from it.
Json oom_json(const std::string& name, const OomEvidence& evidence, const OomReport& report);

Json holders_json(const OomHolders& holders);

// The document of several texts.
std::string oom_document(std::vector<Json> texts);
std::string holders_document(const OomHolders& holders);

} // namespace gpuvet
