#!/usr/bin/env python3
"""Completes real command lines with the scripts that `gpuvet completion` prints.

What must be offered is taken from the help, so a subcommand or option that is missing in a script is
found. zsh and fish are tried where they are installed; bash always.
"""

import argparse
import re
import shutil
import sys

import program

PROBE_BASH = r"""
source <(gpuvet completion bash)
complete -p gpuvet >/dev/null || exit 1
COMP_WORDS=(@LINE@)
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_gpuvet
printf '%s\n' "${COMPREPLY[@]}"
"""
# zsh completes only at a terminal. Its script hands what it offers to these functions of zsh.
PROBE_ZSH = r"""
exec zsh -f <<'END'
compdef() { registered=$1:$2 }
_describe() { local name=${@[-1]}; print -rl -- ${${(P)name}%%:*} }
compadd() { print -rl -- ${@:2} }
_files() { print -rl -- * }
source =(gpuvet completion zsh)
[[ $registered == _gpuvet:gpuvet ]] || exit 1
words=(@LINE@)
CURRENT=$#words
PREFIX=$words[-1]
_gpuvet
END
"""
PROBE_FISH = "fish --no-config -c 'gpuvet completion fish | source; complete -C \"@LINE@\"'"


def help_of(run, command):
    """(subcommands, long options) that `gpuvet ... --help` lists."""
    text = run(command + " --help").stdout
    commands = []
    if "Subcommands:" in text:
        commands = re.findall(r"^  (\S+)", text.split("Subcommands:")[1], re.M)
    options = re.findall(r"^  (?:-\w,)?(--[\w-]+)", text, re.M)
    return commands, options


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--gpuvet", required=True, help="the program under test")
    gpuvet = options.parse_args().gpuvet
    problems = []
    tried = 0

    with program.inputs_copy() as work:
        def run(command):
            return program.run(gpuvet, command, work)

        def ask(probe, line):
            return run(probe.replace("@LINE@", line)).stdout.splitlines()

        shells = {
            "bash": lambda line: ask(PROBE_BASH, re.sub(" $", " ''", line)),
            "zsh": lambda line: ask(PROBE_ZSH, re.sub(" $", " ''", line)),
            "fish": lambda line: [found.split("\t")[0] for found in ask(PROBE_FISH, line)],
        }
        for name in [name for name in shells if not shutil.which(name)]:
            print(f"{name} is not installed: its script is not tried")
            del shells[name]

        open(work + "/a file.so", "w").close()
        top, _ = help_of(run, "gpuvet")
        if len(top) < 2:
            problems.append(f"the help lists {len(top)} subcommands")

        def check(line, expected, refused=()):
            nonlocal tried
            for name, complete in shells.items():
                tried += 1
                got = complete(line)
                missing = [word for word in expected if word not in got]
                extra = [word for word in refused if word in got]
                if missing:
                    problems.append(f"{name}: '{line}' <Tab> does not offer {missing}: {got}")
                if extra:
                    problems.append(f"{name}: '{line}' <Tab> offers {extra}")

        for name in shells:
            status = run(f"gpuvet completion {name} | {name} -n").status
            if status:
                problems.append(f"{name} -n refuses the script")
        check("gpuvet ", top, ["--help"])
        for command in top:
            below, flags = help_of(run, "gpuvet " + command)
            check(f"gpuvet {command} --", flags)
            if below:
                check(f"gpuvet {command} ", below)
        check("gpuvet scan ", ["a file.so"])
        check("gpuvet completion ", ["bash", "zsh", "fish"], ["scan"])
        check("gpuvet completion b", ["bash"])

    for problem in problems:
        print(problem)
    print(f"{tried} completions tried in {' '.join(shells)}, {len(problems)} problem(s)")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
