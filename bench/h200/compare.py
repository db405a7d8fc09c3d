"""Compares what the driver did with what gpuvet says: outcome, error number and chosen image of every
load. Writes the table that gpuvet's unit tests replay.

usage: compare.py FOLDER GPUVET TABLE      exit 1: something differs or was not measured
"""
import collections
import json
import os
import subprocess
import sys

folder, gpuvet, table_path = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3]
cases = {case["name"]: case for case in json.load(open(f"{folder}/cases.json"))}
observed = [json.loads(line) for line in open(f"{folder}/observations.jsonl")]
machine = json.load(open(f"{folder}/machine.json"))

JIT_SWITCHES = ("CUDA_FORCE_PTX_JIT", "CUDA_FORCE_JIT", "CUDA_DISABLE_PTX_JIT", "CUDA_DISABLE_JIT")
KIND_NAMES = {"cubin": "elf", "sass": "elf", "lto": "nvvm", "lto-ir": "nvvm", "relocatable-ptx": "relptx"}


def switches(env):
    return tuple(sorted(f"{k}={v}" for k, v in env.items() if k in JIT_SWITCHES))


def file_of(case, api):
    return case["library"] if api == "runtime" else case["file"]


def ask_gpuvet(files, settings):
    """gpuvet's answer for many files at once: path -> file object."""
    words = [gpuvet, "scan", "--json", "--explain", "--gpu", "H200", "--driver", machine["driver"]]
    for setting in settings:
        words += ["--env", setting]
    result = subprocess.run(words + files, cwd=folder, capture_output=True, text=True)
    try:
        answer = json.loads(result.stdout)
    except ValueError:
        sys.exit(f"gpuvet printed no JSON (exit {result.returncode}): {' '.join(words)}\n{result.stderr[:2000]}")
    assert answer["schema"] == "gpuvet-scan/1", answer["schema"]
    return {file["path"]: file for file in answer["files"]}


def all_predictions():
    wanted = collections.defaultdict(set)
    for o in observed:
        wanted[switches(o["env"])].add(file_of(cases[o["case"]], o["api"]))
    return {settings: ask_gpuvet(sorted(files), settings) for settings, files in wanted.items()}


PREDICTIONS = all_predictions()


def label_of(image):
    kind = KIND_NAMES.get(image["kind"], image["kind"])
    target = image["target"]
    return kind + ":" + (target.replace("sm_", "lto_") if kind == "nvvm" else target)


def relevant_container(case, file):
    """The container whose verdict answers the case. nvcc links an idle one beside it, without kernels."""
    containers = file["containers"]
    if case["family"] == "rdc":
        return next((c for c in containers if c["role"] == "linked"), None)
    own = [c for c in containers if c["role"] != "linked"]
    return own[0] if own else None


def prediction(case, o):
    """(text, loads, error, image index or None) or None when gpuvet lists no such container."""
    file = PREDICTIONS[switches(o["env"])].get(file_of(case, o["api"]))
    container = relevant_container(case, file) if file else None
    if container is None:
        return None
    if case["family"] not in ("open", "rdc"):
        listed = [label_of(image) for image in container["images"]]
        if listed != case["labels"]:
            return ("lists " + ",".join(listed), None, None, None)
    verdict = container["verdicts"][0]
    loads = verdict["error"] == 0 and verdict["verdict"] in ("native", "same-major", "jit", "linked")
    return (verdict["verdict"], loads, verdict["error"], verdict["image"] if loads else None)


LOADED_WITHOUT_JIT = {(o["case"], o["api"]) for o in observed
                      if o["result"] == "loaded" and switches(o["env"]) == ("CUDA_DISABLE_PTX_JIT=1",)}


def candidates(case, o):
    """Indices of the images that may have run: those that return the value; if SASS and PTX return the
    same one, what CUDA_DISABLE_PTX_JIT does to the file tells them apart."""
    fits = [i for i, value in enumerate(case["values"]) if value == o["value"] and value is not None]
    kinds = {case["labels"][i].rpartition("/")[2].partition(":")[0] for i in fits}
    if len(fits) > 1 and kinds == {"elf", "ptx"} and case["family"] == "nvcc":
        forced = any("FORCE" in s for s in switches(o["env"]))
        kind = "elf" if not forced and (case["name"], o["api"]) in LOADED_WITHOUT_JIT else "ptx"
        fits = [i for i in fits if case["labels"][i].startswith(kind)]
    return fits


def agrees(case, o, predicted):
    """Empty when observation and prediction are the same; else what differs."""
    if predicted is None:
        return "gpuvet lists no fat binary"
    text, loads, error, image = predicted
    if loads is None:
        return text
    if o["result"] == "hang":
        return "" if not loads and error == 0 else "the driver hangs"
    if o["result"] != ("loaded" if loads else "error"):
        return "outcome"
    if not loads:
        return "" if error == o["error"] else "error number"
    fits = candidates(case, o)
    if text == "linked":
        return "" if any(case["labels"][i].startswith("part") for i in fits) else "linked, but no part ran"
    return "" if image in fits else "chosen image"


