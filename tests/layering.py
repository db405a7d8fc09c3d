#!/usr/bin/env python3
"""Keeps the source tree as ARCHITECTURE.md promises it.

- a layer includes only itself and the layers of its `layer(NAME USES ...)` line in CMakeLists.txt;
- a layer without TOUCHES_OUTSIDE reaches no file, clock, environment, process or terminal;
- a header that is slow to compile has one owner file;
- ARCHITECTURE.md's table of layers says what CMakeLists.txt says;
- no source file over 800 lines, no folder over 30 source files, tests aside.
"""

import argparse
import os
import re
import sys
from dataclasses import dataclass

MAX_LINES = 800
MAX_FILES = 30

# Headers that cost seconds to compile, or whose types must not spread: how many files may include
# them, tests aside, and in which layer. A header (.hpp) may include none of them.
HEAVY = {
    "CLI/": (None, "cli"),
    "nlohmann/": (8, None),
    "simdjson": (1, None),
    "toml++/": (1, "facts"),
    "re2/": (1, None),
    "archive": (1, "formats"),
}

OUTSIDE_HEADERS = re.compile(
    r"^(fstream|filesystem|iostream|chrono|ctime|time\.h|random|thread|future|csignal|signal\.h|"
    r"unistd\.h|fcntl\.h|dlfcn\.h|dirent\.h|poll\.h|spawn\.h|glob\.h|ftw\.h|pwd\.h|"
    r"sys/(?!types\.h).*|netinet/.*|arpa/.*)$")
OUTSIDE_WORDS = re.compile(
    r"(?<![\w.>])(?:std::|::)?(?P<word>"
    r"fopen|freopen|fdopen|popen|tmpfile|fread|fwrite|fputs|puts|putchar|"
    r"printf|fprintf|vprintf|vfprintf|"
    r"getenv|secure_getenv|setenv|putenv|system|exit|_exit|quick_exit|abort|"
    r"fork|execv|execve|execvp|posix_spawn|"
    r"time|clock|clock_gettime|gettimeofday|rand|srand|"
    r"mmap|dlopen|dlsym|isatty|ioctl)\s*\("
    r"|(?P<name>\b(?:std::(?:cout|cerr|clog|cin|ofstream|ifstream|fstream|random_device|filesystem)"
    r"|system_clock|steady_clock|high_resolution_clock|environ"
    r"|fmt::print|fmt::println|stdout|stderr|stdin)\b)")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)
HEADER_NAMES = (".hpp", ".cuh")
SOURCE_NAMES = (".cpp", ".cu", ".hpp", ".h", ".cc", ".c")


@dataclass
class Layer:
    uses: set
    outside: bool


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def layers_of(cmake_text):
    layers = {}
    without_comments = re.sub(r"#.*", "", cmake_text)
    for body in re.findall(r"^\s*layer\(([^)]*)\)", without_comments, re.M):
        words = body.split()
        outside = "TOUCHES_OUTSIDE" in words
        uses = {w for w in words[1:] if w not in ("USES", "TOUCHES_OUTSIDE")}
        layers[words[0]] = Layer(uses, outside)
    return layers


def without_comments_and_strings(text):
    """Blanks them, keeping line numbers; includes keep their names (they are read apart)."""
    pattern = re.compile(
        r'//[^\n]*|/\*.*?\*/|R"(?P<tag>[^(\s]*)\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"|'
        r"(?<![\w'])'(?:\\.|[^'\\\n])+'", re.S)
    return pattern.sub(lambda found: "\n" * found.group().count("\n") or " ", text)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def check_file(path, name, layer_name, layers, problems):
    text = read(path)
    is_test = name.endswith("_test.cpp")
    lines = text.count("\n")
    if lines > MAX_LINES:
        problems.append(f"{name}: {lines} lines; {MAX_LINES} is the limit, split it by purpose")
    heavy = set()
    layer = layers.get(layer_name)
    for found in INCLUDE.finditer(text):
        where = f"{name}:{line_of(text, found.start())}"
        own, header = found.group(1) == '"', found.group(2)
        if own and layer:
            target = header.split("/")[0]
            if "/" not in header or target not in layers:
                problems.append(f'{where}: includes "{header}"; write it from src/: "layer/file.hpp"')
            elif target != layer_name and target not in layer.uses:
                problems.append(f"{where}: layer {layer_name} may not include {target} "
                                f'("{header}"); CMakeLists.txt says what it USES')
        if not own:
            for prefix in HEAVY:
                if header.startswith(prefix):
                    heavy.add(prefix)
                    if name.endswith(".hpp"):
                        problems.append(f"{where}: <{header}> in a header spreads its cost to every "
                                        "file that includes it")
            if layer and not layer.outside and not is_test and OUTSIDE_HEADERS.match(header):
                problems.append(f"{where}: layer {layer_name} is pure, <{header}> reaches outside")
    if layer and not layer.outside and not is_test:
        code = without_comments_and_strings(text)
        for found in OUTSIDE_WORDS.finditer(code):
            word = found.group("word") or found.group("name")
            problems.append(f"{name}:{line_of(code, found.start())}: layer {layer_name} is pure, "
                            f"'{word}' reaches outside the process")
    return set() if is_test else heavy


