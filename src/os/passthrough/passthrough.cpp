#include "os/passthrough/passthrough.hpp"

#include "os/passthrough/channel.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

namespace gpuvet {
namespace {

using namespace std::chrono_literals;

constexpr auto kGrace = 100ms; // for processes that outlive the command, to write their last words

// Passed on when they come to us alone. SIGCHLD, SIGWINCH, SIGTSTP and SIGCONT have more to do.
constexpr std::array kPassed = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM};

sigset_t handled_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (int number : kPassed)
    sigaddset(&set, number);
  for (int number : {SIGCHLD, SIGWINCH, SIGTSTP, SIGCONT})
    sigaddset(&set, number);
  return set;
}

// Descriptors 0 to 2 as we got them. Those that are closed are filled with /dev/null for us, so
// that nothing else lands there, and stay closed for the command.
struct Standard {
  bool open[3] = {};
  bool one_output = false; // 1 and 2 are the same pipe, file or terminal
};

Standard look_at_standard() {
  Standard found;
  for (int fd = 0; fd < 3; ++fd) {
    found.open[fd] = fcntl(fd, F_GETFD) >= 0;
    if (!found.open[fd] && ::open("/dev/null", O_RDWR | O_CLOEXEC) < 0) break;
  }
  struct stat out {
  }, error{};
  if (found.open[1] && found.open[2] && fstat(1, &out) == 0 && fstat(2, &error) == 0)
    found.one_output = out.st_dev == error.st_dev && out.st_ino == error.st_ino;
  return found;
}

struct Plan {
  std::vector<char*> arguments;
  Standard standard;
  int descriptors[3] = {0, 1, 2}; // that the command gets as 0 to 2
  sigset_t mask{};                // as we got it
  struct sigaction pipe {
  }, child{};      // what we got for SIGPIPE and SIGCHLD
  int report = -1; // errno of exec goes here; closed by exec
};

[[noreturn]] void become(const Plan& plan) {
  sigaction(SIGPIPE, &plan.pipe, nullptr);
  sigaction(SIGCHLD, &plan.child, nullptr);
  for (int fd = 1; fd < 3; ++fd)
    if (plan.descriptors[fd] != fd) dup2(plan.descriptors[fd], fd);
  for (int fd = 0; fd < 3; ++fd)
    if (!plan.standard.open[fd]) close(fd);
  sigprocmask(SIG_SETMASK, &plan.mask, nullptr);
  execvp(plan.arguments[0], plan.arguments.data());
  int error = errno;
  [[maybe_unused]] ssize_t wrote = write(plan.report, &error, sizeof(error));
  _exit(127);
}

class Run {
 public:
  Run(pid_t pid, std::vector<std::unique_ptr<Channel>>& channels)
      : pid_(pid), channels_(channels) {}

  CommandEnd wait();

 private:
  void on_signal(const siginfo_t& info);
  void on_late_signal(int number);
  void on_child(); // something has happened to a child
  void pass_on(const siginfo_t& info);
  void stop_with_it();
  void pass_sizes();
  void pass_settings();
  void finish_output();

  pid_t pid_;
  std::vector<std::unique_ptr<Channel>>& channels_;
  CommandEnd end_;
  bool ended_ = false;
};

CommandEnd Run::wait() {
  sigset_t set = handled_signals();
  while (!ended_) {
    siginfo_t info{};
    if (sigwaitinfo(&set, &info) > 0) on_signal(info);
  }
  finish_output();
  timespec now{0, 0};
  for (siginfo_t info{}; sigtimedwait(&set, &info, &now) > 0;) // came with its end
    if (info.si_signo != SIGCHLD) on_late_signal(info.si_signo);
  return end_;
}

void Run::on_late_signal(int number) {
  if (number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT)
    end_.asked_to_end = true;
}

void Run::on_signal(const siginfo_t& info) {
  switch (info.si_signo) {
  case SIGCHLD:
    on_child();
    break;
  case SIGWINCH:
    pass_sizes();
    break;
  case SIGCONT: // twice does no harm
    kill(pid_, SIGCONT);
    pass_sizes();
    break;
  case SIGINT:
  case SIGTERM:
  case SIGHUP:
  case SIGQUIT:
    end_.asked_to_end = true;
    pass_on(info);
    break;
  default:
    pass_on(info);
  }
}

// The kernel sends the terminal's signals to the whole group, which the command belongs to. So does
// kill(0, ...) of a process of the group, such as timeout(1); what comes from elsewhere is meant
// for us alone.
void Run::pass_on(const siginfo_t& info) {
  if (info.si_code > 0) return; // by the kernel
  if (info.si_pid > 0 && getpgid(info.si_pid) == getpgrp()) return;
  kill(pid_, info.si_signo);
}

void Run::on_child() {
  int status = 0;
  for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0;) {
    if (pid != pid_) continue; // an orphan that we got as the first process of a container
    if (WIFSTOPPED(status)) {
      int by = WSTOPSIG(status);
      if (by == SIGTSTP || by == SIGTTIN || by == SIGTTOU) stop_with_it();
      continue;
    }
    ended_ = true;
    bool signalled = WIFSIGNALED(status);
    end_.how = signalled ? CommandEnd::How::signalled : CommandEnd::How::exited;
    end_.status = signalled ? WTERMSIG(status) : WEXITSTATUS(status);
  }
}

