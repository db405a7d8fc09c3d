#!/usr/bin/env python3
"""`gpuvet run CMD...` behaves like CMD: output, exit status, signals, terminal, job control.

Each situation is tried with the command alone and under gpuvet wherever the two can be compared.
"""

import argparse
import fcntl
import hashlib
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

PATIENCE_S = 60.0
EXPLANATION = b"--- gpuvet: "

problems = []


def expect(what, condition, *seen):
    if not condition:
        problems.append(what + "".join(": " + repr(each)[:300] for each in seen))


def run(command, **options):
    return subprocess.run(command, capture_output=True, timeout=PATIENCE_S, check=False, **options)


def shell(text):
    return ["sh", "-c", text]


# --- exit statuses, signals, output --------------------------------------------------------------

def statuses(gpuvet):
    for text in ["exit 0", "exit 1", "exit 42", "exit 255", "kill -TERM $$", "kill -KILL $$",
                 "kill -SEGV $$", "kill -PIPE $$"]:
        plain, passed = run(shell(text)), run([gpuvet, "run", "--", *shell(text)])
        expect("status of " + text, plain.returncode == passed.returncode, plain, passed)
    ignored = run([gpuvet, "run", *shell("exit 9")],
                  preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
    expect("ended children are ignored here", ignored.returncode == 9, ignored)
    expect("no such command", run([gpuvet, "run", "no-such-command"]).returncode == 127)
    expect("not a program", run([gpuvet, "run", "/etc/passwd"]).returncode == 126)
    expect("a folder", run([gpuvet, "run", "/"]).returncode == 126)
    expect("no command", run([gpuvet, "run"]).returncode == 2)
    expect("help", b"CMD" in run([gpuvet, "run", "--help"]).stdout)


def inherited(gpuvet):
    """What is ignored or blocked stays so for the command, as under nohup(1)."""
    ask = shell("grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status")
    for prepare in (None, lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
                    lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN),
                    lambda: signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])):
        plain = run(ask, preexec_fn=prepare)
        passed = run([gpuvet, "run", *ask], preexec_fn=prepare)
        expect("signals as they were", plain.stdout == passed.stdout, plain.stdout, passed.stdout)


def words(gpuvet):
    """Every word behind the command is the command's."""
    script = 'for word in "$@"; do printf "<%s>" "$word"; done'
    given = ["--json", "--", "-h", "--help", "", "scan", "a b", "--facts", "-"]
    for own in (["run"], ["run", "--"]):
        passed = run([gpuvet, *own, "sh", "-c", script, "sh", *given])
        want = "".join("<%s>" % word for word in given).encode()
        expect("words", passed.stdout == want, passed)


def output(gpuvet):
    text = "echo out; echo err >&2; printf 'no end'; exit 3"
    passed = run([gpuvet, "run", *shell(text)])
    expect("standard output", passed.stdout == b"out\nno end", passed.stdout)
    expect("standard error comes first", passed.stderr.startswith(b"err\n"), passed.stderr)
    expect("a failure is explained", EXPLANATION in passed.stderr, passed.stderr)
    expect("unknown is said to be so", b"is known to gpuvet" in passed.stderr, passed.stderr)
    known = run([gpuvet, "run", *shell("echo \"nvcc fatal   : Unsupported gpu architecture "
                                       "'compute_86+PTX'\" >&2; exit 2")])
    expect("a known message is explained", known.returncode == 2 and
           b"arch-token-not-a-number" in known.stderr, known)
    fine = run([gpuvet, "run", *shell("echo out; echo err >&2")])
    expect("success is silent", (fine.stdout, fine.stderr) == (b"out\n", b"err\n"), fine)
    both = "for i in 1 2 3 4 5 6 7 8 9; do echo $i; echo $i >&2; done"
    one = subprocess.run([gpuvet, "run", *shell(both)], stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, timeout=PATIENCE_S, check=False)
    want = "".join("%d\n%d\n" % (i, i) for i in range(1, 10)).encode()
    expect("2>&1 keeps the order", one.stdout == want, one.stdout)
    echo = run([gpuvet, "run", "cat"], input=b"\0\xff\n\r input")
    expect("standard input", echo.stdout == b"\0\xff\n\r input", echo.stdout)


