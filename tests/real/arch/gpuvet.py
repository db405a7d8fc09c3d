"""gpuvet arch as a function, and the code that flags of nvcc ask for."""
import json
import re
import subprocess

PROGRAM = None  # set by run.py


def run(*arguments):
    done = subprocess.run([PROGRAM, "arch"] + list(arguments), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    if done.returncode not in (0, 1, 2):
        raise SystemExit("gpuvet arch %s: rc %d: %s" % (" ".join(arguments), done.returncode, done.stderr))
    return done


def plan(*arguments):
    done = run("plan", "--json", *arguments)
    if done.returncode == 2:
        raise SystemExit("gpuvet arch plan %s: %s" % (" ".join(arguments), done.stderr))
    report = json.loads(done.stdout)
    assert report["schema"] == "gpuvet-arch/1", report["schema"]
    return report


def built(codes):
    """Code of gpuvet's JSON as pairs (from, target), such as ("80", "sm_86") or ("90", "compute_90")."""
    return {(code["from"].replace("compute_", ""), code["target"]) for code in codes}


def reading(system, value, toolkit=None):
    """What gpuvet says that a value builds, or None where it refuses it."""
    more = ["--toolkit", toolkit] if toolkit else []
    done = run("convert", "--json", "--from", system, "--to", "nvcc", *more, value)
    return built(json.loads(done.stdout)["builds"]) if done.returncode == 0 else None


def asked(flags):
    """The same pairs from nvcc's flags as a tool prints them."""
    pairs = set()
    for virtual, codes in re.findall(r"arch=compute_(\w+),code=\\?\"?\[?([\w,]+)", " ".join(flags)):
        for code in codes.split(","):
            target = code
            if virtual.endswith("f") and code.startswith("sm_") and code[-1].isdigit():
                target = code + "f"  # nvcc makes the family's image of it
            pairs.add((virtual, target))
    return pairs
