"""cuobjdump as the judge: which versions there are, how to get them, how to read their listings.

No single cuobjdump reads all of CUDA 8 to 13. Version 13 gives up at code for GPUs older than Turing
that it no longer knows ("Support for 'sm_30' has been removed"), 11 and 12 give up at newer code. So
the listing comes from the newest version that reaches the end of the file without an error, and a
file that none of them finishes is reported as unjudged.
"""
import collections
import os
import re
import subprocess
import zipfile

import packages

# Newest first. Each has its own way to misname targets, see run.as_listed_by.
ORACLES = [
    ("13.5", "pip", "nvidia-cuda-cuobjdump==13.5.37 | py3 | new | - | -", "nvidia/cu13/bin/cuobjdump"),
    ("12.4", "pip", "triton==3.2.0 | cp310 | new | - | -", "triton/backends/nvidia/bin/cuobjdump"),
    ("11.8", "deb", "bookworm nvidia-cuda-toolkit=11.8.89~11.8.0-5~deb12u1", "./usr/bin/cuobjdump"),
    ("11.2", "deb", "bullseye nvidia-cuda-toolkit=11.2.2-3+deb11u3", "./usr/bin/cuobjdump"),
]
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
LINE = re.compile(r"^(ELF|PTX) file +\d+: .*\.(sm_\d+[a-z]?)\.(?:cubin|ptx)$")
NOTHING = "does not contain device code"

Listing = collections.namedtuple("Listing", "oracle entries seconds")


class NoListing(Exception):
    """No cuobjdump reached the end of the file; the text holds what each said."""


def _from_wheel(cache, line, member, to):
    package = packages.parse_line(line)
    with zipfile.ZipFile(packages.fetch(package, cache)) as wheel:
        with open(to, "wb") as file:
            file.write(wheel.read(member))


def _from_debian(cache, text, member, to):
    """Downloads one .deb with apt-get under a configuration of its own: the system is not touched."""
    suite, package = text.split()
    if not os.path.exists(KEYRING):
        raise packages.NotAvailable("only on Debian: %s is not here" % KEYRING)
    apt = os.path.join(cache, "apt")
    for folder in ("state/lists/partial", "cache/archives/partial"):
        os.makedirs(os.path.join(apt, folder), exist_ok=True)
    with open(os.path.join(apt, "sources.list"), "w") as file:
        for each in ("bookworm", "bullseye"):
            file.write("deb [signed-by=%s arch=amd64] http://deb.debian.org/debian %s non-free\n"
                       % (KEYRING, each))
    with open(os.path.join(apt, "apt.conf"), "w") as file:
        file.write('Dir::Etc::SourceList "%s/sources.list";\nDir::Etc::SourceParts "/dev/null";\n'
                   'Dir::State "%s/state";\nDir::Cache "%s/cache";\nAPT::Architecture "amd64";\n'
                   'APT::Sandbox::User "root";\n' % (apt, apt, apt))
    open(os.path.join(apt, "state/status"), "a").close()
    environment = dict(os.environ, APT_CONFIG=os.path.join(apt, "apt.conf"))
    folder = os.path.join(apt, suite)
    os.makedirs(folder, exist_ok=True)
    for command in (["apt-get", "-q", "update"], ["apt-get", "-q", "download", package]):
        done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, universal_newlines=True)
    debs = [name for name in os.listdir(folder) if name.endswith(".deb")]
    if done.returncode or not debs:
        raise packages.NotAvailable("apt-get download %s: %s" % (package, done.stdout.strip()[-200:]))
    unpack = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", os.path.join(folder, debs[0])],
                              stdout=subprocess.PIPE)
    with open(to, "wb") as file:
        subprocess.run(["tar", "xO", member], stdin=unpack.stdout, stdout=file, check=True)
    unpack.stdout.close()
    unpack.wait()


def prepare(cache):
    """([(version, path of cuobjdump)], [why one is missing]) with what can be had on this machine."""
    have, missing = [], []
    for version, how, source, member in ORACLES:
        path = os.path.join(cache, "oracle", version, "cuobjdump")
        if not os.path.exists(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            try:
                get = _from_wheel if how == "pip" else _from_debian
                get(cache, source, member, path + ".part")
                os.chmod(path + ".part", 0o755)
                os.rename(path + ".part", path)
            except (packages.NotAvailable, subprocess.CalledProcessError, OSError, KeyError) as error:
                missing.append("cuobjdump %s: %s" % (version, error))
                continue
        have.append((version, path))
    return have, missing


def parse(text):
    """Multiset of (kind, target) of a `-lelf -lptx` listing, targets as gpuvet writes them."""
    entries = collections.Counter()
    for line in text.splitlines():
        match = LINE.match(line.strip())
        if match:
            elf = match.group(1) == "ELF"
            target = match.group(2) if elf else match.group(2).replace("sm_", "compute_")
            entries["cubin" if elf else "ptx", target] += 1
    return entries


def one_listing(path, cuobjdump):
    """(entries, None) of one cuobjdump run over all container sections, or (None, why not)."""
    try:
        done = subprocess.run([cuobjdump, "-all", "-lelf", "-lptx", path], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, universal_newlines=True, timeout=900)
    except subprocess.TimeoutExpired:
        return None, "no answer in 900 s"
    complaints = [re.sub(r"cuobjdump \w+ +: | in '[^']*'", "", line) for line in done.stderr.splitlines()
                  if re.match(r"cuobjdump (fatal|error)", line)]
    # A file or an archive member without GPU code is an answer, not a failure.
    if complaints or (done.returncode and NOTHING not in done.stderr):
        return None, (complaints or ["ended with status %d" % done.returncode])[-1]
    return parse(done.stdout), None


def listing(path, oracles):
    """(version, entries) from the newest cuobjdump that finishes; raises NoListing."""
    said = []
    for version, cuobjdump in oracles:
        entries, why = one_listing(path, cuobjdump)
        if entries is not None:
            return version, entries, said
        said.append("%s: %s" % (version, why))
    raise NoListing("; ".join(said) or "no cuobjdump to be had")
