// gpuvet verify: proof under load that a GPU machine is ready.
#include "judge/verify/verify.hpp"

#include "cli/check/outputs.hpp"
#include "cli/command.hpp"
#include "cli/verify/run.hpp"
#include "cli/verify/saved.hpp"
#include "cli/verify/soak.hpp"
#include "formats/verify/judged_lines.hpp"
#include "formats/verify/verify_lines.hpp"
#include "model/verify/rounds.hpp"
#include "os/interruption.hpp"
#include "os/written/log_file.hpp"
#include "render/terminal.hpp"
#include "render/verify_outputs.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <memory>

namespace gpuvet {
namespace {

struct VerifyCommand {
  VerifyOptions run;
  std::string from, baseline; // saved runs
  std::vector<std::string> compare, layers, allowed;
  std::string junit, prometheus;
  bool json = false, nagios = false, strict = false;
};

constexpr std::string_view kVerifyJunitMark = "<testsuites name=\"gpuvet verify\"";
constexpr std::string_view kPrometheusMark = "gpuvet_verify_";

int complain(const Error& error) {
  fmt::print(stderr, "gpuvet: {}{}{}\n", printable(error.where), error.where.empty() ? "" : ": ",
             error.what);
  return exit_code::usage;
}

int write_reports(const VerifyCommand& command, const Measurements& measured,
                  const VerifyReport& judged) {
  if (!command.junit.empty())
    if (auto done = write_report(command.junit, verify_junit(judged.steps), kVerifyJunitMark);
        !done)
      return complain(done.error());
  if (!command.prometheus.empty()) {
    const std::string text = verify_prometheus(measured, judged.steps, judged.exit_status);
    if (auto done = write_report(command.prometheus, text, kPrometheusMark); !done)
      return complain(done.error());
  }
  return 0;
}

// The verdicts, on standard output; as JSON they come after the lines of the run.
int show(const VerifyCommand& command, const Measurements& measured, const VerifyReport& judged,
         const Report* compared, const Context& context) {
  int status = judged.exit_status;
  if (command.json) {
    for (const JudgedStep& step : judged.steps)
      fmt::print("{}", judged_line(step));
    fmt::print("{}", verdict_line(judged.report.verdict, judged.exit_status, judged.steps));
  } else if (command.nagios) {
    const NagiosLine line = verify_nagios(judged.report.verdict, judged.steps, judged.exit_status);
    fmt::print("{}\n", line.text);
    status = line.status;
  } else {
    const TextStyle style{context.out.colour, context.out.width};
    fmt::print("{}", render_terminal(judged.report, style));
    if (compared) fmt::print("\n{}", render_terminal(*compared, style));
  }
  if (int failed = write_reports(command, measured, judged)) return failed;
  return status;
}

int judge_and_show(const VerifyCommand& command, Measurements measured, Context& context) {
  join_rounds(measured);
  auto tables = context.facts.verify();
  if (!tables) return complain(tables.error());
  VerifyPolicy policy;
  policy.allowed_skips = {command.allowed.begin(), command.allowed.end()};
  policy.strict = command.strict;
  policy.layers = command.run.layers;
  if (command.run.self_test) policy.layers = {"self-test"};
  const VerifyReport judged = judge_verify(measured, **tables, context.facts, policy);
  if (command.baseline.empty()) return show(command, measured, judged, nullptr, context);
  auto before = read_saved_run(command.baseline);
  if (!before) return complain(before.error());
  const Report compared = compare_runs(before->measured, measured, **tables, context.facts);
  return show(command, measured, judged, &compared, context);
}

int run_compare(const VerifyCommand& command, Context& context) {
  auto tables = context.facts.verify();
  if (!tables) return complain(tables.error());
  auto before = read_saved_run(command.compare[0]), now = read_saved_run(command.compare[1]);
  if (!before) return complain(before.error());
  if (!now) return complain(now.error());
  const Report report = compare_runs(before->measured, now->measured, **tables, context.facts);
  fmt::print("{}", render_terminal(report, {context.out.colour, context.out.width}));
  return report.state == State::ok ? exit_code::ok : exit_code::falls_short;
}

int run_saved(const VerifyCommand& command, Context& context) {
  auto saved = read_saved_run(command.from);
  if (!saved) return complain(saved.error());
  if (!saved->complete) fmt::print(stderr, "gpuvet: {}\n", printable(saved->why_not));
  if (command.json) fmt::print("{}", write_measurements(saved->measured));
  return judge_and_show(command, saved->measured, context);
}

int run_now(VerifyCommand command, Context& context) {
  auto tables = context.facts.verify();
  if (!tables) return complain(tables.error());
  if (!command.baseline.empty()) // a mistake is told before minutes of work, not after
    if (auto before = read_saved_run(command.baseline); !before) return complain(before.error());
  std::optional<LogFile> log;
  if (!command.run.log.empty()) {
    if (auto error = prepare_soak(command.run)) return complain(*error);
    auto opened = open_log(command.run.log, command.run.soak_hours > 0);
    if (!opened) return complain(opened.error());
    log.emplace(std::move(*opened));
  }
  RunHooks hooks;
  hooks.interrupted = &watch_interruptions();
  hooks.progress = context.err;
  std::optional<Error> lost;
  hooks.record = [&](const std::string& lines) {
    if (command.json) fmt::print("{}", lines);
    if (command.json) std::fflush(stdout);
    if (!log || lost) return;
    if (auto added = log->add(lines); !added) lost = added.error();
  };
  Measurements measured = run_verification(command.run, hooks, **tables, context.facts);
  if (command.run.continued_s > 0 && !lost) { // the soak as a whole
    auto whole = read_saved_run(command.run.log);
    if (!whole) return complain(whole.error());
    measured = std::move(whole->measured);
  }
  const int status = judge_and_show(command, std::move(measured), context);
  if (lost) return complain(*lost);
  return status;
}

std::optional<Error> nonsense(const VerifyCommand& command) {
  const std::set<std::string> known = {"device", "bandwidth", "framework", "stress"};
  for (const std::string& layer : command.layers)
    if (!known.contains(layer))
      return Error{"there are the layers device, bandwidth, framework and stress",
                   "--layer " + layer};
  if (command.run.soak_hours > 0 && command.run.quick)
    return Error{"--soak takes hours and --quick takes seconds: name one", ""};
  return std::nullopt;
}

int run_verify(VerifyCommand command, Context& context) {
  if (auto error = nonsense(command)) return complain(*error);
  command.run.layers = {command.layers.begin(), command.layers.end()};
  if (!command.compare.empty()) return run_compare(command, context);
  if (!command.from.empty()) return run_saved(command, context);
  return run_now(std::move(command), context);
}

void add_run_options(CLI::App& app, VerifyCommand& command) {
  app.add_option("--gpu", command.run.gpus, "these GPUs: CUDA ordinals or UUIDs (default: all)")
      ->type_name("LIST")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--layer", command.layers, "device, bandwidth, framework, stress (default: all)")
      ->type_name("LIST")
      ->delimiter(',')
      ->allow_extra_args(false);
  auto* quick =
      app.add_flag("--quick", command.run.quick, "what shows most, planned for 20 seconds");
  auto* duration = app.add_option("--duration", command.run.seconds, "for everything")
                       ->type_name("SECONDS")
                       ->check(CLI::Range(10.0, 604800.0))
                       ->capture_default_str()
                       ->excludes(quick);
  app.add_option("--soak", command.run.soak_hours,
                 "so many hours; with --log an interrupted soak is gone on with")
      ->type_name("HOURS")
      ->check(CLI::Range(0.01, 1000.0))
      ->excludes(duration);
  app.add_option("--python", command.run.pythons, "this interpreter's frameworks and libraries")
      ->type_name("EXE")
      ->allow_extra_args(false);
  app.add_option("--seed", command.run.seed, "of all data, to repeat a run")->type_name("NUMBER");
  app.add_flag("--self-test", command.run.self_test,
               "plant faults and show that each is found; measures nothing else");
}

void add_output_options(CLI::App& app, VerifyCommand& command) {
  app.add_option("--log", command.run.log, "keep what is measured here, as JSON lines")
      ->type_name("FILE");
  auto* from = app.add_option("--from", command.from, "judge this saved run again; measure nothing")
                   ->type_name("FILE");
  app.add_option("--baseline", command.baseline, "compare with this saved run")->type_name("FILE");
  app.add_option("--compare", command.compare, "compare two saved runs; measure nothing")
      ->type_name("BEFORE NOW")
      ->expected(2)
      ->excludes(from);
  app.add_option("--allow-skip", command.allowed, "steps that need not have run")
      ->type_name("LIST")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_flag("--strict", command.strict, "warnings alone give exit status 4");
  auto* json = app.add_flag("--json", command.json, "print JSON lines (schema gpuvet-verify/1)");
  app.add_flag("--nagios", command.nagios, "one line and exit status for Nagios")->excludes(json);
  app.add_option("--junit", command.junit, "write JUnit XML too")->type_name("FILE");
  app.add_option("--prometheus", command.prometheus, "write Prometheus text too")
      ->type_name("FILE");
}

} // namespace

std::function<int(Context&)> define_verify(CLI::App& app) {
  auto command = std::make_shared<VerifyCommand>();
  add_run_options(app, *command);
  add_output_options(app, *command);
  app.footer("Exit status: 0 every required check passed, 1 at least one failed, 2 bad usage or "
             "unreadable input, 3 a required check could not be judged, 4 warnings (--strict), "
             "130 interrupted.");
  return [command](Context& context) { return run_verify(*command, context); };
}

} // namespace gpuvet
