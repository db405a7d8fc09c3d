// gpuvet explain --json (schema gpuvet-explain/1, docs/explain.md).
#pragma once

#include "cli/explain/oom_part.hpp"
#include "judge/explain/explain_report.hpp"

#include <string>

namespace gpuvet {

// `here`: the text is from this machine.
// `oom`: null where GPU memory did not run out.
std::string explain_json(const Explanation& explanation, const OomAnswer* oom, const ReadText& read,
                         const std::vector<KnownFact>& facts, bool here);

} // namespace gpuvet
