// A subcommand is a row: its name, one line of help, and a function that declares its options and
// returns what to run. Help, completion and the README's table derive from the list in
// commands.cpp.
#pragma once

#include "facts/facts.hpp"
#include "os/terminal.hpp"

#include <functional>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace gpuvet {

// Exit codes shared by all commands; a command documents its own beside these.
namespace exit_code {
constexpr int ok = 0;
constexpr int falls_short = 1; // the answer is "no": some GPU is not served, something changed
constexpr int usage = 2;       // bad arguments or unreadable input
} // namespace exit_code

struct Context {
  Facts facts;
  Terminal out; // of standard output
  Terminal err; // of standard error, where progress goes
};

struct Command {
  std::string_view name;
  std::string_view summary; // one line, no full stop
  // Declares options; the returned function runs after parsing and gives the exit status.
  std::function<int(Context&)> (*define)(CLI::App& app);
};

const std::vector<Command>& commands();

// Parses, runs, returns the exit status. The only function that main() calls.
int run_command(int argc, char** argv);

// One per subcommand, in cli/NAME.cpp.
std::function<int(Context&)> define_facts(CLI::App& app);
std::function<int(Context&)> define_snapshot(CLI::App& app);
std::function<int(Context&)> define_diff(CLI::App& app);
std::function<int(Context&)> define_scan(CLI::App& app);
std::function<int(Context&)> define_ldd(CLI::App& app);
std::function<int(Context&)> define_completion(CLI::App& app);
std::function<int(Context&)> define_doctor(CLI::App& app);
std::function<int(Context&)> define_explain(CLI::App& app);
std::function<int(Context&)> define_arch(CLI::App& app);
std::function<int(Context&)> define_pick(CLI::App& app);
std::function<int(Context&)> define_setup(CLI::App& app);
std::function<int(Context&)> define_check(CLI::App& app);
std::function<int(Context&)> define_oom(CLI::App& app);
std::function<int(Context&)> define_run(CLI::App& app);
std::function<int(Context&)> define_verify(CLI::App& app);
std::function<int(Context&)> define_default(); // without a subcommand

} // namespace gpuvet
