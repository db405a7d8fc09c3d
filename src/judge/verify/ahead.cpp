#include "judge/verify/ahead.hpp"

#include "judge/verify/seen/limits.hpp"

namespace gpuvet {

LimitsAhead limits_ahead(const Measurements& measured, const VerifyTables& tables,
                         const Facts& facts) {
  const VerifyCase all = verify_case(measured, tables, facts);
  LimitsAhead found;
  for (const GpuView& view : all.gpus)
    for (const VerifyRow& row : tables.rows) {
      if (row.scope != VerifyScope::gpu || row.step.empty()) continue;
      StepResult nothing_yet;
      nothing_yet.id = row.step;
      nothing_yet.gpu = view.gpu->uuid;
      const HardwareLimit limit = hardware_limit(all, {row, &nothing_yet, &view}, row.limit);
      const bool of_the_whole = limit.upper && view.mig; // a part has less
      if (limit.value && !of_the_whole) // of several rows about a step the first counts
        found.emplace(std::pair(row.step, view.gpu->uuid), LimitAhead{*limit.value, row.unit});
    }
  return found;
}

} // namespace gpuvet
