"""The pinned packages of packages.txt and how they come into the cache."""
import collections
import os
import subprocess
import sys

Package = collections.namedtuple("Package", "spec python platforms cuda why")

PLATFORMS = {
    "new": ["manylinux_2_%d_x86_64" % minor for minor in range(39, 4, -1)]
           + ["manylinux2014_x86_64", "manylinux2010_x86_64", "manylinux1_x86_64"],
    "old": ["manylinux2014_x86_64", "manylinux_2_17_x86_64", "manylinux2010_x86_64",
            "manylinux_2_12_x86_64", "manylinux1_x86_64", "manylinux_2_5_x86_64"],
}


class NotAvailable(Exception):
    """The package can't be had here; the text says why."""


def parse_line(line):
    fields = [field.strip() for field in line.split("|")]
    if len(fields) != 5 or "==" not in fields[0] or fields[2] not in PLATFORMS:
        raise ValueError("packages.txt: cannot read line %r" % line)
    return Package(*fields)


def lines_of(path):
    """The lines of a list, without comments and empty lines."""
    with open(path) as file:
        lines = [line.split("#")[0].strip() for line in file]
    return [line for line in lines if line]


def load(path):
    return [parse_line(line) for line in lines_of(path)]


def pip_tags(package):
    """pip's options for the interpreter and the platforms that the package was built for."""
    digits = "312" if package.python == "py3" else package.python[2:]
    options = ["--only-binary=:all:", "--python-version", digits[0] + "." + digits[1:]]
    abis = ["none", "abi3"]
    if package.python != "py3":
        options += ["--implementation", "cp"]
        abis = [package.python, package.python + "m"] + abis
    for abi in abis:
        options += ["--abi", abi]
    for platform in PLATFORMS[package.platforms]:
        options += ["--platform", platform]
    return options


def cached(folder):
    wheels = [name for name in os.listdir(folder)] if os.path.isdir(folder) else []
    wheels = [name for name in wheels if name.endswith(".whl")]
    return os.path.join(folder, wheels[0]) if wheels else None


def fetch(package, cache):
    """Path of the package's wheel, from the cache or with pip; raises NotAvailable."""
    folder = os.path.join(cache, "wheels", package.spec)
    if cached(folder):
        return cached(folder)
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-cache-dir", "--no-deps",
               "--dest", folder + ".part"] + pip_tags(package) + [package.spec]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          universal_newlines=True)
    if done.returncode:
        errors = [line for line in done.stdout.splitlines() if line.startswith("ERROR")]
        raise NotAvailable((errors or ["pip ended with %d" % done.returncode])[-1][:200])
    os.rename(folder + ".part", folder)
    return cached(folder)
