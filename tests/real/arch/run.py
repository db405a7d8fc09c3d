#!/usr/bin/env python3
"""Compares gpuvet arch with the tools that it speaks for (make test-real).

Compilers of many toolkits, CMake and PyTorch in many versions come from PyPI (tools.txt). Required is
  1. ptxas, and nvcc where its wheel has it, take exactly the targets that gpuvet's tables give the
     toolkit, and nvcc makes of a planned list exactly the promised images;
  2. CMake accepts each planned value and makes the promised flags of it, and refuses what gpuvet calls
     wrong;
  3. PyTorch's own function makes the promised flags of each planned value, and takes and refuses the
     same values as gpuvet, release by release;
  4. the printed lines arrive in real shells as they should.
What can't be had is listed and never counts as passed.
"""
import argparse
import datetime
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import builders  # noqa: E402
import compilers  # noqa: E402
import gpuvet  # noqa: E402
import shells  # noqa: E402
import tools  # noqa: E402

LEAST = {"compiler": 10, "cmake": 10, "torch": 3}  # tools that must have been compared for a good end
NVCC = "/usr/local/cuda/bin/nvcc"

PAGE = """# Agreement of `gpuvet arch` with compilers, CMake and PyTorch

Written by `tests/real/arch/run.py --write-docs` (`make test-real`) on {date} with {gpuvet}. Every
tool is a real one from PyPI, pinned in `tests/real/arch/tools.txt`; CMake configures with {nvcc}.

- *targets*: each target of gpuvet's tables, asked of ptxas (a kernel of one instruction is compiled) and
  of nvcc where the wheel has it: taken or refused as the tables say.
- *plans*: planned lists for single GPUs and pairs (compilers), for ten sets of GPUs (CMake), for single
  GPUs and sets under three toolkits (PyTorch): the tool makes exactly the promised images or flags.
- *flags*, *values*: other flags and values, right and wrong ones: the tool makes of them what gpuvet says,
  or both refuse.
- *check*: values that CMake refuses or passes on, the suffix `f` among them.
- *FindCUDA*: `cuda_select_nvcc_arch_flags` of that CMake.
- *printed lines*: the lines for every build system, pasted into bash, dash, zsh and fish with stand-ins for
  the programs, and read as JSON and YAML: the planned value arrives.

CMake gets each value as a library's `CUDA_ARCHITECTURES`, the last planned one also as `CMAKE_CUDA_ARCHITECTURES`,
which is what it checks. The wheels for CUDA 11 and 12 have ptxas but no nvcc. PowerShell and cmd are not
tried.

**{asked} questions, {differ} answered differently, {skipped} tools not to be had.**

| tool | compared | questions | different |
|---|---|---|---|
{rows}

## What differs

{differences}
"""


def compare_tool(tool, folder, facts):
    if tool.kind == "compiler":
        return compilers.compare(tool, folder, facts)
    if tool.kind == "torch":
        return builders.compare_torch(tool, folder)
    rows = builders.compare_findcuda(folder)
    return rows + (builders.compare_cmake(tool, folder, NVCC) if os.path.exists(NVCC) else [])


def write_page(path, rows, skipped, program):
    version = subprocess.run([program, "--version"], stdout=subprocess.PIPE, text=True).stdout.strip()
    nvcc = "no nvcc"
    if os.path.exists(NVCC):
        said = subprocess.run([NVCC, "--version"], stdout=subprocess.PIPE, text=True).stdout
        nvcc = "nvcc " + said.split("release ")[1].split(",")[0]
    lines = ["| %s | %s | %d | %d |" % (name, what, asked, len(different)) for name, what, asked, different in rows]
    told = ["- %s, %s: %s" % (name, what, text) for name, what, _, different in rows for text in different]
    told += ["- not to be had: %s" % why for why in skipped]
    with open(path, "w") as file:
        file.write(PAGE.format(date=datetime.date.today(), gpuvet=version, nvcc=nvcc,
                               asked=sum(row[2] for row in rows), differ=sum(len(row[3]) for row in rows),
                               skipped=len(skipped), rows="\n".join(lines), differences="\n".join(told) or "Nothing."))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gpuvet", help="the program to test",
                        default=os.path.join(HERE, "../../../build/release/gpuvet"))
    parser.add_argument("--only", metavar="TEXT", help="tools whose name contains TEXT")
    parser.add_argument("--write-docs", action="store_true", help="write docs/arch-agreement.md")
    options = parser.parse_args()
    gpuvet.PROGRAM = os.path.abspath(options.gpuvet)
    if not os.access(gpuvet.PROGRAM, os.X_OK):
        raise SystemExit("%s is not there: build it first" % gpuvet.PROGRAM)
    cache = os.path.join(os.path.expanduser(os.environ.get("GPUVET_REAL_CACHE", "~/.cache/gpuvet-real")), "arch")
    facts = compilers.toolkit_facts(gpuvet.PROGRAM)
    rows, skipped, compared = [], [], dict.fromkeys(LEAST, 0)
    for tool in tools.load():
        if options.only and options.only not in tool.spec:
            continue
        try:
            folder = tools.fetch(tool, cache)
        except tools.NotAvailable as why:
            skipped.append(str(why))
            print("skipped: %s" % why, flush=True)
            continue
        compared[tool.kind] += 1
        for what, asked, different in compare_tool(tool, folder, facts):
            rows.append((tool.spec, what, asked, different))
            print("%-32s %-8s %4d questions, %d different" % (tool.spec, what, asked, len(different)), flush=True)
            for text in different[:10]:
                print("    " + text)
    if not options.only or options.only in "shells":
        more, missing = shells.compare()
        rows += [("printed lines", what, asked, different) for what, asked, different in more]
        skipped += missing
        for what, asked, different in more:
            print("%-32s %4d lines, %d arrive differently" % (what, asked, len(different)))
            for text in different[:10]:
                print("    " + text)
    if options.write_docs:
        write_page(os.path.join(HERE, "../../../docs/arch-agreement.md"), rows, skipped, gpuvet.PROGRAM)
    differ = sum(len(row[3]) for row in rows)
    print("%d questions, %d answered differently, %d skipped" % (sum(row[2] for row in rows), differ, len(skipped)))
    short = [kind for kind, least in LEAST.items() if compared[kind] < least]
    if short and not options.only:
        print("too few were compared: " + ", ".join(short))
        return 1
    return 1 if differ or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
