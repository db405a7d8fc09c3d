"""Text of what run.py found: its lines on the terminal and docs/agreement.md."""
import collections
import datetime
import subprocess

PAGE = """# Agreement with cuobjdump

Written by `tests/real/run.py --write-docs` (`make test-real`) on {date} with {gpuvet} and cuobjdump
{oracles}. Each package is a real wheel from PyPI, pinned in `tests/real/packages.txt`.

Three things are compared for every library: the entries of the GPU sections with what cuobjdump lists
(`-all -lelf -lptx`; kind, target and count), all entries in all sections with a second reader
(`tests/real/reference.py`), and the wheel read as it is with the unpacked files.

**{compared} packages compared, {differ} differ, {skipped} skipped.** {files} files with GPU code,
{entries} entries that cuobjdump lists too, {hidden} that it does not show, {unjudged} files that no cuobjdump could
finish.

| package | CUDA | files | entries in both | only gpuvet | judged by cuobjdump | result |
|---|---|---|---|---|---|---|
{packages}

## What only gpuvet shows

cuobjdump looks at `.nv_fatbin` and `__nv_relfatbin` and lists cubins and PTX. The rest is code that a
program loads by address, or LTO IR that a library links at run time.

| package | file | section | what | count | stored bytes |
|---|---|---|---|---|---|
{places}

## Where cuobjdump falls short

- No version reads all of CUDA 8 to 13, so the listing is taken from the newest one that reaches the end
  of the file. Versions gave up on these files:

| version | what it said | files |
|---|---|---|
{gave_up}

- `-lelf` prints `sm_100` for a family-specific `sm_100f`, so that suffix is compared with the second
  reader only. Version 12.4 prints `sm_60a` for some Pascal cubins; there is no such target.
- Without `-all` it leaves out `__nv_relfatbin` whenever there is a `.nv_fatbin`.

## What differs, was skipped or is unjudged

{skips}"""


def differs(result):
    return any(file.differences for file in result.files)


def with_code(result):
    return [file for file in result.files if file.listed or file.hidden]


def entries(result):
    """Entries of a package that cuobjdump listed too."""
    return sum(file.listed for file in result.files if not file.unjudged)


def only_gpuvet(result):
    return sum(count for file in result.files for count, _ in file.hidden.values())


def line(result):
    """The outcome of one package in a few lines."""
    if result.skipped:
        return "skipped: %s: %s" % (result.package.spec, result.skipped)
    text = "%s: %s: %d files with GPU code, %d entries compared, %d that cuobjdump does not show" % (
        "DIFFERS" if differs(result) else "same", result.package.spec, len(with_code(result)),
        entries(result), only_gpuvet(result))
    for file in result.files:
        for each in file.differences:
            text += "\n    %s: %s" % (file.name, each)
        if file.unjudged:
            text += "\n    unjudged: %s: %s" % (file.name, file.unjudged)
    return text


def unjudged_files(results):
    return [(result.package.spec, file) for result in results for file in result.files if file.unjudged]


def summary(results):
    return "%d files with GPU code, %d entries, %d more that cuobjdump does not show, %d files unjudged" % (
        sum(len(with_code(result)) for result in results), sum(map(entries, results)),
        sum(map(only_gpuvet, results)), len(unjudged_files(results)))


def _package_row(result):
    used = sorted({file.oracle for file in with_code(result) if file.oracle != "-"}, reverse=True)
    unjudged = sum(1 for file in result.files if file.unjudged)
    outcome = "skipped" if result.skipped else "differs" if differs(result) else "same"
    if unjudged and not result.skipped:
        outcome += ", %d unjudged" % unjudged
    return "| %s | %s | %d | %d | %d | %s | %s |" % (
        result.package.spec, result.package.cuda, len(with_code(result)), entries(result),
        only_gpuvet(result), ", ".join(used) or "-", outcome)


def _place_rows(results):
    for result in results:
        for file in result.files:
            for (section, what), (count, size) in sorted(file.hidden.items()):
                yield "| %s | %s | `%s` | %s | %d | %d |" % (
                    result.package.spec, file.name.rsplit("/", 1)[-1], section, what, count, size)


def _gave_up_rows(results):
    counts = collections.Counter()
    for result in results:
        for file in result.files:
            for said in file.gave_up + (file.unjudged.split("; ") if file.unjudged else []):
                version, _, what = said.partition(": ")
                counts[version, what] += 1
    return ["| %s | %s | %d |" % (version, what, n) for (version, what), n in sorted(counts.items())]


def _skip_lines(results):
    lines = ["- Differs: %s, %s: %s." % (result.package.spec, file.name, each)
             for result in results for file in result.files for each in file.differences]
    lines += ["- Skipped: %s: %s" % (result.package.spec, result.skipped)
              for result in results if result.skipped]
    lines += ["- No listing: %s, %s: compared with the second reader only." % (spec, file.name)
              for spec, file in unjudged_files(results)]
    return "\n".join(lines or ["Nothing."]) + "\n"


def write(path, results, gpuvet, oracles):
    done = subprocess.run([gpuvet, "--version"], stdout=subprocess.PIPE, universal_newlines=True)
    skipped = sum(1 for result in results if result.skipped)
    text = PAGE.format(
        date=datetime.date.today(), gpuvet=done.stdout.strip().splitlines()[0],
        oracles=", ".join(version for version, _ in oracles), compared=len(results) - skipped,
        skipped=skipped, differ=sum(1 for result in results if differs(result)),
        files=sum(len(with_code(result)) for result in results), entries=sum(map(entries, results)),
        hidden=sum(map(only_gpuvet, results)), unjudged=len(unjudged_files(results)),
        packages="\n".join(map(_package_row, results)), places="\n".join(_place_rows(results)),
        gave_up="\n".join(_gave_up_rows(results)), skips=_skip_lines(results))
    with open(path, "w") as file:
        file.write(text)
