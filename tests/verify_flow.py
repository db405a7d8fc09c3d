#!/usr/bin/env python3
"""The whole of `gpuvet verify` on NVIDIA libraries that stand in for a GPU (tests/fakes).

Device memory is memory of the process there, kernels run on the CPU, and what events time is counted,
so figures come out as they are steered. Each situation says which rows must have which verdict; a
fault must never pass, and a sound machine must never fail.
"""

import argparse
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PATIENT_S = 170.0

# (what, arguments, CUDA's steering, NVML's steering, {row: verdicts that are right}, words that are said)
SMALL = "free=10,tflops=0.002,"
SITUATIONS = [
    ("a sound GPU", ["--layer", "device,bandwidth"], SMALL, "",
     {"self-test-bit": "pass", "self-test-link": "pass", "self-test-hang": "pass",
      "device-context": "pass", "device-jit": "pass", "pcie-link": "pass", "copy-to-gpu": "pass",
      "copy-from-gpu": "pass", "memory-check": "pass"}, []),
    ("no compiler", ["--layer", "device"], SMALL + "nojit=1", "",
     {"device-context": "pass", "device-clock": "pass info", "device-jit": "fail"},
     ["libnvidia-ptxjitcompiler.so.1 is not installed"]),
    ("its load", ["--layer", "stress"], SMALL, "",
     {"gemm": "pass", "launch-gap": "pass", "graph": "pass", "clocks": "pass"}, []),
    ("a slow link", ["--layer", "bandwidth"], SMALL + "pcie=12", "",
     {"copy-to-gpu": "fail warn", "memory-check": "pass"}, ["12.0 of 63.0 GB/s"]),
    ("a wrong bit in copies", ["--layer", "bandwidth"], SMALL + "corrupt=cuMemcpyHtoDAsync_v2", "",
     {"copy-to-gpu": "fail unknown", "copy-from-gpu": "pass"}, ["0x10"]),
    ("a wrong bit in memory", ["--layer", "bandwidth"], SMALL + "corrupt=gv_fill", "",
     {"memory-check": "fail unknown"}, ["0x10"]),
    ("a wrong product", ["--layer", "stress"],
     SMALL + "corrupt=gv_gemm,corrupt=gv_gemm_tma,corrupt=gv_gemm_tma2", "",
     {"gemm": "fail unknown"}, ["tile"]),
    ("a GPU of two breaks", ["--layer", "device"], SMALL + "gpus=2,fault=1:gv_null:719", "gpus=2",
     {"device-context@0": "pass", "device-context@1": "fail"}, ["CUDA_ERROR_LAUNCH_FAILED"]),
    ("a GPU that only NVML sees", ["--layer", "device"], SMALL + "gpus=1", "gpus=2",
     {"device-context@0": "pass", "device-context@-1": "fail"}, ["the CUDA driver does not"]),
    ("eight GPUs", ["--layer", "device"], SMALL + "gpus=8", "gpus=8",
     {f"device-context@{gpu}": "pass" for gpu in range(8)}, ["8 x NVIDIA H200"]),
    ("a thermal slowdown", ["--layer", "stress"], SMALL, "held=271,clock=900",
     {"clocks": "fail warn"}, []),
    ("somebody else's load", ["--layer", "bandwidth"], SMALL + "pcie=12", "busy=90",
     {"copy-to-gpu": "unknown"}, ["used by others"]),
]


def environment(fakes, cuda, nvml):
    kept = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "LC_ALL": "C.UTF-8"}
    for name in ("ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS"):
        if name in os.environ:
            kept[name] = os.environ[name]
    return kept | {"LD_LIBRARY_PATH": fakes, "GPUVET_FAKE_CUDA": cuda, "GPUVET_FAKE_NVML": nvml}


