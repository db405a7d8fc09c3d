#!/usr/bin/env python3
"""Takes the scripts of gpuvet setup apart, for every distribution, toolkit and kind of installation.

Without --shellcheck: each answer is a script that bash can parse or a refusal with a way out; no
script holds a name that was not filled in, apt-key, or a driver where none belongs; scripts run twice
under stand-ins for package managers (tests/setup/stub), and the second run changes nothing; names of
a hostile recording run nothing.
With --shellcheck: shellcheck has nothing to say; skipped (77) where it is not installed.
"""

import argparse
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import program

DISTRIBUTIONS = ["ubuntu2204", "ubuntu2404", "ubuntu2604", "debian12", "debian13", "rhel8", "rhel9",
                 "rhel10", "fedora41", "fedora42", "fedora43", "fedora44", "sles15", "suse16",
                 "amzn2023", "wsl-ubuntu"]
TOOLKITS = ["11.0", "11.7", "11.8", "12.0", "12.3", "12.4", "12.5", "12.6", "12.8", "12.9", "13.0",
            "13.1", "13.2", "13.3", "13.4", "13.5"]
KINDS = [("--gpu", "H100", "--cudnn"), ("--gpu", "Tesla V100-SXM2-16GB"), ("--gpu", "RTX 5090"),
         ("--container",), ("--wsl",), ("--runfile", "--gpu", "T4"), ("--offline", "--cudnn"),
         ("--no-driver", "--arch", "aarch64"), ("--driver-only", "--gpu", "A100")]
OS_RELEASE = {"ubuntu2204": ("ubuntu", "22.04"), "ubuntu2404": ("ubuntu", "24.04"),
              "ubuntu2604": ("ubuntu", "26.04"), "debian12": ("debian", "12"),
              "debian13": ("debian", "13"), "rhel8": ("rocky", "8.10"), "rhel9": ("rhel", "9.4"),
              "rhel10": ("almalinux", "10.0"), "fedora41": ("fedora", "41"),
              "fedora42": ("fedora", "42"), "fedora43": ("fedora", "43"),
              "fedora44": ("fedora", "44"), "sles15": ("sles", "15.6"), "suse16": ("sles", "16.0"),
              "amzn2023": ("amzn", "2023"), "wsl-ubuntu": ("ubuntu", "24.04")}
MACHINES = ["cuda-leftovers", "hostile-names", "runfile-beside-packages", "nouveau-holds-gpu",
            "pascal-with-driver-590", "wsl-linux-driver-inside", "driver-half-configured"]
STUBS = ["sudo", "id", "uname", "df", "ldconfig", "nvidia-smi", "curl", "dpkg", "dpkg-query",
         "apt-cache", "apt-get", "rpm", "dnf", "zypper", "update-alternatives", "alternatives",
         "subscription-manager", "mokutil", "update-initramfs", "dracut"]
# Folders of the system that a script names; under the stand-ins they lie below $FAKE.
OURS = re.compile(r"(?<![\w./$}])(/etc/|/usr/local|/usr/lib/wsl|/usr/bin/nvidia-uninstall|/sys/|"
                  r"/proc/driver|/dev/dxg|/var/lib/)")
NOT_FILLED = re.compile(r"(?<!\$)\{=?[a-z_]+\}")
DRIVER = re.compile(r"^\s*(?:install_packages|as_root \S+ (?:-\S+ )*install\b).*"
                    r"\b(nvidia-open|cuda-drivers|nvidia-driver|kmod-nvidia)", re.M)
SHOWN = 10

problems = []


def complain(text):
    problems.append(text)
    if len(problems) <= SHOWN:
        print("FAILED " + text)


def ask(gpuvet, *options):
    environment = {name: os.environ[name] for name in program.KEPT if name in os.environ}
    done = subprocess.run([gpuvet, "setup", *options], env=environment | {"LC_ALL": "C.UTF-8"},
                          stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=program.SECONDS)
    return done.returncode, done.stdout, done.stderr


def combinations():
    for distribution in DISTRIBUTIONS:
        for toolkit in TOOLKITS:
            yield distribution, toolkit, KINDS[0]
        for toolkit in ("11.8", "12.8", "13.2"):
            for kind in KINDS[1:]:
                yield distribution, toolkit, kind


