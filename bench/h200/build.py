"""Compiles and packs every case into a folder and writes cases.json there.

usage: build.py FOLDER [JOBS]
"""
import dataclasses
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import cases as table
from open_cases import edit, open_cases

HERE = os.path.dirname(os.path.abspath(__file__))
folder, jobs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else os.cpu_count()
failures = []


def command(*words):
    """Runs in the folder; a failure is recorded, the other cases go on."""
    result = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    if result.returncode:
        failures.append(" ".join(words) + "\n" + result.stdout + result.stderr)
    return result.returncode == 0


def gencode(image):
    code = {"s": "sm_", "r": "sm_", "p": "compute_", "l": "lto_"}[image.code] + image.target
    return ["-gencode", f"arch=compute_{image.virtual or image.target},code={code}"]


def compile_piece(image):
    source, out = f"{HERE}/answer.cu", "pieces/" + image.file
    options = {
        "s": ["-cubin"] + gencode(image),
        "r": ["-cubin", "-rdc=true"] + gencode(image),
        "p": ["-ptx", f"-arch=compute_{image.target}"],
        "l": ["-ltoir", "-dlto", f"-arch=lto_{image.target}"],
    }[image.code]
    command("nvcc", f"-DVALUE={image.value}", *options, source, "-o", out)


def pack(images, options, out):
    """The command that nvcc itself runs to make a container."""
    kinds = {"s": "elf", "p": "ptx", "l": "nvvm"}
    return command("fatbinary", f"--create={out}", "-64", "--cicc-cmdline=-ftz=0 -prec_div=1 -prec_sqrt=1 -fmad=1 ", *options,
                   *[f"--image3=kind={kinds[i.code]},sm={i.target},file=pieces/{i.file}" for i in images])


def link_registered(container, library):
    """A library whose only GPU code is `container`, registered with the runtime as nvcc does it."""
    objects = library + ".o"
    command("g++", "-c", "-x", "assembler-with-cpp", f'-DIMAGES="{container}"', f"{HERE}/registered.s", "-o", objects)
    command("g++", "-shared", "shim.o", objects, "-o", library, *CUDART)


def build_nvcc(case):
    options = [word for image in case.recipe["images"] for word in gencode(image)]
    command("nvcc", "-DWITH_HOST", "-shared", "-Xcompiler", "-fPIC", *options, *case.recipe["options"], *NVCC_CUDART,
            f"{HERE}/answer.cu", "-o", case.library)
    if os.path.exists(f"{folder}/{case.library}"):
        put_in_file_order(case)


def put_in_file_order(case):
    """nvcc sorts images its own way. Read independently of gpuvet, whose list is checked against this."""
    data = open(f"{folder}/{case.library}", "rb").read()
    names = {1: "ptx:compute_", 2: "elf:sm_"}
    at = data.find(edit.MAGIC)
    while at >= 0:
        found = []
        for entry in edit.entry_offsets(data, at):
            fields = edit.ENTRY.unpack_from(data, entry)
            suffix = "a" if fields[11] & edit.SUFFIX_A else "f" if fields[11] & edit.SUFFIX_F else ""
            found.append(f"{names[fields[0]]}{fields[8]}{suffix}")
        if sorted(found) == sorted(case.labels):
            values = dict(zip(case.labels, case.values))
            case.labels, case.values = found, [values[label] for label in found]
        at = data.find(edit.MAGIC, at + 8)


def build_rdc(case):
    """nvcc -dc for each part, nvcc -dlink (nvlink for LTO), then the host linker."""
    base, parts = case.library[:-3], case.recipe["parts"]
    for source, part in (("answer", parts[0]), ("parts", parts[1])):
        options = [word for image in part for word in gencode(image)]
        defines = ["-DCALLEE_ELSEWHERE", "-DWITH_HOST"] if source == "answer" else []
        command("nvcc", "-dc", "-Xcompiler", "-fPIC", *defines, *options, f"{HERE}/{source}.cu", "-o", f"{base}_{source}.o")
    objects = [f"{base}_answer.o", f"{base}_parts.o"]
    if case.recipe["lto"]:
        link_lto(base, case.recipe["linked"], objects)
    else:
        options = [word for sm in case.recipe["linked"] for word in gencode(table.Image("s", sm))]
        command("nvcc", "-dlink", "-Xcompiler", "-fPIC", *options, *objects, "-o", f"{base}_link.o")
    command("g++", "-shared", *objects, f"{base}_link.o", "-o", case.library, f"-L{TOOLKIT}/lib64", "-lcudadevrt", *CUDART)


def link_lto(base, targets, objects):
    """What `nvcc -dlink -dlto` does, with a folder of our own for libnvvm: packaged toolkits move it."""
    stub = subprocess.run(["nvcc", "-dryrun", "-dlink", "-Xcompiler", "-fPIC", "-arch=sm_80", "x.o", "-o", "y.o"], cwd=folder,
                          capture_output=True, text=True).stderr
    link_stub = next((word.strip('"') for word in stub.split() if word.strip('"').endswith("link.stub")), "")
    images = []
    for sm in targets:
        command("nvlink", "-m64", f"--arch=sm_{sm}", "-lto", "-nvvmpath=nvvm", f"--register-link-binaries={base}.reg.c",
                f"-L{TOOLKIT}/lib64", "-lcudadevrt", *objects, "-o", f"{base}_{sm}.cubin")
        images.append(f"--image3=kind=elf,sm={sm},file={base}_{sm}.cubin")
    command("fatbinary", "-64", f"--create={base}.fatbin", "--link", *images, f"--embedded-fatbin={base}.fatbin.c")
    command("g++", "-c", "-fPIC", "-x", "c++", f'-DFATBINFILE="{base}.fatbin.c"', f'-DREGISTERLINKBINARYFILE="{base}.reg.c"', "-I.",
            f"-I{TOOLKIT}/include", "-D__NV_EXTRA_INITIALIZATION=", "-D__NV_EXTRA_FINALIZATION=",
            "-D__CUDA_INCLUDE_COMPILER_INTERNAL_HEADERS__", link_stub, "-o", f"{base}_link.o")


