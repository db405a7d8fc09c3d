"""CMake and PyTorch's extension builder: the flags that they make of a planned value are those that
gpuvet promises, and they refuse what it refuses."""
import collections
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
import types

import gpuvet
import tools

# Plans for these capabilities go through CMake and PyTorch.
PLANS = [["7.5"], ["8.6"], ["7.5", "8.6"], ["8.0", "8.9", "9.0"], ["9.0", "12.0"], ["7.5", "8.0", "8.6", "8.9", "9.0"],
         ["12.0", "12.1"], ["10.0", "10.3"], ["8.7"], ["11.0"]]
VALUES = ["75-real;90a-real", "90a", "80-virtual", "75;80-virtual", "120a-real;90-virtual"]
# Right or wrong for every CMake that checks (3.28), and what older ones do with them.
WRONG = ["8.6", "86,89", "sm_86", "86-reel", ""]


def project(folder, values):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "CMakeLists.txt"), "w") as file:
        file.write("cmake_minimum_required(VERSION 3.18)\nproject(targets LANGUAGES CUDA)\n")
        for index, value in enumerate(values):
            file.write('add_library(l%d STATIC empty%d.cu)\n' % (index, index))
            file.write('set_target_properties(l%d PROPERTIES CUDA_ARCHITECTURES "%s")\n' % (index, value))
    for index in range(len(values)):
        with open(os.path.join(folder, "empty%d.cu" % index), "w") as file:
            file.write("__global__ void empty() {}\n")


def configure(cmake, source, build, nvcc, value):
    done = subprocess.run([cmake, "-G", "Unix Makefiles", "-S", source, "-B", build,
                           "-DCMAKE_CUDA_ARCHITECTURES=" + value, "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"],
                          env=dict(os.environ, CUDACXX=nvcc), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True)
    return done.returncode == 0, done.stdout


def version_key(version):
    return tuple(int(part) for part in re.findall(r"\d+", version))


def compare_cmake(tool, folder, nvcc):
    """With nvcc 13.0 behind it: CMake's flags of planned values, and its check of right and wrong ones."""
    version = ".".join(tools.version_of(tool).split(".")[:3])
    cmake = tools.find(folder, "cmake")
    values = list(VALUES)
    for gpus in PLANS:
        arguments = ["--toolkit", "13.0", "--cmake", version, "--for", "cmake"]
        for gpu in gpus:
            arguments += ["--gpu", gpu]
        values.append(gpuvet.plan(*arguments)["systems"][0]["value"])
    differences, asked = [], len(values)
    with tempfile.TemporaryDirectory() as work:
        project(os.path.join(work, "source"), values)
        good, said = configure(cmake, os.path.join(work, "source"), os.path.join(work, "build"), nvcc, values[-1])
        if not good:
            return [("values", asked, ["refuses %s: %s" % (values[-1], said[-300:])])]
        with open(os.path.join(work, "build", "compile_commands.json")) as file:
            commands = {os.path.basename(row["file"]): row["command"] for row in json.load(file)}
        for index, value in enumerate(values):
            made = gpuvet.asked([commands["empty%d.cu" % index]])
            promised = gpuvet.reading("cmake", value, "13.0")
            if made != promised:
                differences.append("%s: CMake makes %s, gpuvet says %s" % (value, made, promised))
        project(os.path.join(work, "one"), [])
        checks, more = compare_checks(cmake, version, work, nvcc)
    return [("values", asked, differences), ("check", checks, more)]


def compare_checks(cmake, version, work, nvcc):
    """What gpuvet calls wrong is refused, and targets with a suffix are by exactly the versions that it
    says."""
    questions = [(value, gpuvet.reading("cmake", value, "13.0") is not None) for value in WRONG]
    for suffix, gpu in (("a", "9.0"), ("f", "12.0")):
        system = gpuvet.plan("--toolkit", "13.0", "--cmake", version, "--for", "cmake", "--suffix", suffix,
                             "--gpu", gpu)["systems"][0]
        questions.append((system["value"], not system["shortcomings"]))
    differences = []
    for number, (value, wanted) in enumerate(questions):
        good, _ = configure(cmake, os.path.join(work, "one"), os.path.join(work, "b%d" % number), nvcc, value)
        if value == "" and version_key(version) < (3, 23):
            wanted = good  # older ones take an empty value for none: nvcc's default then
        if good != wanted:
            differences.append("%r: CMake %s it" % (value, "takes" if good else "refuses"))
    return len(questions), differences


