// A saved run from an unknown hand: reading it, writing what was read, judging it and comparing it
// with itself.
#include "facts/facts.hpp"
#include "formats/verify/judged_lines.hpp"
#include "formats/verify/verify_lines.hpp"
#include "judge/verify/verify.hpp"
#include "render/terminal.hpp"
#include "render/verify_outputs.hpp"

#include <cstdlib>

namespace {

struct Known {
  gpuvet::Facts facts;
  const gpuvet::VerifyTables* tables = nullptr;

  Known() {
    auto read = facts.verify();
    if (!read) std::abort();
    tables = *read;
  }
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Known known;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto run = gpuvet::read_measurements(text, "input");
  if (!run) return 0;
  const std::string written = gpuvet::write_measurements(run->measured);
  auto again = gpuvet::read_measurements(written, "written");
  if (!again || gpuvet::write_measurements(again->measured) != written) std::abort();
  const gpuvet::VerifyReport report =
      gpuvet::judge_verify(run->measured, *known.tables, known.facts, {});
  (void)gpuvet::render_terminal(report.report, {});
  for (const gpuvet::JudgedStep& step : report.steps)
    (void)gpuvet::judged_line(step);
  (void)gpuvet::verify_junit(report.steps);
  (void)gpuvet::verify_prometheus(run->measured, report.steps, report.exit_status);
  (void)gpuvet::verify_nagios(report.report.verdict, report.steps, report.exit_status);
  (void)gpuvet::compare_runs(run->measured, run->measured, *known.tables, known.facts);
  return 0;
}