def build_eager(name, launched, other):
    """A library of two containers of which the kernel of one is launched."""
    base = f"n/{name}"
    image = table.Image("s", launched)
    command("nvcc", "-DWITH_HOST", "-c", "-Xcompiler", "-fPIC", *gencode(image), f"{HERE}/answer.cu", "-o", f"{base}_1.o")
    with open(f"{folder}/{base}_2.cu", "w") as file:
        file.write('extern "C" __global__ void unused(int* out) { *out = 1; }\n')
    command("nvcc", "-c", "-Xcompiler", "-fPIC", *gencode(table.Image("s", other)), f"{base}_2.cu", "-o", f"{base}_2.o")
    command("g++", "-shared", f"{base}_1.o", f"{base}_2.o", "-o", f"{base}.so", *CUDART)


def build(case):
    recipe = case.recipe
    if recipe.get("how") == "pack":
        pack(recipe["images"], recipe["options"], case.file)
    elif recipe.get("how") == "write":
        with open(f"{folder}/{case.file}", "wb") as file:
            file.write(recipe["bytes"])
    elif recipe.get("how") == "nvcc":
        return build_nvcc(case)
    elif recipe.get("how") == "rdc":
        return build_rdc(case)
    if case.library and recipe:
        link_registered(case.file, case.library)


def find_toolkit():
    """Where nvcc's own libraries are: its dry run names them."""
    text = subprocess.run(["nvcc", "-dryrun", "-c", f"{HERE}/answer.cu", "-o", "/dev/null"], capture_output=True, text=True).stderr
    top = next(line.split("=", 1)[1].strip() for line in text.splitlines() if " TOP=" in line)
    return os.path.realpath(top)


def find_cudart():
    """The shared runtime keeps the libraries small; the static one does as well."""
    for place in (f"{TOOLKIT}/lib64", f"{TOOLKIT}/targets/x86_64-linux/lib", f"{TOOLKIT}/lib"):
        if os.path.exists(f"{place}/libcudart.so"):
            return [f"-L{place}", f"-Wl,-rpath,{place}", "-lcudart"], ["-cudart", "shared", "-Xlinker", f"-rpath={place}"]
        if os.path.exists(f"{place}/libcudart_static.a"):
            return [f"-L{place}", "-lcudart_static", "-ldl", "-lrt", "-lpthread"], ["-cudart", "static"]
    sys.exit(f"no libcudart under {TOOLKIT}")


def prepare_nvvm():
    os.makedirs(f"{folder}/nvvm/lib64", exist_ok=True)
    for place in ("nvvm/lib64/libnvvm.so", "lib64/libnvvm.so"):
        if os.path.exists(f"{TOOLKIT}/{place}"):
            if not os.path.exists(f"{folder}/nvvm/lib64/libnvvm.so"):
                os.symlink(f"{TOOLKIT}/{place}", f"{folder}/nvvm/lib64/libnvvm.so")
            return


TOOLKIT = find_toolkit()
CUDART, NVCC_CUDART = find_cudart()

for name in ("pieces", "c", "n", "r", "o"):
    os.makedirs(f"{folder}/{name}", exist_ok=True)
prepare_nvvm()
warnings = ["-Wall", "-Wextra", f"-I{TOOLKIT}/include", "-std=c++20", "-O1"]
if not command("g++", *warnings, "-fPIC", "-c", f"{HERE}/shim.cpp", "-o", "shim.o"):
    sys.exit("\n".join(failures))

plain = table.plain_cases()
pieces = {table.Image(i.code, i.target, i.serial) for case in plain for i in case.recipe.get("images", []) if case.family != "nvcc"}
pieces |= {table.Image(code, target) for code in "sp" for target in table.TARGETS}
pieces |= {table.Image("r", "90"), table.Image("r", "80"), table.Image("s", "90", 2)}
with ThreadPoolExecutor(jobs) as pool:
    list(pool.map(compile_piece, sorted(pieces, key=lambda i: i.file)))
    pack(table.images("s90 p80"), ["--compress-mode=size", "--compress-all"], "pieces/packed.fatbin")
    if failures:
        sys.exit("\n".join(failures[:3]))
    everything = plain + open_cases(folder)
    eager = pool.map(lambda a: build_eager(*a), [("eager_other", "90", "80"), ("eager_launched", "80", "90")])
    list(pool.map(build, sorted(everything, key=lambda c: c.family not in ("rdc", "nvcc"))))
    list(eager)

built = [c for c in everything if all(os.path.exists(f"{folder}/{f}") for f in (c.file, c.library) if f)]
records = [{k: v for k, v in dataclasses.asdict(c).items() if k != "recipe"} for c in built]
with open(f"{folder}/cases.json", "w") as file:
    json.dump(records, file, indent=1)
missing = [c.name for c in everything if c not in built]
with open(f"{folder}/not_built.json", "w") as file:
    json.dump(missing, file)
print(f"built {len(built)} of {len(everything)} cases, {len(pieces)} images")
if failures:
    print(*failures[:5], sep="\n", file=sys.stderr)
    print("not built: " + ", ".join(missing), file=sys.stderr)
    sys.exit(1)
