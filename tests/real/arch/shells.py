"""The lines that a plan prints, pasted into real shells and files: what arrives is the planned value."""
import json
import os
import shutil
import subprocess
import tempfile

import gpuvet

try:
    import yaml
except ImportError:
    yaml = None

GPUS = ["--gpu", "7.5", "--gpu", "8.6", "--gpu", "9.0", "--toolkit", "13.0"]
# A stand-in for each program of the lines: prints its arguments, one a line.
STAND_IN = '#!/bin/sh\nfor word in "$@"; do printf "%s\\n" "$word"; done\n'
PROGRAMS = ["cmake", "nvcc", "spack", "bazel", "python"]


def expected(system):
    """Words that must arrive, from the value alone."""
    value = system["value"]
    if value.startswith("-D"):
        return [word.replace('"', "") for word in (" " + value).split(" -D")[1:]]
    return value.split() if system["id"].startswith("nvcc") and system["id"] != "nvcc-env" else [value]


def pasted(shell, line, folder, variable):
    """What the line sets or what its program gets, as text."""
    if line.startswith(("export ", "set -gx ")):
        line += "; printf '%s\\n' \"$" + variable + "\""
    environment = {"PATH": folder + ":/usr/bin:/bin", "HOME": folder}
    done = subprocess.run([shell, "-c", line], cwd=folder, env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    return done.stdout


def arrives(system, text):
    return all(any(line == word or line.endswith(("D" + word, "=" + word)) for line in text.splitlines())
               for word in expected(system))


def compare_shell(program, quoting):
    if not shutil.which(program):
        return [], "no %s here" % program
    differences, asked = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for name in PROGRAMS + ["build.sh", "configure.py"]:
            path = os.path.join(folder, name)
            with open(path, "w") as file:
                file.write(STAND_IN)
            os.chmod(path, 0o755)
        for system in gpuvet.plan(*GPUS, "--for", "all", "--shell", quoting)["systems"]:
            if not system["lines"] or system["file"]:
                continue
            asked += 1
            variable = system["lines"][0].replace("set -gx ", "").replace("export ", "").split("=")[0].split(" ")[0]
            text = pasted(program, system["lines"][0], folder, variable)
            if not arrives(system, text):
                differences.append("%s: %s: arrives as %r" % (program, system["lines"][0], text))
    return [(quoting + " (" + program + ")", asked, differences)], None


def flat(value):
    if isinstance(value, dict):
        return [text for inner in value.values() for text in flat(inner)]
    return [value]


def compare_files():
    """CMake preset and YAML, read by a reader of each."""
    rows, missing = [], []
    for quoting in ("cmake-preset", "yaml"):
        if quoting == "yaml" and not yaml:
            missing.append("no PyYAML here")
            continue
        differences, asked = [], 0
        for system in gpuvet.plan(*GPUS, "--for", "all", "--shell", quoting)["systems"]:
            if not system["lines"] or system["file"]:
                continue
            asked += 1
            line = system["lines"][0]
            if quoting == "yaml":
                read = flat(yaml.safe_load(line))
                read = read[0].replace('"', "").replace(" -D", "\n").split("\n") + read[0].split() + read
            else:
                read = flat(json.loads("{" + line + "}"))
            words = [word.split("=", 1)[-1] for word in expected(system)]
            if not all(any(text == word or text.strip('"').endswith(word) for text in read) for word in words):
                differences.append("%s: %s is read as %r" % (quoting, line, read))
        rows.append((quoting, asked, differences))
    return rows, missing


def compare():
    rows, missing = compare_files()
    for program, quoting in (("bash", "bash"), ("dash", "bash"), ("zsh", "bash"), ("fish", "fish")):
        more, why = compare_shell(program, quoting)
        rows += more
        missing += [why] if why else []
    return rows, missing