def binary_output(gpuvet):
    """64 MB of every byte, exact, on both streams at once."""
    make = ("import sys,os,threading\n"
            "block=bytes(range(256))*4096\n"
            "def out(fd):\n"
            "  for i in range(64):\n"
            "    rest=bytes([i])+block\n"
            "    while rest: rest=rest[os.write(fd,rest):]\n"
            "t=[threading.Thread(target=out,args=(fd,)) for fd in (1,2)]\n"
            "[x.start() for x in t]; [x.join() for x in t]\n")
    want = hashlib.sha256()
    for i in range(64):
        want.update(bytes([i]) + bytes(range(256)) * 4096)
    passed = run([gpuvet, "run", sys.executable, "-c", make])
    for name, data in (("output", passed.stdout), ("error", passed.stderr)):
        expect("64 MB of " + name, hashlib.sha256(data).digest() == want.digest(), len(data))


def closed_output(gpuvet):
    """A reader that goes away ends the writer; descriptors that are closed stay closed."""
    line = "'%s' run yes | head -1; echo ${PIPESTATUS[0]}" % gpuvet
    passed = run(["bash", "-c", line])
    expect("yes | head", passed.stdout == b"y\n141\n", passed)
    for redirect in ("1>&-", "2>&-", "0<&-", "1>&- 2>&-"):
        with tempfile.TemporaryDirectory() as folder:
            seen = []
            for name, start in (("plain", ""), ("passed", "'%s' run " % gpuvet)):
                path = os.path.join(folder, name)
                tell = ("%ssh -c 'exec 9>%s; for f in 0 1 2; do"
                        " [ -e /proc/$$/fd/$f ] && echo $f >&9; done; :' %s"
                        % (start, path, redirect))
                run(["bash", "-c", tell])
                with open(path, encoding="utf-8") as file:
                    seen.append(file.read())
            expect("closed " + redirect, seen[0] == seen[1], seen)


def left_behind(gpuvet):
    """Processes that keep the pipe open do not hang us; what they still say at once is heard."""
    start = time.monotonic()
    passed = run([gpuvet, "run", *shell("(sleep 30 & ); echo done; exit 5")])
    took = time.monotonic() - start
    expect("grandchildren", passed.returncode == 5 and passed.stdout == b"done\n", passed)
    expect("grandchildren hold us up", took < 20.0, took)


# --- signals -------------------------------------------------------------------------------------

WAITS = ("import signal,sys,time\n"
         "def got(number, frame):\n"
         "  print(signal.Signals(number).name, flush=True)\n"
         "  sys.exit(7)\n"
         "for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2,"
         " signal.SIGQUIT): signal.signal(s, got)\n"
         "print('ready', flush=True)\n"
         "time.sleep(60)\n")


def passed_signals(gpuvet):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2,
                   signal.SIGQUIT):
        process = subprocess.Popen([gpuvet, "run", sys.executable, "-c", WAITS],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   start_new_session=True)
        process.stdout.readline()
        process.send_signal(number)
        out, error = process.communicate(timeout=PATIENCE_S)
        expect("signal " + number.name, (process.returncode, out.decode().strip()) ==
               (7, number.name), process.returncode, out, error)
        explained = EXPLANATION in error
        wanted = number in (signal.SIGUSR1, signal.SIGUSR2)  # the others are somebody's wish
        expect("explained after " + number.name, explained == wanted, error)
    process = subprocess.Popen([gpuvet, "run", "sleep", "60"], start_new_session=True)
    time.sleep(0.3)
    process.terminate()
    expect("dies of SIGTERM", process.wait(PATIENCE_S) == -signal.SIGTERM, process.returncode)


def state_of(pid):
    with open("/proc/%d/stat" % pid, encoding="utf-8") as file:
        return file.read().rsplit(")", 1)[1].split()[0]


def child_of(pid):
    path = "/proc/%d/task/%d/children" % (pid, pid)
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        with open(path, encoding="utf-8") as file:
            children = file.read().split()
        if children:
            return int(children[0])
        time.sleep(0.01)
    raise TimeoutError("no child")


def until(condition):
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.01)
    return False