def show_observed(case, o):
    if o["result"] != "loaded":
        return o["result"] if o["error"] is None else f"{o['result']} {o['error']} at {o['stage']}"
    fits = candidates(case, o)
    return "loads " + ("|".join(case["labels"][i] for i in fits) if fits else f"(value {o['value']})")


def show_predicted(case, predicted):
    if predicted is None:
        return "-"
    text, loads, error, image = predicted
    if loads and image is not None and image < len(case["labels"]):
        return f"{text} {case['labels'][image]}"
    return text if loads or loads is None else f"{text} {error}"


def show_environment(env):
    return ",".join(f"{k}={v}" for k, v in sorted(env.items())) or "-"


def table_api(case, api):
    return "bare-" + api if api != "runtime" and (case["family"] == "bare" or case["file"].endswith(".bin")) else api


def write_table():
    """One line per file and outcome: the calls that had it, and the environments in which those had it."""
    outcomes = collections.defaultdict(lambda: collections.defaultdict(list))
    for o in observed:
        case = cases[o["case"]]
        fits = candidates(case, o) if o["result"] == "loaded" else []
        chosen = "|".join(map(str, fits)) or ("-" if o["result"] != "loaded" else f"value={o['value']}")
        key = ("open" if case["family"] == "open" else "rule", case["family"], case["name"], ",".join(case["labels"]) or "-",
               o["result"], "-" if o["error"] is None else str(o["error"]), chosen, "-" if o["stage"] == "done" else o["stage"])
        outcomes[key][show_environment(o["env"])].append(table_api(case, o["api"]))
    lines = []
    for key, by_environment in outcomes.items():
        by_apis = collections.defaultdict(list)
        for environment, apis in by_environment.items():
            by_apis[",".join(sorted(apis))].append(environment)
        lines += ["\t".join([*key[:4], ";".join(sorted(environments)), apis, *key[4:]]) for apis, environments in by_apis.items()]
    with open(table_path, "w") as file:
        file.write("# What the CUDA driver did with images of every kind. Measured, made by bench/h200/run.sh.\n"
                   f"# {machine['gpu']}, compute capability {machine['compute_capability']}, driver {machine['driver']} "
                   f"(CUDA {machine['cuda']}), nvcc {machine['nvcc']}, {machine['date']}.\n"
                   "# rule: gpuvet must predict the line; open: recorded, no document answers it.\n"
                   "# images: in file order; !note says how one was altered; linked/ and partN/ for relocatable device code.\n"
                   "# environments: separated by ';', '-' is none; variables of one by ','. The JIT cache is off unless STEP is\n"
                   "# given: the steps 1, 2, ... of one cache. api: cuModuleLoadData, cuModuleLoadFatBinary, cuLibraryLoadData, a\n"
                   "# launch by the runtime; bare- without a container; -wrapper gave the address of a wrapper record.\n"
                   "# error: '-' when the call never returned. chosen: index into images, a|b where the value fits both,\n"
                   "# value=N where it fits none. stage: the call that failed.\n"
                   "#class\tfamily\tname\timages\tenvironments\tapi\tresult\terror\tchosen\tstage\n")
        file.write("".join(line + "\n" for line in sorted(lines)))
    return len(lines)


def main():
    counts = collections.defaultdict(collections.Counter)
    differences, questions = [], []
    for o in observed:
        case = cases[o["case"]]
        predicted = prediction(case, o)
        wrong = agrees(case, o, predicted)
        counts[case["family"]]["equal" if not wrong else "differ"] += 1
        line = (f"{case['name']} | {show_environment(o['env'])} | {o['api']} | driver: {show_observed(case, o)} | "
                f"gpuvet: {show_predicted(case, predicted)}" + (f" | {wrong}" if wrong else ""))
        if case["family"] == "open":
            questions.append(("  " if not wrong else "? ") + line)
        elif wrong:
            differences.append("! " + line)
    rows = write_table()

    print("open questions (? = not what gpuvet says):")
    print(*questions, sep="\n")
    if differences:
        print(f"\ndifferences ({len(differences)}):")
        print(*differences, sep="\n")
    print(f"\n{'family':14}{'files':>7}{'loads':>8}{'equal':>8}{'differ':>8}")
    for family, count in counts.items():
        files = sum(1 for case in cases.values() if case["family"] == family)
        print(f"{family:14}{files:7}{sum(count.values()):8}{count['equal']:8}{count['differ']:8}")
    ruled = sum(sum(c.values()) for f, c in counts.items() if f != "open")
    strange = sum(1 for q in questions if q.startswith("?"))
    complete = not machine["skipped"] and not machine["problems"]
    print(f"\nh200: {ruled} predicted loads, {len(differences)} differ; {len(questions)} loads of open questions, {strange} not as "
          f"gpuvet says; {rows} lines in {table_path}" + ("" if complete else
          f"; INCOMPLETE: {machine['skipped']} tasks not begun, {len(machine['problems'])} not performed"))
    return 0 if not differences and complete and ruled else 1


sys.exit(main())
