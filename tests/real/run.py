#!/usr/bin/env python3
"""Compares gpuvet with cuobjdump on real packages (make test-real).

For each line of packages.txt: fetch the wheel, unpack its libraries, and require that
  1. gpuvet's entries in `.nv_fatbin` and `__nv_relfatbin` are those that cuobjdump lists, by kind and
     target and count;
  2. all of gpuvet's entries, also those elsewhere that cuobjdump does not look for, are those that
     reference.py finds, by section, kind, target and count;
  3. reading the wheel itself gives the same entries as reading the unpacked files.
Every ELF file and static archive of a wheel is shown to cuobjdump, so that a library in which gpuvet
wrongly finds nothing is noticed too. What can't be had or judged is listed, and never counts as passed.
"""
import argparse
import collections
import json
import os
import shutil
import subprocess
import sys
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import agreement  # noqa: E402
import oracle  # noqa: E402
import packages  # noqa: E402
import reference  # noqa: E402

LEAST = 25  # packages that must have been compared for a good end
SECTIONS = reference.CONTAINER_SECTIONS
# cuobjdump lists entries of kind 0x10 as ELF files.
LISTED_KINDS = {"cubin": "cubin", "kind-0x10": "cubin", "ptx": "ptx"}

FileResult = collections.namedtuple(
    "FileResult", "name size oracle listed hidden differences unjudged gave_up")
PackageResult = collections.namedtuple("PackageResult", "package wheel files skipped")


def binaries(wheel):
    """Members of a zip that are ELF files or static archives, whatever their names are."""
    for member in wheel.infolist():
        if member.file_size > 64:
            with wheel.open(member) as file:
                start = file.read(8)
            if start[:4] == b"\x7fELF" or start == b"!<arch>\n":
                yield member


def gpuvet_scan(gpuvet, path):
    """{name inside the wheel or folder: [(section, image)]} as gpuvet sees it."""
    done = subprocess.run([gpuvet, "scan", "--json", "--explain", path], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, universal_newlines=True)
    try:
        report = json.loads(done.stdout)
    except ValueError:
        raise SystemExit("gpuvet scan %s: rc %d, no JSON: %s" % (path, done.returncode, done.stderr[-500:]))
    if report["schema"] != "gpuvet-scan/1":
        raise SystemExit("gpuvet scan: schema %r is not the one this test knows" % report["schema"])
    found = {}
    for file in report["files"]:
        name = file["path"][len(path):].lstrip("!/")
        found[name] = [(container, image) for container in file.get("containers", [])
                       for image in container["images"]]
    return found, report["errors"]


def listed(pairs):
    """Multiset of (kind, target) that cuobjdump would list."""
    return collections.Counter((LISTED_KINDS[image["kind"]], image["target"]) for container, image in pairs
                               if container["section"] in SECTIONS and image["kind"] in LISTED_KINDS)


def placed(pairs):
    """Multiset of (section, kind, target) of all containers and bare cubins. Bare PTX text is left out:
    there is no telling by format alone where it begins."""
    return collections.Counter((container["section"] or "(no section)", image["kind"], image["target"])
                               for container, image in pairs
                               if not (container["role"] == "bare" and image["kind"] == "ptx"))


def as_listed_by(version, entries):
    """Entries with their targets as this cuobjdump names them."""
    named = collections.Counter()
    for (kind, target), count in entries.items():
        sm = int("".join(filter(str.isdigit, target)))
        if version.startswith("11."):
            target = target.rstrip("af")  # older than both suffixes
        elif version == "12.4":
            target = target.rstrip("f")  # older than this suffix
            if kind == "cubin" and sm < 90:
                target = target.rstrip("a")
        elif kind == "cubin":
            target = target.rstrip("f")  # prints sm_100 for sm_100f, but not so for PTX
        named[kind, target] += count
    return named


def show(counter):
    return ", ".join("%d x %s" % (n, " ".join(key)) for key, n in sorted(counter.items())) or "nothing"


def difference(what, ours, theirs):
    if ours == theirs:
        return []
    return ["%s: only gpuvet: %s; only there: %s" % (what, show(ours - theirs), show(theirs - ours))]


def cuobjdump_listing(cache, package, member, path, oracles, fresh):
    """As oracle.listing, remembered in the cache: the input never changes and it takes long."""
    known = os.path.join(cache, "listings", package.spec, "%s-%08x.json"
                         % (member.filename.replace("/", "+"), member.CRC))
    if not fresh and os.path.exists(known):
        with open(known) as file:
            version, rows, said = json.load(file)
        if version:
            return version, collections.Counter({(k, t): n for k, t, n in rows}), said
    version, entries, said = oracle.listing(path, oracles)
    os.makedirs(os.path.dirname(known), exist_ok=True)
    with open(known, "w") as file:
        json.dump([version, [[k, t, n] for (k, t), n in entries.items()], said], file)
    return version, entries, said


def reference_pairs(path):
    """The reference's entries in the shape of gpuvet's."""
    inside, outside, problems = reference.read(path)
    if problems:
        raise SystemExit("%s: reference.py cannot read it: %s" % (path, problems))
    return [({"section": e.section, "role": "registered" if e.container is not None else "bare"},
             {"kind": e.kind, "target": e.target, "stored_size": e.stored}) for e in inside + outside]


