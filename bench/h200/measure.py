"""Loads every case that build.py made, each in a child process with a deadline, and writes
observations.jsonl: what the driver did.

usage: measure.py FOLDER [JOBS [SECONDS]]      exit 3: no driver or no GPU here
"""
import json
import os
import queue
import shutil
import subprocess
import sys
import threading
import time

folder = os.path.abspath(sys.argv[1])
jobs = int(sys.argv[2]) if len(sys.argv) > 2 else os.cpu_count()
budget = float(sys.argv[3]) if len(sys.argv) > 3 else 240.0
started = time.monotonic()

# What the caller's environment says about the JIT must not reach the children.
BASE = {k: v for k, v in os.environ.items() if not k.startswith("CUDA_")}
BASE["CUDA_VISIBLE_DEVICES"] = "0"


def environment(case, settings):
    env = dict(BASE)
    if case["in_order"]:
        env["CUDA_CACHE_PATH"] = os.path.join(folder, "cache", "".join(c if c.isalnum() else "_" for c in case["name"]))
    else:
        env["CUDA_CACHE_DISABLE"] = "1"
    env.update({k: v for k, v in settings.items() if k != "STEP"})
    return env


def child(case, settings, apis):
    """One process. Returns the outcomes in order; fewer than `apis` if it hung or crashed at the next one."""
    arguments = [f"{api}={case['library'] if api == 'runtime' else case['file']}" for api in apis]
    process = subprocess.Popen(["./load", *arguments], cwd=folder, env=environment(case, settings), text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    ended = "exit"
    try:
        out, err = process.communicate(timeout=case["deadline"])
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        ended = "hang"
    outcomes = []
    for line in out.splitlines():
        api, stage, error, value = line.split()
        outcomes.append({"api": api, "result": "error" if int(error) else "loaded", "stage": stage, "error": int(error),
                         "value": None if value == "-" else int(value)})
    if ended == "exit" and process.returncode == 3:
        raise SystemExit(err.strip())
    if len(outcomes) < len(apis):
        outcomes.append({"api": apis[len(outcomes)], "result": "hang" if ended == "hang" else "crash", "stage": "load",
                         "error": None if ended == "hang" else process.returncode, "value": None})
    return outcomes


# A refused image leaves the process as it was. An error later than that may poison all that follows.
HARMLESS = ("done", "load", "function", "kernel")


def measure(case, settings, apis):
    """All outcomes of one file in one environment, from one child unless a call spoils it for the others."""
    done = []
    while len(done) < len(apis):
        for outcome in child(case, settings, apis[len(done):]):
            done.append(outcome)
            if outcome["stage"] not in HARMLESS:
                break
    return [{"case": case["name"], "env": settings, **outcome} for outcome in done]


def tasks(cases):
    """Most telling first, so that a spent budget costs the least: lists of (case, settings) done in order."""
    slow = [c for c in cases if c["deadline"] < 40]  # they run into their deadline: start early
    rest = [c for c in cases if c["deadline"] >= 40]
    order = []
    for case in slow:
        order += [[(case, settings)] for settings in case["environments"]]
    for case in rest:
        if case["in_order"]:
            order.append([(case, settings) for settings in case["environments"]])
        else:
            order.append([(case, case["environments"][0])])
    for case in rest:
        if not case["in_order"]:
            order += [[(case, settings)] for settings in case["environments"][1:]]
    return order


def main():
    found = subprocess.run(["./load", "--driver"], cwd=folder, capture_output=True, text=True, env=BASE)
    if found.returncode:
        print(found.stderr.strip() or f"load --driver ended with {found.returncode}", file=sys.stderr)
        return 3
    driver = driver_version()
    cases = json.load(open(f"{folder}/cases.json"))
    work = queue.SimpleQueue()
    order = tasks(cases)
    for task in order:
        work.put(task)
    problems = [name + ": not built" for name in json.load(open(f"{folder}/not_built.json"))]
    results, lock = [], threading.Lock()
    skipped = 0

    def worker():
        nonlocal skipped
        while True:
            try:
                task = work.get_nowait()
            except queue.Empty:
                return
            if time.monotonic() - started > budget:
                with lock:
                    skipped += len(task)
                continue
            for case, settings in task:
                try:
                    outcomes = measure(case, settings, case["apis"])
                except SystemExit as error:
                    with lock:
                        problems.append(f"{case['name']}: {error}")
                    continue
                with lock:
                    results.extend(outcomes)

    threads = [threading.Thread(target=worker) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    results.sort(key=lambda r: (r["case"], json.dumps(r["env"]), r["api"]))
    with open(f"{folder}/observations.jsonl", "w") as file:
        for result in results:
            file.write(json.dumps(result) + "\n")
    cuda, cc, name = found.stdout.strip().split(" ", 2)
    json.dump({"cuda": cuda, "compute_capability": cc, "gpu": name, "driver": driver, "nvcc": nvcc_version(),
               "date": time.strftime("%Y-%m-%d"), "skipped": skipped, "problems": problems},
              open(f"{folder}/machine.json", "w"), indent=1)
    seconds = time.monotonic() - started
    print(f"{name}, driver {driver} (CUDA {cuda}): {len(results)} loads in {seconds:.0f} s, {skipped} tasks not begun, "
          f"{len(problems)} not performed")
    print(*problems[:10], sep="\n", file=sys.stderr)
    return 0


def driver_version():
    for line in open("/proc/driver/nvidia/version") if os.path.exists("/proc/driver/nvidia/version") else []:
        for word in line.split():
            if word.count(".") >= 1 and word.replace(".", "").isdigit():
                return word
    if shutil.which("nvidia-smi"):
        smi = subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"], capture_output=True, text=True)
        if smi.returncode == 0 and smi.stdout.split():
            return smi.stdout.split()[0]
    raise SystemExit("the driver works, but neither /proc/driver/nvidia/version nor nvidia-smi tells its version")


def nvcc_version():
    text = subprocess.run(["nvcc", "--version"], capture_output=True, text=True).stdout
    return next((word[1:] for word in text.split() if word.startswith("V") and word[1:2].isdigit()), "unknown")


sys.exit(main())