def stop_and_continue(gpuvet):
    process = subprocess.Popen([gpuvet, "run", "sleep", "60"],
                               preexec_fn=lambda: os.setpgid(0, 0))
    child = child_of(process.pid)
    until(lambda: os.readlink("/proc/%d/exe" % child).endswith("sleep"))
    for _ in range(2):
        os.kill(process.pid, signal.SIGTSTP)
        expect("the command stops", until(lambda: state_of(child) == "T"))
        expect("gpuvet stops too", until(lambda: state_of(process.pid) == "T"))
        os.kill(process.pid, signal.SIGCONT)
        expect("both continue", until(lambda: state_of(child) == "S"), state_of(child))
    process.terminate()
    expect("ends after that", process.wait(PATIENCE_S) == -signal.SIGTERM, process.returncode)


def orphans(gpuvet):
    """Nothing of ours is left when the command has ended."""
    marker = "gpuvet-run-test-%d" % os.getpid()
    run([gpuvet, "run", "env", "GPUVET_MARKER=" + marker, "true"])
    left = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/cmdline" % pid, "rb") as file:
                if marker.encode() in file.read():
                    left.append(pid)
        except OSError:
            pass
    expect("left behind", not left, left)


# --- terminals -----------------------------------------------------------------------------------

def on_terminal(command, typed=b"", rows=30, columns=100, react=None, options=None):
    """Runs a command on a terminal of its own; (wait status, all it showed)."""
    pid, master = pty.fork()
    if pid == 0:
        os.execvp(command[0], command)
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    if options:
        options(master)
    shown, sent, deadline = b"", False, time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if typed and not sent and (react is None or react in shown):
            os.write(master, typed)
            sent = True
        ready, _, _ = select.select([master], [], [], 0.05)
        if ready:
            try:
                data = os.read(master, 65536)
            except OSError:
                break
            if not data:
                break
            shown += data
    os.close(master)
    return os.waitpid(pid, 0)[1], shown


def terminal_kept(gpuvet):
    ask = ("import os,sys,termios\n"
           "input()\n"
           "print(*[os.isatty(fd) for fd in (0,1,2)], *os.get_terminal_size(1),"
           " *os.get_terminal_size(2), os.getpgrp()==os.tcgetpgrp(0))\n")
    for start in ([], [gpuvet, "run"]):
        status, shown = on_terminal([*start, sys.executable, "-c", ask], typed=b"\n", rows=33,
                                    columns=77)
        expect("a terminal on all three", b"True True True 77 33 77 33 True" in shown, shown)
        expect("status on a terminal", status == 0, status, shown)
    line = "printf 'a\\nb\\tc\\033[1mx\\033[0m\\r\\n'"
    plain, passed = on_terminal(shell(line)), on_terminal([gpuvet, "run", *shell(line)])
    expect("bytes on a terminal", plain == passed, plain, passed)
    mixed = "for i in 1 2 3 4 5 6; do echo $i; echo e$i >&2; done"
    plain, passed = on_terminal(shell(mixed)), on_terminal([gpuvet, "run", *shell(mixed)])
    expect("order on a terminal", plain == passed, plain, passed)
    expect("the terminal's name", b"/dev/pts/" in on_terminal([gpuvet, "run", "tty"])[1])
    half = shell("'%s' run sh -c '[ -t 1 ]; a=$?; [ -t 2 ]; echo $a $? >&2' | cat" % gpuvet)
    expect("only one of two", b"1 0" in on_terminal(half)[1], on_terminal(half))


