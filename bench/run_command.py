#!/usr/bin/env python3
"""What `gpuvet run` adds to a command: to its start, and to each line that it prints.

Both are measured in turns, with and without gpuvet, after a round that is thrown away. Nothing here
passes or fails; docs/run.md has the figures.
"""

import argparse
import os
import statistics
import subprocess
import sys
import time

LINE = b"[ 42%] Building CXX object src/CMakeFiles/core.dir/kernels/reduce_sum_kernel.cpp.o --\n"


def seconds(command, output):
    start = time.perf_counter()
    subprocess.run(command, stdout=output, stderr=output, stdin=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def compare(plain, passed, rounds, output):
    """Seconds of each, sorted."""
    samples = {"plain": [], "passed": []}
    for i in range(rounds + 1):
        for name, command in (("plain", plain), ("passed", passed)):
            taken = seconds(command, output)
            if i:
                samples[name].append(taken)
    return sorted(samples["plain"]), sorted(samples["passed"])


def told(what, plain, passed, unit, scale):
    for name, of in (("fastest", min), ("median", statistics.median)):
        print("%s, %s: %.2f ms, under gpuvet run %.2f ms: %+.2f %s" %
              (what, name, of(plain) * 1e3, of(passed) * 1e3,
               (of(passed) - of(plain)) * scale, unit))


def paced(megabytes, rate):
    """A writer of `megabytes` that pauses so as to reach `rate` MB/s."""
    return ("import os,time\n"
            "block=%r*3000; sent=0; start=time.perf_counter()\n"
            "while sent<%d:\n"
            "  at=0\n"
            "  while at<len(block): at+=os.write(1,block[at:at+65536])\n"
            "  sent+=len(block); ahead=sent/%f-(time.perf_counter()-start)\n"
            "  if ahead>0: time.sleep(ahead)\n") % (LINE, megabytes * 10**6, rate * 1e6)


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--gpuvet", required=True)
    options.add_argument("--rounds", type=int, default=40)
    given = options.parse_args()
    gpuvet = os.path.abspath(given.gpuvet)
    with open(os.devnull, "wb") as null:
        told("true", *compare(["true"], [gpuvet, "run", "true"], given.rounds, null), "ms", 1e3)
        size = 1000
        lines = size * 10**6 / len(LINE)
        for what, rate in (("at 200 MB/s", 200.0), ("as fast as it can", 1e6)):
            writer = [sys.executable, "-c", paced(size, rate)]
            read_by = ["sh", "-c", '"$@" | cat', "sh"]
            taken = compare([*read_by, *writer], [*read_by, gpuvet, "run", *writer],
                            max(given.rounds // 8, 3), null)
            told("%d MB %s" % (size, what), *taken, "ns per line", 1e9 / lines)


if __name__ == "__main__":
    main()
