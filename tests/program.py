"""Runs gpuvet as a test sees it: the same environment everywhere, files that it may spoil."""

import contextlib
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(HERE)
INPUTS = os.path.join(HERE, "inputs")
IMAGES = os.path.join(HERE, "images")
SECONDS = 120  # a command that takes longer hangs

KEPT = ("ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS")


@dataclass
class Outcome:
    status: int
    stdout: str
    stderr: str


@contextlib.contextmanager
def inputs_copy(inputs=INPUTS):
    """A private copy of tests/inputs to work in; the recorded machines lie in it as machines/."""
    with tempfile.TemporaryDirectory(prefix="gpuvet-test-") as folder:
        work = os.path.join(folder, "inputs")
        shutil.copytree(inputs, work, symlinks=True)
        if os.path.isdir(IMAGES):
            os.symlink(IMAGES, os.path.join(work, "machines"))
        yield work


def run(gpuvet, command, cwd, environment=None, merge=False):
    """Runs a command line under bash, where `gpuvet` is the program under test."""
    variables = {name: os.environ[name] for name in KEPT if name in os.environ}
    variables |= {
        "PATH": os.path.dirname(os.path.abspath(gpuvet)) + ":/usr/local/bin:/usr/bin:/bin",
        "HOME": os.path.dirname(cwd),
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
    } | (environment or {})
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-o", "pipefail", "-c", command],
        cwd=cwd, env=variables, stdin=subprocess.DEVNULL, timeout=SECONDS,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT if merge else subprocess.PIPE)

    def decode(data):
        return (data or b"").decode("utf-8", "backslashreplace")
    return Outcome(done.returncode, decode(done.stdout), decode(done.stderr))
