#!/usr/bin/env python3
"""Compares gpuvet ldd with the dynamic loader of this machine.

- programs and libraries of the system, as ldd shows them;
- chains of small libraries made here with rpath, runpath, LD_LIBRARY_PATH, $ORIGIN, links and files
  of the wrong kind, some by hand and some at random.

Skipped (77) where there is no ldd of glibc or no gcc.
"""

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

MOST = 120          # files of the system
RANDOM_CHAINS = 12
SHOWN = 10          # differences printed in full

LINE = re.compile(r"^\t(?:(?P<name>\S.*?) => (?P<path>.*?)|(?P<own>/\S.*?))(?: \(0x[0-9a-f]+\))?$")


def run(command, environment=None, cwd=None):
    return subprocess.run(command, env=environment, cwd=cwd, stdin=subprocess.DEVNULL, timeout=120,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          errors="replace")


def loader_says(path, environment, started=False):
    """Pairs of name and path, or "not found"; None when the loader gives up. `started`: as a program
    that the kernel starts, otherwise as ldd does."""
    if started:
        done = run([path], environment | {"LD_TRACE_LOADED_OBJECTS": "1"})
    else:
        done = run(["ldd", path], environment)
    if done.returncode != 0 or "statically linked" in done.stdout:
        return None
    found = set()
    for line in done.stdout.splitlines():
        match = LINE.match(line)
        if not match or "linux-vdso" in line or "ld-linux" in line:
            continue
        found.add((match["name"] or match["own"], match["path"] or match["own"]))
    return found


def of_tree(subject):
    """The same out of gpuvet's JSON: what the needs of the program reach, run-time opens apart."""
    nodes = subject["nodes"]
    found, queue, seen = set(), [0], {0}
    while queue:
        for edge in nodes[queue.pop(0)]["needs"]:
            if edge["at_run_time"] and edge["rule"] != "preload":
                continue
            if edge["node"] is None:
                found.add((edge["name"], "not found"))
            elif edge["node"] not in seen:
                seen.add(edge["node"])
                queue.append(edge["node"])
                found.add((edge["name"], edge["path"]))
    return {pair for pair in found if "ld-linux" not in pair[0]}


def gpuvet_says(gpuvet, paths, environment):
    done = run([gpuvet, "ldd", "--json"] + paths, environment)
    if not done.stdout:
        sys.exit(f"gpuvet ldd printed nothing: {done.stderr}")
    return {subject["asked"]: of_tree(subject) for subject in json.loads(done.stdout)["subjects"]}


class Comparison:
    def __init__(self, gpuvet):
        self.gpuvet = gpuvet
        self.compared = self.libraries = 0
        self.differences = []

    def compare(self, paths, environment=None, started=False, about=""):
        environment = {"PATH": os.environ["PATH"], "LC_ALL": "C"} | (environment or {})
        kept = {name: os.environ[name] for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS")
                if name in os.environ}
        ours = gpuvet_says(self.gpuvet, paths, environment | kept)
        for path in paths:
            truth = loader_says(path, environment, started)
            if truth is None:
                continue
            self.compared += 1
            self.libraries += len(truth)
            mine = ours.get(path)
            if mine is None:
                self.differences.append(f"{about}{path}: gpuvet says nothing")
            elif mine != truth:
                lines = [f"    the loader only: {name} => {path}" for name, path in truth - mine]
                lines += [f"    gpuvet only: {name} => {path}" for name, path in mine - truth]
                self.differences.append(f"{about}{path} {environment}:\n" + "\n".join(lines))


def is_elf(path):
    try:
        with open(path, "rb") as file:
            head = file.read(20)
    except OSError:
        return False
    return head[:4] == b"\x7fELF" and head[16] in (2, 3) and os.access(path, os.X_OK)


