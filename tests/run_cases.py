#!/usr/bin/env python3
"""Runs case files: a command line with the exit status and output that it must have.

    # what this case shows
    --- env NAME=VALUE          optional, may repeat
    $ gpuvet scan sample.so     run under bash in a copy of tests/inputs
    exit 1
    --- stdout                  absent: nothing may be printed there
    every line until the next mark or the end
    --- stderr                  absent: nothing may be printed there

With GPUVET_UPDATE=1 the exit status and both outputs are written into the file; review the diff.
"""

import argparse
import difflib
import os
import sys
from dataclasses import dataclass, field

import program


class BadCase(Exception):
    pass


@dataclass
class Case:
    head: list = field(default_factory=list)  # comments, environment and command as written
    environment: dict = field(default_factory=dict)
    command: str = ""
    status: int = -1
    stdout: str = ""
    stderr: str = ""


def parse(text, where):
    case = Case()
    stream = None
    for number, line in enumerate(text.split("\n"), 1):
        if line in ("--- stdout", "--- stderr"):
            stream = line[4:]
        elif stream:
            setattr(case, stream, getattr(case, stream) + line + "\n")
        elif line.startswith("exit "):
            case.status = int(line[5:])
        elif line.startswith("$ "):
            if case.command:
                raise BadCase(f"{where}:{number}: a second command; one case is one command")
            case.command = line[2:]
            case.head.append(line)
        elif line.startswith("--- env ") and "=" in line:
            name, _, value = line[8:].partition("=")
            case.environment[name] = value
            case.head.append(line)
        elif line.startswith("#") or not line:
            case.head.append(line)
        else:
            raise BadCase(f"{where}:{number}: not understood: {line}")
    # The text after the last newline is no line.
    if stream and getattr(case, stream).endswith("\n\n"):
        setattr(case, stream, getattr(case, stream)[:-1])
    elif stream and getattr(case, stream) == "\n":
        setattr(case, stream, "")
    if "gpuvet " not in case.command:
        raise BadCase(f"{where}: has no line '$ ...' that runs gpuvet")
    return case


def write(case):
    head = "\n".join(case.head).rstrip("\n")
    parts = [f"{head}\nexit {case.status}\n"]
    for name in ("stdout", "stderr"):
        text = getattr(case, name)
        if text:
            parts.append(f"--- {name}\n{text}" + ("" if text.endswith("\n") else "\n"))
    return "".join(parts)


def check(gpuvet, path, inputs):
    """Prints what differs; True when the program did what the file says."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    case = parse(text, path)
    if case.status < 0 and not os.environ.get("GPUVET_UPDATE"):
        raise BadCase(f"{path}: has no line 'exit N'")
    with program.inputs_copy(inputs) as work:
        got = program.run(gpuvet, case.command, work, case.environment)
    actual = Case(case.head, case.environment, case.command, got.status, got.stdout, got.stderr)
    expected_text, actual_text = write(case), write(actual)
    if expected_text == actual_text:
        return True
    if os.environ.get("GPUVET_UPDATE"):
        with open(path, "w", encoding="utf-8") as file:
            file.write(actual_text)
        print(f"{path}: rewritten")
        return True
    sys.stdout.writelines(difflib.unified_diff(
        expected_text.splitlines(True), actual_text.splitlines(True), path, "what gpuvet did"))
    return False


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--gpuvet", required=True, help="the program under test")
    options.add_argument("--inputs", default=program.INPUTS, help="folder the cases run in")
    options.add_argument("paths", nargs="+", help="case files, or folders of them")
    arguments = options.parse_args()

    files = []
    for path in arguments.paths:
        if os.path.isdir(path):
            files += sorted(os.path.join(path, name) for name in os.listdir(path)
                            if name.endswith(".case"))
        else:
            files.append(path)
    if not files:
        sys.exit("no case files found in " + ", ".join(arguments.paths))
    failed = 0
    for path in files:
        try:
            good = check(arguments.gpuvet, path, arguments.inputs)
        except BadCase as problem:
            print(problem)
            good = False
        failed += not good
    print(f"{len(files) - failed} of {len(files)} cases as expected")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