def judge(name, answer):
    """The script of a sound answer, or None."""
    status, out, err = answer
    distribution, toolkit, kind = name
    said = " ".join((distribution, toolkit) + kind)
    if status == 1:
        if out or "Not printed: " not in err or "instead: " not in err:
            complain(f"{said}: a refusal without a way out: {out[:80]!r} {err!r}")
        return None
    if status != 0 or err:
        complain(f"{said}: status {status}: {err}")
        return None
    for match in NOT_FILLED.finditer(out):
        complain(f"{said}: {match.group()} was not filled in")
    commands = "\n".join(line for line in out.split("\n") if not line.lstrip().startswith("#"))
    if "apt-key" in commands:
        complain(f"{said}: calls apt-key")
    driver = DRIVER.search(commands)
    without = {"--container", "--wsl", "--offline", "--no-driver"} & set(kind)
    if driver and (without or distribution == "wsl-ubuntu"):
        complain(f"{said}: installs a driver: {driver.group().strip()}")
    if not driver and not without and distribution != "wsl-ubuntu":
        complain(f"{said}: installs no driver")
    if "V100" in " ".join(kind) and "nvidia-open" in commands:
        complain(f"{said}: the open module for Volta")
    if "RTX 5090" in kind and re.search(r"cuda-drivers|kmod-nvidia-latest", commands):
        complain(f"{said}: the proprietary module for Blackwell")
    if "--driver-only" not in kind and f"/usr/local/cuda-{toolkit}/bin/nvcc --version" not in out:
        complain(f"{said}: no proof at the end")
    return out


def parses(script):
    return subprocess.run(["bash", "-n"], input=script, text=True, capture_output=True).stderr


def snapshot(folder):
    """Every file with its content, links with their target."""
    seen = {}
    for where, folders, files in os.walk(folder):
        for name in folders + files:
            path = os.path.join(where, name)
            if name == "changes":
                continue
            if os.path.islink(path):
                seen[path] = os.readlink(path)
            elif os.path.isfile(path):
                with open(path, "rb") as file:
                    seen[path] = file.read()
            else:
                seen[path] = None
    return seen


class Fake:
    """A folder that stands for a machine, and the stand-ins on PATH."""

    def __init__(self, folder, distribution, arch="x86_64"):
        self.folder = folder
        self.root = os.path.join(folder, "root")
        self.bin = os.path.join(folder, "bin")
        self.work = os.path.join(folder, "work")
        for path in ("etc/apt/sources.list.d", "etc/yum.repos.d", "etc/profile.d",
                     "etc/ld.so.conf.d", "etc/modprobe.d", "usr/local", "usr/lib/wsl/lib", "dev",
                     "usr/bin", "sys/bus/pci/devices/0000:01:00.0"):
            os.makedirs(os.path.join(self.root, path))
        os.makedirs(self.bin)
        os.makedirs(self.work)
        for name in STUBS:
            os.symlink(os.path.join(program.HERE, "setup", "stub"), os.path.join(self.bin, name))
        identity, version = OS_RELEASE[distribution]
        self.write("etc/os-release", f'ID={identity}\nVERSION_ID="{version}"\n')
        self.write("sys/bus/pci/devices/0000:01:00.0/vendor", "0x10de\n")
        self.write("dev/dxg", "")
        self.write("usr/lib/wsl/lib/libcuda.so.1", "")
        self.write("usr/lib/wsl/lib/nvidia-smi", "#!/bin/sh\n", 0o755)
        self.dnf = "dnf5 version 5.2.8" if identity == "fedora" else "4.14.0"
        self.arch = arch

    def write(self, path, text, mode=0o644):
        path = os.path.join(self.root, path.lstrip("/"))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, mode)

    def run(self, script):
        """Exit status, output, and what was changed by calls."""
        text = OURS.sub(lambda match: self.root + match.group(), script)
        changes = os.path.join(self.root, "changes")
        if os.path.exists(changes):
            os.remove(changes)
        path = os.path.join(self.work, "script.sh")
        with open(path, "w") as file:
            file.write(text)
        done = subprocess.run(["bash", path], cwd=self.work, timeout=60, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env={"PATH": self.bin + ":/usr/bin:/bin", "FAKE": self.root,
                                   "DNF": self.dnf, "MACHINE": self.arch})
        called = open(changes).read().splitlines() if os.path.exists(changes) else []
        return done.returncode, done.stdout, called


