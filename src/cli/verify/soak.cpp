#include "cli/verify/soak.hpp"

#include "cli/verify/saved.hpp"
#include "os/file_entry.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {

std::optional<Error> prepare_soak(VerifyOptions& options) {
  if (options.soak_hours <= 0) return std::nullopt;
  const double wanted_s = options.soak_hours * 3600;
  options.seconds = wanted_s;
  if (!file_entry(options.log)) return std::nullopt;
  auto saved = read_saved_run(options.log);
  if (!saved) return saved.error();
  double done_s = saved->complete ? saved->measured.seconds : 0;
  for (const StepResult& step : saved->measured.steps)
    done_s = std::max(done_s, step.end_s);
  if (done_s >= wanted_s)
    return Error{
        fmt::format("this soak is complete: {:.1f} h; judge it with --from", done_s / 3600),
        options.log};
  options.seconds = wanted_s - done_s;
  options.continued_s = done_s;
  if (options.seed == 0) options.seed = saved->measured.seed;
  return std::nullopt;
}

} // namespace gpuvet
