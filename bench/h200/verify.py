#!/usr/bin/env python3
"""gpuvet verify on a machine with an NVIDIA GPU, beside its peers in the same run.

  bench/h200/verify.py [--gpuvet FILE] [--nvbandwidth FILE] [--rounds N] [--part LIST] [--out FOLDER]

Parts (default: all): copies (against nvbandwidth, built from its own repository), gemm (cuBLASLt by
gpuvet against PyTorch's product on the same integers, and gpuvet's own kernel), quick (how long --quick
takes, and when the first result is there), self-test. Contenders take turns. Writes verify.md and
verify.json into --out; with every run's JSON lines in it. Exit status: 0 all ran, 1 one did not, 3 no
GPU. No setting of a card is changed.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import time

SIZE = 8192
BOUND = 45  # of the integers: SIZE * BOUND * BOUND stays exact in fp32

# For `seconds` under load, one rate for each twentieth of it, as gpuvet's own step does.
TORCH = """
import json, sys, time, torch
size, bound, seconds, kind = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
make = (lambda: torch.randint(-bound, bound + 1, (size, size), device="cuda").to(torch.bfloat16)) \\
    if kind == "integers" else (lambda: torch.randn(size, size, device="cuda", dtype=torch.bfloat16))
a, b, out = make(), make(), torch.full((size, size), float("nan"), device="cuda", dtype=torch.bfloat16)
def products(count):
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for _ in range(count):
        torch.mm(a, b.t(), out=out)
    end.record()
    return start, end
def rate(pair, count):
    pair[1].synchronize()
    return 2.0 * size**3 * count / (pair[0].elapsed_time(pair[1]) / 1e3) / 1e12
until = time.monotonic() + seconds / 5
while time.monotonic() < until:
    rate(products(32), 32)
rates, until = [], time.monotonic() + seconds * 4 / 5
queue = [products(64), products(64)]
while time.monotonic() < until:
    queue.append(products(64))
    rates.append(rate(queue.pop(0), 64))
