#!/usr/bin/env python3
"""Runs the commands that the manual shows and compares what they print.

A fenced block whose first line starts with `$ gpuvet` is run, line by line, under bash in a copy of
tests/inputs; standard error is shown with standard output, as on a terminal. In the expected text a
line of three dots stands for any number of lines. A block that cannot be run here carries an HTML
comment right before its fence: <!-- not run: reason -->. With GPUVET_UPDATE=1 what differs is written
into the file; review the diff.
"""

import argparse
import difflib
import glob
import os
import re
import sys
from dataclasses import dataclass

import program

FENCE = re.compile(r"^(?P<indent> *)(?P<fence>`{3,}|~{3,})")
NOT_RUN = re.compile(r"^\s*<!--\s*not run:\s*(?P<reason>.*?)\s*-->\s*$")


@dataclass
class Block:
    first: int      # index of the first line behind the opening fence
    lines: list     # without the indent of the fence
    indent: str
    not_run: str    # reason, or empty


def blocks_of(lines):
    """Fenced blocks that show a gpuvet command. An unclosed fence runs to the end."""
    found = []
    index = 0
    while index < len(lines):
        opening = FENCE.match(lines[index])
        if not opening:
            index += 1
            continue
        indent, fence = opening["indent"], opening["fence"]
        end = index + 1
        while end < len(lines) and not lines[end].strip().startswith(fence):
            end += 1
        content = [line.removeprefix(indent) for line in lines[index + 1:end]]
        if content and content[0].startswith("$ gpuvet"):
            before = NOT_RUN.match(lines[index - 1]) if index else None
            found.append(Block(index + 1, content, indent, before["reason"] if before else ""))
        index = end + 1
    return found


def steps_of(block):
    """(command as shown, command to run, expected lines) for each `$ ` line."""
    steps = []
    index = 0
    while index < len(block.lines):
        shown = [block.lines[index]]
        while shown[-1].endswith("\\") and index + 1 < len(block.lines):
            index += 1
            shown.append(block.lines[index])
        index += 1
        expected = []
        while index < len(block.lines) and not block.lines[index].startswith("$ "):
            expected.append(block.lines[index])
            index += 1
        command = "\n".join(shown)[2:]
        steps.append((shown, command, expected))
    return steps


def matches(expected, got):
    """Are the lines those expected, where '...' stands for any lines? The lines between two such
    marks are searched as a run, earliest first, which finds a match whenever there is one."""
    runs = [[]]
    for line in expected:
        if line.strip() == "...":
            runs.append([])
        else:
            runs[-1].append(line)
    if len(runs) == 1:
        return expected == got
    first, last = runs[0], runs[-1]
    if len(got) < len(first) + len(last) or got[:len(first)] != first:
        return False
    end = len(got) - len(last)
    if got[end:] != last:
        return False
    at = len(first)
    for run in runs[1:-1]:
        while at + len(run) <= end and got[at:at + len(run)] != run:
            at += 1
        if at + len(run) > end:
            return False
        at += len(run)
    return True


def check_block(gpuvet, name, block, inputs, problems):
    """The block's lines as they should be."""
    result = []
    status = 0
    with program.inputs_copy(inputs) as work:
        for shown, command, expected in steps_of(block):
            got = program.run(gpuvet, f"(exit {status})\n{command}", work, merge=True)
            status = got.status
            output = got.stdout.split("\n")
            if output[-1] == "":
                output.pop()
            # Blank lines at the end of a block are layout.
            while output and not output[-1]:
                output.pop()
            wanted = list(expected)
            while wanted and not wanted[-1]:
                wanted.pop()
            crashed = status < 0 or status >= 126
            if crashed:
                problems.append(f"{name}:{block.first + 1}: '{command}' ended with status {status}")
            if matches(wanted, output) and not crashed:
                result += shown + expected
                continue
            result += shown + output
            diff = difflib.unified_diff(wanted, output, f"{name}:{block.first + 1}: {command}",
                                        "what gpuvet printed", lineterm="")
            problems.append("\n".join(diff))
    return result


def check_document(gpuvet, path, inputs, count, problems):
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    name = os.path.relpath(path)
    update = bool(os.environ.get("GPUVET_UPDATE"))
    found_here = []
    for block in reversed(blocks_of(lines)):  # from the end, so that indices stay true
        if block.not_run:
            count["not run"] += 1
            print(f"{name}:{block.first}: not run: {block.not_run}")
            continue
        count["run"] += 1
        wrong = []
        new = check_block(gpuvet, name, block, inputs, wrong)
        if wrong and update:
            lines[block.first:block.first + len(block.lines)] = [
                (block.indent + line).rstrip() if not line else block.indent + line for line in new]
            print(f"{name}:{block.first}: rewritten")
        else:
            found_here = wrong + found_here
    problems += found_here
    if update:
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines))


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--gpuvet", required=True, help="the program under test")
    options.add_argument("--inputs", default=program.INPUTS, help="folder the commands run in")
    options.add_argument("documents", nargs="*", help="default: README.md and docs/*.md")
    arguments = options.parse_args()
    documents = arguments.documents or (
        glob.glob(os.path.join(program.SOURCE, "README.md"))
        + sorted(glob.glob(os.path.join(program.SOURCE, "docs", "*.md"))))

    count = {"run": 0, "not run": 0}
    problems = []
    for path in documents:
        check_document(arguments.gpuvet, path, arguments.inputs, count, problems)
    if not count["run"]:
        problems.append("no block was run in " + (", ".join(documents) or "any document"))
    print("\n".join(problems))
    print(f"{count['run']} blocks run, {count['not run']} not run, {len(problems)} problem(s)")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