def run_twice(name, script, prepare=None):
    distribution, _, kind = name
    said = " ".join(str(part) for part in (name[0], name[1]) + tuple(kind))
    with tempfile.TemporaryDirectory(prefix="gpuvet-setup-") as folder:
        fake = Fake(folder, distribution, "aarch64" if "aarch64" in kind else "x86_64")
        if prepare:
            prepare(fake)
        if "--offline" in kind:
            for line in re.findall(r"die \".*is not here: get (\S+)\"", script):
                subprocess.run([os.path.join(fake.bin, "curl"), "-fsSL", "-o",
                                re.search(r"md5sum-\S+\.txt", script).group()
                                if line.endswith("md5sum.txt") else os.path.basename(line), line],
                               cwd=fake.work, check=True, env={"PATH": fake.bin + ":/usr/bin:/bin",
                                                               "FAKE": fake.root})
        status, output, called = fake.run(script)
        if status != 0 or not called:
            complain(f"{said}: the first run: status {status}, {called}\n{output[-600:]}")
            return
        before = snapshot(fake.folder)
        status, output, called = fake.run(script)
        after = snapshot(fake.folder)
        if status != 0 or called or before != after:
            differ = [path for path in before.keys() | after.keys()
                      if before.get(path) != after.get(path)]
            complain(f"{said}: the second run changes something: status {status}, {called}, "
                     f"{differ}\n{output[-300:]}")


def refuses_to_go_on(gpuvet):
    """A repository without the toolkit stops the script before anything is installed."""
    for distribution in ("debian12", "rhel9", "suse16"):
        toolkit = {"debian12": "12.8", "rhel9": "12.8", "suse16": "13.2"}[distribution]
        _, script, _ = ask(gpuvet, "--distro", distribution, "--toolkit", toolkit, "--gpu", "H100")
        with tempfile.TemporaryDirectory(prefix="gpuvet-setup-") as folder:
            fake = Fake(folder, distribution)
            fake.write("not-offered", f"cuda-toolkit-{toolkit.replace('.', '-')}\n")
            status, output, called = fake.run(script)
            installed = [call for call in called if re.search(r"install.*(nvidia|toolkit)", call)]
            if status != 1 or installed or "stopped: " not in output:
                complain(f"{distribution} without the toolkit: status {status}, {called}")
        other = "ubuntu2404" if distribution == "debian12" else "debian12"
        with tempfile.TemporaryDirectory(prefix="gpuvet-setup-") as folder:
            status, output, called = Fake(folder, other).run(script)
            if status != 1 or called or "this script is for" not in output:
                complain(f"the script for {distribution} on {other}: {status}, {called}")


def damaged_runfile(gpuvet):
    _, script, _ = ask(gpuvet, "--distro", "debian12", "--toolkit", "12.8", "--runfile")
    with tempfile.TemporaryDirectory(prefix="gpuvet-setup-") as folder:
        fake = Fake(folder, "debian12")
        name = re.search(r"^runfile=(\S+)", script, re.M).group(1)
        release = name.split("_")[1]
        with open(os.path.join(fake.work, name), "w") as file:
            file.write("half of it")
        with open(os.path.join(fake.work, f"md5sum-{release}.txt"), "w") as file:
            file.write(f"00000000000000000000000000000000  {name}\n")
        status, output, _ = fake.run(script)
        if status != 1 or "is damaged" not in output or os.path.exists(
                os.path.join(fake.root, "usr/local/cuda-12.8")):
            complain(f"a damaged runfile: status {status}: {output[-200:]}")


def recorded_machines(gpuvet):
    """Leftovers of recorded machines go, the second run finds nothing; hostile names run nothing."""
    image = os.path.join(program.IMAGES, "cuda-leftovers")
    status, script, _ = ask(gpuvet, "--image", image, "--toolkit", "12.8")
    lines = ["export PATH=/usr/local/cuda-11.7/bin:$PATH",
             "export LD_LIBRARY_PATH=/usr/local/cuda-11.7/lib64:$LD_LIBRARY_PATH"]

    def leftovers(fake):
        fake.write("etc/apt/sources.list.d/cuda.list", "deb old /\n")
        fake.write("usr/local/cuda-11.8/lib64/libnvblas.so.11", "")
        os.symlink("/nowhere", os.path.join(fake.root, "usr/local/cuda"))
        fake.write("etc/ld.so.conf.d/cuda-11-7.conf", f"{fake.root}/usr/local/cuda-11.7/lib64/\n")
        fake.write("etc/profile.d/cuda.sh", OURS.sub(lambda m: fake.root + m.group(),
                                                     "# mine\n" + "\n".join(lines) + "\n"))
        fake.write("packages", "nvidia-driver-470\nlibcudnn8\n")

    run_twice(("ubuntu2204", "12.8", ("cuda-leftovers",)), script, leftovers)
    with tempfile.TemporaryDirectory(prefix="gpuvet-setup-") as folder:
        fake = Fake(folder, "ubuntu2204")
        leftovers(fake)
        fake.run(script)
        for path in ("etc/apt/sources.list.d/cuda.list", "usr/local/cuda-11.8"):
            if os.path.lexists(os.path.join(fake.root, path)):
                complain(f"cuda-leftovers: {path} is still there")
        with open(os.path.join(fake.root, "etc/profile.d/cuda.sh.before-setup")) as file:
            if "# mine" not in file.read() or status != 0:
                complain("cuda-leftovers: the user's file was not kept")
        with open(os.path.join(fake.root, "etc/ld.so.conf.d/cuda-11-7.conf")) as file:
            if file.read():
                complain("cuda-leftovers: the loader's line is still there")
        with open(os.path.join(fake.root, "packages")) as file:
            if {"libcudnn8", "nvidia-driver-470"} & set(file.read().split()):
                complain("cuda-leftovers: packages are still there")

    image = os.path.join(program.IMAGES, "hostile-names")
    _, script, _ = ask(gpuvet, "--image", image, "--toolkit", "12.8")
    if "touch pwned" not in script:
        complain("hostile-names: the names do not reach the script, so this tests nothing")
    with tempfile.TemporaryDirectory(prefix="gpuvet-setup-") as folder:
        fake = Fake(folder, "ubuntu2204")
        status, output, called = fake.run(script)
        here = [name for _, _, files in os.walk(folder) for name in files if name == "pwned"]
        if status != 0 or here or any("force-nvidia" in call for call in called):
            complain(f"hostile-names: status {status}, {here}, {called}\n{output[-400:]}")


