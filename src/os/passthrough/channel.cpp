#include "os/passthrough/channel.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace gpuvet {
namespace {

constexpr int kPipe = 1 << 20;                   // that the command can write ahead
constexpr size_t kPiece = size_t{256} << 10;     // read at once
constexpr size_t kLongestPart = size_t{1} << 20; // of a line, kept until its end comes
constexpr size_t kMostAfterStop = size_t{4} << 20;

int above_standard(int fd) { // 0 to 2 are the command's
  if (fd < 0 || fd > 2) return fd;
  int moved = fcntl(fd, F_DUPFD_CLOEXEC, 3);
  close(fd);
  return moved;
}

// What a terminal does to its input, and which keys it knows. What it does to its output is left to
// our terminal alone, or a line end would become two.
bool same_settings(const termios& a, const termios& b) {
  return a.c_iflag == b.c_iflag && a.c_oflag == b.c_oflag && a.c_lflag == b.c_lflag &&
         std::memcmp(a.c_cc, b.c_cc, sizeof(a.c_cc)) == 0;
}

} // namespace

std::unique_ptr<Channel> Channel::make(int out) {
  std::unique_ptr<Channel> channel(new Channel(out));
  channel->stop_ = above_standard(eventfd(0, EFD_CLOEXEC));
  bool open = (isatty(out) && channel->open_terminal()) || channel->open_pipe();
  return open && channel->stop_ >= 0 ? std::move(channel) : nullptr;
}

Channel::~Channel() {
  close_theirs();
  close_ours();
  if (stop_ >= 0) close(stop_);
}

void Channel::close_theirs() {
  if (theirs_ >= 0) close(theirs_);
  theirs_ = -1;
}

void Channel::close_ours() {
  std::lock_guard lock(mutex_);
  if (ours_ >= 0) close(ours_);
  ours_ = -1;
}

bool Channel::open_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  ours_ = above_standard(ends[0]);
  theirs_ = above_standard(ends[1]);
  fcntl(ours_, F_SETPIPE_SZ, kPipe); // fewer switches; a limit may refuse it
  return ours_ >= 0 && theirs_ >= 0;
}

// The command's terminal has our settings and tells us of each change (EXTPROC, TIOCPKT_IOCTL):
// programs such as ncurses' set them on the descriptor that they write to.
bool Channel::open_terminal() {
  int master = above_standard(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  char name[128];
  int on = 1;
  if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0 ||
      ptsname_r(master, name, sizeof(name)) != 0 || ioctl(master, TIOCPKT, &on) != 0) {
    if (master >= 0) close(master);
    return false;
  }
  int slave = above_standard(open(name, O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (slave < 0) {
    close(master);
    return false;
  }
  ours_ = master;
  theirs_ = slave;
  terminal_ = true;
  if (tcgetattr(out_, &settings_) == 0) {
    settings_.c_oflag &= ~static_cast<tcflag_t>(OPOST);
    settings_.c_lflag |= EXTPROC;
    tcsetattr(slave, TCSANOW, &settings_);
  }
  tcgetattr(slave, &settings_);
  pass_size();
  return true;
}

bool Channel::pass_size() {
  std::lock_guard lock(mutex_);
  winsize now{};
  if (!terminal_ || ioctl(out_, TIOCGWINSZ, &now) != 0) return false;
  if (std::memcmp(&now, &size_, sizeof(now)) == 0) return false;
  size_ = now;
  return ioctl(ours_, TIOCSWINSZ, &now) == 0;
}

void Channel::pass_settings() {
  std::lock_guard lock(mutex_);
  termios theirs{}, ours{};
  if (!terminal_ || tcgetattr(ours_, &theirs) != 0 || same_settings(theirs, settings_)) return;
  if (tcgetpgrp(out_) != getpgrp() || tcgetattr(out_, &ours) != 0) return;
  settings_ = theirs;
  ours.c_iflag = theirs.c_iflag;
  ours.c_lflag = (theirs.c_lflag & ~static_cast<tcflag_t>(EXTPROC)) | (ours.c_lflag & EXTPROC);
  ours.c_oflag = (theirs.c_oflag & ~static_cast<tcflag_t>(OPOST)) | (ours.c_oflag & OPOST);
  std::memcpy(ours.c_cc, theirs.c_cc, sizeof(ours.c_cc));
  tcsetattr(out_, TCSANOW, &ours);
}

void Channel::start(Listening& listening) {
  listening_ = &listening;
  thread_ = std::thread([this] { pump(); });
}

void Channel::stop() {
  uint64_t one = 1;
  [[maybe_unused]] ssize_t wrote = write(stop_, &one, sizeof(one));
}

void Channel::join() {
  if (thread_.joinable()) thread_.join();
}

void Channel::abandon() {
  if (thread_.joinable()) thread_.detach();
}

// Bytes read, in `bytes`; 0: no writer is left; -1: look again.
long Channel::read_some(char* buffer, size_t size, std::string_view& bytes) {
  ssize_t got = read(ours_, buffer, size);
  if (got < 0) return errno == EINTR || errno == EAGAIN ? -1 : 0; // EIO: the terminal is closed
  bytes = {buffer, static_cast<size_t>(got)};
  if (!terminal_ || got == 0) return got;
  if (buffer[0] & TIOCPKT_IOCTL) pass_settings();
  if (buffer[0] != TIOCPKT_DATA) return -1;
  bytes.remove_prefix(1);
  return got > 1 ? got - 1 : -1;
}

void Channel::pump() {
  std::vector<char> buffer(terminal_ ? size_t{64} << 10 : kPiece);
  size_t after_stop = 0;
  for (;;) {
    pollfd fds[] = {{ours_, POLLIN | POLLPRI, 0}, {stop_, POLLIN, 0}};
    if (poll(fds, 2, -1) < 0) continue;
    bool stopped = fds[1].revents != 0;
    if (fds[0].revents == 0) {
      if (stopped) break;
      continue;
    }
    std::string_view bytes;
    long got = read_some(buffer.data(), buffer.size(), bytes);
    if (got == 0) break;
    if (got < 0) continue;
    if (!pass_on(bytes)) break;
    hear(bytes);
    if (stopped && (after_stop += bytes.size()) > kMostAfterStop) break;
  }
  if (!part_.empty()) listening_->take(part_);
  part_.clear();
  close_ours(); // a writer that is left learns that nobody reads: SIGPIPE, as at a closed pipe
  done_ = true;
}

bool Channel::pass_on(std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t wrote = write(out_, bytes.data(), bytes.size());
    if (wrote >= 0) {
      bytes.remove_prefix(static_cast<size_t>(wrote));
    } else if (errno == EAGAIN) { // somebody has made our output one that does not wait
      pollfd fd{out_, POLLOUT, 0};
      poll(&fd, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

// Whole lines only: two streams must not meet in the middle of one.
void Channel::hear(std::string_view bytes) {
  size_t end = bytes.rfind('\n');
  if (end == std::string_view::npos) {
    part_.append(bytes);
  } else {
    if (!part_.empty()) {
      size_t first = bytes.find('\n');
      part_.append(bytes.substr(0, first + 1));
      listening_->take(part_);
      part_.clear();
      bytes.remove_prefix(first + 1);
      if (bytes.find('\n') == std::string_view::npos) {
        part_.assign(bytes);
        return;
      }
      end = bytes.rfind('\n');
    }
    listening_->take(bytes.substr(0, end + 1));
    part_.assign(bytes.substr(end + 1));
  }
  if (part_.size() >= kLongestPart) {
    listening_->take(part_);
    part_.clear();
  }
}

} // namespace gpuvet