// So that the shell sees its job stop and takes the terminal back. It continues us, all together.
void Run::stop_with_it() {
  struct sigaction action {};
  if (sigaction(SIGTSTP, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) return;
  pass_settings();
  sigset_t stop, before;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTSTP);
  raise(SIGTSTP);
  pthread_sigmask(SIG_UNBLOCK, &stop, &before); // here we stand still
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Run::pass_sizes() {
  bool changed = false;
  for (const auto& channel : channels_)
    changed |= !channel->done() && channel->pass_size();
  // The kernel has told the group already, but perhaps before the new size could be seen.
  if (changed) kill(0, SIGWINCH);
}

void Run::pass_settings() {
  for (const auto& channel : channels_)
    if (!channel->done()) channel->pass_settings();
}

void Run::finish_output() {
  auto all_done = [this] {
    for (const auto& channel : channels_)
      if (!channel->done()) return false;
    return true;
  };
  auto wait_until = [&](std::chrono::steady_clock::time_point until) {
    timespec nap{0, 200'000}; // most commands need none
    while (!all_done() && std::chrono::steady_clock::now() < until) {
      nanosleep(&nap, nullptr);
      nap.tv_nsec = std::min(nap.tv_nsec * 2, 5'000'000L);
    }
  };
  wait_until(std::chrono::steady_clock::now() + kGrace);
  for (const auto& channel : channels_)
    channel->stop();
  // Somebody wants us to end: a reader that does not read must not keep us.
  if (end_.asked_to_end) wait_until(std::chrono::steady_clock::now() + 1s);
  for (auto& channel : channels_) {
    if (!end_.asked_to_end || channel->done())
      channel->join();
    else
      channel.release()->abandon();
  }
}

// The channels for the command's output and error, and which descriptors it gets.
std::vector<std::unique_ptr<Channel>> open_channels(Plan& plan) {
  std::vector<std::unique_ptr<Channel>> channels;
  for (int fd = 1; fd < 3; ++fd) {
    if (!plan.standard.open[fd]) continue;
    if (fd == 2 && plan.standard.one_output) {
      plan.descriptors[2] = plan.descriptors[1];
      continue;
    }
    auto channel = Channel::make(fd);
    if (!channel) continue; // it writes there itself, unheard
    plan.descriptors[fd] = channel->theirs();
    channels.push_back(std::move(channel));
  }
  return channels;
}

// errno of the exec that failed; 0: the command runs.
int exec_error(int report) {
  int error = 0;
  ssize_t got = 0;
  do {
    got = read(report, &error, sizeof(error));
  } while (got < 0 && errno == EINTR);
  close(report);
  return got == sizeof(error) ? error : 0;
}

CommandEnd not_started(int error) {
  CommandEnd end;
  end.how = CommandEnd::How::not_started;
  end.status = error;
  return end;
}

} // namespace

Passed pass_through(const std::vector<std::string>& command, Listener listener) {
  Plan plan;
  std::vector<std::string> words = command;
  for (std::string& word : words)
    plan.arguments.push_back(word.data());
  plan.arguments.push_back(nullptr);
  plan.standard = look_at_standard();
  std::vector<std::unique_ptr<Channel>> channels = open_channels(plan);
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) return {not_started(errno), nullptr};
  plan.report = report[1];

  // Before any thread is there, so that all of them inherit it.
  sigset_t set = handled_signals();
  sigprocmask(SIG_BLOCK, &set, &plan.mask);
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, &plan.pipe); // a closed output is an error of write() for us
  struct sigaction normal {};
  normal.sa_handler = SIG_DFL; // one that is ignored would take the exit status with it
  sigaction(SIGCHLD, &normal, &plan.child);
  std::fflush(nullptr);
  pid_t pid = fork();
  if (pid == 0) become(plan);
  int fork_error = errno;
  close(report[1]);
  if (pid < 0) {
    close(report[0]);
    return {not_started(fork_error), nullptr};
  }
  for (const auto& channel : channels)
    channel->close_theirs();
  if (int error = exec_error(report[0]); error != 0) {
    waitpid(pid, nullptr, 0);
    return {not_started(error), nullptr};
  }
  Passed passed;
  passed.listening = std::make_shared<Listening>(std::move(listener));
  sigset_t no_stop; // a thread that writes while we are in the background
  sigemptyset(&no_stop);
  sigaddset(&no_stop, SIGTTOU);
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &no_stop, &before);
  for (const auto& channel : channels)
    channel->start(*passed.listening);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  passed.end = Run(pid, channels).wait();
  sigprocmask(SIG_SETMASK, &plan.mask, nullptr); // from here on signals are ours again
  return passed;
}

void end_like(const CommandEnd& end) {
  std::fflush(nullptr);
  if (end.how == CommandEnd::How::not_started) _exit(end.status == ENOENT ? 127 : 126);
  if (end.how == CommandEnd::How::exited) _exit(end.status);
  prctl(PR_SET_DUMPABLE, 0); // the core file, if any, is the command's
  std::signal(end.status, SIG_DFL);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, end.status);
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
  raise(end.status);
  _exit(128 + end.status); // the first process of a container does not die of signals
}

} // namespace gpuvet