def same_words(script):
    """Without what differs between toolkits, GPUs and releases: what shellcheck has to see once."""
    text = re.sub(r"[0-9]+", "0", script)
    return "\n".join(line for line in text.split("\n")
                     if line.startswith("# shellcheck") or not line.startswith(("#", "say ")))


def shellcheck(scripts):
    tool = shutil.which("shellcheck")
    if not tool:
        print("shellcheck is not installed")
        return 77
    different = {same_words(script): script for script in scripts}
    with tempfile.TemporaryDirectory(prefix="gpuvet-setup-") as folder:
        paths = []
        for number, script in enumerate(different.values()):
            paths.append(os.path.join(folder, f"{number}.sh"))
            with open(paths[-1], "w") as file:
                file.write(script)
        half = (len(paths) + 1) // 2
        runs = [subprocess.Popen([tool, "-x", *part], stdout=subprocess.PIPE, text=True)
                for part in (paths[:half], paths[half:]) if part]
        for run in runs:
            out, _ = run.communicate()
            if run.returncode != 0:
                complain("shellcheck: " + out[:3000])
    print(f"shellcheck read {len(paths)} scripts that differ, of {len(scripts)}")
    return 1 if problems else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gpuvet", required=True)
    parser.add_argument("--shellcheck", action="store_true")
    arguments = parser.parse_args()
    gpuvet = os.path.abspath(arguments.gpuvet)
    if arguments.shellcheck and not shutil.which("shellcheck"):
        print("shellcheck is not installed")
        return 77
    names = list(combinations())
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        answers = list(pool.map(lambda name: ask(gpuvet, "--distro", name[0], "--toolkit", name[1],
                                                 *name[2]), names))
        scripts = [(name, judge(name, answer)) for name, answer in zip(names, answers)]
        scripts = [(name, script) for name, script in scripts if script]
        if arguments.shellcheck:
            images = [ask(gpuvet, "--toolkit", "12.8", "--image",
                          os.path.join(program.IMAGES, name))[1] for name in MACHINES]
            return shellcheck([script for _, script in scripts] + images)
        for (name, _), wrong in zip(scripts, pool.map(parses, [script for _, script in scripts])):
            if wrong:
                complain(f"{name}: bash -n: {wrong}")
        last = {(name[0], name[2]): (name, script) for name, script in scripts}
        list(pool.map(lambda one: run_twice(*one), last.values()))
    refuses_to_go_on(gpuvet)
    damaged_runfile(gpuvet)
    recorded_machines(gpuvet)
    for distribution in DISTRIBUTIONS:
        if not any(name[0] == distribution for name, _ in scripts):
            complain(f"{distribution}: no script at all")
    status, out, _ = ask(gpuvet, "--distro", "ubuntu2404", "--toolkit", "11.8", "--json")
    if status != 1 or not json.loads(out).get("instead"):
        complain("a refusal in JSON")
    print(f"{len(names)} combinations: {len(scripts)} scripts, {len(names) - len(scripts)} refused; "
          f"{len(last)} run twice; {len(problems)} problem(s)")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
