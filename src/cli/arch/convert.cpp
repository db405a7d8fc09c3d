// gpuvet arch convert: the same GPU targets in another build system's words.
#include "judge/arch/convert.hpp"

#include "base/text.hpp"
#include "cli/arch/arch.hpp"
#include "cli/arch/plan_json.hpp"
#include "render/terminal.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <memory>

namespace gpuvet {
namespace {

struct ConvertOptions {
  std::string from, to, toolkit;
  bool list = false, json = false;
};

int complain(const Error& error) {
  fmt::print(stderr, "gpuvet: {}{}{}\n", error.where, error.where.empty() ? "" : ": ", error.what);
  return exit_code::usage;
}

int list_systems(const ArchTables& tables, const Terminal& out) {
  Report report;
  report.verdict = fmt::format("{} build systems.", tables.systems.size());
  report.state = State::ok;
  Table table{{{"ID"}, {"OTHER NAMES"}, {"BUILD SYSTEM"}}, {}};
  for (const ArchSystem& system : tables.systems)
    table.rows.push_back({{system.id}, {joined(system.names)}, {system.tool}});
  report.tables.push_back(std::move(table));
  fmt::print("{}", render_terminal(report, {out.colour, out.width}));
  return exit_code::ok;
}

int run_convert(const ConvertOptions& options, const std::string& value, Context& context) {
  auto tables = context.facts.arch();
  auto rules = context.facts.load_rules();
  if (!tables) return complain(tables.error());
  if (!rules) return complain(rules.error());
  if (options.list) return list_systems(**tables, context.out);
  if (options.from.empty() || options.to.empty() || value.empty())
    return complain({"give --from, --to and the value, such as: gpuvet arch convert --from cmake "
                     "--to pytorch \"86;90\"",
                     ""});
  auto from = named_system(options.from, **tables, "--from");
  if (!from) return complain(from.error());
  auto to = named_system(options.to, **tables, "--to");
  if (!to) return complain(to.error());
  auto toolkit = named_toolkit(options.toolkit, context.facts);
  if (!toolkit) return complain(toolkit.error());
  ArchContext how{*tables, *rules, *toolkit, from->release};
  ArchContext there{*tables, *rules, *toolkit, to->release};

  auto codes = read_value(*from->system, value, how);
  if (!codes) return complain(codes.error());
  if (auto error = unknown_target(*codes, how)) return complain(*error);
  auto made = write_value(*to->system, *codes, there);
  if (!made) {
    complain(made.error());
    fmt::print(stderr, "gpuvet: the value builds {}\n", codes_text(*codes));
    return exit_code::falls_short;
  }
  if (options.json) {
    fmt::print("{}", conversion_json(*from->system, *to->system, value, *codes, *made, {}));
    return exit_code::ok;
  }
  fmt::print("{}\n", *made);
  return exit_code::ok;
}

} // namespace

std::function<int(Context&)> define_arch_convert(CLI::App& app) {
  auto options = std::make_shared<ConvertOptions>();
  app.add_option("--from", options->from, "build system that the value is written for")
      ->type_name("SYSTEM");
  app.add_option("--to", options->to, "build system to write it for")->type_name("SYSTEM");
  app.add_option("--toolkit", options->toolkit,
                 "CUDA that builds; keywords such as all-major depend on it")
      ->type_name("VERSION");
  app.add_flag("--list", options->list, "list the build systems");
  app.add_flag("--json", options->json, "print JSON (schema gpuvet-arch-convert/1)");
  // The value may be nvcc's flags, which begin like options: whatever is no option of ours is taken
  // as the value, in the order given.
  app.allow_extras();
  app.fallthrough(false);
  app.footer("What follows the options is the value.\n"
             "Exit status: 0 converted, 1 the other system cannot say it exactly, 2 bad usage or a "
             "value that means nothing.");
  return [options, &app](Context& context) {
    return run_convert(*options, joined(app.remaining(), " "), context);
  };
}

} // namespace gpuvet
