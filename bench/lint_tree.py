#!/usr/bin/env python3
"""Times `gpuvet arch lint` on a tree of 10,000 files: 2,000 build files (those of tests/lint, over
and over) and 8,000 others, in 500 folders. Prints the median of five runs with the page cache warm.
"""

import argparse
import os
import statistics
import subprocess
import tempfile
import time

LINT = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tests", "lint")


def build_files():
    found = []
    for folder, _, names in os.walk(LINT):
        for name in names:
            if name != "EXPECT" and ".github" not in folder:
                with open(os.path.join(folder, name), "rb") as file:
                    found.append((name, file.read()))
    return sorted(found)


def make_tree(top, files):
    models = build_files()
    other = b"// a source file\n" + b"int value = 1;\n" * 400
    made = 0
    for i in range(500):
        folder = os.path.join(top, f"d{i // 50}", f"p{i}")
        os.makedirs(folder)
        names = set()
        for k in range(4):
            name, data = models[(i * 4 + k) % len(models)]
            if name in names:
                name = f"{k}.{name}" if name.endswith((".sh", ".cmake", ".mk")) else f"step{k}.sh"
            names.add(name)
            # Real build files are longer than a test's.
            with open(os.path.join(folder, name), "wb") as file:
                file.write(data + b"# and so on\n" * 200 if not name.endswith(".json") else data)
        for k in range(files // 500 - 4):
            with open(os.path.join(folder, f"source{k}.cpp"), "wb") as file:
                file.write(other)
        made += files // 500
    return made


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--gpuvet", required=True)
    options.add_argument("--files", type=int, default=10000)
    arguments = options.parse_args()
    gpuvet = os.path.abspath(arguments.gpuvet)
    with tempfile.TemporaryDirectory() as top:
        made = make_tree(top, arguments.files)
        times = []
        for _ in range(5):
            start = time.perf_counter()
            done = subprocess.run([gpuvet, "arch", "lint", ".", "--json"], cwd=top, check=False,
                                  capture_output=True, text=True)
            times.append(time.perf_counter() - start)
            assert done.returncode in (0, 1), done.stderr
        verdict = [line for line in done.stdout.splitlines() if '"verdict"' in line][0].strip()
        print(f"{made} files: {statistics.median(times):.2f} s "
              f"({min(times):.2f} to {max(times):.2f}); {verdict}")


if __name__ == "__main__":
    main()
