// gpuvet arch plan: the list of GPU targets to build for.
#include "base/text.hpp"
#include "cli/arch/arch.hpp"
#include "cli/arch/plan_json.hpp"
#include "cli/devices.hpp"
#include "cli/scan_inputs.hpp"
#include "render/terminal.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <set>

namespace gpuvet {
namespace {

struct PlanOptions {
  std::vector<std::string> gpus, systems;
  std::string toolkit, cmake, tier, suffix, like, shell = "bash";
  bool future = false, no_ptx = false, min_size = false, json = false;
};

int complain(const Error& error) {
  fmt::print(stderr, "gpuvet: {}{}{}\n", error.where, error.where.empty() ? "" : ": ", error.what);
  return exit_code::usage;
}

// This machine's, or the named ones, each once.
Result<std::vector<LoadDevice>> asked_devices(const PlanOptions& options, const Facts& facts) {
  ScanResult chosen;
  auto done = choose_devices(chosen, options.gpus, "", facts);
  if (!done) return tl::unexpected(done.error());
  if (options.gpus.empty() && !chosen.asked)
    return fail("no NVIDIA GPU is found on this machine: name those to build for", "--gpu");
  std::vector<LoadDevice> devices;
  for (const LoadDevice& device : chosen.devices) {
    bool seen = std::any_of(devices.begin(), devices.end(),
                            [&](const LoadDevice& other) { return other.name == device.name; });
    if (!seen) devices.push_back(device);
  }
  return devices;
}

// Every capability of the toolkit, or of the majors of the GPUs that were named. Tegra chips take
// no desktop code and are left out unless one of them was named.
std::vector<LoadDevice> family_devices(const std::vector<LoadDevice>& named, const Toolkit& toolkit,
                                       const LoadRules& rules) {
  std::vector<LoadDevice> devices = named;
  for (Target target : plain_targets(toolkit)) {
    bool tegra = std::find(rules.tegra.begin(), rules.tegra.end(), target.sm) != rules.tegra.end();
    bool wanted = std::any_of(named.begin(), named.end(), [&](const LoadDevice& device) {
      return cc_major(device.sm) == cc_major(target.sm) && (!tegra || device.tegra);
    });
    bool listed = std::any_of(named.begin(), named.end(),
                              [&](const LoadDevice& device) { return device.sm == target.sm; });
    if ((named.empty() || wanted) && !listed && target.sm != 21)
      devices.push_back({cc_name(target.sm), target.sm, tegra});
  }
  std::stable_sort(devices.begin(), devices.end(),
                   [](const LoadDevice& a, const LoadDevice& b) { return a.sm < b.sm; });
  return devices;
}

const Toolkit* newest_sure(const std::vector<Toolkit>& toolkits) {
  for (size_t i = toolkits.size(); i-- > 0;)
    if (toolkits[i].confidence == "high") return &toolkits[i];
  return &toolkits.back();
}

Result<bool> fill_devices(PlanRequest& request, const PlanOptions& options, const Facts& facts,
                          const PlanFacts& tables) {
  if (options.tier == "native" && !options.gpus.empty())
    return fail("native means the GPUs of this machine: leave --gpu out", "--tier");
  if (options.tier == "set" && options.gpus.empty())
    return fail("set means the GPUs that you name: give --gpu", "--tier");
  bool family = options.tier == "family";
  if (!family || !options.gpus.empty()) {
    auto devices = asked_devices(options, facts);
    if (!devices) return tl::unexpected(devices.error());
    request.devices = *devices;
  }
  if (!family) return true;
  const Toolkit* toolkit = request.toolkit;
  if (!toolkit && !request.devices.empty())
    toolkit = toolkit_for(request.devices, *tables.toolkits, *tables.rules);
  if (!toolkit) toolkit = newest_sure(*tables.toolkits);
  request.toolkit = toolkit;
  request.devices = family_devices(request.devices, *toolkit, *tables.rules);
  return true;
}

// "pytorch", "pytorch=2.6", "all"; nothing: the common ones.
Result<std::vector<SystemChoice>> choose_systems(const PlanOptions& options,
                                                 const ArchTables& tables) {
  std::vector<SystemChoice> choices;
  bool all = options.systems.size() == 1 && options.systems[0] == "all";
  if (options.systems.empty() || all) {
    for (const ArchSystem& system : tables.systems)
      if ((all && system.form != "none") || (!all && system.common))
        choices.push_back({&system, std::nullopt});
    return choices;
  }
  for (const std::string& text : options.systems) {
    auto choice = named_system(text, tables, "--for");
    if (!choice) return tl::unexpected(choice.error());
    choices.push_back(*choice);
  }
  return choices;
}

Result<ScanResult> earlier_build(const std::string& path, Context& context) {
  ReadFiles read = read_inputs(find_inputs({path}), {}, context.err);
  if (!read.errors.empty()) return tl::unexpected(read.errors.front());
  ScanResult result;
  for (Binary& binary : read.binaries)
    result.files.push_back({std::move(binary), {}});
  if (sizes_by_target(result).empty()) return fail("there is no GPU code in it", path);
  return result;
}

void print_plan(const Plan& plan, const PlanRequest& request, const PlannedSizes* sizes,
                Shell shell, const Terminal& out) {
  TextStyle style{out.colour, out.width};
  Report report = plan_report(plan, request, sizes);
  std::vector<std::string> notes = std::move(report.notes);
  report.notes.clear();
  fmt::print("{}", render_terminal(report, style));
  for (const SystemLines& system : plan_lines(plan, shell)) {
    fmt::print("\n{}:\n", system.title);
    for (const std::string& line : system.lines)
      fmt::print("    {}\n", line);
    for (const std::string& note : system.notes)
      fmt::print("  {}\n", wrap(note, out.width - 2, 2));
  }
  Report closing;
  closing.notes = std::move(notes);
  std::string rest = render_terminal(closing, style);
  if (!rest.empty()) fmt::print("\n{}", rest);
}

int run_plan(const PlanOptions& options, Context& context) {
  auto tables = context.facts.arch();
  auto rules = context.facts.load_rules();
  auto toolkits = context.facts.toolkits();
  auto cmake = context.facts.cmake_features();
  if (!tables) return complain(tables.error());
  if (!rules) return complain(rules.error());
  if (!toolkits) return complain(toolkits.error());
  if (!cmake) return complain(cmake.error());
  PlanFacts facts{*tables, *rules, *toolkits, *cmake};

  PlanRequest request;
  auto toolkit = named_toolkit(options.toolkit, context.facts);
  if (!toolkit) return complain(toolkit.error());
  request.toolkit = *toolkit;
  request.toolkit_named = *toolkit != nullptr;
  if (!options.cmake.empty()) {
    request.cmake = parse_version(options.cmake);
    if (!request.cmake)
      return complain(
          {fmt::format("\"{}\" is not a version such as 3.28", options.cmake), "--cmake"});
  }
  request.ptx = !options.no_ptx;
  request.ptx_wanted = options.future;
  request.min_size = options.min_size;
  request.suffix = options.suffix.empty() ? '\0' : options.suffix[0];
  auto systems = choose_systems(options, **tables);
  if (!systems) return complain(systems.error());
  request.systems = *systems;
  if (auto filled = fill_devices(request, options, context.facts, facts); !filled)
    return complain(filled.error());

  Plan plan = make_plan(request, facts);
  if (!plan.toolkit) return complain({"no toolkit is known", "--facts"});
  std::optional<PlannedSizes> sizes;
  if (!options.like.empty()) {
    auto earlier = earlier_build(options.like, context);
    if (!earlier) return complain(earlier.error());
    sizes = planned_sizes(plan.codes, *earlier);
  }
  Shell shell = shell_named(options.shell).value_or(Shell::bash);
  const PlannedSizes* known = sizes ? &*sizes : nullptr;
  if (options.json)
    fmt::print("{}", plan_json(plan, request, known, shell));
  else
    print_plan(plan, request, known, shell, context.out);
  return stands(plan) ? exit_code::ok : exit_code::falls_short;
}

} // namespace

std::function<int(Context&)> define_arch_plan(CLI::App& app) {
  auto options = std::make_shared<PlanOptions>();
  app.add_option("--gpu,-g", options->gpus,
                 "GPU by name, PCI id or compute capability; may be repeated (default: this "
                 "machine's)")
      ->type_name("NAME")
      ->delimiter(',');
  app.add_option("--toolkit", options->toolkit, "CUDA that builds, such as 12.8")
      ->type_name("VERSION");
  app.add_option("--cmake", options->cmake, "CMake that builds, such as 3.28")
      ->type_name("VERSION");
  app.add_option("--for", options->systems,
                 "build systems (arch convert --list), with their release if wanted: "
                 "cmake,pytorch=2.6; or all")
      ->type_name("SYSTEM")
      ->delimiter(',');
  app.add_option("--tier", options->tier,
                 "native: this machine's GPUs; set: the named ones; family: every GPU of their "
                 "major versions, or all that the toolkit has")
      ->type_name("TEXT:{native,set,family}")
      ->check(CLI::IsMember(std::vector<std::string>{"native", "set", "family"}));
  auto* future = app.add_flag("--future", options->future,
                              "insist on PTX for GPUs to come (it is in the list anyway)");
  app.add_flag("--no-ptx", options->no_ptx, "machine code only")->excludes(future);
  app.add_flag("--min-size", options->min_size,
               "fewest targets: code for a lower minor version serves too");
  app.add_option(
         "--suffix", options->suffix,
         "targets with this suffix where CUDA has them: a for the GPU's own instructions, f "
         "for those of its family")
      ->type_name("TEXT:{a,f}")
      ->check(CLI::IsMember(std::vector<std::string>{"a", "f"}));
  app.add_option("--like", options->like,
                 "an earlier build (library, wheel, folder): what each entry costs there")
      ->type_name("FILE");
  app.add_option("--shell", options->shell, "quote the lines for this shell or file")
      ->type_name("TEXT:{bash,fish,powershell,cmd,dockerfile,cmake-preset,yaml}")
      ->check(CLI::IsMember(shell_names()));
  app.add_flag("--json", options->json, "print JSON (schema gpuvet-arch/1)");
  app.footer("Exit status: 0 the list serves every GPU and each system can say it, 1 it does not, "
             "2 bad usage or unreadable input.");
  return [options](Context& context) { return run_plan(*options, context); };
}

} // namespace gpuvet
