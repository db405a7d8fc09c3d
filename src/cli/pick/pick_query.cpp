#include "cli/pick/pick_query.hpp"

#include "base/text.hpp"
#include "cli/devices.hpp"
#include "judge/here/here.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

namespace gpuvet {
namespace {

Result<std::optional<Version>> version_option(const std::string& text, const char* option) {
  if (text.empty()) return std::optional<Version>();
  auto version = parse_version(text);
  bool plain = text.find_first_not_of("0123456789.") == std::string::npos;
  if (!version || !plain)
    return fail(fmt::format("\"{}\" is not a version such as 3.12 or 12.8", text), option);
  return version;
}

Result<std::optional<Version>> python_option(const std::string& text) {
  auto version = version_option(text, "--python");
  if (version && *version && (*version)->parts.size() < 2)
    return fail(fmt::format("\"{}\" does not tell the minor version: give 3.12", text), "--python");
  return version;
}

// The GPUs and the driver of a machine, as the doctor finds them.
Result<bool> fill_from_machine(const PickOptions& options, const Facts& facts,
                               const LoadRules& rules, PickContext& context) {
  auto source = machine_source(options.machine);
  if (!source) return tl::unexpected<Error>(source.error());
  Machine machine = see_machine(*source, options.machine);
  context.cut_short = !machine.not_finished.empty();
  Observed<std::vector<GpuHere>> gpus = gpus_here(machine, facts);
  if (!gpus)
    return fail(fmt::format("the GPU is not known ({}); name it with --gpu", gpus.why_unknown));
  if (gpus->empty()) return fail("no NVIDIA GPU was found here: name one with --gpu");
  context.gpus_from = gpus.source;
  for (const GpuHere& gpu : *gpus) {
    LoadDevice device = device_of(gpu, rules);
    if (device.name.starts_with("NVIDIA ")) device.name = device.name.substr(7);
    bool seen = std::any_of(context.query.devices.begin(), context.query.devices.end(),
                            [&](const LoadDevice& d) { return d.name == device.name; });
    if (!seen) context.query.devices.push_back(device);
  }
  if (options.driver.empty()) {
    if (auto driver = driver_here(machine, rules))
      context.query.driver = PickDriver{driver->driver, driver->evidence, seen_by_driver(gpus)};
    else
      context.notes.push_back("the driver is not known: " + driver.why_unknown);
  }
  if (!context.query.python)
    for (const PythonEnv& env : machine.pythons)
      if (auto version = parse_version(env.python_version);
          version && version->parts.size() >= 2 && !context.query.python) {
        context.query.python = version;
        context.python_from = env.why.empty() ? env.executable : env.why;
      }
  if (context.platform.empty() && machine.system.architecture == "aarch64")
    context.platform = "linux-aarch64";
  return true;
}

Result<bool> fill_platforms(const PickTables& tables, PickContext& context) {
  std::vector<std::string> names;
  for (const PickPlatform& platform : tables.platforms) {
    names.push_back(platform.name);
    if (platform.name == context.platform) context.query.platforms = platform.builds;
  }
  if (context.query.platforms.empty())
    return fail(
        fmt::format("no platform is called \"{}\": there are {}", context.platform, joined(names)),
        "--platform");
  return true;
}

} // namespace

Result<PickContext> pick_context(const PickOptions& options, const Facts& facts) {
  auto rules = facts.load_rules();
  if (!rules) return tl::unexpected<Error>(rules.error());
  auto tables = facts.pick();
  if (!tables) return tl::unexpected<Error>(tables.error());
  PickContext context;
  context.platform = lower_ascii(options.platform);
  auto python = python_option(options.python);
  if (!python) return tl::unexpected<Error>(python.error());
  context.query.python = *python;
  if (*python) context.python_from = "named";
  auto cuda = version_option(options.cuda, "--cuda");
  if (!cuda) return tl::unexpected<Error>(cuda.error());
  context.query.cuda = *cuda;
  if (!options.driver.empty()) {
    auto driver = driver_from(options.driver, **rules);
    if (!driver) return tl::unexpected<Error>(driver.error());
    context.query.driver = PickDriver{*driver, "named", false};
  }
  for (const std::string& name : options.gpus) {
    auto device = device_from(name, facts);
    if (!device) return tl::unexpected<Error>(device.error());
    context.query.devices.push_back(*device);
    context.gpus_from = "named";
  }
  if (context.query.devices.empty())
    if (auto filled = fill_from_machine(options, facts, **rules, context); !filled)
      return tl::unexpected<Error>(filled.error());
  if (context.platform.empty()) context.platform = "linux-x86_64";
  if (auto filled = fill_platforms(**tables, context); !filled)
    return tl::unexpected<Error>(filled.error());
  if (context.platform == "windows" && context.query.driver) {
    context.query.driver.reset();
    context.notes.push_back(
        "the driver is not judged: versions of Windows drivers are not in the table");
  }
  return context;
}

} // namespace gpuvet
