// gpuvet diff: what changed between two snapshots, since a snapshot, or between two Python
// environments?
#include "judge/diff/diff.hpp"

#include "cli/command.hpp"
#include "cli/diff_json.hpp"
#include "cli/machine_source.hpp"
#include "probe/image_recording.hpp"
#include "probe/source/recorder.hpp"
#include "probe/source/redact.hpp"
#include "render/terminal.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <memory>

namespace gpuvet {
namespace {

struct DiffOptions {
  std::vector<std::string> paths, pythons;
  double deadline_s = 10;
  bool cuda = true, verbose = false, json = false;
};

struct Compared {
  MachineDiff diff;
  std::string before, after; // names for the columns
  bool cut_short = false;    // threads may still wait for the machine
};

int complain(const Error& error) {
  fmt::print(stderr, "gpuvet: {}{}{}\n", error.where, error.where.empty() ? "" : ": ", error.what);
  return exit_code::usage;
}

MachineOptions machine_options(const DiffOptions& options) {
  MachineOptions machine;
  machine.deadline_s = options.deadline_s;
  machine.cuda = options.cuda;
  return machine;
}

Result<Machine> machine_at(const std::string& path, const DiffOptions& options) {
  MachineOptions machine = machine_options(options);
  (is_recording(path) ? machine.image : machine.root) = path;
  auto source = machine_source(machine);
  if (!source) return tl::unexpected(source.error());
  if (!machine.root.empty() && !source->list("/"))
    return fail(source->list("/").error().what, path);
  return see_machine(*source, machine);
}

// This machine as a snapshot would show it, so that names which a snapshot does not tell are no
// change.
Result<Machine> this_machine(const DiffOptions& options) {
  const MachineOptions machine = machine_options(options);
  auto source = machine_source(machine);
  if (!source) return tl::unexpected(source.error());
  const Recorder recorder(*source);
  const Machine seen = see_machine(recorder.source(), machine);
  auto recording = std::make_shared<Recording>(recorder.recording());
  redact(*recording, identity_of(*source));
  Machine replayed = see_machine(replay_source(recording), machine);
  replayed.not_finished = seen.not_finished;
  return replayed;
}

Result<Compared> compare_machines(const DiffOptions& options) {
  if (options.paths.empty())
    return fail("name a snapshot, two of them, or --python twice (see gpuvet diff --help)");
  // NVML and CUDA are asked beside the reading of the snapshot.
  const bool with_now = options.paths.size() == 1;
  auto after = with_now ? this_machine(options) : machine_at(options.paths[1], options);
  if (!after) return tl::unexpected(after.error());
  auto before = machine_at(options.paths[0], options);
  if (!before) return tl::unexpected(before.error());
  return Compared{.diff = diff_machines(*before, *after),
                  .before = options.paths[0],
                  .after = with_now ? "now" : options.paths[1],
                  .cut_short = !before->not_finished.empty() || !after->not_finished.empty()};
}

Result<PythonEnv> python_named(const Source& source, const std::string& executable) {
  Machine machine;
  ProbeOptions options;
  options.pythons = {executable};
  probe_pythons(source, options, machine);
  for (PythonEnv& env : machine.pythons) {
    if (env.executable != executable && env.why != "named") continue;
    if (!env.packages) return fail(env.packages.why_unknown, ""); // which names the file
    return std::move(env);
  }
  return fail("no Python environment was found there", executable);
}

Result<Compared> compare_pythons(const DiffOptions& options) {
  if (options.pythons.size() != 2 || !options.paths.empty())
    return fail("two interpreters are compared: --python A --python B, without snapshots");
  const Source source = live_source({});
  auto before = python_named(source, options.pythons[0]);
  if (!before) return tl::unexpected(before.error());
  auto after = python_named(source, options.pythons[1]);
  if (!after) return tl::unexpected(after.error());
  return Compared{.diff = diff_pythons(*before, *after),
                  .before = options.pythons[0],
                  .after = options.pythons[1]};
}

int run_diff(const DiffOptions& options, const Context& context) {
  auto compared = options.pythons.empty() ? compare_machines(options) : compare_pythons(options);
  if (!compared) return complain(compared.error());
  const MachineDiff& diff = compared->diff;
  if (options.json)
    fmt::print("{}", diff_json(diff, compared->before, compared->after));
  else
    fmt::print(
        "{}", render_terminal(diff_report(diff, compared->before, compared->after, options.verbose),
                              {context.out.colour, context.out.width}));
  const int status = diff.changes.empty() ? exit_code::ok : exit_code::falls_short;
  if (compared->cut_short) leave(status);
  return status;
}

} // namespace

std::function<int(Context&)> define_diff(CLI::App& app) {
  auto options = std::make_shared<DiffOptions>();
  app.add_option("SNAPSHOT", options->paths,
                 "earlier snapshot, and a later one (default: this machine now); folders of files "
                 "too")
      ->type_name("")
      ->expected(0, 2);
  app.add_option("--python", options->pythons, "compare two interpreters' packages instead")
      ->type_name("EXE")
      ->allow_extra_args(false);
  app.add_option("--deadline", options->deadline_s, "answer after this time, complete or not")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.01, 3600.0))
      ->capture_default_str();
  app.add_flag("!--no-cuda", options->cuda, "do not ask the CUDA driver (the slowest question)");
  app.add_flag("-v,--verbose", options->verbose, "all changes, long lists too");
  app.add_flag("--json", options->json, "print JSON (schema gpuvet-diff/1)");
  app.footer("Exit status: 0 nothing changed, 1 something did, 2 bad usage or unreadable input.");
  return [options](Context& context) { return run_diff(*options, context); };
}

} // namespace gpuvet