torch.cuda.synchronize()
print(json.dumps({"rates": rates, "version": torch.__version__}))
"""


def run(command, seconds=300, **more):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=seconds, check=False, **more)


class Record:
    """What was run, what came back, and what went wrong."""

    def __init__(self, arguments):
        self.arguments, self.kept, self.lines, self.wrong = arguments, {}, [], []

    def keep(self, name, value):
        self.kept.setdefault(name, []).append(value)

    def say(self, line=""):
        self.lines.append(line)
        print(line, flush=True)

    def failed(self, what, text):
        self.wrong.append(what)
        print(f"{what}: {text.strip()[-600:]}", file=sys.stderr)


def verify(record, name, *options):
    """The JSON lines of one run."""
    result = run([record.arguments.gpuvet, "verify", "--json", *options])
    lines = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]
    if not any(line["type"] == "verdict" for line in lines):
        record.failed(name, result.stdout + result.stderr)
    record.keep(name, lines)
    return lines


def samples(lines, step, reading):
    for line in lines:
        if line["type"] == "step" and line["id"] == step and reading in line.get("readings", {}):
            return line["readings"][reading]["samples"]
    return []


def row(name, medians, digits=2):
    if not medians:
        return f"| {name} | not measured | | | |"
    spread = (max(medians) - min(medians)) / statistics.median(medians) * 100
    return (f"| {name} | {statistics.median(medians):.{digits}f} | {min(medians):.{digits}f} "
            f"| {max(medians):.{digits}f} | {spread:.2f} % |")


# nvbandwidth's test, how often it counts a byte less than gpuvet, and the same by gpuvet
COPIES = [("host_to_device_memcpy_ce", 1, "copy-to-gpu", "rate"),
          ("device_to_host_memcpy_ce", 1, "copy-from-gpu", "rate"),
          ("host_to_device_bidirectional_memcpy_ce", 1, "copy-both-ways", "to_gpu"),
          ("device_to_host_bidirectional_memcpy_ce", 1, "copy-both-ways", "from_gpu"),
          ("host_to_device_memcpy_sm", 1, "copy-by-kernel", "to_gpu"),
          ("device_to_host_memcpy_sm", 1, "copy-by-kernel", "from_gpu"),
          ("device_local_copy", 2, "memory-bandwidth", "copy")]  # read and written


def nvbandwidth(record):
    result = run([record.arguments.nvbandwidth, "-j", "-t", *[test for test, *_ in COPIES]])
    try:
        cases = json.loads(result.stdout)["nvbandwidth"]["testcases"]
    except (ValueError, KeyError):
        record.failed("nvbandwidth", result.stdout + result.stderr)
        return
    times = {test: factor for test, factor, *_ in COPIES}
    for case in cases:
        if case.get("bandwidth_matrix"):
            cell = float(case["bandwidth_matrix"][0][0])
            record.keep("nvbandwidth " + case["name"], cell * times[case["name"]])


def copies(record):
    ours = {}
    for _ in range(record.arguments.rounds):
        if record.arguments.nvbandwidth:
            nvbandwidth(record)
        lines = verify(record, "verify bandwidth", "--layer", "bandwidth")
        for test, _, step, reading in COPIES:
            found = samples(lines, step, reading)
            if found:
                ours.setdefault(test, []).append(statistics.median(found))
    record.say(f"\n{record.arguments.rounds} rounds in turn; each figure is a run's median, in GB/s; "
               "the spread is from the lowest to the highest of them.\n")
    record.say("| | median | lowest | highest | spread |\n|---|---|---|---|---|")
    for test, _, step, reading in COPIES:
        theirs = record.kept.get("nvbandwidth " + test, [])
        record.say(row(f"nvbandwidth {test}", theirs))
        record.say(row(f"gpuvet {step}, {reading}", ours.get(test, [])))
        if theirs and test in ours:
            ratio = statistics.median(ours[test]) / statistics.median(theirs)
            record.say(f"| gpuvet / nvbandwidth | **{ratio:.4f}** | | | |")
    lines = record.kept.get("verify bandwidth", [[]])[-1]
    for reading in ("read", "write", "copy", "triad"):
        found = samples(lines, "memory-bandwidth", reading)
        if found:
            record.say(row(f"device memory, {reading} (samples of one run)", found, 0))


def torch_rates(record, kind, seconds):
    result = run(["python3", "-c", TORCH, str(SIZE), str(BOUND), str(seconds), kind])
    try:
        answer = json.loads(result.stdout.splitlines()[-1])
    except (ValueError, IndexError):
        record.failed("torch", result.stdout + result.stderr)
        return []
    record.keep("torch " + kind, answer)
    return answer["rates"]


def gemm(record):
    seconds = 6
    found = {}
    for _ in range(max(record.arguments.rounds // 2, 2)):
        for kind in ("integers", "normal"):
            rates = torch_rates(record, kind, seconds)
            if rates:
                found.setdefault(f"PyTorch, {kind}", []).append(statistics.median(rates))
        lines = verify(record, "verify stress", "--layer", "stress", "--duration", "30")
        for step, name in (("gemm-library", "gpuvet, cuBLASLt"), ("gemm", "gpuvet, own kernel")):
            rates = samples(lines, step, "rate")
            if rates:
                found.setdefault(name, []).append(statistics.median(rates))
            alone = samples(lines, step, "unchecked_rate")
            if alone:
                found.setdefault(name + ", unchecked", []).append(statistics.median(alone))
            share = samples(lines, step, "overhead")
            if share:
                found.setdefault(f"overhead of the checks, {step} (share)", []).append(share[-1])
    record.say(f"\nbf16, {SIZE} x {SIZE} x {SIZE}, TFLOP/s under load; integers from -{BOUND} to "
               f"{BOUND}.\n")
    record.say("| | median | lowest | highest | spread |\n|---|---|---|---|---|")
    for name, medians in found.items():
        record.say(row(name, medians, 4 if "share" in name else 1))
    for name, base in (("gpuvet, cuBLASLt, unchecked", "PyTorch, integers"),
                       ("gpuvet, cuBLASLt", "PyTorch, integers"),
                       ("gpuvet, own kernel", "gpuvet, cuBLASLt")):
        if base in found and name in found:
            ratio = statistics.median(found[name]) / statistics.median(found[base])
            record.say(f"\n{name} / {base} = **{ratio:.4f}**")


def first_result(record):
    """Seconds until the GPU is described, until the first line of a step that is done, until the end."""
    begin = time.monotonic()
    described = first = None
    command = [record.arguments.gpuvet, "verify", "--quick", "--json"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True) as child:
        lines = []
        for line in child.stdout:
            lines.append(json.loads(line))
            if described is None and lines[-1]["type"] == "gpu":
                described = time.monotonic() - begin
            if first is None and lines[-1]["type"] == "step":
                first = time.monotonic() - begin
    record.keep("verify quick", lines)
    return described, first, time.monotonic() - begin, child.returncode


def quick(record):
    runs = [first_result(record) for _ in range(record.arguments.rounds)]
    record.say("\n| --quick | GPU described | first result | end | exit status |\n|---|---|---|---|---|")
    for *moments, status in runs:
        told = " | ".join("never" if at is None else f"{at:.2f} s" for at in moments)
        record.say(f"| | {told} | {status} |")


def self_test(record):
    lines = verify(record, "verify self-test", "--self-test")
    record.say("\n| self-test | found | of |\n|---|---|---|")
    for line in lines:
        if line["type"] != "step":
            continue
        caught, trials = ([*samples([line], line["id"], name), 0][0] for name in ("caught", "trials"))
        record.say(f"| {line['id']} ({line['state']}) | {caught:.0f} | {trials:.0f} |")


PARTS = {"copies": copies, "gemm": gemm, "quick": quick, "self-test": self_test}


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--gpuvet", default=shutil.which("gpuvet") or "gpuvet")
    options.add_argument("--nvbandwidth", default=shutil.which("nvbandwidth"))
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--part", default=",".join(PARTS))
    options.add_argument("--out", default=".")
    arguments = options.parse_args()
    arguments.gpuvet = os.path.abspath(arguments.gpuvet)
    if not shutil.which("nvidia-smi") or run(["nvidia-smi", "-L"]).returncode != 0:
        print("no GPU here", file=sys.stderr)
        return 3
    record = Record(arguments)
    for part in arguments.part.split(","):
        PARTS[part](record)
    with open(os.path.join(arguments.out, "verify.md"), "w", encoding="utf-8") as file:
        file.write("\n".join(record.lines) + "\n")
    with open(os.path.join(arguments.out, "verify.json"), "w", encoding="utf-8") as file:
        json.dump(record.kept, file)
    return 1 if record.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
