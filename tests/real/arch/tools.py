"""The tools that gpuvet arch is compared with, from PyPI into the cache."""
import collections
import os
import shutil
import subprocess
import sys
import zipfile

Tool = collections.namedtuple("Tool", "spec kind options")

HERE = os.path.dirname(os.path.abspath(__file__))
# What is unpacked of a wheel; torch's is large and only one file of it is used.
MEMBERS = {"compiler": ("bin/", "nvvm/", "include/"), "cmake": ("cmake/",), "torch": ("cpp_extension.py",)}


class NotAvailable(Exception):
    """The tool can't be had here; the text says why."""


def load():
    tools = []
    with open(os.path.join(HERE, "tools.txt")) as file:
        for line in file:
            line = line.split("#")[0].strip()
            if line:
                spec, kind, options = [field.strip() for field in line.split("|")]
                tools.append(Tool(spec, kind, options.split()))
    return tools


def version_of(tool):
    return tool.spec.split("==")[1]


def fetch(tool, cache):
    """The folder with the tool's files; downloads once."""
    folder = os.path.join(cache, tool.spec)
    if os.path.isdir(folder):
        return folder
    wheels = os.path.join(cache, "wheels", tool.spec)
    os.makedirs(wheels, exist_ok=True)
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:",
               "-d", wheels, tool.spec] + tool.options
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    names = [name for name in os.listdir(wheels) if name.endswith(".whl")]
    if done.returncode or not names:
        raise NotAvailable("%s: %s" % (tool.spec, done.stdout.strip().splitlines()[-1:]))
    unpacked = folder + ".part"
    shutil.rmtree(unpacked, ignore_errors=True)
    with zipfile.ZipFile(os.path.join(wheels, names[0])) as wheel:
        for member in wheel.namelist():
            if any(part in member for part in MEMBERS[tool.kind]):
                wheel.extract(member, unpacked)
    os.rename(unpacked, folder)
    return folder


def find(folder, name):
    """A program or file of the tool, made executable; None when it has none."""
    for root, _, files in os.walk(folder):
        if name in files and (name.endswith(".py") or os.path.basename(root) == "bin"):
            path = os.path.join(root, name)
            os.chmod(path, 0o755)
            for other in files:  # programs that it starts
                if not name.endswith(".py"):
                    os.chmod(os.path.join(root, other), 0o755)
            return path
    return None
