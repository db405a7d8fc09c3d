// gpuvet run CMD...: runs a command as if it had been started directly, and explains its failure.
#include "cli/command.hpp"
#include "cli/explain/explain_text.hpp"
#include "cli/run/foreign_words.hpp"
#include "os/passthrough/passthrough.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <csignal>
#include <cstring>
#include <memory>
#include <optional>
#include <unistd.h>

namespace gpuvet {
namespace {

std::string how_it_ended(const std::string& program, const CommandEnd& end) {
  if (end.how == CommandEnd::How::signalled)
    return fmt::format("{} died of signal {} ({})", program, end.status, strsignal(end.status));
  return fmt::format("{} ended with status {}", program, end.status);
}

int complain(const std::string& program, int error) {
  fmt::print(stderr, "gpuvet: {}: {}\n", program,
             error == ENOENT ? "command not found" : std::strerror(error));
  return error;
}

// The answer goes where the command's errors went; where nothing is known, that is one line.
void explain_failure(const std::string& program, const CommandEnd& end, TextExplainer* heard,
                     Context& context) {
  std::string ended = how_it_ended(program, end);
  std::fflush(nullptr);
  dup2(STDERR_FILENO, STDOUT_FILENO); // the explainer prints there
  context.out = context.err;
  if (!heard) {
    fmt::print("\n--- gpuvet: {}; it printed nothing ---\n", ended);
    return;
  }
  fmt::print("\n--- gpuvet: {} ---\n", ended);
  std::fflush(stdout);
  ExplainOptions options;
  options.here = true;
  if (heard->finish(options, context, true) == explain_status::not_known)
    fmt::print("nothing in what it printed is known to gpuvet\n");
}

int run_run(const std::vector<std::string>& command, Context& context) {
  // Made in the thread that hears, so that a command does not wait for the tables.
  std::optional<TextExplainer> explainer;
  Passed passed = pass_through(command, [&](std::string_view bytes) {
    if (!explainer) explainer.emplace(context.facts);
    explainer->feed(bytes);
  });
  if (passed.end.how == CommandEnd::How::not_started) complain(command[0], passed.end.status);
  bool failed = passed.end.how != CommandEnd::How::not_started && !passed.end.ok();
  if (failed && !passed.end.asked_to_end) {
    hear_the_rest(*passed.listening);
    explain_failure(command[0], passed.end, explainer ? &*explainer : nullptr, context);
  }
  end_like(passed.end);
}

} // namespace

std::function<int(Context&)> define_run(CLI::App& app) {
  auto words = std::make_shared<std::vector<std::string>>();
  app.add_option("CMD", *words, "the command and its arguments, which gpuvet does not look at")
      ->type_name("")
      ->required();
  app.footer(
      "Exit status: that of the command; a signal that it dies of ends gpuvet too. 127 there "
      "is no such command, 126 it cannot be run, 2 bad usage.");
  return [words](Context& context) {
    std::vector<std::string> command;
    for (const std::string& word : *words)
      command.push_back(plain_word(word));
    return run_run(command, context);
  };
}

} // namespace gpuvet
