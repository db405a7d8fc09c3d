#include "os/child.hpp"
#include "os/pipe.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace gpuvet {
namespace {

Moment soon(double seconds) {
  return seconds_after(std::chrono::steady_clock::now(), seconds);
}

void say(int fd, const std::string& text) {
  ASSERT_EQ(write(fd, text.data(), text.size()), static_cast<ssize_t>(text.size()));
}

// Waits for the end, at most `seconds`.
ChildEnd end_of(Child& child, double seconds) {
  Moment until = soon(seconds);
  while (child.wait(until) == Child::Event::output) {
  }
  return child.end();
}

TEST(Child, GivesItsOutputAndStatus) {
  auto child = start_child([](int fd) {
    say(fd, "answer");
    std::puts("printed by a library");
    std::fflush(stdout);
    _exit(7);
  });
  ASSERT_TRUE(child);
  ChildEnd end = end_of(*child, 5);
  EXPECT_EQ(end.how, ChildEnd::How::exited);
  EXPECT_EQ(end.status, 7);
  EXPECT_EQ(child->output(), "answer");
  EXPECT_EQ(child->printed(), "printed by a library\n");
}

TEST(Child, CanBeCollectedLateWithMoreThanAPipeHolds) {
  auto child = start_child([](int fd) { say(fd, std::string(900'000, 'x')); });
  ASSERT_TRUE(child);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(end_of(*child, 5).how, ChildEnd::How::exited);
  EXPECT_EQ(child->output().size(), 900'000u);
}

TEST(Child, KeepsWhatCameBeforeACrash) {
  for (int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGKILL}) {
    auto child = start_child([&](int fd) {
      say(fd, "first");
      std::raise(signal);
    });
    ASSERT_TRUE(child);
    ChildEnd end = end_of(*child, 5);
    EXPECT_EQ(end.how, ChildEnd::How::signalled) << signal;
    EXPECT_EQ(end.status, signal);
    EXPECT_EQ(child->output(), "first");
  }
}

TEST(Child, AHangEndsAtTheDeadline) {
  Moment start = std::chrono::steady_clock::now();
  auto child = start_child([](int fd) {
    say(fd, "before");
    std::signal(SIGTERM, SIG_IGN);
    pause();
  });
  ASSERT_TRUE(child);
  EXPECT_EQ(child->wait(soon(5)), Child::Event::output);
  EXPECT_EQ(child->wait(soon(0.1)), Child::Event::nothing);
  ChildEnd end = child->end();
  EXPECT_EQ(end.how, ChildEnd::How::killed);
  EXPECT_EQ(end.state, 'S');
  EXPECT_FALSE(end.remains);
  EXPECT_EQ(child->output(), "before");
  EXPECT_LT(seconds_since(start), 2);
}

TEST(Child, EndlessOutputStopsAtTheDeadlineAndIsCut) {
  auto child = start_child([](int fd) {
    const std::string block(60'000, 'y');
    while (write(fd, block.data(), block.size()) > 0) {
    }
  });
  ASSERT_TRUE(child);
  Moment until = soon(0.2);
  while (child->wait(until) == Child::Event::output && std::chrono::steady_clock::now() < until) {
  }
  EXPECT_EQ(child->end().how, ChildEnd::How::killed);
  EXPECT_TRUE(child->cut());
  EXPECT_LE(child->output().size(), size_t{4} << 20);
}

TEST(Child, HasNoOtherDescriptorAndNoInput) {
  int leaked = open("/dev/null", O_RDONLY); // without O_CLOEXEC
  ASSERT_GE(leaked, 0);
  auto child = start_child([&](int fd) {
    char byte = 0;
    bool gone = fcntl(leaked, F_GETFD) < 0 || leaked == fd;
    say(fd, gone && read(STDIN_FILENO, &byte, 1) == 0 ? "clean" : "leaks");
  });
  close(leaked);
  ASSERT_TRUE(child);
  end_of(*child, 5);
  EXPECT_EQ(child->output(), "clean");
}

TEST(Child, IsKilledWhenTheObjectGoes) {
  pid_t pid = 0;
  {
    auto child = start_child([&](int fd) {
      pid_t self = getpid();
      say(fd, std::string(reinterpret_cast<const char*>(&self), sizeof(self)));
      pause();
    });
    ASSERT_TRUE(child);
    ASSERT_EQ(child->wait(soon(5)), Child::Event::output);
    ASSERT_EQ(child->output().size(), sizeof(pid));
    std::memcpy(&pid, child->output().data(), sizeof(pid));
  }
  int status = 0;
  pid_t reaped = waitpid(pid, &status, 0); // it may have been collected already
  EXPECT_TRUE(reaped == pid ? WIFSIGNALED(status) : kill(pid, 0) != 0);
}

TEST(Child, AnExceptionIsAnExit) {
  auto child = start_child([](int) { throw 1; });
  ASSERT_TRUE(child);
  ChildEnd end = end_of(*child, 5);
  EXPECT_EQ(end.how, ChildEnd::How::exited);
  EXPECT_EQ(end.status, EXIT_FAILURE);
}

TEST(Command, GivesOutputErrorsAndStatus) {
  auto ran = run_command({"/bin/sh", "-c", "echo out; echo $LC_ALL >&2; cat; exit 3"}, 5);
  ASSERT_TRUE(ran);
  EXPECT_EQ(ran->end.how, ChildEnd::How::exited);
  EXPECT_EQ(ran->end.status, 3);
  EXPECT_EQ(ran->output, "out\n");
  EXPECT_EQ(ran->errors, "C\n");
}

TEST(Command, ReadsWhatItIsGiven) {
  auto pipe = make_pipe();
  ASSERT_TRUE(pipe);
  // Reading from a pipe of ours does not block.
  auto child = start_command(
      {"/bin/sh", "-c", "echo ready; until [ \"$x\" ]; do x=$(head -c 1 2>&-); done; echo $x"},
      pipe->read);
  ASSERT_TRUE(child);
  ASSERT_EQ(child->wait(soon(20)), Child::Event::output);
  say(pipe->write, "g");
  EXPECT_EQ(end_of(*child, 20).how, ChildEnd::How::exited);
  EXPECT_EQ(child->output(), "ready\ng\n");
}

TEST(Command, ThatCannotStartIsAnError) {
  auto missing = run_command({"/nowhere/program"}, 5);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().what, "No such file or directory");
  EXPECT_EQ(missing.error().where, "/nowhere/program");
  EXPECT_FALSE(run_command({"/etc/passwd"}, 5));
  EXPECT_FALSE(run_command({"sh"}, 5));
  EXPECT_FALSE(run_command({}, 5));
}

TEST(Command, AndItsOwnChildrenEndAtTheDeadline) {
  Moment start = std::chrono::steady_clock::now();
  auto ran = run_command({"/bin/sh", "-c", "echo early; sleep 60 & sleep 60"}, 0.2);
  ASSERT_TRUE(ran);
  EXPECT_EQ(ran->end.how, ChildEnd::How::killed);
  EXPECT_EQ(ran->output, "early\n");
  EXPECT_LT(seconds_since(start), 2);
}

TEST(Command, EndsWithTheProgramEvenWhenADaemonKeepsItsOutput) {
  Moment start = std::chrono::steady_clock::now();
  auto ran = run_command({"/bin/sh", "-c", "sleep 2 & echo done"}, 5);
  ASSERT_TRUE(ran);
  EXPECT_EQ(ran->end.how, ChildEnd::How::exited);
  EXPECT_EQ(ran->output, "done\n");
  EXPECT_LT(seconds_since(start), 1.5);
}

} // namespace
} // namespace gpuvet