def keys(gpuvet):
    """Ctrl-C reaches the command once; a password prompt does not echo; raw input is raw."""
    count = ("import signal,time\n"
             "signal.pthread_sigmask(signal.SIG_BLOCK,[signal.SIGINT])\n"
             "print('ready', flush=True)\n"
             "codes=[]; end=time.monotonic()+1.0\n"
             "while time.monotonic()<end:\n"
             "  got=signal.sigtimedwait([signal.SIGINT],0.1)\n"
             "  if got: codes.append(got.si_code)\n"
             "print('codes', codes)\n")
    _, shown = on_terminal([gpuvet, "run", sys.executable, "-c", count], typed=b"\x03",
                           react=b"ready")
    expect("Ctrl-C once, from the kernel", b"codes [128]" in shown, shown)
    secret = "import getpass; print('got', len(getpass.getpass('Secret: ')))"
    _, shown = on_terminal([gpuvet, "run", sys.executable, "-c", secret], typed=b"xyzzy\n",
                           react=b"Secret: ")
    expect("getpass", b"got 5" in shown and b"xyzzy" not in shown, shown)
    # As ncurses: the settings are made on the descriptor of the output.
    raw = ("import os,sys,termios,tty,time\n"
           "old=termios.tcgetattr(1); tty.setraw(1); time.sleep(0.3)\n"
           "os.write(1,b'ready'); key=os.read(0,1)\n"
           "termios.tcsetattr(1,termios.TCSANOW,old); time.sleep(0.3)\n"
           "now=termios.tcgetattr(0)\n"
           "print('key',key,bool(now[3]&termios.ECHO),bool(now[3]&termios.ICANON))\n")
    for start in ([], [gpuvet, "run"]):
        _, shown = on_terminal([*start, sys.executable, "-c", raw], typed=b"q", react=b"ready")
        expect("raw input set on the output", b"key b'q' True True" in shown, start, shown)


def sizes(gpuvet):
    ask = ("import os,signal,time\n"
           "def got(*_):\n"
           "  now = os.get_terminal_size(1)\n"
           "  print('size', *now, flush=True)\n"
           "  if now.columns == 132: os._exit(0)\n"
           "signal.signal(signal.SIGWINCH, got)\n"
           "print('ready', flush=True)\n"
           "end = time.monotonic() + 30\n"
           "while time.monotonic() < end: time.sleep(1)\n")
    pid, master = pty.fork()
    if pid == 0:
        os.execvp(gpuvet, [gpuvet, "run", sys.executable, "-c", ask])
    shown, resized, deadline = b"", False, time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        ready, _, _ = select.select([master], [], [], 0.05)
        if ready:
            try:
                shown += os.read(master, 4096)
            except OSError:
                break
        if b"ready" in shown and not resized:
            fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 132, 0, 0))
            resized = True
    os.waitpid(pid, 0)
    os.close(master)
    # The kernel's own signal may reach the command before gpuvet has passed the size on; a second
    # signal follows with it. So the command goes on until it sees the size, and not for ever.
    expect("a new size", b"size 132 50" in shown, shown)


def job_control(gpuvet):
    """Ctrl-Z under a shell with job control: the shell gets its prompt back; fg goes on."""
    pid, master = pty.fork()
    if pid == 0:
        os.environ["PS1"] = "prompt> "
        os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
    count = ("import time,sys\nprint('ready', flush=True)\nsys.stdin.readline()\n"
             "print('went on', flush=True)\n")
    steps = [(b"prompt> ", ("'%s' run %s -c \"%s\"\n" % (gpuvet, sys.executable, count.replace(
        "\n", ";").rstrip(";"))).encode()),
             (b"ready", b"\x1a"),
             (b"Stopped", b"jobs\n"),
             (b"Running|Stopped", b"fg\n"),
             (b"fg", b"\n"),
             (b"went on", b"echo status $?\n"),
             (b"status 0", b"exit\n")]
    shown, fresh, deadline = b"", b"", time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if steps and any(word in fresh for word in steps[0][0].split(b"|")):
            time.sleep(0.2)
            os.write(master, steps.pop(0)[1])
            fresh = b""
        ready, _, _ = select.select([master], [], [], 0.05)
        if ready:
            try:
                data = os.read(master, 4096)
            except OSError:
                break
            shown, fresh = shown + data, fresh + data
    if steps:
        os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(master)
    expect("job control", not steps and b"status 0" in shown, shown[-600:])


SITUATIONS = [statuses, inherited, words, output, binary_output, closed_output, left_behind, passed_signals,
              stop_and_continue, orphans, terminal_kept, keys, sizes, job_control]


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--gpuvet", required=True)
    options.add_argument("only", nargs="*", help="situations; all of them")
    given = options.parse_args()
    gpuvet = os.path.abspath(given.gpuvet)
    for situation in SITUATIONS:
        if not given.only or situation.__name__ in given.only:
            situation(gpuvet)
    for problem in problems:
        print(problem)
    print("%d problem(s)" % len(problems))
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