def system_files():
    files = []
    for folder in ("/usr/bin", "/usr/sbin"):
        if os.path.isdir(folder):
            files += [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
    files = [path for path in files if os.path.isfile(path) and is_elf(path)][:MOST]
    library = os.path.dirname(os.path.realpath("/lib64/ld-linux-x86-64.so.2"))
    if os.path.isdir(library):
        files += [os.path.join(library, name) for name in sorted(os.listdir(library))
                  if ".so" in name and is_elf(os.path.join(library, name))][:MOST // 3]
    # ldd starts a link's target under the link's name, so that $ORIGIN is not what the kernel gives.
    files = sorted({os.path.realpath(path) for path in files})
    # gconv and the like need more than they say; setuid programs hide what they load.
    return [path for path in files if not os.stat(path).st_mode & 0o6000]


class Workshop:
    """Makes small programs and libraries whose names and run paths a test chooses."""

    def __init__(self, root):
        self.root = root
        self.stubs = os.path.join(root, "stubs")
        os.makedirs(self.stubs)

    def build(self, path, needed=(), rpath=None, runpath=None, soname=None, program=False,
              extra=()):
        path = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        for name in needed:
            stub = os.path.join(self.stubs, name)
            if not os.path.exists(stub):
                self.link(stub, ["-shared", f"-Wl,-soname,{name}"], "")
        flags = [] if program else ["-shared", f"-Wl,-soname,{soname or os.path.basename(path)}"]
        flags += ["-Wl,--no-as-needed"] + [os.path.join(self.stubs, name) for name in needed]
        if rpath is not None:
            flags += ["-Wl,--disable-new-dtags", f"-Wl,-rpath,{rpath}"]
        if runpath is not None:
            flags += ["-Wl,--enable-new-dtags", f"-Wl,-rpath,{runpath}"]
        self.link(path, flags + list(extra), "int main(void){return 0;}" if program else "")
        return path

    def link(self, path, flags, source):
        done = subprocess.run(["gcc", "-xc", "-fPIC", "-o", path, "-", "-xnone"] + flags +
                              ["-Wl,--allow-shlib-undefined"], input=source, text=True,
                              stderr=subprocess.PIPE, timeout=60)
        if done.returncode != 0:
            sys.exit(f"gcc cannot build {path}: {done.stderr}")


def hand_made(comparison, root):
    shop = Workshop(root)
    shop.build("env/libone.so.1", ["libtwo.so.1"])
    shop.build("env/libtwo.so.1")
    shop.build("own/libone.so.1", ["libtwo.so.1"])
    shop.build("own/libtwo.so.1")
    shop.build("own/libthree.so.1", ["libtwo.so.1"], runpath="$ORIGIN/deep")
    shop.build("own/deep/libtwo.so.1")
    shop.build("odd/libfour.so.1", soname="libtwo.so.1")
    with open(os.path.join(root, "odd/libtwo.so.1"), "wb"):
        pass
    os.symlink("../own/libtwo.so.1", os.path.join(root, "env/libfive.so.1"))
    os.makedirs(os.path.join(root, "links"))
    programs = [
        shop.build("bin/plain", ["libone.so.1"], program=True),
        shop.build("bin/rpath", ["libone.so.1"], rpath="$ORIGIN/../own", program=True),
        shop.build("bin/runpath", ["libone.so.1"], runpath="${ORIGIN}/../own/", program=True),
        shop.build("bin/both", ["libthree.so.1", "libtwo.so.1"], rpath="/gone:$ORIGIN/../own",
                   program=True),
        shop.build("bin/below", ["libthree.so.1"], runpath="$ORIGIN/../own", program=True),
        shop.build("bin/named", ["libfour.so.1", "libthree.so.1"],
                   rpath="$ORIGIN/../odd:$ORIGIN/../own", program=True),
        shop.build("bin/same", ["libfive.so.1", "libtwo.so.1"],
                   rpath="$ORIGIN/../env:$ORIGIN/../own", program=True),
        shop.build("bin/nodeflib", ["libone.so.1", "libz.so.1"], runpath="$ORIGIN/../own",
                   program=True, extra=["-Wl,-z,nodefaultlib"]),
        shop.build("bin/empty", ["libone.so.1"], runpath="", program=True),
        shop.build("bin/tokens", ["libone.so.1"], runpath="/$LIB:/x/$PLATFORM:$ORIGIN/../$OWN",
                   program=True),
    ]
    os.symlink("../bin/rpath", os.path.join(root, "links/rpath"))
    env, own, odd = (os.path.join(root, name) for name in ("env", "own", "odd"))
    for value in (None, env, f"{own}:{env}", f"{env};{own}", f":{own}", f"/gone::{env}/",
                  f"{odd}:{env}", "$ORIGIN/../env"):
        environment = {} if value is None else {"LD_LIBRARY_PATH": value}
        comparison.compare(programs, environment, about="by hand ")
        comparison.compare(programs + [os.path.join(root, "links/rpath")], environment, True,
                           "by hand, started ")
        comparison.compare([os.path.join(own, "libthree.so.1")], environment, about="by hand ")
    comparison.compare(programs, {"LD_PRELOAD": f"{odd}/libfour.so.1 libgone.so",
                                  "ASAN_OPTIONS": "verify_asan_link_order=0"}, about="preload ")


def at_random(comparison, root, seed):
    dice = random.Random(seed)
    shop = Workshop(root)
    folders = ["a", "b", "c", "d"]
    names = [f"lib{i}.so.1" for i in range(6)]

    def run_path():
        parts = [dice.choice(["$ORIGIN", "$ORIGIN/../" + dice.choice(folders),
                              os.path.join(root, dice.choice(folders)), "/gone"])
                 for _ in range(dice.randint(1, 3))]
        return ":".join(parts)

    def paths():
        kind = dice.choice(["none", "rpath", "runpath"])
        return {} if kind == "none" else {kind: run_path()}

    for index, name in enumerate(names):
        for folder in dice.sample(folders, dice.randint(1, 3)):
            below = names[index + 1:] if dice.random() < 0.8 else names
            needed = dice.sample(below, min(len(below), dice.randint(0, 3)))
            soname = name if dice.random() < 0.85 else dice.choice(names)
            shop.build(f"{folder}/{name}", needed, soname=soname, **paths())
    programs = [shop.build(f"a/program{i}", dice.sample(names, 3), program=True, **paths())
                for i in range(3)]
    for _ in range(3):
        value = ":".join(os.path.join(root, dice.choice(folders))
                         for _ in range(dice.randint(0, 2)))
        comparison.compare(programs, {"LD_LIBRARY_PATH": value} if value else {}, True,
                           f"at random, seed {seed}: ")


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--gpuvet", required=True, help="the program under test")
    options.add_argument("--seed", type=int, default=1, help="of the first random chain")
    options.add_argument("--chains", type=int, default=RANDOM_CHAINS)
    arguments = options.parse_args()
    version = run(["ldd", "--version"]) if shutil.which("ldd") else None
    if not version or "Free Software Foundation" not in version.stdout:
        print("skipped: there is no ldd of glibc")
        sys.exit(77)

    comparison = Comparison(os.path.abspath(arguments.gpuvet))
    files = system_files()
    for start in range(0, len(files), 40):
        comparison.compare(files[start:start + 40])
    if shutil.which("gcc"):
        with tempfile.TemporaryDirectory(prefix="gpuvet-ldd-") as folder:
            folder = os.path.realpath(folder)
            hand_made(comparison, os.path.join(folder, "hand"))
            for seed in range(arguments.seed, arguments.seed + arguments.chains):
                at_random(comparison, os.path.join(folder, str(seed)), seed)
    for difference in comparison.differences[:SHOWN]:
        print(difference)
    print(f"{comparison.compared} programs with {comparison.libraries} libraries compared, "
          f"{len(comparison.differences)} differ")
    if comparison.compared < 20:
        print("too few to mean anything")
    sys.exit(1 if comparison.differences or comparison.compared < 20 else 0)


if __name__ == "__main__":
    main()
