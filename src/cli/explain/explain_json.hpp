// gpuvet explain --json (schema gpuvet-explain/1, docs/explain.md).
#pragma once

#include "judge/explain/explain_report.hpp"

#include <string>

namespace gpuvet {

// `here`: the text is from this machine.
std::string explain_json(const Explanation& explanation, const ReadText& read,
                         const std::vector<KnownFact>& facts, bool here);

} // namespace gpuvet
