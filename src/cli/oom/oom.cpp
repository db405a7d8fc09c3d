// gpuvet oom: why did GPU memory run out, from what a program printed; or who holds it now?
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/machine_source.hpp"
#include "cli/oom/oom_json.hpp"
#include "cli/oom/read_text.hpp"
#include "render/terminal.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <memory>
#include <unistd.h>

namespace gpuvet {
namespace {

struct OomOptions {
  std::vector<std::string> files;
  std::vector<uint64_t> pid;
  std::string gpu; // an index; empty: all of them
  bool of_gpus = false, json = false;
  MachineOptions machine;
};

namespace exit_status {
constexpr int found = 0;
constexpr int open = 1;
constexpr int none = 3;
} // namespace exit_status

int complain(const Error& error) {
  fmt::print(stderr, "gpuvet: {}{}{}\n", printable(error.where), error.where.empty() ? "" : ": ",
             error.what);
  return exit_code::usage;
}

int status_of(OomOutcome outcome) {
  switch (outcome) {
  case OomOutcome::found:
    return exit_status::found;
  case OomOutcome::open:
    return exit_status::open;
  case OomOutcome::none:
    break;
  }
  return exit_status::none;
}

int run_texts(const OomOptions& options, const OomTables& tables, const Context& context) {
  auto inputs = read_oom_inputs(options.files, tables, context.err);
  if (!inputs) return complain(inputs.error());
  std::vector<Json> documents;
  std::optional<OomOutcome> worst; // of several texts the one that says most
  for (const OomInput& input : *inputs) {
    const OomReport report = judge_oom(input.evidence, tables);
    if (!worst || report.outcome < *worst) worst = report.outcome;
    if (options.json) {
      documents.push_back(oom_json(input.name, input.evidence, report));
      continue;
    }
    if (inputs->size() > 1)
      fmt::print("{}{}:\n\n", &input == inputs->data() ? "" : "\n", printable(input.name));
    fmt::print("{}", render_terminal(report.report, {context.out.colour, context.out.width}));
  }
  if (options.json) fmt::print("{}", oom_document(std::move(documents)));
  return status_of(worst.value_or(OomOutcome::none));
}

Result<std::optional<uint32_t>> index_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  const std::optional<uint64_t> index = decimal_number(text);
  if (!index || *index > UINT32_MAX) return fail("this is no index of a GPU", "--gpu " + text);
  return static_cast<uint32_t>(*index);
}

int run_holders(const OomOptions& options, const OomTables& tables, const Context& context) {
  auto gpu = index_of(options.gpu);
  if (!gpu) return complain(gpu.error());
  MachineOptions machine_options = options.machine;
  machine_options.cuda = false; // NVML and /proc tell it
  auto source = machine_source(machine_options);
  if (!source) return complain(source.error());
  const Machine machine = see_machine(*source, machine_options);
  std::optional<uint64_t> pid;
  if (!options.pid.empty()) pid = options.pid.front();
  auto holders = judge_holders(machine, tables, pid, *gpu);
  if (!holders) return complain(holders.error());
  if (options.json)
    fmt::print("{}", holders_document(*holders));
  else
    fmt::print("{}", render_terminal(holders->report, {context.out.colour, context.out.width}));
  int status = exit_status::found; // who holds the memory was told
  if (!holders->why_unknown.empty())
    status = exit_status::none;
  else if (holders->outcome == OomOutcome::open)
    status = exit_status::open;
  if (!machine.not_finished.empty()) leave(status);
  return status;
}

int run_oom(OomOptions options, Context& context) {
  auto tables = context.facts.oom();
  if (!tables) return complain(tables.error());
  const bool holders = options.of_gpus || !options.pid.empty() || !options.machine.image.empty() ||
                       !options.machine.root.empty();
  if (holders && !options.files.empty())
    return complain({"name a log, or ask for a machine (--gpu, --pid, --image), not both", ""});
  if (holders) return run_holders(options, **tables, context);
  if (options.files.empty()) {
    if (isatty(STDIN_FILENO) != 0) return run_holders(options, **tables, context);
    options.files.emplace_back("-");
  }
  return run_texts(options, **tables, context);
}

} // namespace

std::function<int(Context&)> define_oom(CLI::App& app) {
  auto options = std::make_shared<OomOptions>();
  app.add_option("FILE", options->files,
                 "what a program printed: a log, or a poll of nvidia-smi; - is standard input")
      ->type_name("");
  app.add_option("--pid", options->pid, "what this process holds on which GPU now")
      ->type_name("N")
      ->expected(1);
  CLI::Option* gpu =
      app.add_option("--gpu", options->gpu, "who holds the memory of each GPU now, or of this one")
          ->type_name("INDEX")
          ->expected(0, 1);
  app.add_option("--image", options->machine.image,
                 "of a recorded machine: file of gpuvet snapshot, or folder")
      ->type_name("FILE");
  app.add_flag("--json", options->json, "print JSON (schema gpuvet-oom/1)");
  app.footer(
      "Without FILE: standard input, or on a terminal who holds the memory now. Exit status: 0 "
      "cause found, 1 several are possible, 2 bad usage or unreadable input, 3 no GPU memory "
      "ran out.");
  return [options, gpu](Context& context) {
    options->of_gpus = gpu->count() > 0;
    return run_oom(*options, context);
  };
}

} // namespace gpuvet