def lines_of(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def verdicts(lines):
    """By row, and by row and GPU: "gemm", "gemm@1"."""
    ordinals = {line["uuid"]: line["ordinal"] for line in lines if line["type"] == "gpu"}
    found = {}
    for line in lines:
        if line["type"] != "judged":
            continue
        found.setdefault(line["id"], line["verdict"])
        if line["gpu"] in ordinals:
            found[f"{line['id']}@{ordinals[line['gpu']]}"] = line["verdict"]
    return found


def check(gpuvet, fakes, situation):
    what, arguments, cuda, nvml, wanted, said = situation
    result = subprocess.run([gpuvet, "verify", "--quick", "--json", *arguments],
                            env=environment(fakes, cuda, nvml), capture_output=True, text=True,
                            timeout=PATIENT_S, check=False)
    try:
        lines = lines_of(result.stdout)
        found = verdicts(lines)
    except (ValueError, KeyError) as error:
        return [f"{what}: no JSON lines ({error}); {result.stderr.strip()[-300:]}"]
    problems = []
    for row, allowed in wanted.items():
        if found.get(row) not in allowed.split():
            told = [line for line in lines if line["type"] == "judged" and
                    line["id"] == row.split("@")[0]]
            problems.append(f"{what}: {row} is {found.get(row)}, not {allowed}: {told}")
    bad = any(found.get(row) in ("fail", "unknown") for row in wanted)  # a warning gives status 0
    if bad and result.returncode == 0:
        problems.append(f"{what}: exit status 0")
    if not lines or lines[-1]["type"] != "verdict":
        problems.append(f"{what}: the last line is no verdict")
    return problems + missing_words(gpuvet, what, result.stdout, said)


def missing_words(gpuvet, what, text, said):
    """Of the same run as a person sees it: judged again from what was kept."""
    if not said:
        return []
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as saved:
        saved.write(text)
        saved.flush()
        page = subprocess.run([gpuvet, "verify", "--from", saved.name], capture_output=True,
                              text=True, timeout=PATIENT_S, check=False).stdout
    plain = " ".join(page.split())
    return [f"{what}: '{word}' is not said in: {page}" for word in said if word not in plain]


def check_interruption(gpuvet, fakes):
    """Ctrl-C gives what was measured so far, and status 130."""
    with subprocess.Popen([gpuvet, "verify", "--json", "--layer", "device,stress"],
                          env=environment(fakes, SMALL, ""), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, start_new_session=True) as run:
        seen = []
        for line in run.stdout:
            seen.append(line)
            if '"device-clock"' in line:
                os.killpg(run.pid, signal.SIGINT)  # as a terminal does: the children get it too
                break
        began = time.monotonic()
        seen += run.stdout.readlines()
        status = run.wait(timeout=PATIENT_S)
    lines = lines_of("".join(seen))
    problems = []
    if status != 130:
        problems.append(f"interrupted: exit status {status}, not 130")
    if verdicts(lines).get("device-context") != "pass":
        problems.append("interrupted: what was measured before is lost")
    if not any(line["type"] == "end" and line["interrupted"] for line in lines):
        problems.append("interrupted: the log does not say so")
    if time.monotonic() - began > 60:
        problems.append("interrupted: it went on for a minute")
    return problems


def check_named_gpu(gpuvet, fakes):
    """A GPU that is named and not there: the others do not pass for it."""
    result = subprocess.run([gpuvet, "verify", "--gpu", "0,7", "--layer", "device"],
                            env=environment(fakes, SMALL + "gpus=2", "gpus=2"),
                            capture_output=True, text=True, timeout=PATIENT_S, check=False)
    if result.returncode == 3 and "no GPU 7" in result.stdout:
        return []
    return [f"GPU 7 of two: status {result.returncode}: {result.stdout}"]


def check_frameworks(gpuvet, fakes):
    """A Python whose PyTorch works, and one whose import dies while other layers are measured."""
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", "--symlinks", folder], check=True)
        site = glob.glob(f"{folder}/lib/python3*/site-packages")[0]
        shutil.copytree(os.path.join(HERE, "fakes/python/torch"), f"{site}/torch")
        os.mkdir(f"{site}/torch-2.99.0.dist-info")
        with open(f"{site}/torch-2.99.0.dist-info/METADATA", "w", encoding="ascii") as file:
            file.write("Metadata-Version: 2.1\nName: torch\nVersion: 2.99.0\n")
        for steering, wanted in (("", "pass"), ("die=import", "fail"), ("wrong=matmul", "fail")):
            result = subprocess.run(
                [gpuvet, "verify", "--quick", "--json", "--layer", "device,framework", "--python",
                 f"{folder}/bin/python3"],
                env=environment(fakes, SMALL, "") | {"GPUVET_FAKE_TORCH": steering},
                capture_output=True, text=True, timeout=PATIENT_S, check=False)
            found = verdicts(lines_of(result.stdout))
            told = found.get("framework-torch"), found.get("device-context")
            # A cuBLASLt that is installed here may refuse to start on a driver that only stands in.
            if told != (wanted, "pass") or (wanted == "fail" and result.returncode != 1):
                problems.append(f"frameworks, '{steering}': {told}, exit status {result.returncode}; "
                                f"{result.stderr}")
    return problems


def check_no_driver(gpuvet):
    result = subprocess.run([gpuvet, "verify"], env=environment("/nonexistent", "", ""),
                            capture_output=True, text=True, timeout=PATIENT_S, check=False)
    if "no driver" not in result.stdout:
        return [] if "GPU" in result.stdout else [f"no driver: {result.stdout}"]
    missing = [layer for layer in ("device", "bandwidth", "framework", "stress")
               if f"\n{layer}" not in result.stdout]
    problems = [f"no driver: layer {layer} is not told" for layer in missing]
    if result.returncode != 3:
        problems.append(f"no driver: exit status {result.returncode}, not 3")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gpuvet", required=True)
    parser.add_argument("--fakes", required=True, help="folder of the libraries")
    parser.add_argument("--only", default="", help="situations whose name holds this")
    options = parser.parse_args()
    problems = []
    for situation in SITUATIONS:
        if options.only in situation[0]:
            problems += check(options.gpuvet, options.fakes, situation)
    if options.only in "named GPU":
        problems += check_named_gpu(options.gpuvet, options.fakes)
    if options.only in "frameworks":
        problems += check_frameworks(options.gpuvet, options.fakes)
    if options.only in "interruption":
        problems += check_interruption(options.gpuvet, options.fakes)
    if options.only in "no driver" and not os.path.exists("/dev/nvidiactl"):
        problems += check_no_driver(options.gpuvet)
    for problem in problems:
        print(problem)
    print(f"{len(problems)} problem(s) in {len(SITUATIONS) + 4} situations")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
