#!/usr/bin/env python3
"""Measures gpuvet beside its peers and writes docs/benchmarks.md (make bench).

Every comparison is made in one go: the contenders take turns, one run each per round, after one
warm-up round that is thrown away, and all output goes to /dev/null. The table shows medians with the
fastest and slowest run. Nothing here passes or fails: the targets stand beside the figures.
"""
import argparse
import collections
import datetime
import glob
import os
import resource
import shutil
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../tests/real"))
import oracle  # noqa: E402
import packages  # noqa: E402

DOCS = os.path.join(HERE, "../docs/benchmarks.md")
INTRODUCTION = """Machine: {machine}; load average {load:.1f} when the run began.
Date: {date}. {gpuvet}; cuobjdump {cuobjdump}.

Contenders took turns, {rounds} measured rounds after one that was thrown away, so files were in the page
cache. Times are wall-clock unless they say otherwise. Peak memory is what `wait4` reports; it
includes pages of mapped files, which the kernel can drop at any time.
"""
BEGIN, END = "<!-- bench/run.py: begin -->", "<!-- bench/run.py: end -->"

# A command is a list (run directly) or a string (run by sh -c). `before` is run unmeasured.
Contender = collections.namedtuple("Contender", "name command before")
# `targets`: (contender, contender, sentence) for a quotient of medians, or a sentence alone.
Row = collections.namedtuple("Row", "title contenders targets")
Sample = collections.namedtuple("Sample", "seconds cpu peak_mb")


def contender(name, command, before=None):
    return Contender(name, command, before)


def run_once(each):
    """Time, processor time and peak resident memory of one run; a failing command ends it all."""
    if each.before:
        each.before()
    command = ["sh", "-c", each.command] if isinstance(each.command, str) else each.command
    with open(os.devnull, "wb") as null:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=null, stderr=null)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
    process.returncode = os.WEXITSTATUS(status) if os.WIFEXITED(status) else -1
    # gpuvet ends with 1 when a GPU was named that something can't run on: that is an answer.
    if process.returncode not in (0, 1) or (process.returncode and "gpuvet" not in each.name):
        raise SystemExit("%s ended with status %d" % (command, process.returncode))
    return Sample(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def measure(row, rounds):
    samples = {each.name: [] for each in row.contenders}
    for each in row.contenders:
        run_once(each)
    for _ in range(rounds):
        for each in row.contenders:
            samples[each.name].append(run_once(each))
    return samples


def median(samples, field="seconds"):
    return statistics.median(getattr(sample, field) for sample in samples)


def pip_environment(cache):
    """The pinned packages of environment.txt installed into one folder; (folder, the torch wheel)."""
    folder = os.path.join(cache, "environment-torch-2.11")
    pins = [packages.Package(pin, "cp312", "new", "", "") for pin in packages.lines_of(
        os.path.join(HERE, "environment.txt"))]
    wheels = {pin.spec: packages.fetch(pin, cache) for pin in pins}
    if not os.path.isdir(folder):
        tags = packages.pip_tags(pins[0])
        shutil.rmtree(folder + ".part", ignore_errors=True)
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index",
                        "--no-compile", "--ignore-requires-python", "--target", folder + ".part"]
                       + tags + list(wheels.values()), check=True)
        os.rename(folder + ".part", folder)
    return folder, wheels["torch==2.11.0"]


def rows(gpuvet, inflate_only, cuobjdump, environment, wheel, work):
    torch_cuda = os.path.join(environment, "torch/lib/libtorch_cuda.so")
    cublas_lt = glob.glob(os.path.join(environment, "nvidia/cu13/lib/libcublasLt.so.*"))[0]
    unpack_and_list = ("unzip -q '%s' -d '%s' && "
                       "for f in '%s'/torch/lib/*.so; do '%s' -lelf -lptx \"$f\"; done; true"
                       % (wheel, work, work, cuobjdump))

    def empty_work():
        shutil.rmtree(work, ignore_errors=True)
        os.makedirs(work)

    return [
        Row("Entries of libtorch_cuda.so",
            [contender("gpuvet, GPU sections", [gpuvet, "scan", "--sections-only", torch_cuda]),
             contender("gpuvet, whole file", [gpuvet, "scan", torch_cuda]),
             contender("cuobjdump", [cuobjdump, "-lelf", "-lptx", torch_cuda])],
            [("cuobjdump", "gpuvet, GPU sections", "at least 100"),
             ("cuobjdump", "gpuvet, whole file", "at least 40")]),
        Row("The torch wheel, not unpacked",
            [contender("gpuvet", [gpuvet, "scan", wheel]),
             contender("inflate only", [inflate_only, wheel]),
             contender("unzip, cuobjdump", unpack_and_list, empty_work)],
            [("gpuvet", "inflate only", "at most 1.3"), ("unzip, cuobjdump", "gpuvet", "at least 3"),
             "Target for gpuvet's peak memory: 256 MB."]),
        Row("A whole PyTorch environment",
            [contender("gpuvet", [gpuvet, "scan", environment, "--gpu", "H100"])],
            ["Target: 2 s."]),
        Row("Kernel names of libcublasLt",
            [contender("gpuvet", [gpuvet, "scan", cublas_lt, "--kernels"]),
             contender("cuobjdump", [cuobjdump, "-symbols", cublas_lt])],
            [("cuobjdump", "gpuvet", "none"),
             "Not the same work: gpuvet names each container's kernels once, cuobjdump those of every image."]),
        Row("Start-up",
            [contender("gpuvet --version", [gpuvet, "--version"]),
             contender("gpuvet facts", [gpuvet, "facts", "gpus", "T4"]),
             contender("true", ["/bin/true"])],
            ["Target: 10 ms."]),
    ]


