#!/usr/bin/env python3
"""Runs `gpuvet arch lint` on the build files of tests/lint and compares what it finds.

Each folder tests/lint/NAME is one project. Its file EXPECT says which rules speak about which line of
which file; a project without EXPECT is correct and nothing may be found in it:

    Dockerfile:3 separator number-format
    CMakeLists.txt:1 cmake-too-old
    --- Dockerfile
    what the file has to be after --fix, up to the end or the next mark; optional

--fix --yes is run on a copy: what has one right answer is gone then, and nothing new is found.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lint")
KINDS = 14  # rules that some project has to break: all but the one that needs --gpu


def run(gpuvet, folder, *options):
    done = subprocess.run([gpuvet, "arch", "lint", ".", *options], cwd=folder, text=True,
                          capture_output=True, check=False, stdin=subprocess.DEVNULL)
    return done


def findings(gpuvet, folder):
    """Counter of (place, rule); the findings that have a fix."""
    done = run(gpuvet, folder, "--json")
    report = json.loads(done.stdout)
    assert report["schema"] == "gpuvet-lint/1", report["schema"]
    assert not report["errors"], report["errors"]
    found, fixable = collections.Counter(), 0
    flagged = False
    for file in report["files"]:
        for finding in file["findings"]:
            found[f"{file['path']}:{finding['line']}", finding["rule"]] += 1
            fixable += finding["fix"] is not None
            flagged |= finding["level"] != "note"
            for part in ("message", "why", "help"):
                text = finding[part]
                assert text and "{" not in text and "  " not in text, f"{finding['rule']}: {text!r}"
    assert done.returncode == (1 if flagged else 0), done.returncode
    return found, fixable


def expected(folder):
    """Counter of (place, rule); texts of files after --fix."""
    wanted, fixed, name = collections.Counter(), {}, None
    path = os.path.join(folder, "EXPECT")
    if not os.path.exists(path):
        return wanted, fixed
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith("--- "):
                name = line[4:].strip()
                fixed[name] = ""
            elif name:
                fixed[name] += line
            else:
                place, *rules = line.split()
                for rule in rules:
                    wanted[place, rule] += 1
    assert wanted, f"{path} expects nothing: leave it out"
    return wanted, fixed


def check_fix(gpuvet, folder, fixed, before, fixable):
    problems = []
    with tempfile.TemporaryDirectory() as work:
        copy = os.path.join(work, "project")
        shutil.copytree(folder, copy)
        for root, _, files in os.walk(copy):
            for file in files:
                os.chmod(os.path.join(root, file), 0o654)
        done = run(gpuvet, copy, "--diff")
        if bool(done.stdout) != (fixable > 0):
            problems.append(f"--diff shows {'something' if done.stdout else 'nothing'}, and "
                            f"{fixable} findings have a fix")
        if not fixable:
            return problems + [f"{file} can't be mended: nothing has a fix" for file in fixed]
        run(gpuvet, copy, "--fix")  # no terminal, no --yes: nothing may change
        for root, _, files in os.walk(copy):
            for file in files:
                path = os.path.join(root, file)
                with open(path, "rb") as now, open(
                        os.path.join(folder, os.path.relpath(path, copy)), "rb") as then:
                    if now.read() != then.read():
                        problems.append(f"{file} was changed without --yes")
        run(gpuvet, copy, "--fix", "--yes")
        run(gpuvet, copy, "--fix", "--yes")  # two findings about one place take two runs
        after, left = findings(gpuvet, copy)
        if left:
            problems.append(f"{left} findings can be fixed and were not")
        if after - before:
            problems.append(f"--fix brought {sorted(after - before)}")
        for root, _, files in os.walk(copy):
            for file in files:
                path = os.path.join(root, file)
                if stat.S_IMODE(os.stat(path).st_mode) != 0o654:
                    problems.append(f"{file} lost its mode")
        for file, text in fixed.items():
            with open(os.path.join(copy, file), encoding="utf-8") as got:
                if got.read() != text:
                    problems.append(f"{file} is not as expected after --fix")
    return problems


def check(gpuvet, folder):
    """What the project expects, and what is not so."""
    try:
        wanted, fixed = expected(folder)
        found, fixable = findings(gpuvet, folder)
        problems = [f"{place}: {rule} was not found" for place, rule in sorted(wanted - found)]
        problems += [f"{place}: {rule} was found and is not expected"
                     for place, rule in sorted(found - wanted)]
        return wanted, problems + (check_fix(gpuvet, folder, fixed, found, fixable) if found else [])
    except (AssertionError, ValueError) as error:
        return {}, [str(error)]


def check_examples(gpuvet):
    """Each rule speaks about its own example."""
    done = subprocess.run([gpuvet, "arch", "lint", "--rules", "--json"], text=True,
                          capture_output=True, check=True)
    problems = []
    for rule in json.loads(done.stdout)["rules"]:
        if not rule["example"]:
            continue
        with tempfile.TemporaryDirectory() as work:
            path = os.path.join(work, rule["file"])
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(rule["example"] + "\n")
            report = json.loads(run(gpuvet, work, "--json").stdout)
        found = [one for file in report["files"] for one in file["findings"]
                 if one["rule"] == rule["id"]]
        if not found:
            problems.append(f"rule {rule['id']} does not speak about its example")
        for one in found:
            if one["level"] != rule["severity"] and rule["id"] != "cmake-too-old":
                problems.append(f"rule {rule['id']}: {one['level']} instead of {rule['severity']}")
            if one["fix"] and not rule["fixes"]:
                problems.append(f"rule {rule['id']} has a fix and says that it has none")
    return problems


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--gpuvet", required=True, help="the program under test")
    options.add_argument("--projects", default=HERE, help="folder of them")
    options.add_argument("names", nargs="*", help="projects; default: all")
    arguments = options.parse_args()
    gpuvet = os.path.abspath(arguments.gpuvet)
    names = arguments.names or sorted(os.listdir(arguments.projects))
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        outcomes = list(pool.map(
            lambda name: check(gpuvet, os.path.join(arguments.projects, name)), names))
    failed, correct, rules = 0, 0, set()
    for name, (wanted, problems) in zip(names, outcomes):
        correct += not wanted
        rules |= {rule for _, rule in wanted}
        for problem in problems:
            print(f"{name}: {problem}")
        failed += bool(problems)
    for problem in [] if arguments.names else check_examples(gpuvet):
        print(problem)
        failed += 1
    print(f"{len(names)} projects, {correct} of them correct, {len(rules)} rules broken; "
          f"{failed} failed")
    if not arguments.names and (len(names) < 80 or correct < 30 or len(rules) < KINDS):
        print("there must be 80 projects, 30 of them correct, and all rules but one broken")
        failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
