#!/usr/bin/env python3
"""gpuvet doctor on a machine with an NVIDIA GPU: how fast beside its peers, and does it find what is
broken on purpose?

  bench/h200/doctor.py [--gpuvet FILE] [--rounds N] [--out FOLDER]

Contenders take turns after one round that is thrown away; medians with the fastest and slowest run, in
milliseconds of wall-clock time. What is broken is broken for a child process only: by its environment,
or in a mount namespace of its own (needs root; else it is skipped and said so). Writes doctor.md and
doctor.json into --out. Exit status: 0 every planted fault was the first line, 1 one was not, 3 no GPU.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

PAUSE_S = 0.3  # the driver still tears down the process before: nobody pays for another's end

HERE = os.path.dirname(os.path.abspath(__file__))


def run(command, **more):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=120, check=False, **more)


def timed(command):
    start = time.perf_counter()
    result = run(command)
    return (time.perf_counter() - start) * 1000, result.returncode


def measure(contenders, rounds):
    times = {name: [] for name in contenders}
    for turn in range(rounds + 1):
        for name, command in contenders.items():
            slow = "collect_env" in name
            if slow and turn > 3:
                continue
            time.sleep(PAUSE_S)
            milliseconds, status = timed(command)
            if status not in (0, 1):
                print(f"{name} ended with status {status}", file=sys.stderr)
            if turn:
                times[name].append(milliseconds)
    return times


def build_starts(folder):
    program = os.path.join(folder, "starts")
    subprocess.run(["g++", "-O1", os.path.join(HERE, "starts.cpp"), "-o", program, "-ldl"],
                   check=True)
    return program


def stubs_folder(folder):
    """The toolkit's stub under the name that the loader looks for."""
    for stub in ("/usr/local/cuda/lib64/stubs/libcuda.so",
                 "/usr/local/cuda/targets/x86_64-linux/lib/stubs/libcuda.so"):
        if os.path.exists(stub):
            stubs = os.path.join(folder, "cuda", "lib64", "stubs")
            os.makedirs(stubs, exist_ok=True)
            shutil.copy(os.path.realpath(stub), os.path.join(stubs, "libcuda.so.1"))
            return stubs
    return None


def wrong_libcuda(folder):
    """A libcuda.so.1 of another driver version, first on the path: an empty library."""
    wrong = os.path.join(folder, "old-driver")
    os.makedirs(wrong, exist_ok=True)
    source = os.path.join(folder, "empty.c")
    with open(source, "w", encoding="ascii") as file:
        file.write("int cuInit(unsigned f) { (void)f; return 803; }\n")
    library = os.path.join(wrong, "libcuda.so.470.57.02")
    subprocess.run(["gcc", "-shared", "-fPIC", source, "-o", library, "-Wl,-soname,libcuda.so.1"],
                   check=True)
    link = os.path.join(wrong, "libcuda.so.1")
    if not os.path.lexists(link):
        os.symlink(library, link)
    return wrong


def without_uvm(command):
    """The command in a mount namespace whose /dev has every node but nvidia-uvm."""
    script = r"""
set -e
mkdir -p /tmp/gpuvet-dev && mount -t tmpfs tmpfs /tmp/gpuvet-dev
for node in /dev/* ; do
  case $node in /dev/nvidia-uvm*) continue ;; esac
  at=/tmp/gpuvet-dev/${node#/dev/}
  if [ -d "$node" ]; then mkdir -p "$at"; mount --rbind "$node" "$at" 2>/dev/null || true
  elif [ -L "$node" ]; then cp -a "$node" "$at"
  elif [ -e "$node" ]; then : > "$at"; mount --bind "$node" "$at" 2>/dev/null || true
  fi
done
mount --rbind /tmp/gpuvet-dev /dev
mount -o remount,ro,bind /dev # the driver would make the node anew
exec "$@"
"""
    return ["unshare", "-m", "sh", "-c", script, "sh"] + command


