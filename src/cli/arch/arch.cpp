#include "cli/arch/arch.hpp"

#include "cli/lint/lint.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <utility>

namespace gpuvet {

std::function<int(Context&)> define_arch(CLI::App& app) {
  static const std::vector<Command> list = {
      {"plan", "the shortest list of targets for the GPUs that you name, for each build system",
       define_arch_plan},
      {"convert", "the same list in another build system's words", define_arch_convert},
      {"lint", "find wrong GPU architectures in build files", define_arch_lint},
      {"log", "tell which GPU architectures a build made, from its log", define_arch_log},
  };
  app.require_subcommand(1);
  std::vector<std::pair<CLI::App*, std::function<int(Context&)>>> runs;
  for (const Command& command : list) {
    CLI::App* sub = app.add_subcommand(std::string(command.name), std::string(command.summary));
    runs.emplace_back(sub, command.define(*sub));
  }
  return [runs](Context& context) {
    for (const auto& one : runs)
      if (one.first->parsed()) return one.second(context);
    return exit_code::usage;
  };
}

Result<const Toolkit*> named_toolkit(const std::string& text, const Facts& facts) {
  if (text.empty()) return nullptr;
  auto toolkits = facts.toolkits();
  if (!toolkits) return tl::unexpected(toolkits.error());
  auto version = parse_version(text);
  if (version && version->parts.size() >= 2)
    for (const Toolkit& toolkit : **toolkits)
      if (parse_version(toolkit.version) == Version{{version->major(), version->minor()}})
        return &toolkit;
  return fail(fmt::format("no toolkit {} is known: give one such as 12.8, from {} to {}", text,
                          (*toolkits)->front().version, (*toolkits)->back().version),
              "--toolkit");
}

Result<SystemChoice> named_system(const std::string& text, const ArchTables& tables,
                                  const std::string& option) {
  size_t equals = text.find('=');
  std::string name = text.substr(0, equals);
  const ArchSystem* system = find_arch_system(tables, name);
  if (!system)
    return fail(
        fmt::format("no build system is called \"{}\": gpuvet arch convert --list names them",
                    name),
        option);
  SystemChoice choice{system, std::nullopt};
  if (equals == std::string::npos) return choice;
  choice.release = parse_version(text.substr(equals + 1));
  if (!choice.release) return fail(text + ": a version such as 2.6 is wanted behind the =", option);
  for (const ArchAccept& accept : tables.accepts)
    if (accept.product == system->product && accept.first_release) return choice;
  return fail(
      fmt::format("{}: no targets by release are known for it; leave the version out", text),
      option);
}

} // namespace gpuvet
