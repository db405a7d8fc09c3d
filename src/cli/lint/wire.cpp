// gpuvet arch, as far as it reads build files and logs.
#include "cli/command.hpp"
#include "cli/lint/lint.hpp"

#include <CLI/CLI.hpp>

#include <memory>
#include <utility>

namespace gpuvet {

std::function<int(Context&)> define_arch(CLI::App& app) {
  app.require_subcommand(1);
  using Run = std::pair<CLI::App*, std::function<int(Context&)>>;
  auto runs = std::make_shared<std::vector<Run>>();
  auto add = [&](const char* name, const char* summary,
                 std::function<int(Context&)> (*define)(CLI::App&)) {
    CLI::App* sub = app.add_subcommand(name, summary);
    runs->emplace_back(sub, define(*sub));
  };
  add("lint", "find wrong GPU architectures in build files", define_arch_lint);
  add("log", "tell which GPU architectures a build made, from its log", define_arch_log);
  return [runs](Context& context) {
    for (const auto& [sub, run] : *runs)
      if (sub->parsed()) return run(context);
    return exit_code::usage;
  };
}

} // namespace gpuvet
