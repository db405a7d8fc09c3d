"""The architecture lists of one real wheel, as `gpuvet scan` reads them.

A wheel's list is the set of targets that most of its fat binaries hold. Those for a single target, or for
suffixed targets (sm_90a) alone, are left out: they are variants for one GPU that the program chooses itself,
as in FlashAttention and CUTLASS, and say nothing about the rest."""
import collections
import fnmatch
import json
import os
import subprocess

Lists = collections.namedtuple("Lists", "wheel bytes sets isas toolkits")
Own = collections.namedtuple("Own", "sass ptx count ordinary variants")


def is_variant(sass, ptx):
    targets = set(sass) | {name.replace("compute", "sm") for name in ptx}
    return len(targets) == 1 or all(name[-1] in "af" for name in targets)


def own_list(lists):
    """The list that most ordinary fat binaries share, with the numbers behind it."""
    ordinary = [entry for entry in lists.sets if not is_variant(entry[0], entry[1])] or lists.sets
    sass, ptx, count = max(ordinary, key=lambda entry: entry[2])
    total = sum(entry[2] for entry in lists.sets)
    considered = sum(entry[2] for entry in ordinary)
    return Own(sass, ptx, count, considered, total - considered)


def read(gpuvet, wheel, patterns):
    done = subprocess.run([gpuvet, "scan", "--json", "--explain", "--sections-only", wheel],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    try:
        report = json.loads(done.stdout)
    except ValueError:
        raise SystemExit("gpuvet scan %s: rc %d, no JSON: %s" % (wheel, done.returncode, done.stderr[-500:]))
    if report["errors"]:
        raise SystemExit("gpuvet scan %s: %s" % (wheel, report["errors"][0]))
    sets, isas, toolkits = collections.Counter(), set(), set()
    for file in report["files"]:
        name = file["path"].split("!")[-1].split("/")[-1]
        if not any(fnmatch.fnmatch(name, pattern) for pattern in patterns):
            continue
        toolkits.add(str(file.get("toolkit")))
        for container in file["containers"]:
            if container["role"] not in ("registered", "linked", "embedded"):
                continue
            images = container["images"]
            key = (tuple(sorted({i["target"] for i in images if i["kind"] == "cubin"})),
                   tuple(sorted({i["target"] for i in images if i["kind"] == "ptx"})))
            if key != ((), ()):
                sets[key] += 1
            isas.update(i["ptx_isa"] for i in images if i["kind"] == "ptx")
    if not sets:
        raise SystemExit("%s: no GPU code in %s" % (wheel, " ".join(patterns)))
    return Lists(os.path.basename(wheel), os.path.getsize(wheel),
                 [[list(s), list(p), n] for (s, p), n in sets.most_common()], sorted(isas), sorted(toolkits))


def remembered(cache, spec, library):
    """Path of the file that keeps the lists of a wheel, so that the wheel itself can go."""
    folder = os.path.join(cache, "pick-lists")
    os.makedirs(folder, exist_ok=True)
    return os.path.join(folder, "%s-%s.json" % (spec, library.replace("*", "any").replace(" ", "+")))


def loads(sass, ptx, sm):
    """Would one fat binary with these targets load on a desktop or server GPU? The plain rules only: the same
    major version and no higher minor one, 'a' exactly, 'f' within the family, PTX of no higher target."""
    def parts(name):
        digits = name.split("_")[1].rstrip("af")
        return int(digits), name[-1] if name[-1] in "af" else ""
    for name in sass:
        target, suffix = parts(name)
        same = target // 10 == sm // 10 and target <= sm
        if (suffix == "a" and target == sm) or (suffix != "a" and same):
            return True
    return any(not parts(name)[1] and parts(name)[0] <= sm for name in ptx)


def shares(lists):
    """{capability: share of the ordinary fat binaries that load there}."""
    ordinary = [entry for entry in lists.sets if not is_variant(entry[0], entry[1])] or lists.sets
    total = sum(entry[2] for entry in ordinary)
    return {sm: sum(n for s, p, n in ordinary if loads(s, p, sm)) / total for sm in CAPABILITIES}


CAPABILITIES = (35, 37, 50, 52, 60, 61, 70, 75, 80, 86, 89, 90, 100, 103, 120)
