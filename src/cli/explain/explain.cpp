// gpuvet explain ID: what a check asks, what it means when it fires, and what mends it.
#include "cli/command.hpp"
#include "judge/doctor/explain_check.hpp"
#include "render/terminal.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <memory>

namespace gpuvet {
namespace {

int complain(const Error& error) {
  fmt::print(stderr, "gpuvet: {}{}{}\n", error.where, error.where.empty() ? "" : ": ", error.what);
  return exit_code::usage;
}

int run_explain(const std::vector<std::string>& ids, Context& context) {
  auto tables = context.facts.checks();
  if (!tables) return complain(tables.error());
  for (size_t i = 0; i < ids.size(); ++i) {
    auto report = explain_id(ids[i], **tables);
    if (!report) return complain(report.error());
    fmt::print("{}{}", i ? "\n" : "",
               render_terminal(*report, {context.out.colour, context.out.width}));
  }
  return exit_code::ok;
}

} // namespace

std::function<int(Context&)> define_explain(CLI::App& app) {
  auto ids = std::make_shared<std::vector<std::string>>();
  app.add_option("ID", *ids, "check or symptom, as the doctor prints it: xid-79")
      ->type_name("")
      ->required();
  app.footer("Exit status: 0 explained, 2 there is no such check or symptom.");
  return [ids](Context& context) { return run_explain(*ids, context); };
}

} // namespace gpuvet
