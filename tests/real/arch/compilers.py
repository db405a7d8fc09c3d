"""ptxas and nvcc of many toolkits: they take exactly the targets that the tables say, and make what a
plan promises."""
import itertools
import json
import os
import re
import subprocess
import tempfile

import gpuvet
import tools


def series(tool):
    return ".".join(tools.version_of(tool).split(".")[:2])


def toolkit_facts(gpuvet_program):
    """{version: (PTX ISA, set of targets)} as gpuvet facts has them."""
    done = subprocess.run([gpuvet_program, "facts", "toolkits", "--json"], stdout=subprocess.PIPE, text=True)
    rows = json.loads(done.stdout)["toolkits"]
    return {row["version"]: (row["ptx_isa"], {t.replace("sm_", "") for t in row["sass_targets"]}) for row in rows}


def ptxas_takes(ptxas, isa, target, folder):
    source = os.path.join(folder, "empty.ptx")
    with open(source, "w") as file:
        file.write(".version %s\n.target sm_%s\n.address_size 64\n.visible .entry k() { ret; }\n" % (isa, target))
    done = subprocess.run([ptxas, "-arch", "sm_" + target, source, "-o", os.path.join(folder, "out.cubin")],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode == 0


def images(nvcc, flags, folder):
    """Images that nvcc would put into the fat binary, from its dry run; None when it refuses the flags."""
    source = os.path.join(folder, "empty.cu")
    with open(source, "w") as file:
        file.write("__global__ void empty() {}\n")
    done = subprocess.run([nvcc, "--dryrun", "-c", source, "-o", os.path.join(folder, "out.o")] + flags,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        return None
    found = re.findall(r"image3=kind=(elf|ptx),sm=(\w+)", done.stdout)
    return {("sm_" if kind == "elf" else "compute_") + target for kind, target in found}


def compare_targets(tool, folder, facts, known, work):
    """Every target of the tables, asked of ptxas and, where the wheel has it, of nvcc."""
    isa, listed = facts[series(tool)]
    ptxas, nvcc = tools.find(folder, "ptxas"), tools.find(folder, "nvcc")
    differences = []
    for target in sorted(known):
        wanted = target in listed
        if ptxas_takes(ptxas, isa, target, work) != wanted:
            differences.append("ptxas %s sm_%s" % ("refuses" if wanted else "takes", target))
        if nvcc:
            flags = ["-gencode", "arch=compute_%s,code=sm_%s" % (target, target)]
            if (images(nvcc, flags, work) is not None) != wanted:
                differences.append("nvcc %s sm_%s" % ("refuses" if wanted else "takes", target))
    return len(known) * (2 if nvcc else 1), differences


def compare_plans(tool, folder, facts, work):
    """Plans for each GPU and each pair, in flags of nvcc: it makes the promised images of them."""
    nvcc = tools.find(folder, "nvcc")
    if not nvcc:
        return 0, []
    version = series(tool)
    plain = sorted({t for t in facts[version][1] if t[-1].isdigit()}, key=int)
    asked, differences = 0, []
    for gpus in [[t] for t in plain] + [list(pair) for pair in itertools.combinations(plain, 2)]:
        for more in ([], ["--no-ptx"]):
            arguments = ["--toolkit", version, "--for", "nvcc,nvcc-arch"] + more
            for gpu in gpus:
                arguments += ["--gpu", gpu[:-1] + "." + gpu[-1]]
            for system in gpuvet.plan(*arguments)["systems"]:
                if not system["value"]:
                    continue
                asked += 1
                made = images(nvcc, system["value"].split(), work)
                promised = {code["target"] for code in system["builds"]}
                if made != promised:
                    differences.append("%s: nvcc makes %s, gpuvet says %s" % (system["value"], made, promised))
    return asked, differences


# Flags beyond plans: gpuvet says what nvcc makes of them, and refuses what nvcc refuses.
FLAGS = [
    "-arch=sm_90", "-arch=sm_90a", "-arch=sm_120f", "-arch=compute_80", "-arch=compute_90a", "-arch=all",
    "-arch=all-major", "-arch=compute_80 -code=sm_80,sm_86", "-arch=compute_80 -code=sm_80,compute_80",
    "-arch=compute_80 -code=sm_80 -code=compute_80", "-arch=compute_90a -code=sm_90a",
    "-arch=sm_80 -code=sm_80", "-arch=sm_80,sm_90", "-gencode arch=compute_80,code=sm_80",
    "-gencode=arch=compute_80,code=[sm_80,compute_80]", "-gencode arch=compute_80,code=sm_90",
    "-gencode arch=compute_80,code=sm_86", "-gencode arch=compute_90,code=sm_80",
    "-gencode arch=compute_80,code=compute_86", "-gencode arch=compute_90a,code=sm_90a",
    "-gencode arch=compute_90a,code=sm_100", "-gencode arch=compute_90,code=sm_90a",
    "-gencode arch=compute_100f,code=sm_100", "-gencode arch=compute_100f,code=sm_103",
    "-gencode arch=compute_100f,code=sm_110", "-gencode arch=compute_120f,code=sm_120a",
    "-gencode arch=compute_70,code=sm_70", "-gencode arch=compute_90,code=sm_91",
    "-arch=sm_80 -gencode arch=compute_90,code=sm_90",
    "-gencode arch=compute_120f,code=sm_120f -gencode arch=compute_120,code=compute_120",
]


def compare_flags(tool, folder, work):
    nvcc = tools.find(folder, "nvcc")
    if not nvcc:
        return 0, []
    differences = []
    for flags in FLAGS:
        made = images(nvcc, flags.split(), work)
        said = gpuvet.reading("nvcc", flags, series(tool))
        said = None if said is None else {target for _, target in said}
        if made != said:
            differences.append("%s: nvcc makes %s, gpuvet says %s" % (flags, made, said))
    return len(FLAGS), differences


def compare(tool, folder, facts):
    known = set().union(*[targets for _, targets in facts.values()])
    known -= {"20", "21"}  # machine code of 2.x needs a 32 or 64 bit choice that newer tools lack
    with tempfile.TemporaryDirectory() as work:
        rows = [("targets", compare_targets(tool, folder, facts, known, work)),
                ("plans", compare_plans(tool, folder, facts, work)),
                ("flags", compare_flags(tool, folder, work))]
    return [(what, asked, differences) for what, (asked, differences) in rows if asked]