def findcuda_flags(script, value):
    """Flags of cuda_select_nvcc_arch_flags, from CMake's own module in script mode."""
    cmake, module = script
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "ask.cmake")
        with open(path, "w") as file:
            file.write('cmake_policy(VERSION 3.18)\nset(CUDA_VERSION 11.8)\nset(CMAKE_SCRIPT_MODE_FILE)\n'
                       'include("%s")\ncuda_select_nvcc_arch_flags(FLAGS "%s")\nmessage("FLAGS ${FLAGS}")\n'
                       % (module, value))
        done = subprocess.run([cmake, "-P", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return None if done.returncode else gpuvet.asked([done.stdout.replace(";", " ")])


FINDCUDA = ["7.5 8.6+PTX", "5.2(5.0)", "5.2(5.0)+PTX", "Pascal", "Pascal+PTX", "Maxwell", "Volta", "Turing+PTX", "Ampere",
            "Kepler+Tesla", "Kepler+PTX", "6.0;6.1", "9.0", "12.0", "10.0+PTX", "86", "Ada", "8.0+PTX 8.0"]


def compare_findcuda(folder):
    cmake, module = tools.find(folder, "cmake"), None
    for root, _, files in os.walk(folder):
        if "select_compute_arch.cmake" in files:
            module = os.path.join(root, "select_compute_arch.cmake")
    differences = []
    for value in FINDCUDA:
        made, said = findcuda_flags((cmake, module), value), gpuvet.reading("findcuda", value)
        if made != said:
            differences.append("FindCUDA %s: %s, gpuvet says %s" % (value, made, said))
    return [("FindCUDA", len(FINDCUDA), differences)]


def torch_function(path):
    """_get_cuda_arch_flags of one release, without torch: only the function is compiled."""
    with open(path) as file:
        text = file.read()
    start = text.index("def _get_cuda_arch_flags")
    end = text.index("\ndef ", start + 1)
    body = "from __future__ import annotations\n" + text[start:end]
    space = {"os": os, "re": re, "collections": collections, "List": list, "Optional": __import__("typing").Optional,
             "torch": types.SimpleNamespace(cuda=types.SimpleNamespace(device_count=lambda: 0)), "sys": sys}
    exec(compile(body, path, "exec"), space)  # noqa: S102: the function is what is tested
    return space["_get_cuda_arch_flags"]


def torch_flags(function, value):
    os.environ["TORCH_CUDA_ARCH_LIST"] = value
    try:
        return gpuvet.asked(function())
    except ValueError:
        return None
    finally:
        del os.environ["TORCH_CUDA_ARCH_LIST"]


TORCH_VALUES = ["Ampere", "Volta;Turing", "Hopper", "Maxwell+Tegra", "8.0 8.6", "8.0;8.6+PTX", "8.0,8.6", "86", "sm_86", "9.9",
                "8.0;9.0a", "12.0f", "Ada"]


def compare_torch(tool, folder):
    release = ".".join(tools.version_of(tool).split(".")[:2])
    function = torch_function(tools.find(folder, "cpp_extension.py"))
    differences, asked = [], 0
    for toolkit, gpus in itertools.product(("11.8", "12.9", "13.0"), [[g] for g in
                                           "5.0 5.2 5.3 6.0 6.1 6.2 7.0 7.2 7.5 8.0 8.6 8.7 8.9 9.0 10.0 10.1 10.3 11.0 12.0 12.1"
                                           .split()] + PLANS):
        arguments = ["--toolkit", toolkit, "--for", "pytorch=" + release]
        for gpu in gpus:
            arguments += ["--gpu", gpu]
        systems = gpuvet.plan(*arguments)["systems"]
        if not systems or not systems[0]["value"]:
            continue
        asked += 1
        made, promised = torch_flags(function, systems[0]["value"]), gpuvet.built(systems[0]["builds"])
        if made != promised:
            differences.append("%s: torch makes %s, gpuvet says %s" % (systems[0]["value"], made, promised))
    return [("plans", asked, differences)] + compare_torch_values(release, function)


def compare_torch_values(release, function):
    """Each target that any release knows, with PTX and without, and some lists: taken by both or by none."""
    differences, asked = [], 0
    targets = sorted({t + s for t in "3.5 3.7 5.0 5.3 6.2 7.0 7.5 8.0 8.6 8.7 8.8 8.9 9.0 10.0 10.1 10.3 11.0 12.0 12.1".split()
                      for s in ("", "a", "f", "+PTX")})
    for value in targets + TORCH_VALUES:
        asked += 1
        made = torch_flags(function, value)
        said = gpuvet.reading("pytorch=" + release, value)
        if made != said:
            differences.append("%s: torch makes %s, gpuvet says %s" % (value, made, said))
    return [("values", asked, differences)]

