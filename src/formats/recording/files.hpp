// How a recording tells what lies at a path. Part of recording.
#pragma once

#include "formats/recording/json_values.hpp"
#include "model/recording.hpp"

namespace gpuvet {

bool read_value(const Json& json, RecordedFile& to, const JsonPlace& at, JsonProblem& problem);
Json to_json(const RecordedFile& file);

// Lets entries that say "missing" take away what lies below them.
void remove_below_missing(Recording& recording);

} // namespace gpuvet
