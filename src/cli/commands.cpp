#include "cli/command.hpp"
#include "cli/facts/folder.hpp"
#include "cli/run/foreign_words.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

namespace gpuvet {

// The visible list: order is the order in the help.
const std::vector<Command>& commands() {
  static const std::vector<Command> list = {
      {"doctor", "say what is wrong with this machine's GPU stack and what mends it",
       define_doctor},
      {"explain", "tell the cause of an error message, from a log or report", define_explain},
      {"run", "run a command as it is and explain its failure", define_run},
      {"verify", "prove under load that the GPUs of this machine are ready", define_verify},
      {"oom", "say why GPU memory ran out, from a log, or who holds it now", define_oom},
      {"scan", "tell which GPUs a binary, wheel, folder or environment runs on", define_scan},
      {"check", "check artefacts against a policy of GPUs, drivers and sizes (for CI)",
       define_check},
      {"arch", "plan, convert and check the GPU architectures that a build asks for", define_arch},
      {"pick", "tell which framework release to install on a GPU and driver, and the command",
       define_pick},
      {"setup", "print the script that installs a CUDA toolkit and the driver it needs",
       define_setup},
      {"ldd", "show which library files a program gets, by which rule, and whether they fit",
       define_ldd},
      {"snapshot", "record what the doctor asks in one file, without names and secrets",
       define_snapshot},
      {"diff", "tell what changed between two snapshots, or since one", define_diff},
      {"facts", "look up GPUs, toolkits, drivers, frameworks, error codes", define_facts},
      {"completion", "print the Tab completion script for bash, zsh or fish", define_completion},
  };
  return list;
}

int run_command(int argc, char** argv) {
  CLI::App app{"gpuvet: says what is wrong with a GPU program or machine, why, and what mends it",
               "gpuvet"};
  app.set_version_flag("--version", std::string("gpuvet ") + GPUVET_VERSION);
  app.require_subcommand(0, 1); // none: the doctor
  app.fallthrough();
  std::string facts_directory;
  app.add_option("--facts", facts_directory, "read the fact tables from this folder instead")
      ->type_name("DIR");

  std::vector<std::pair<CLI::App*, std::function<int(Context&)>>> runs;
  for (const Command& command : commands()) {
    CLI::App* sub = app.add_subcommand(std::string(command.name), std::string(command.summary));
    runs.emplace_back(sub, command.define(*sub));
  }
  std::function<int(Context&)> default_run = define_default();
  try {
    std::vector<std::string> words = with_foreign_words(argc, argv);
    std::reverse(words.begin(), words.end()); // as CLI11 wants them
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    int status = app.exit(error);
    return status == 0 ? exit_code::ok : exit_code::usage;
  }
  Context context{facts_directory.empty() ? Facts() : Facts(facts_folder(facts_directory)),
                  terminal(1), terminal(2)};
  for (auto& [sub, run] : runs)
    if (sub->parsed()) return run(context);
  return default_run(context);
}

} // namespace gpuvet