def planted(gpuvet, folder):
    """(what, command, environment, ids of which one must be the first line's) for each fault."""
    doctor = [gpuvet, "doctor", "--json"]
    faults = [("all devices hidden (CUDA_VISIBLE_DEVICES=)", doctor, {"CUDA_VISIBLE_DEVICES": ""},
               "visible"),
              ("a device that does not exist (CUDA_VISIBLE_DEVICES=7)", doctor,
               {"CUDA_VISIBLE_DEVICES": "7"}, "visible"),
              ("another driver's libcuda first (LD_LIBRARY_PATH)", doctor,
               {"LD_LIBRARY_PATH": wrong_libcuda(folder)}, "driver"),
              ("no /dev/nvidia-uvm (mount namespace)", without_uvm(doctor), {}, "uvm")]
    stubs = stubs_folder(folder)
    if stubs:
        faults.append(("the toolkit's stub first (LD_LIBRARY_PATH)", doctor,
                       {"LD_LIBRARY_PATH": stubs}, "stub"))
    return faults


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--gpuvet", default=shutil.which("gpuvet") or "gpuvet")
    options.add_argument("--rounds", type=int, default=11)
    options.add_argument("--out", default=".")
    arguments = options.parse_args()
    gpuvet = os.path.abspath(arguments.gpuvet)
    if run(["nvidia-smi", "-L"]).returncode != 0:
        print("no GPU here", file=sys.stderr)
        return 3
    folder = tempfile.mkdtemp(prefix="gpuvet-doctor.")
    starts = build_starts(folder)
    contenders = {"cuInit alone": [starts, "libcuda.so.1", "cuInit"],
                  "nvmlInit alone": [starts, "libnvidia-ml.so.1", "nvmlInit_v2"],
                  "gpuvet doctor": [gpuvet, "doctor"],
                  "gpuvet doctor --no-cuda": [gpuvet, "doctor", "--no-cuda"],
                  "nvidia-smi -L": ["nvidia-smi", "-L"],
                  "nvidia-smi": ["nvidia-smi"],
                  "python3 -m torch.utils.collect_env": ["python3", "-m",
                                                         "torch.utils.collect_env"]}
    if run(["python3", "-c", "import torch"]).returncode != 0:
        contenders.pop("python3 -m torch.utils.collect_env")
    times = measure(contenders, arguments.rounds)
    medians = {name: statistics.median(values) for name, values in times.items()}
    lines = ["| command | median | fastest | slowest | runs |", "|---|---|---|---|---|"]
    for name, values in times.items():
        lines.append(f"| `{name}` | {medians[name]:.1f} ms | {min(values):.1f} | {max(values):.1f} "
                     f"| {len(values)} |")
    ratio = medians["gpuvet doctor"] / medians["cuInit alone"]
    more = medians["gpuvet doctor --no-cuda"] - medians["nvmlInit alone"]
    lines.append(f"\ngpuvet doctor takes {ratio:.2f} times what cuInit alone takes; without CUDA it "
                 f"takes {more:.1f} ms more than nvmlInit alone.")
    lines += ["", "| broken on purpose | first line | id |", "|---|---|---|"]
    wrong = 0
    results = []
    for what, command, environment, expected in planted(gpuvet, folder):
        result = run(command, env={**os.environ, **environment})
        try:
            answer = json.loads(result.stdout)
        except ValueError:
            answer = {"verdict": "none", "text": result.stderr.strip()[-300:], "id": None}
        found = answer["verdict"] in ("fault", "broken") and expected in (answer["id"] or "")
        wrong += not found
        results.append({"what": what, "found": found, "answer": answer})
        lines.append(f"| {what} | {answer['verdict']}: {answer['text']} | `{answer['id']}`"
                     f"{'' if found else ' **NOT FOUND**'} |")
    text = "\n".join(lines) + "\n"
    print(text)
    with open(os.path.join(arguments.out, "doctor.md"), "w", encoding="utf-8") as file:
        file.write(text)
    with open(os.path.join(arguments.out, "doctor.json"), "w", encoding="utf-8") as file:
        json.dump({"times_ms": times, "planted": results}, file)
    shutil.rmtree(folder, ignore_errors=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