def hiding_places(pairs):
    """{(section, what): (count, stored bytes)} of the entries that cuobjdump does not list."""
    places = collections.defaultdict(lambda: (0, 0))
    for container, image in pairs:
        if container["section"] not in SECTIONS or image["kind"] not in LISTED_KINDS:
            bare = "bare " if container["role"] == "bare" else ""
            key = (container["section"] or "(no section)", bare + image["kind"])
            places[key] = (places[key][0] + 1, places[key][1] + image["stored_size"])
    return dict(places)


def compare_file(name, path, ours, get_listing):
    """One library: gpuvet's pairs against cuobjdump's listing and reference.py."""
    by_section = listed(ours)
    differences = difference("reference.py", placed(ours), placed(reference_pairs(path)))
    version, unjudged, gave_up = "-", None, []
    try:
        version, entries, gave_up = get_listing()
        differences += difference("cuobjdump " + version, as_listed_by(version, by_section),
                                  as_listed_by(version, entries))
    except oracle.NoListing as why:
        unjudged = str(why)
    return FileResult(name, os.path.getsize(path), version, sum(by_section.values()), hiding_places(ours),
                      differences, unjudged, gave_up)


def same_in_wheel(unpacked, in_wheel):
    """Differences between reading the wheel and reading what was unpacked from it."""
    def facts(pairs):
        return sorted(json.dumps([c["section"], c["role"], c["offset"], i], sort_keys=True) for c, i in pairs)
    names = {name for name, pairs in list(unpacked.items()) + list(in_wheel.items()) if pairs}
    return ["%s: the wheel gives %d entries, the unpacked file %d, and they are not the same"
            % (name, len(in_wheel.get(name, [])), len(unpacked.get(name, []))) for name in sorted(names)
            if facts(unpacked.get(name, [])) != facts(in_wheel.get(name, []))]


def compare_package(package, cache, gpuvet, oracles, fresh):
    try:
        path = packages.fetch(package, cache)
    except packages.NotAvailable as why:
        return PackageResult(package, None, [], "not to be had: %s" % why)
    folder = os.path.join(cache, "work", package.spec)
    shutil.rmtree(folder, ignore_errors=True)
    files, extra = [], []
    try:
        with zipfile.ZipFile(path) as wheel:
            members = list(binaries(wheel))
            wheel.extractall(folder, [member.filename for member in members])
        if gpuvet:
            unpacked, errors = gpuvet_scan(gpuvet, folder)
            in_wheel, wheel_errors = gpuvet_scan(gpuvet, path)
            extra = same_in_wheel(unpacked, in_wheel)
            extra += ["gpuvet reports an error: %s (%s)" % (error["what"], error["where"])
                      for error in errors + wheel_errors]
        for member in members:
            name, file = member.filename, os.path.join(folder, member.filename)
            ours = unpacked.get(name, []) if gpuvet else reference_pairs(file)
            result = compare_file(name, file, ours, lambda m=member, f=file: cuobjdump_listing(
                cache, package, m, f, oracles, fresh))
            if result.listed or result.hidden or result.differences or result.unjudged:
                files.append(result)
        if extra:
            files.append(FileResult("(whole wheel)", 0, "-", 0, {}, extra, None, []))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    judged = [file for file in files if not file.unjudged or file.differences] or not files
    return PackageResult(package, os.path.basename(path), files,
                         None if judged else "no file could be judged: %s" % files[0].unjudged)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gpuvet", help="the program to test; 'reference' compares reference.py instead",
                        default=os.path.join(HERE, "../../build/release/gpuvet"))
    parser.add_argument("--only", metavar="TEXT", help="packages whose name contains TEXT")
    parser.add_argument("--fresh", action="store_true", help="do not use remembered cuobjdump listings")
    parser.add_argument("--write-docs", action="store_true", help="write docs/agreement.md")
    options = parser.parse_args()
    cache = os.path.expanduser(os.environ.get("GPUVET_REAL_CACHE", "~/.cache/gpuvet-real"))
    gpuvet = None if options.gpuvet == "reference" else os.path.abspath(options.gpuvet)
    if gpuvet and not os.access(gpuvet, os.X_OK):
        raise SystemExit("%s is not there: build the release preset first" % gpuvet)
    oracles, missing = oracle.prepare(cache)
    for why in missing:
        print("no %s" % why, flush=True)

    results = []
    for package in packages.load(os.path.join(HERE, "packages.txt")):
        if options.only and options.only not in package.spec:
            continue
        result = compare_package(package, cache, gpuvet, oracles, options.fresh)
        results.append(result)
        print(agreement.line(result), flush=True)
    if options.write_docs:
        agreement.write(os.path.join(HERE, "../../docs/agreement.md"), results, gpuvet, oracles)

    print(agreement.summary(results))
    skipped = sum(1 for result in results if result.skipped)
    differ = sum(1 for result in results if agreement.differs(result))
    print("%d compared, %d differ, %d skipped" % (len(results) - skipped, differ, skipped))
    with_code = sum(1 for result in results if agreement.entries(result))
    if not options.only and with_code < LEAST:
        print("At least %d packages with GPU code must be compared; there were %d." % (LEAST, with_code))
        return 1
    return 1 if differ or skipped == len(results) else 0


if __name__ == "__main__":
    sys.exit(main())