def types_of(code):
    """Types that a header defines for everybody: at the left margin, so not inside another."""
    return re.findall(r"^(?:struct|class|enum|enum class)\s+(?:alignas\(\w+\)\s+)?(\w+)"
                      r"(?:\s+final)?\s*(?::[^;{]*)?\{", code, re.M)


def check_type(name, type_name, types, problems):
    """Two types of one name in one namespace are one for the linker, which takes either's functions
    for both."""
    first = types.setdefault(type_name, name)
    if first != name:
        problems.append(f"{name}: the type {type_name} has the name of another one in {first}")


def check_sources(root, layers, problems):
    types = {}
    owners = {prefix: [] for prefix in HEAVY}
    seen = 0
    for folder, folders, files in os.walk(os.path.join(root, "src")):
        folders.sort()
        sources = sorted(f for f in files if f.endswith(SOURCE_NAMES))
        seen += len(sources)
        shown = os.path.relpath(folder, root)
        own = [f for f in sources if not f.endswith("_test.cpp")]
        if len(own) > MAX_FILES:
            problems.append(f"{shown}: {len(own)} source files; {MAX_FILES} is the limit, "
                            "make folders by subject")
        parts = shown.split(os.sep)
        layer_name = parts[1] if len(parts) > 1 else ""
        if layer_name and layer_name not in layers and sources:
            problems.append(f"{shown}: no layer({layer_name} ...) line in CMakeLists.txt")
        for file in sources:
            name = os.path.join(shown, file)
            if file.endswith(HEADER_NAMES) and "testing" not in parts:
                for type_name in types_of(without_comments_and_strings(
                        read(os.path.join(folder, file)))):
                    check_type(name, type_name, types, problems)
            for prefix in check_file(os.path.join(folder, file), name, layer_name, layers, problems):
                owners[prefix].append((name, layer_name))
    if not seen:
        problems.append("src: no source files found")
    for prefix, files in owners.items():
        most, home = HEAVY[prefix]
        if most and len(files) > most:
            problems.append(f"<{prefix}...> is slow to compile and may have {most} owner file(s), "
                            "but is included by " + ", ".join(name for name, _ in files))
        problems += [f"{name}: <{prefix}...> belongs to layer {home}" for name, layer in files
                     if home and layer != home]


def check_layer_order(layers, problems):
    """Lowest first: a layer may use only those above it in CMakeLists.txt, so there is no cycle."""
    known = set()
    for name, layer in layers.items():
        for used in sorted(layer.uses - known):
            problems.append(f"CMakeLists.txt: layer {name} uses {used}, which is not declared "
                            "before it")
        known.add(name)


def check_architecture(root, layers, problems):
    path = os.path.join(root, "ARCHITECTURE.md")
    if not os.path.exists(path):
        problems.append("ARCHITECTURE.md is missing")
        return
    told = {}
    for row in re.findall(r"^\|(.+)\|\s*$", read(path), re.M):
        cells = [cell.strip().strip("`*") for cell in row.split("|")]
        if len(cells) >= 3 and cells[2] in ("yes", "no"):
            uses = set() if cells[1] in ("–", "-", "") else set(cells[1].split())
            told[cells[0]] = Layer(uses, cells[2] == "yes")
    if list(told) != list(layers):
        problems.append(f"ARCHITECTURE.md lists the layers {' '.join(told)}, CMakeLists.txt "
                        f"{' '.join(layers)}")
    for name in told.keys() & layers.keys():
        if told[name] != layers[name]:
            problems.append(f"ARCHITECTURE.md: the row of layer {name} differs from its line in "
                            "CMakeLists.txt")


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    here = os.path.dirname(os.path.abspath(__file__))
    options.add_argument("--root", default=os.path.dirname(here), help="the source tree")
    root = options.parse_args().root

    problems = []
    layers = layers_of(read(os.path.join(root, "CMakeLists.txt")))
    if not layers:
        problems.append("CMakeLists.txt: no layer(...) line found")
    check_layer_order(layers, problems)
    check_sources(root, layers, problems)
    check_architecture(root, layers, problems)
    for problem in problems:
        print(problem)
    print(f"{len(problems)} problem(s) in {len(layers)} layers")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
