#!/usr/bin/env python3
"""Checks that what is shipped runs elsewhere: which shared libraries and which glibc it needs.

    release_binary.py --build build/release     installs into a scratch folder, checks that, runs it
    release_binary.py FILE...                   checks these files
"""

import argparse
import glob
import os
import re
import subprocess
import sys
import tempfile

# On every machine that we promise to run on: glibc's own.
SYSTEM = {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"}
# No distribution ships a static archive of these, so they travel in lib/gpuvet.
BUNDLED = {"libisal.so.2"}
MAX_GLIBC = "2.35"  # Ubuntu 22.04
BUILT_HERE = (2, 36)  # Debian 12, where releases are made
SKIPPED = 77


def readelf(*arguments):
    done = subprocess.run(["readelf", "-W", *arguments], text=True, capture_output=True)
    return done.stdout if done.returncode == 0 else ""


def numbers(version):
    return tuple(int(part) for part in version.split("."))


def check(path, max_glibc, problems):
    """Returns the newest glibc version that the file asks for."""
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("-d", path))
    versions = set(re.findall(r"Name: GLIBC_([0-9.]+)", readelf("-V", path)))
    newest = max(versions, key=numbers, default="0")
    print(f"{os.path.basename(path)}: needs {' '.join(needed)}; glibc {newest} or newer")
    if not needed or not versions:
        problems.append(f"{path}: no dynamic section, the check saw nothing")
    for name in needed:
        if name not in SYSTEM | BUNDLED:
            problems.append(f"{path}: needs the shared library {name}, which a machine may lack")
    if numbers(newest) > numbers(max_glibc):
        problems.append(f"{path}: needs glibc {newest}; {max_glibc} is the newest allowed")
    return numbers(newest)


def check_installed(build, max_glibc, problems):
    with tempfile.TemporaryDirectory(prefix="gpuvet-install-") as prefix:
        subprocess.run(["cmake", "--install", build, "--prefix", prefix], check=True,
                       stdout=subprocess.DEVNULL)
        binary = os.path.join(prefix, "bin", "gpuvet")
        libraries = sorted(glob.glob(os.path.join(prefix, "lib", "gpuvet", "*")))
        newest = [check(path, max_glibc, problems) for path in [binary, *libraries]]
        needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("-d", binary)))
        for name in sorted(needed & BUNDLED - {os.path.basename(path) for path in libraries}):
            problems.append(f"{name} is needed and was not installed with the binary")
        # Which file the loader takes: ours, not the one of this machine.
        loaded = subprocess.run(["ldd", binary], text=True, capture_output=True).stdout
        for name in sorted(needed & BUNDLED):
            if not re.search(rf"{re.escape(name)} => \S*{re.escape(prefix)}/", loaded):
                problems.append(f"{name} is not taken from the installed folder:\n{loaded}")
        says = subprocess.run([binary, "--version"], text=True, capture_output=True, env={}).stdout
        if not says.startswith("gpuvet "):
            problems.append(f"the installed binary answers --version with '{says}'")
        return max(newest)


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--max-glibc", default=MAX_GLIBC)
    options.add_argument("--build", help="build folder to install from")
    options.add_argument("files", nargs="*")
    arguments = options.parse_args()

    problems = []
    newest = (0,)
    for path in arguments.files:
        newest = max(newest, check(path, arguments.max_glibc, problems))
    if arguments.build:
        newest = max(newest, check_installed(arguments.build, arguments.max_glibc, problems))
    if not arguments.files and not arguments.build:
        problems.append("nothing to check")
    print("\n".join(problems))

    glibc_only = problems and all("is the newest allowed" in problem for problem in problems)
    if glibc_only and arguments.max_glibc == MAX_GLIBC:
        here = os.confstr("CS_GNU_LIBC_VERSION").split()[-1]
        if numbers(here) > BUILT_HERE:
            print(f"not for shipping: built against glibc {here}; releases are made on Debian 12")
            sys.exit(SKIPPED)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
