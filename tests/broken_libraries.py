#!/usr/bin/env python3
"""The whole doctor against NVIDIA libraries that hang, crash or lose a GPU (tests/fakes).

Whatever they do: the answer comes within the deadline and a little, is complete JSON, is never
"healthy", names what is broken and nothing else, and has what the other GPUs answered. What is asked
of them only on demand is not asked otherwise, and never told as fine then.
"""

import argparse
import json
import os
import subprocess
import sys
import time

# A hang takes its deadline, and GPUs beside it are asked in half of that; all else ends by itself.
HANG_S = 8.0
PATIENT_S = 60.0
SLACK_S = 20.0  # what the judgement may take on a busy machine with sanitizers

# (what, NVML's steering, CUDA's steering, symptom or fault that is named, GPUs that must be told)
SITUATIONS = [
    ("NVML hangs in its first call", "hang=nvmlInit_v2", "", "nvml-hang", 0),
    ("NVML crashes on GPU 1 of 3", "gpus=3,abort=1:nvmlDeviceGetUUID", "", "nvml-crash", 2),
    ("NVML hangs on GPU 1 of 3", "gpus=3,hang=1:nvmlDeviceGetUUID", "", "nvml-hang", 2),
    ("one GPU of four is lost", "gpus=4,lost=2", "", "gpu-off-the-bus", 3),
    ("NVML's version is not the module's", "error=nvmlInit_v2:18", "", "nvml-lib-mismatch", 0),
    ("CUDA hangs", "gpus=2", "hang=cuInit", "cuda-hang", 2),
    ("CUDA crashes", "gpus=2", "abort=cuInit", "cuda-crash", 2),
    ("CUDA answers 999", "gpus=2", "error=cuInit:999", "cuda-999", 2),
    ("both answer", "gpus=2", "gpus=2", None, 2),
]
BROKEN = {row[3] for row in SITUATIONS} - {None}


def deadline_s(nvml, cuda):
    return HANG_S if "hang=" in nvml + cuda else PATIENT_S


def doctor(gpuvet, fakes, nvml, cuda, *more):
    environment = {**os.environ, "LD_LIBRARY_PATH": fakes, "GPUVET_FAKE_NVML": nvml,
                   "GPUVET_FAKE_CUDA": cuda}
    start = time.monotonic()
    command = [gpuvet, "doctor", "--json", "--deadline", str(deadline_s(nvml, cuda)), *more]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120,
                            check=False)
    return result, time.monotonic() - start


def check(gpuvet, fakes, situation):
    what, nvml, cuda, broken, told = situation
    result, seconds = doctor(gpuvet, fakes, nvml, cuda)
    try:
        answer = json.loads(result.stdout)
    except ValueError:
        return [f"{what}: no JSON; {result.stderr.strip()[-200:]}"]
    problems = []
    deadline = deadline_s(nvml, cuda)
    if seconds > deadline + SLACK_S:
        problems.append(f"{what}: took {seconds:.1f} s for a deadline of {deadline} s")
    if answer["verdict"] == "healthy" or result.returncode == 0:
        problems.append(f"{what}: verdict {answer['verdict']}, exit status {result.returncode}")
    named = {seen["id"] for seen in answer["symptoms"]}
    named |= {check["id"] for check in answer["checks"] if check["state"] == "fault"}
    if named & BROKEN != ({broken} if broken else set()):
        problems.append(f"{what}: {broken} is to be named; named are {sorted(named & BROKEN)}")
    working = [gpu for gpu in answer["machine"]["gpus"] if gpu["error"] == 0 and gpu["name"]]
    if len(working) != told:
        problems.append(f"{what}: {len(working)} GPUs are told, not {told}")
    return problems


def check_roms(gpuvet, fakes):
    """A board's InfoROM is read with -v only, since that keeps the driver from everybody else."""
    problems = []
    for more, expected in ((), "unknown"), (("-v",), "warning"):
        result, _ = doctor(gpuvet, fakes, "error=nvmlDeviceValidateInforom:14", "", *more)
        states = [row["state"] for row in json.loads(result.stdout)["checks"]
                  if row["id"] == "inforom-corrupted"]
        if states != [expected]:
            problems.append(f"a corrupted InfoROM {' '.join(more)}: {states}, not {expected}")
    return problems


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--gpuvet", required=True)
    options.add_argument("--fakes", required=True)
    arguments = options.parse_args()
    problems = []
    for situation in SITUATIONS:
        problems += check(os.path.abspath(arguments.gpuvet), os.path.abspath(arguments.fakes),
                          situation)
    problems += check_roms(os.path.abspath(arguments.gpuvet), os.path.abspath(arguments.fakes))
    print("\n".join(problems) or f"{len(SITUATIONS)} situations, all told in time")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
