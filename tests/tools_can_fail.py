#!/usr/bin/env python3
"""Plants a fault for each test tool and requires that the tool finds it; a check that can't fail
checks nothing. Each tool is also run on a sound subject first."""

import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))

CMAKE = """layer(base)
layer(os    USES base TOUCHES_OUTSIDE)
layer(model USES base) # not os
"""
ARCHITECTURE = """| layer | may include | outside? |
|---|---|---|
| `base` | – | no |
| `os` | base | yes |
| `model` | base | no |
"""
# Answers like a program of two lines.
GPUVET = """#!/bin/sh
echo "first line"
echo "second line"
exit 1
"""
CASE = "# says two lines\n$ gpuvet scan\nexit 1\n--- stdout\nfirst line\nsecond line\n"
DOCUMENT = "Text.\n\n```console\n$ gpuvet scan\nfirst line\nsecond line\n```\n"

failures = []
tried = 0


def write(root, name, text, mode=0o644):
    path = os.path.join(root, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)
    return path


def expect(what, says, script, *arguments, environment=None):
    """Runs a tool: it must succeed when `says` is None, else fail and print `says`."""
    global tried
    tried += 1
    clean = {k: v for k, v in os.environ.items() if k != "GPUVET_UPDATE"}
    done = subprocess.run([sys.executable, os.path.join(HERE, script), *arguments], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=clean | (environment or {}))
    if says is None and done.returncode:
        failures.append(f"{script}: {what}: failed:\n{done.stdout}")
    elif says is not None and not done.returncode:
        failures.append(f"{script}: {what}: not noticed:\n{done.stdout}")
    elif says is not None and says not in done.stdout:
        failures.append(f"{script}: {what}: failed without saying '{says}':\n{done.stdout}")


def try_layering():
    def tree(what, says, files=None, cmake=CMAKE, architecture=ARCHITECTURE):
        with tempfile.TemporaryDirectory() as root:
            sound = {"src/base/a.cpp": '#include "base/a.hpp"\n// "time(" is a word; fopen() too\n',
                     "src/base/a.hpp": "inline int runtime(int x) { return x; }\n",
                     "src/base/a_test.cpp": "#include <fstream>\n",
                     "src/os/b.cpp": '#include <unistd.h>\n\n#include "base/a.hpp"\n',
                     "src/model/c.hpp": '#include "base/a.hpp"\n'}
            for name, text in (sound | (files or {})).items():
                write(root, name, text)
            write(root, "CMakeLists.txt", cmake)
            write(root, "ARCHITECTURE.md", architecture)
            expect(what, says, "layering.py", "--root", root)

    tree("sound tree", None)
    tree("upward include", "layer base may not include model",
         {"src/base/a.cpp": '#include "model/c.hpp"\n'})
    tree("include of a layer not used", "layer model may not include os",
         {"src/model/c.hpp": '#  include "os/b.hpp"\n'})
    tree("two types of one name", "the type Place has the name of another one in src/base/a.hpp",
         {"src/base/a.hpp": "struct Place {\n  int x;\n};\n",
          "src/model/c.hpp": "enum class Place : char { here };\n"})
    tree("relative include", "write it from src/", {"src/base/a.cpp": '#include "a.hpp"\n'})
    tree("file access in a pure layer", "<fstream> reaches outside",
         {"src/model/d.cpp": "#include <fstream>\n"})
    for call in ('std::getenv("HOME")', 'fopen("/etc/passwd", "r")', "std::cout << 1",
                 "std::chrono::system_clock::now()", "::time(nullptr)", 'fmt::print("x")', "abort()"):
        tree(f"{call} in a pure layer", "reaches outside the process",
             {"src/base/a.cpp": f"int f() {{ {call}; }}\n"})
    tree("two owners of a heavy header", "may have 1 owner file",
         {"src/base/a.cpp": "#include <re2/re2.h>\n", "src/model/d.cpp": "#include <re2/re2.h>\n"})
    tree("heavy header in a header", "spreads its cost",
         {"src/base/a.hpp": "#include <nlohmann/json.hpp>\n"})
    tree("heavy header in the wrong layer", "belongs to layer cli",
         {"src/base/a.cpp": "#include <CLI/CLI.hpp>\n"})
    tree("file of 801 lines", "801 lines", {"src/base/a.cpp": "\n" * 801})
    tree("folder of 31 files", "source files; 30 is the limit",
         {f"src/os/f{index}.cpp": "" for index in range(31)})
    tree("folder without a layer", "no layer(render", {"src/render/x.cpp": ""})
    tree("layer that uses a later one", "uses os, which is not declared",
         cmake=CMAKE.replace("layer(base)", "layer(base USES os)"))
    tree("wrong row in ARCHITECTURE.md", "row of layer os differs",
         architecture=ARCHITECTURE.replace("base | yes", "base | no"))
    tree("row missing in ARCHITECTURE.md", "lists the layers",
         architecture=ARCHITECTURE.replace("| `model` | base | no |\n", ""))


