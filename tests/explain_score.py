#!/usr/bin/env python3
"""How often `gpuvet explain` names the cause that a public thread established.

usage: explain_score.py --gpuvet PROGRAM [--facts DIR] [--all] [--update] [CASE...]

tests/explain/cases/*.json: failures with their text, the thread, and the causes (one or several
that are right). Three kinds: "input": the text alone must lead to the cause, first; "input+context":
text and machine facts together; "ambiguous": the same text has several usual causes, so the right
one must be among the open ones, with a question that decides, and no single confident answer.
tests/explain/negative/*.txt: healthy logs and unrelated errors, which get no confident cause.

Prints the score of each kind, once more for texts that are as a thread had them ("as-seen"), and what
is wrong. Fails when a score is below the one in tests/explain/score.toml; --update writes that file.
"""
import argparse
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent / "explain"
KINDS = ["input", "input+context", "ambiguous"]


def explain(command, text):
    run = subprocess.run(command + ["explain", "--json", "-"], input=text.encode(),
                         capture_output=True, timeout=60)
    if run.returncode not in (0, 1, 3):
        return run.returncode, {"error": run.stderr.decode(errors="replace").strip()}
    return run.returncode, json.loads(run.stdout)


def root_causes(answer):
    """Ids of the causes of the root message that are not excluded, best first."""
    ids = {message["id"] for message in answer.get("messages", [])}
    if answer.get("oom") and answer.get("message") not in ids:
        return [cause["id"] for cause in answer["oom"]["causes"]]
    for message in answer.get("messages", []):
        if message["id"] == answer.get("message") and not message["follows_from"]:
            return [cause["id"] for cause in message["causes"] if cause["state"] != "excluded"]
    return []


def judge(case, code, answer):
    """None when the answer is right, else what is wrong."""
    if "error" in answer:
        return f"exit {code}: {answer['error']}"
    causes = root_causes(answer)
    confidence = answer["confidence"]
    shown = f"{answer.get('message')}: {confidence}: {' '.join(causes) or 'nothing'}"
    if not case["causes"]:
        return None if answer["cause"] is None else f"no cause was wanted; {shown}"
    if case["kind"] == "ambiguous":
        if not set(case["causes"]) & set(causes):
            return f"wanted {' or '.join(case['causes'])} among: {shown}"
        if not answer["questions"]:
            return f"no question decides; {shown}"
        if not confidence.startswith("one of"):
            return f"too sure; {shown}"
        return None
    if not causes or causes[0] not in case["causes"]:
        return f"wanted {' or '.join(case['causes'])}; {shown}"
    return None


def read_score(path):
    if not path.exists():
        return {}
    return {name.strip('"'): int(value)
            for name, value in re.findall(r'^("?[\w+-]+"?) = (\d+)', path.read_text(), re.M)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gpuvet", required=True)
    parser.add_argument("--facts", help="tables of this folder instead of the embedded ones")
    parser.add_argument("--all", action="store_true", help="show every answer")
    parser.add_argument("--update", action="store_true", help="write score.toml")
    parser.add_argument("cases", nargs="*", help="ids of cases; default: all")
    options = parser.parse_args()
    command = [options.gpuvet] + (["--facts", options.facts] if options.facts else [])

    cases = [case for path in sorted((HERE / "cases").glob("*.json"))
             for case in json.loads(path.read_text(encoding="utf-8"))]
    if options.cases:
        cases = [case for case in cases if case["id"] in options.cases]
    negatives = [] if options.cases else sorted((HERE / "negative").glob("*.txt"))
    if not cases:
        print("there are no cases")
        return 1

    right = {kind: 0 for kind in KINDS}
    total = dict(right)
    seen_right, seen_total = dict(right), dict(right)
    texts = ["\n".join(case["input"] + (case.get("context", [])
                                        if case["kind"] == "input+context" else [])) + "\n"
             for case in cases]
    texts += [path.read_text(encoding="utf-8", errors="replace") for path in negatives]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda text: explain(command, text), texts))
    for case, (code, answer) in zip(cases, answers):
        wrong = judge(case, code, answer)
        kind = case["kind"]
        total[kind] += 1
        right[kind] += wrong is None
        if case["basis"] == "as-seen":
            seen_total[kind] += 1
            seen_right[kind] += wrong is None
        if wrong:
            print(f"{case['id']} ({kind}): {wrong}")
        elif options.all:
            print(f"{case['id']} ({kind}): right, {answer.get('message')}: {answer['confidence']}: "
                  f"{' '.join(root_causes(answer))}")
    quiet = 0
    for path, (code, answer) in zip(negatives, answers[len(cases):]):
        if "error" in answer:
            print(f"{path.name}: exit {code}: {answer['error']}")
        elif answer["cause"] is not None:
            print(f"{path.name}: a confident cause, {answer['message']}: {answer['cause']}")
        else:
            quiet += 1
            if answer["confidence"] != "not known":
                print(f"{path.name}: not quiet, {answer['message']}: {answer['confidence']}")

    for kind in KINDS:
        if total[kind]:
            print(f"{kind:14} {right[kind]:3} of {total[kind]:3}  {100 * right[kind] / total[kind]:5.1f} %"
                  f"   as-seen {seen_right[kind]:3} of {seen_total[kind]:3}")
    if negatives:
        print(f"{'negative':14} {quiet:3} of {len(negatives):3} without a confident cause")
    if options.cases:
        return 0 if all(right[kind] == total[kind] for kind in KINDS) else 1

    score = dict(right, negative=quiet)
    recorded = HERE / "score.toml"
    if options.update:
        rows = "".join(f'"{kind}" = {value}\n' for kind, value in score.items())
        recorded.write_text("# Right answers of tests/explain_score.py. These numbers may not fall.\n"
                            + rows)
    status = 0
    before = read_score(recorded)
    if not before:
        print(f"{recorded} has no score")
        return 1
    for kind, value in before.items():
        if score.get(kind, 0) < value:
            print(f"the score of {kind} fell from {value} to {score.get(kind, 0)}")
            status = 1
    if quiet < len(negatives):
        print("a text without a GPU's fault got a confident cause")
        status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
