// A soak of hours, in a log that an interrupted one is gone on with.
#pragma once

#include "base/result.hpp"
#include "cli/verify/options.hpp"

#include <optional>

namespace gpuvet {

// Sets the seconds that are left of the soak, by what the log holds already. An error when there is
// nothing left, or the log is none.
std::optional<Error> prepare_soak(VerifyOptions& options);

} // namespace gpuvet