def try_cases():
    with tempfile.TemporaryDirectory() as root:
        gpuvet = write(root, "bin/gpuvet", GPUVET, 0o755)
        inputs = os.path.join(root, "inputs")
        os.makedirs(inputs)

        def case(what, says, text, environment=None):
            path = write(root, "cases/one.case", text)
            expect(what, says, "run_cases.py", "--gpuvet", gpuvet, "--inputs", inputs, path,
                   environment=environment)
            return path

        case("right case", None, CASE)
        case("wrong output", "-first lime", CASE.replace("first line", "first lime"))
        case("missing line", "+second line", CASE.replace("second line\n", ""))
        case("wrong status", "-exit 0", CASE.replace("exit 1", "exit 0"))
        case("no expected output", "+first line", "$ gpuvet scan\nexit 1\n")
        case("output expected on stderr", "--- stderr", CASE + "--- stderr\nfirst line\n")
        case("no status", "no line 'exit N'", CASE.replace("exit 1\n", ""))
        case("no command", "that runs gpuvet", "exit 0\n")
        case("another program", "that runs gpuvet", "$ true\nexit 0\n")
        case("two commands", "a second command", "$ gpuvet x\n" + CASE)
        path = case("update", None, CASE.replace("first", "worst"), {"GPUVET_UPDATE": "1"})
        with open(path, encoding="utf-8") as file:
            if file.read() != CASE:
                failures.append("run_cases.py: GPUVET_UPDATE=1 did not restore the case")
        expect("empty folder", "no case files found", "run_cases.py", "--gpuvet", gpuvet, inputs)
        # A hanging or missing program is no pass.
        expect("missing program", "+exit 127", "run_cases.py", "--gpuvet", root + "/none/gpuvet",
               "--inputs", inputs, write(root, "cases/one.case", CASE))


def try_docs():
    with tempfile.TemporaryDirectory() as root:
        gpuvet = write(root, "bin/gpuvet", GPUVET, 0o755)
        inputs = os.path.join(root, "inputs")
        os.makedirs(inputs)

        def document(what, says, text, environment=None):
            path = write(root, "page.md", text)
            expect(what, says, "run_docs.py", "--gpuvet", gpuvet, "--inputs", inputs, path,
                   environment=environment)
            return path

        skipped = "<!-- not run: needs a network -->\n```\n$ gpuvet fetch\nanything\n```\n"
        status = DOCUMENT.replace("second line\n", "second line\n$ echo $?\n1\n")
        document("right block", None, DOCUMENT)
        document("block not run beside one that is", None, DOCUMENT + skipped)
        document("three dots", None, DOCUMENT.replace("first line", "..."))
        document("status of the command before", None, status)
        document("stale status", "-2", status.replace("\n1\n", "\n2\n"))
        document("stale block", "-first lime", DOCUMENT.replace("first line", "first lime"))
        document("stale line behind three dots", "-other", DOCUMENT.replace(
            "first line\nsecond line", "...\nother"))
        document("missing line", "+second line", DOCUMENT.replace("second line\n", ""))
        document("only blocks that are not run", "no block was run", skipped)
        document("no block", "no block was run", "Text.\n")
        path = document("update", None, DOCUMENT.replace("first", "worst"), {"GPUVET_UPDATE": "1"})
        with open(path, encoding="utf-8") as file:
            if file.read() != DOCUMENT:
                failures.append("run_docs.py: GPUVET_UPDATE=1 did not restore the page")


# The help and the scripts of a program with two subcommands; bash's script lacks one of them.
TWO_COMMANDS = r"""#!/bin/bash
case "$*" in
--help) printf 'Subcommands:\n  scan  x\n  facts  x\n' ;;
"completion bash") echo '_gpuvet() { COMPREPLY=(scan); }; complete -F _gpuvet gpuvet' ;;
esac
"""


def try_completion():
    with tempfile.TemporaryDirectory() as root:
        gpuvet = write(root, "bin/gpuvet", TWO_COMMANDS, 0o755)
        expect("script without a subcommand", "bash: 'gpuvet ' <Tab> does not offer ['facts']",
               "completion.py", "--gpuvet", gpuvet)


