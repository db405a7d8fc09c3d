#!/usr/bin/env python3
"""Compares what `gpuvet pick` knows of released builds with real wheels (make test-real).

For each line of pick_wheels.txt: fetch the wheel from PyPI, let `gpuvet scan` read it, and require that the row
of the table which `gpuvet pick` judges has the wheel's own list (pick_lists.py): the same machine code, the same
PTX, and the PTX version of the wheel's newest. Where the row loads on a GPU but not nearly all of the wheel's
fat binaries do, that is told; where most of them load and the row does not, they differ. What was read stays in the cache, so that the wheels themselves, gigabytes, can go.
"""
import argparse
import datetime
import json
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import packages  # noqa: E402
import pick_lists  # noqa: E402

NEARLY_ALL = 0.95  # share of fat binaries
LEAST = 15  # wheels that must have been compared for a good end

PAGE = """# Agreement of `gpuvet pick` with real wheels

Written by `tests/real/pick_agreement.py --write-docs` (part of `make test-real`) on {date}. Each line is a wheel from
PyPI, pinned in `tests/real/pick_wheels.txt`. `gpuvet scan` reads its fat binaries; the list that most of them hold
is compared with the row of `facts/frameworks.toml` that `gpuvet pick` judges. Fat binaries for one target, or for
suffixed targets alone, are variants that the program chooses itself and are not counted in. "Only in part" names
GPUs that the row serves while some of these fat binaries have nothing for them, with the share that has.

**{compared} wheels compared, {differ} differ, {skipped} skipped.**

| wheel | row | machine code | PTX | fat binaries with this list | variants | only in part on | result |
|---|---|---|---|---|---|---|---|
{rows}

Where a wheel's fat binaries do not all hold the same list, the row has the list of most of them: a GPU that
only the others serve natively runs most kernels by PTX, or not at all, and the row's verdict says so.
"""


def numbers(targets):
    """sm_90a -> 9.0a, in order."""
    def key(name):
        digits = re.search(r"\d+", name).group()
        return int(digits), name
    return ["%s.%s" % (re.search(r"\d+", t).group()[:-1], re.search(r"\d[af]?$", t).group())
            for t in sorted(targets, key=key)]


def load(path):
    for line in packages.lines_of(path):
        fields = [field.strip() for field in line.split("|")]
        if len(fields) != 5:
            raise SystemExit("pick_wheels.txt: cannot read line %r" % line)
        yield packages.Package(fields[0], fields[1], fields[2], "", ""), fields[3], fields[4]


def lists_of(package, library, cache, gpuvet, keep):
    known = pick_lists.remembered(cache, package.spec, library)
    if os.path.exists(known):
        with open(known) as file:
            return pick_lists.Lists(**json.load(file))
    lists = pick_lists.read(gpuvet, packages.fetch(package, cache), library.split())
    with open(known, "w") as file:
        json.dump(lists._asdict(), file)
    if not keep:
        shutil.rmtree(os.path.join(cache, "wheels", package.spec), ignore_errors=True)
    return lists


def builds_of(gpuvet, framework, known={}):
    """The builds of one framework as pick judges them (for any GPU: the lists are the same)."""
    if framework not in known:
        done = subprocess.run([gpuvet, "pick", "--framework", framework, "--gpu", "8.0", "--platform", "linux-x86_64",
                               "--json"], stdout=subprocess.PIPE, universal_newlines=True)
        report = json.loads(done.stdout)
        if report["schema"] != "gpuvet-pick/1":
            raise SystemExit("gpuvet pick: schema %r is not the one this test knows" % report["schema"])
        known[framework] = report["frameworks"][0]["builds"]
    return known[framework]


def row_for(gpuvet, words):
    """The build named by "torch 2.8 cu128" or "cupy 14 cuda 13"."""
    framework, release, rest = words.split()[0], words.split()[1], words.split()[2:]
    found = []
    for build in builds_of(gpuvet, framework):
        if release not in (build["releases"], build["release"]):
            continue
        if rest[:1] == ["cuda"] and not (build["cuda"] or "").startswith(rest[1]):
            continue
        if rest and rest[0] != "cuda" and build["variant"] != rest[0]:
            continue
        found.append(build)
    if len(found) != 1:
        raise SystemExit("pick_wheels.txt: %d builds fit %r" % (len(found), words))
    return found[0]


def compare(build, lists):
    own = pick_lists.own_list(lists)
    differences = []
    for what, ours, theirs in (("machine code", build["sass"], own.sass), ("PTX", build["ptx"], own.ptx)):
        if ours is None:
            differences.append("%s: not established in the table, %s in the wheel"
                               % (what, " ".join(numbers(theirs)) or "none"))
        elif set(ours) != set(theirs):
            differences.append("%s: table %s, wheel %s" % (what, " ".join(numbers(ours)) or "none",
                                                          " ".join(numbers(theirs)) or "none"))
    if own.ptx and lists.isas and build["ptx_isa"]:
        highest = max(lists.isas, key=lambda isa: [int(part) for part in isa.split(".")])
        if build["ptx_isa"] != highest:
            differences.append("PTX version: table %s, wheel %s" % (build["ptx_isa"], highest))
    partly = []
    for sm, share in pick_lists.shares(lists).items():
        served = pick_lists.loads(build["sass"] or [], build["ptx"] or [], sm)
        if served and share < NEARLY_ALL:
            partly.append("%d.%d: %d %%" % (sm // 10, sm % 10, round(share * 100)))
        if not served and share > 0.5:
            differences.append("%d.%d: the row has nothing, %d %% of the wheel loads"
                               % (sm // 10, sm % 10, round(share * 100)))
    return own, partly, differences


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gpuvet", default=os.path.join(HERE, "../../build/release/gpuvet"))
    parser.add_argument("--only", metavar="TEXT", help="wheels whose name contains TEXT")
    parser.add_argument("--keep", action="store_true", help="keep the wheels in the cache")
    parser.add_argument("--write-docs", action="store_true", help="write docs/pick-agreement.md")
    options = parser.parse_args()
    cache = os.path.expanduser(os.environ.get("GPUVET_REAL_CACHE", "~/.cache/gpuvet-real"))
    gpuvet = os.path.abspath(options.gpuvet)
    rows, compared, differ, skipped = [], 0, 0, 0
    for package, library, words in load(os.path.join(HERE, "pick_wheels.txt")):
        if options.only and options.only not in package.spec:
            continue
        build = row_for(gpuvet, words)
        try:
            lists = lists_of(package, library, cache, gpuvet, options.keep)
        except packages.NotAvailable as why:
            skipped += 1
            print("%-28s skipped: %s" % (package.spec, why), flush=True)
            continue
        own, partly, differences = compare(build, lists)
        compared += 1
        differ += bool(differences)
        result = "; ".join(differences) or "same"
        print("%-28s %s" % (package.spec, result), flush=True)
        rows.append("| %s | %s | %s | %s | %d of %d | %d | %s | %s |" % (
            package.spec, words, " ".join(numbers(own.sass)), " ".join(numbers(own.ptx)) or "none", own.count,
            own.ordinary, own.variants, ", ".join(partly) or "-", result))
    print("%d compared, %d differ, %d skipped" % (compared, differ, skipped))
    if options.write_docs:
        with open(os.path.join(HERE, "../../docs/pick-agreement.md"), "w") as file:
            file.write(PAGE.format(date=datetime.date.today(), compared=compared, differ=differ, skipped=skipped,
                                   rows="\n".join(rows)))
    if not options.only and compared < LEAST:
        print("At least %d wheels must be compared; there were %d." % (LEAST, compared))
        return 1
    return 1 if differ or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
