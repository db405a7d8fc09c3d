// gpuvet snapshot: one file with all that the doctor asks, so that it can be asked elsewhere.
#include "base/units.hpp"
#include "cli/command.hpp"
#include "cli/machine_source.hpp"
#include "formats/recording/recording.hpp"
#include "os/written/new_file.hpp"
#include "probe/source/recorder.hpp"
#include "probe/source/redact.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <ctime>
#include <memory>

namespace gpuvet {
namespace {

struct SnapshotOptions {
  MachineOptions machine;
  std::string output;
};

int complain(const Error& error) {
  fmt::print(stderr, "gpuvet: {}{}{}\n", error.where, error.where.empty() ? "" : ": ", error.what);
  return exit_code::usage;
}

// By the time and not by the host: its name is what a snapshot does not tell.
std::string default_name() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  return fmt::format("gpuvet-snapshot-{:04}{:02}{:02}-{:02}{:02}{:02}.json.zst", utc.tm_year + 1900,
                     utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec);
}

std::string described(const Machine& machine) {
  std::string text =
      fmt::format("{} GPU{}", machine.nvml.gpus.size(), machine.nvml.gpus.size() == 1 ? "" : "s");
  if (machine.kernel.module_version) text += ", driver " + *machine.kernel.module_version;
  if (!machine.distribution.name.empty()) text += ", " + machine.distribution.name;
  return text;
}

int run_snapshot(const SnapshotOptions& options) {
  MachineOptions machine_options = options.machine;
  machine_options.read_roms = true; // what is not recorded, nobody can ask later
  auto source = machine_source(machine_options);
  if (!source) return complain(source.error());
  const Recorder recorder(*source);
  const Machine machine = see_machine(recorder.source(), machine_options);
  Recording recording = recorder.recording();
  recording.made_by = std::string("gpuvet ") + GPUVET_VERSION;
  recording.about = described(machine);
  redact(recording, identity_of(*source));
  const std::string text = write_recording(recording);

  int status = exit_code::ok;
  if (options.output == "-") {
    fmt::print("{}", text);
  } else {
    const std::string path = options.output.empty() ? default_name() : options.output;
    const std::string stored = path.ends_with(".json") ? text : compressed_recording(text);
    if (auto written = write_new_file(path, stored); !written) {
      status = complain(written.error());
    } else {
      fmt::print("{}: {}, {} ({} uncompressed)\n", path, recording.about,
                 human_bytes(stored.size()), human_bytes(text.size()));
      fmt::print("Read it before you pass it on: zstdcat {0}; look into it: gpuvet doctor --image "
                 "{0}\n",
                 path);
    }
  }
  for (const std::string& part : machine.not_finished)
    fmt::print(stderr, "gpuvet: not recorded within {:g} s: {}\n", options.machine.deadline_s,
               part);
  if (!machine.not_finished.empty()) leave(status);
  return status;
}

} // namespace

std::function<int(Context&)> define_snapshot(CLI::App& app) {
  auto options = std::make_shared<SnapshotOptions>();
  add_machine_options(app, options->machine);
  app.add_option(
         "-o,--output", options->output,
         "file to write, which must not exist; JSON if it ends in .json, else compressed; - "
         "for standard output (default: gpuvet-snapshot-TIME.json.zst)")
      ->type_name("FILE");
  app.footer(
      "Serial numbers, UUIDs, names of hosts and people, addresses and secrets are replaced. "
      "Exit status: 0 written, 2 not.");
  return [options](Context&) { return run_snapshot(*options); };
}

} // namespace gpuvet
