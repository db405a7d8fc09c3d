#include "os/child.hpp"

#include "os/pipe.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <fstream>
#include <poll.h>
#include <stdio_ext.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace gpuvet {
namespace {

using namespace std::chrono_literals;

constexpr size_t kMostKept = 4u << 20; // bytes of each stream
constexpr int kOutput = 3;             // descriptor that the child writes to

// 'R', 'S', 'D', ... of proc(5); '?' when it cannot be told.
char process_state(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(file, line);
  size_t end = line.rfind(')'); // the name before it may hold anything
  return end != std::string::npos && end + 2 < line.size() ? line[end + 2] : '?';
}

int milliseconds_until(Moment until, Moment::duration most) {
  auto left = std::min<Moment::duration>(until - std::chrono::steady_clock::now(), most);
  auto rounded = std::chrono::ceil<std::chrono::milliseconds>(left).count();
  return static_cast<int>(std::max<long>(rounded, 0));
}

void close_all_from(int first) {
  if (close_range(static_cast<unsigned>(first), ~0u, 0) == 0) return;
  DIR* folder = opendir("/proc/self/fd"); // kernels before 5.9
  if (!folder) return;
  std::vector<int> found;
  while (const dirent* entry = readdir(folder))
    found.push_back(std::atoi(entry->d_name)); // 0 for "." and ".."
  closedir(folder);
  for (int fd : found)
    if (fd >= first) close(fd);
}

// A crash in the child is evidence, not an accident: no core file, no crash reporter. A limit of
// one byte keeps the kernel from starting a reporter too, which a limit of zero does not (core(5)).
void forbid_core_file() {
  rlimit limit{};
  if (getrlimit(RLIMIT_CORE, &limit) != 0) return;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 1);
  setrlimit(RLIMIT_CORE, &limit);
}

[[noreturn]] void run_in_child(const std::function<void(int)>& work, pid_t parent, int output,
                               int printed) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1); // it died before that
  default_signals();
  forbid_core_file();
  __fpurge(stdout); // what the parent has not written yet is not the child's to write
  if (int null = open("/dev/null", O_RDONLY | O_CLOEXEC); null >= 0) dup2(null, STDIN_FILENO);
  dup2(printed, STDOUT_FILENO);
  dup2(printed, STDERR_FILENO);
  if (output != kOutput) dup3(output, kOutput, O_CLOEXEC);
  close_all_from(kOutput + 1);
  try {
    work(kOutput);
  } catch (...) {
    _exit(EXIT_FAILURE);
  }
  _exit(EXIT_SUCCESS); // without what other parts of gpuvet registered for exit()
}

} // namespace

void default_signals() {
  for (int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGPIPE, SIGINT, SIGTERM})
    std::signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

Result<Pipe> make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return fail(std::string("no pipe can be made: ") + std::strerror(errno));
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  fcntl(ends[1], F_SETPIPE_SZ, 1 << 20); // so that the child need not wait for a late reader
  return Pipe(ends[0], ends[1]);
}

Pipe::Pipe(Pipe&& other) noexcept
    : read(std::exchange(other.read, -1)), write(std::exchange(other.write, -1)) {}

Pipe::~Pipe() {
  if (read >= 0) close(read);
  if (write >= 0) close(write);
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), group_(other.group_), reaped_(other.reaped_),
      wait_status_(other.wait_status_), output_(std::exchange(other.output_, {})),
      printed_(std::exchange(other.printed_, {})) {}

Child& Child::operator=(Child&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(group_, other.group_);
  std::swap(reaped_, other.reaped_);
  std::swap(wait_status_, other.wait_status_);
  std::swap(output_, other.output_);
  std::swap(printed_, other.printed_);
  return *this;
}

// Does not wait: a driver may take long to tear a process down, and nobody needs to see that.
Child::~Child() {
  if (pid_ >= 0 && !reap()) {
    kill_it();
    reap();
  }
  output_.close();
  printed_.close();
}

bool Child::Stream::read_what_is_there() {
  bool any = false;
  char buffer[64 * 1024];
  while (fd >= 0) {
    ssize_t got = ::read(fd, buffer, sizeof(buffer));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) break;
    if (got <= 0) {
      close();
      break;
    }
    any = true;
    size_t keep = std::min(static_cast<size_t>(got), kMostKept - text.size());
    cut |= keep < static_cast<size_t>(got);
    text.append(buffer, keep);
    if (cut) break; // endless output must not keep the parent from looking at the clock
  }
  return any;
}

void Child::Stream::close() {
  if (fd >= 0) ::close(fd);
  fd = -1;
}

bool Child::reap() {
  if (reaped_) return true;
  pid_t got = waitpid(pid_, &wait_status_, WNOHANG);
  if (got == pid_ || (got < 0 && errno == ECHILD)) reaped_ = true;
  return reaped_;
}

void Child::kill_it() const {
  if (group_) kill(-pid_, SIGKILL);
  kill(pid_, SIGKILL);
}

Child::Event Child::wait(Moment until) {
  while (pid_ >= 0) {
    bool ended = reap(); // before reading: what an ended child wrote is there by then
    bool any = output_.read_what_is_there();
    printed_.read_what_is_there();
    if (any) return Event::output;
    if (ended) return Event::ended;
    if (std::chrono::steady_clock::now() >= until) return Event::nothing;
    pollfd fds[] = {{output_.fd, POLLIN, 0}, {printed_.fd, POLLIN, 0}};
    // A pipe's end wakes at once; a child whose own children keep its pipes is looked at now and
    // then, as is one that closed them and has not quite ended yet.
    bool closed = output_.fd < 0 && printed_.fd < 0;
    poll(fds, 2, milliseconds_until(until, closed ? 1ms : 50ms));
  }
  return Event::ended;
}

ChildEnd Child::end() {
  ChildEnd end;
  if (pid_ < 0) return end;
  if (!reap()) {
    end.how = ChildEnd::How::killed;
    end.state = process_state(pid_);
    kill_it();
    for (int tries = 0; tries < 100 && !reap(); ++tries)
      poll(nullptr, 0, 1);
    end.remains = !reaped_;
    output_.read_what_is_there();
    printed_.read_what_is_there();
  } else if (WIFSIGNALED(wait_status_)) {
    end.how = ChildEnd::How::signalled;
    end.status = WTERMSIG(wait_status_);
  } else {
    end.status = WEXITSTATUS(wait_status_);
  }
  return end;
}

Result<Child> start_child(const std::function<void(int)>& work) {
  auto output = make_pipe();
  if (!output) return tl::unexpected(output.error());
  auto printed = make_pipe();
  if (!printed) return tl::unexpected(printed.error());
  pid_t parent = getpid();
  pid_t pid = fork();
  if (pid < 0) return fail(std::string("no child process can be made: ") + std::strerror(errno));
  if (pid == 0) run_in_child(work, parent, output->write, printed->write);
  Child child;
  child.pid_ = pid;
  child.output_.fd = std::exchange(output->read, -1);
  child.printed_.fd = std::exchange(printed->read, -1);
  return child;
}

} // namespace gpuvet