# A linter that finds one thing in every folder, whatever is in it.
ONE_FINDING = r"""#!/bin/bash
case "$*" in
*--json*) echo '{"schema": "gpuvet-lint/1", "errors": [], "files": [{"path": "a.sh", "findings": [
  {"rule": "separator", "level": "error", "line": 1, "message": "m", "why": "w", "help": "h",
   "fix": null}]}]}'; exit 1 ;;
esac
"""


def try_lint():
    with tempfile.TemporaryDirectory() as root:
        gpuvet = write(root, "bin/gpuvet", ONE_FINDING, 0o755)
        projects = os.path.join(root, "projects")
        write(projects, "as-found/EXPECT", "a.sh:1 separator\n")
        write(projects, "correct/a.sh", "")
        write(projects, "other/EXPECT", "a.sh:1 unquoted\n")

        def project(name, says):
            expect(name, says, "lint.py", "--gpuvet", gpuvet, "--projects", projects, name)
        project("as-found", None)
        project("correct", "separator was found and is not expected")
        project("other", "unquoted was not found")
        write(projects, "fixed/EXPECT", "a.sh:1 separator\n--- a.sh\nmended\n")
        project("fixed", "can't be mended")
        write(projects, "empty/EXPECT", "")
        project("empty", "expects nothing")


def try_release_binary():
    expect("shared libraries beyond glibc's", "needs the shared library libz.so.1",
           "release_binary.py", *find_library("libarchive.so.13"))
    expect("glibc too new", "is the newest allowed", "release_binary.py", "--max-glibc", "2.1",
           *find_library("libm.so.6"))
    expect("no ELF file", "no dynamic section", "release_binary.py", os.path.abspath(__file__))


# Uses what came with PTX 7.8; the image is to be 6.0.
TOO_NEW = """extern "C" __global__ void gv_null() { asm volatile("griddepcontrol.wait;"); }
"""


# The accumulators are touched between multiplications, so these cannot overlap.
ONE_BY_ONE = """extern "C" __global__ void gv_gemm_tma(float* c, unsigned long long a) {
  float d[4] = {};
  for (int i = 0; i < 4; ++i) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16"
                 " {%0,%1,%2,%3}, %4, %4, 1, 1, 1, 0, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "l"(a));
    d[0] += 1;
  }
  c[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}
"""


def try_kernels():
    tool = os.path.join(HERE, "../tools/kernels")
    shipped = os.path.join(HERE, "../src/gpu/kernels/images")
    if subprocess.run([sys.executable, tool, "check"], stdout=subprocess.PIPE).returncode == 77:
        return # no nvcc, or another version
    with tempfile.TemporaryDirectory() as root:
        shutil.copytree(shipped, root + "/images")

        def images(what, says, *arguments):
            expect(what, says, tool, "check", "core", "--images", root + "/images", *arguments)

        images("images as they are", None)
        write(root, "sources/core.cu", TOO_NEW)
        images("source beyond its PTX version", "griddepcontrol", "--sources", root + "/sources")
        write(root, "sources/gemm_sm90a.cu", ONE_BY_ONE)
        expect("multiplications one by one", "Potential Performance Loss", tool, "check", "gemm_sm90a",
               "--images", root + "/images", "--sources", root + "/sources")
        with open(os.path.join(shipped, "../core.cu"), encoding="utf-8") as file:
            write(root, "other/core.cu", file.read() + 'extern "C" __global__ void gv_more() {}\n')
        images("machine code of another source", "core.sm_90.cubin is not what nvcc", "--sources", root + "/other")
        with open(root + "/images/core.ptx", encoding="utf-8") as file:
            text = file.read()
        write(root, "images/core.ptx", text.replace("mul.lo.s64", "add.s64", 1))
        images("image that was edited", "core.ptx is not what nvcc")
        os.remove(root + "/images/core.ptx")
        images("image that is missing", "core.ptx is not there")


def find_library(name):
    for folder in ("/usr/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu", "/usr/lib64"):
        if os.path.exists(os.path.join(folder, name)):
            return [os.path.join(folder, name)]
    return [name]


def main():
    try_layering()
    try_cases()
    try_docs()
    try_completion()
    try_lint()
    try_release_binary()
    try_kernels()
    print("\n".join(failures))
    print(f"{tried} runs of the test tools, {len(failures)} went wrong")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
