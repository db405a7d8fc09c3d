#include "os/child.hpp"
#include "os/pipe.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <utility>

namespace gpuvet {
namespace {

std::vector<std::string> english_environment() {
  std::vector<std::string> variables;
  for (char** at = environ; at && *at; ++at) {
    std::string variable = *at;
    if (!variable.starts_with("LC_ALL=") && !variable.starts_with("LANGUAGE="))
      variables.push_back(std::move(variable));
  }
  variables.emplace_back("LC_ALL=C");
  return variables;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts)
    result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

struct Prepared { // before the fork: behind it, in a process with threads, little is allowed
  char** arguments;
  char** environment;
  int output, printed, report; // ends to write to
  int input;                   // to read from; -1: nothing
};

[[noreturn]] void become(const Prepared& program, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
  setpgid(0, 0);
  default_signals();
  int input = program.input >= 0 ? program.input : open("/dev/null", O_RDONLY);
  if (input > 0) dup2(input, STDIN_FILENO);
  dup2(program.output, STDOUT_FILENO);
  dup2(program.printed, STDERR_FILENO);
  close_range(STDERR_FILENO + 1, ~0u, CLOSE_RANGE_CLOEXEC); // kernels before 5.11 leave them open
  execve(program.arguments[0], program.arguments, program.environment);
  int error = errno;
  [[maybe_unused]] ssize_t wrote = write(program.report, &error, sizeof(error));
  _exit(127);
}

// errno of a failed exec; 0 when the program runs. exec closes the pipe, so this does not take long
// unless the program lies on a disk that does not answer.
int exec_error(int report, double seconds) {
  int error = 0;
  pollfd fd{report, POLLIN, 0};
  if (poll(&fd, 1, static_cast<int>(seconds * 1000)) <= 0) return ETIMEDOUT;
  return read(report, &error, sizeof(error)) == sizeof(error) ? error : 0;
}

} // namespace

Result<Child> start_command(const std::vector<std::string>& command, int input) {
  if (command.empty() || !command[0].starts_with("/"))
    return fail("a program is run by its full path", command.empty() ? "" : command[0]);
  auto output = make_pipe(), printed = make_pipe(), report = make_pipe();
  for (const auto* made : {&output, &printed, &report})
    if (!*made) return tl::unexpected(made->error());
  std::vector<std::string> arguments = command, environment = english_environment();
  std::vector<char*> argv = pointers(arguments), envp = pointers(environment);
  Prepared program{argv.data(), envp.data(), output->write, printed->write, report->write, input};
  pid_t parent = getpid();
  pid_t pid = fork();
  if (pid < 0) return fail(std::string("no child process can be made: ") + std::strerror(errno));
  if (pid == 0) become(program, parent);
  setpgid(pid, pid); // whoever comes first, so that killing the group never misses
  Child child;
  child.pid_ = pid;
  child.group_ = true;
  child.output_.fd = std::exchange(output->read, -1);
  child.printed_.fd = std::exchange(printed->read, -1);
  close(std::exchange(report->write, -1));
  int error = exec_error(report->read, 2);
  if (error) return fail(std::strerror(error), command[0]);
  return child;
}

Result<CommandResult> run_command(const std::vector<std::string>& command, double deadline_s) {
  Moment until = seconds_after(std::chrono::steady_clock::now(), deadline_s);
  auto child = start_command(command);
  if (!child) return tl::unexpected(child.error());
  while (child->wait(until) == Child::Event::output && std::chrono::steady_clock::now() < until) {
  }
  CommandResult result;
  result.end = child->end();
  result.output = child->output();
  result.errors = child->printed();
  result.cut = child->cut();
  return result;
}

} // namespace gpuvet