def shown_command(command, places):
    text = command if isinstance(command, str) else " ".join(command)
    for path, name in places:
        text = text.replace(path, name)
    return text


def time_text(seconds):
    return "%.1f ms" % (seconds * 1e3) if seconds < 0.1 else "%.2f s" % seconds


def peak_text(samples):
    """A child starts as a copy of this program, so that less than its own size can't be told."""
    peak = max(sample.peak_mb for sample in samples)
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return "%.0f MB" % peak if peak > own + 1 else "under %.0f MB" % (own + 1)


def section(row, samples, places):
    lines = ["### " + row.title, "", "| | median | fastest - slowest | processor time | peak memory |",
             "|---|---|---|---|---|"]
    for each in row.contenders:
        runs = samples[each.name]
        lines.append("| %s | %s | %s - %s | %s | %s |" % (
            each.name, time_text(median(runs)), time_text(min(r.seconds for r in runs)),
            time_text(max(r.seconds for r in runs)), time_text(median(runs, "cpu")),
            peak_text(runs)))
    lines.append("")
    for target in row.targets:
        if isinstance(target, str):
            lines.append(target)
            continue
        over, under, wanted = target
        lines.append("- %s / %s = **%.3g** in time, %.3g in processor time (target: %s)" % (
            over, under, median(samples[over]) / median(samples[under]),
            median(samples[over], "cpu") / median(samples[under], "cpu"), wanted))
    lines += ["", "```"] + [shown_command(each.command, places) for each in row.contenders] + ["```", ""]
    return lines


def machine():
    with open("/proc/cpuinfo") as file:
        models = [line.split(":")[1].strip() for line in file if line.startswith("model name")]
    with open("/proc/meminfo") as file:
        memory = int(file.readline().split()[1]) / 1048576
    return "%d x %s, %.0f GiB, Linux %s" % (len(models), models[0] if models else "?", memory,
                                            os.uname().release)


def first_line(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, universal_newlines=True)
    return [line for line in done.stdout.splitlines() if line.strip()][0]


def write(path, text):
    """Replaces what stands between the markers and keeps the rest of the page."""
    page = "# Benchmarks\n\n%s\n%s\n" % (BEGIN, END)
    if os.path.exists(path):
        with open(path) as file:
            page = file.read()
    head, rest = page.split(BEGIN)
    with open(path, "w") as file:
        file.write(head + BEGIN + "\n" + text + "\n" + END + rest.split(END)[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=os.path.join(HERE, "../build/release"), help="build folder")
    parser.add_argument("--rounds", type=int, default=7, help="measured runs of each command")
    parser.add_argument("--only", metavar="TEXT", help="rows whose title contains TEXT; writes no page")
    options = parser.parse_args()
    cache = os.path.expanduser(os.environ.get("GPUVET_REAL_CACHE", "~/.cache/gpuvet-real"))
    oracles, missing = oracle.prepare(cache)
    if not oracles or oracles[0][0] != oracle.ORACLES[0][0]:
        raise SystemExit("cuobjdump is the peer and can't be had: %s" % missing)
    gpuvet, inflate_only = (os.path.abspath(os.path.join(options.build, name))
                            for name in ("gpuvet", "bench/inflate_only"))
    environment, wheel = pip_environment(cache)
    work = os.path.join(cache, "work", "bench")
    places = [(os.path.join(os.path.dirname(wheel), ""), ""), (os.path.join(environment, ""), ""),
              (environment, "ENVIRONMENT"), (work, "UNPACKED"), (oracles[0][1], "cuobjdump"),
              (gpuvet, "gpuvet"), (inflate_only, "inflate_only")]

    lines = [INTRODUCTION.format(machine=machine(), load=os.getloadavg()[0], rounds=options.rounds,
                                 date=datetime.date.today(), cuobjdump=oracles[0][0],
                                 gpuvet=first_line([gpuvet, "--version"]))]
    for row in rows(gpuvet, inflate_only, oracles[0][1], environment, wheel, work):
        if options.only and options.only not in row.title:
            continue
        text = section(row, measure(row, options.rounds), places)
        print("\n".join(text), flush=True)
        lines += text
    shutil.rmtree(work, ignore_errors=True)
    if not options.only:
        write(DOCS, "\n".join(lines).rstrip())


if __name__ == "__main__":
    main()
