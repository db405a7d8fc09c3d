// gpuvet run CMD...: runs a command as if it had been started directly, and explains its failure.
#include "base/units.hpp"
#include "cli/command.hpp"
#include "cli/explain/explain_text.hpp"
#include "cli/run/foreign_words.hpp"
#include "os/passthrough/passthrough.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <sys/wait.h>
#include <unistd.h>

namespace gpuvet {
namespace {

// What the command has printed. The tables are read and the text is looked at when there is much of
// it, or when the command has failed: one that prints little and succeeds costs nothing.
class Heard {
 public:
  explicit Heard(const Facts& facts) : facts_(facts) {}

  void hear(std::string_view bytes) {
    if (explainer_) return explainer_->feed(bytes);
    first_.append(bytes);
    if (first_.size() >= kKept) explain_first();
  }

  TextExplainer* all() { // null: it has printed nothing
    if (!explainer_ && !first_.empty()) explain_first();
    return explainer_ ? &*explainer_ : nullptr;
  }

  uint64_t missed = 0; // bytes that came too fast

 private:
  static constexpr size_t kKept = size_t{1} << 20;

  void explain_first() {
    explainer_.emplace(facts_);
    explainer_->feed(first_);
    first_ = {};
  }

  const Facts& facts_;
  std::string first_;
  std::optional<TextExplainer> explainer_;
};

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
void explain_failure(const std::string& program, const CommandEnd& end, Heard& heard,
                     Context& context) {
  std::string ended = how_it_ended(program, end);
  dup2(STDERR_FILENO, STDOUT_FILENO); // the explainer prints there
  context.out = context.err;
  TextExplainer* explainer = heard.all();
  if (!explainer) {
    fmt::print("\n--- gpuvet: {}; it printed nothing ---\n", ended);
    return;
  }
  fmt::print("\n--- gpuvet: {} ---\n", ended);
  std::fflush(stdout);
  ExplainOptions options;
  options.here = true;
  if (explainer->finish(options, context, true) == explain_status::not_known)
    fmt::print("nothing in what it printed is known to gpuvet\n");
  if (heard.missed > 0)
    fmt::print("note: {} in the middle came too fast to be looked at\n", human_bytes(heard.missed));
}

// In a process of its own: whatever comes of the explanation, the command's end stays ours. The
// thread that heard has ended by now.
void explain_apart(const std::string& program, const CommandEnd& end, Heard& heard,
                   Context& context) {
  std::fflush(nullptr);
  pid_t pid = fork();
  if (pid == 0) {
    explain_failure(program, end, heard, context);
    std::fflush(nullptr);
    _exit(0);
  }
  while (pid > 0 && waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

int run_run(const std::vector<std::string>& command, Context& context) {
  Heard heard(context.facts);
  Passed passed = pass_through(command, [&](std::string_view bytes) { heard.hear(bytes); });
  if (passed.end.how == CommandEnd::How::not_started) complain(command[0], passed.end.status);
  bool failed = passed.end.how != CommandEnd::How::not_started && !passed.end.ok();
  if (failed && !passed.end.asked_to_end) {
    heard.missed = hear_the_rest(*passed.listening);
    explain_apart(command[0], passed.end, heard, context);
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
