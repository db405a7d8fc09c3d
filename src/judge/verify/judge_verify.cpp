#include "judge/verify/consequences.hpp"
#include "judge/verify/exit_status.hpp"
#include "judge/verify/report/report.hpp"
#include "judge/verify/rules.hpp"
#include "judge/verify/targets.hpp"
#include "judge/verify/verify.hpp"

namespace gpuvet {

VerifyReport judge_verify(const Measurements& measured, const VerifyTables& tables,
                          const Facts& facts, const VerifyPolicy& policy) {
  const VerifyCase all = verify_case(measured, tables, facts);
  VerifyReport made;
  made.steps = judge_targets(all, policy.layers);
  judge_siblings(all, made.steps);
  void_by_detectors(all, made.steps);
  stop_after_device_layer(made.steps);
  find_causes(all, made.steps);
  made.exit_status = verify_exit_status(made.steps, policy, measured.interrupted);
  made.report = verify_report(all, made.steps, policy, made.exit_status);
  return made;
}

} // namespace gpuvet
