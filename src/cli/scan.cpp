// gpuvet scan: which GPUs does this run on?
#include "base/regex.hpp"
#include "cli/command.hpp"
#include "cli/devices.hpp"
#include "cli/scan_inputs.hpp"
#include "cli/scan_json.hpp"
#include "judge/scan/containers.hpp"
#include "judge/scan/scan_report.hpp"
#include "judge/scan/sizes.hpp"
#include "judge/scan/words.hpp"
#include "render/terminal.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <memory>

namespace gpuvet {
namespace {

struct ScanOptions {
  std::vector<std::string> paths, gpus, environment, pythons;
  std::vector<uint64_t> pids;
  std::string driver, kernels;
  bool wants_kernels = false, sizes = false, explain = false, json = false, sections_only = false;
};

int complain(const Error& error) {
  fmt::print(stderr, "gpuvet: {}{}{}\n", error.where, error.where.empty() ? "" : ": ", error.what);
  return exit_code::usage;
}

// CUDA's switches of the JIT, as the program will see them.
Result<LoadEnvironment> environment_from(const std::vector<std::string>& settings) {
  LoadEnvironment environment;
  for (const std::string& setting : settings) {
    size_t equals = setting.find('=');
    std::string name = setting.substr(0, equals);
    bool on = equals != std::string::npos && setting.substr(equals + 1) != "0" &&
              setting.size() > equals + 1;
    if (name == "CUDA_FORCE_PTX_JIT" || name == "CUDA_FORCE_JIT")
      environment.force_ptx_jit |= on;
    else if (name == "CUDA_DISABLE_PTX_JIT" || name == "CUDA_DISABLE_JIT")
      environment.disable_ptx_jit |= on;
    else
      return fail("not a variable that changes which code loads: CUDA_FORCE_PTX_JIT, "
                  "CUDA_FORCE_JIT, CUDA_DISABLE_PTX_JIT and CUDA_DISABLE_JIT do",
                  "--env " + setting);
  }
  return environment;
}

InspectOptions inspect_options(const ScanOptions& options, const ScanResult& result,
                               const LoadRules& rules) {
  InspectOptions inspecting;
  inspecting.sections_only = options.sections_only;
  inspecting.kernels = options.wants_kernels ? KernelNames::all : KernelNames::chosen;
  inspecting.wants_kernels = [&result, &rules](const Container& container) {
    return names_would_help(container, result.devices, rules);
  };
  inspecting.choose_for_kernels = [&result, &rules](const std::vector<Container>& containers) {
    return containers_to_name(containers, result.devices, rules);
  };
  return inspecting;
}

// Keeps the kernels whose mangled or readable name matches.
Result<bool> filter_kernels(ScanResult& result, const std::string& pattern) {
  if (pattern.empty()) return true;
  auto regex = Regex::compile(pattern);
  if (!regex) return tl::unexpected(regex.error());
  for (ScannedFile& file : result.files)
    for (Container& container : file.binary.containers)
      std::erase_if(container.kernels, [&](const std::string& kernel) {
        return !regex->found_in(kernel) && !regex->found_in(readable_kernel(kernel));
      });
  return true;
}

int exit_status(const ScanResult& result) {
  bool damaged = std::any_of(result.files.begin(), result.files.end(),
                             [](const ScannedFile& file) { return !file.binary.problems.empty(); });
  if (falls_short(result)) return exit_code::falls_short;
  return result.errors.empty() && !damaged ? exit_code::ok : exit_code::usage;
}

void print_report(const ScanOptions& options, const ScanResult& result, const LoadRules& rules,
                  const std::vector<ErrorCode>& errors, const Terminal& out) {
  Report report = scan_report(result, {out.width}, errors);
  if (options.sizes && !result.files.empty()) add_sizes(report, result, rules);
  if (options.explain) add_containers(report, result, rules);
  if (options.wants_kernels) add_kernels(report, result, rules);
  fmt::print("{}", render_terminal(report, {out.colour, out.width}));
}

void append(Inputs& to, Inputs more) {
  std::move(more.jobs.begin(), more.jobs.end(), std::back_inserter(to.jobs));
  std::move(more.errors.begin(), more.errors.end(), std::back_inserter(to.errors));
  std::move(more.notes.begin(), more.notes.end(), std::back_inserter(to.notes));
}

Inputs inputs_of(const ScanOptions& options) {
  Inputs inputs;
  if (!options.paths.empty()) append(inputs, find_inputs(options.paths));
  for (uint64_t pid : options.pids)
    append(inputs, find_process_inputs(pid));
  for (const std::string& python : options.pythons)
    append(inputs, find_python_inputs(python));
  return inputs;
}

int run_scan(const ScanOptions& options, Context& context) {
  if (options.paths.empty() && options.pids.empty() && options.pythons.empty())
    return complain({"name what to scan: a path, --pid or --python (see gpuvet scan --help)", ""});
  ScanResult result;
  auto rules = context.facts.load_rules();
  if (!rules) return complain(rules.error());
  auto errors = context.facts.errors();
  if (!errors) return complain(errors.error());
  auto environment = environment_from(options.environment);
  if (!environment) return complain(environment.error());
  result.environment = *environment;
  if (auto chosen = choose_devices(result, options.gpus, options.driver, context.facts); !chosen)
    return complain(chosen.error());

  Inputs inputs = inputs_of(options);
  result.notes.insert(result.notes.end(), inputs.notes.begin(), inputs.notes.end());
  ReadFiles read =
      read_inputs(std::move(inputs), inspect_options(options, result, **rules), context.err);
  for (Binary& binary : read.binaries)
    result.files.push_back({std::move(binary), {}});
  if (options.sections_only)
    result.notes.push_back("only CUDA's own sections were read; code elsewhere was not looked for");
  result.files_without_code = read.without_code;
  result.compilers = std::move(read.compilers);
  result.errors = std::move(read.errors);
  judge_scan(result, **rules);
  if (auto filtered = filter_kernels(result, options.kernels); !filtered)
    return complain(filtered.error());

  if (options.json)
    fmt::print("{}\n", scan_json(result, **rules, options.explain));
  else
    print_report(options, result, **rules, **errors, context.out);
  for (const Error& error : result.errors)
    complain(error);
  return exit_status(result);
}

} // namespace

std::function<int(Context&)> define_scan(CLI::App& app) {
  auto options = std::make_shared<ScanOptions>();
  app.add_option("PATH", options->paths,
                 "library, program, object, archive, wheel, package, image, folder or environment")
      ->type_name("");
  app.add_option("--pid", options->pids, "every file that this process has mapped")
      ->type_name("N")
      ->allow_extra_args(false);
  app.add_option("--python", options->pythons,
                 "the packages of this Python interpreter, which is not run")
      ->type_name("EXE")
      ->allow_extra_args(false);
  app.add_option("--gpu,-g", options->gpus,
                 "GPU by name, PCI id or compute capability; may be repeated (default: this "
                 "machine's, else common ones)")
      ->type_name("NAME")
      ->allow_extra_args(false);
  app.add_option("--driver", options->driver, "judge for this driver: 535 or 580.65.06")
      ->type_name("VERSION");
  app.add_option("--env", options->environment,
                 "a JIT switch that the program will see, such as CUDA_FORCE_PTX_JIT=1")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  auto* kernels = app.add_option("--kernels", options->kernels,
                                 "list kernels, those that match the regular expression if given")
                      ->type_name("REGEX")
                      ->expected(0, 1);
  app.add_flag("--sizes", options->sizes, "bytes by target and what fewer targets would save");
  app.add_flag("--explain", options->explain, "show every fat binary with its images");
  app.add_flag("--sections-only", options->sections_only,
               "read CUDA's own sections only, skip the search of all other bytes");
  app.add_flag("--json", options->json, "print JSON (schema gpuvet-scan/1)");
  app.footer("Exit status: 0 every named GPU runs everything, 1 some do not, 2 bad usage or "
             "unreadable input.");
  return [options, kernels](Context& context) {
    options->wants_kernels = kernels->count() > 0;
    return run_scan(*options, context);
  };
}

} // namespace gpuvet
