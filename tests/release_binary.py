#!/usr/bin/env python3
"""Checks that the release binary runs elsewhere: which shared libraries and which glibc it needs."""

import argparse
import re
import subprocess
import sys

# Present on every machine that we promise to run on: glibc's own.
ALLOWED = ["libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"]
MAX_GLIBC = "2.35"  # Ubuntu 22.04
SKIPPED = 77


def readelf(*arguments):
    return subprocess.run(["readelf", "-W", *arguments], check=True, text=True,
                          capture_output=True).stdout


def numbers(version):
    return tuple(int(part) for part in version.split("."))


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--max-glibc", default=MAX_GLIBC)
    options.add_argument("binary")
    arguments = options.parse_args()

    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("-d", arguments.binary))
    versions = {found for found in re.findall(r"Name: GLIBC_([0-9.]+)",
                                              readelf("-V", arguments.binary))}
    newest = max(versions, key=numbers, default="0")
    print(f"needs {' '.join(needed)}; glibc {newest} or newer")
    problems = [f"needs the shared library {name}, which a machine may lack"
                for name in needed if name not in ALLOWED]
    if not needed or not versions:
        problems.append("has no dynamic section: the check saw nothing")
    too_new = numbers(newest) > numbers(arguments.max_glibc)
    if too_new:
        problems.append(f"needs glibc {newest}; {arguments.max_glibc} is the newest allowed")
    for problem in problems:
        print(f"{arguments.binary}: {problem}")
    if problems and too_new and len(problems) == 1 and arguments.max_glibc == MAX_GLIBC:
        built_with = subprocess.run(["getconf", "GNU_LIBC_VERSION"], text=True,
                                    capture_output=True).stdout.split()[-1]
        if numbers(built_with) > (2, 36):
            print(f"skipped: built against glibc {built_with}, so for machines like this one; "
                  "ship a build from Debian 12")
            sys.exit(SKIPPED)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
