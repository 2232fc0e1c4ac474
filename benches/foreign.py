#!/usr/bin/env python3
"""Scores the tasks of `datasets/foreign-tasks.jsonl` by language, and the same tasks in English: the table of docs/ranking.md.

usage: foreign.py SKILLMUX SETS

SETS is the folder of `benches/baseline/set_libraries.py`, with an index `library-fit-N.ix` of each `library-fit-N.jsonl`. The columns
are shares of the tasks: something is loaded; the loaded skill of the highest score is right; each need has a skill; and the share of
the requests that no skill of their library serves for which something is loaded.
"""

import argparse
import json
import subprocess
import tempfile
from collections import defaultdict
from pathlib import Path

DATASETS = Path(__file__).resolve().parent.parent / "datasets"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("skillmux")
    parser.add_argument("sets", type=Path)
    args = parser.parse_args()
    english = {row["query_id"]: row["query"] for name in ("library-fit", "near-none") for row in read(name)}
    tasks = read("foreign-tasks")
    by_language = defaultdict(list)
    for task in tasks:
        by_language[task["lang"]].append(task)
    for task in tasks:
        by_language["all"].append(task)
        by_language["all, in English"].append(task | {"query": english[task["query_id"].split("-", 1)[1]]})
    print("| language | tasks | loaded | right skill first | all needed loaded | requests without a skill, loaded |\n|---|---:|---:|---:|---:|---:|")
    for language, tasks in by_language.items():
        scored = [row for library in grouped(tasks).items() for row in scores(args, *library)]
        with_skill = [row[1:] for row in scored if row[0]]
        without = [row[1] for row in scored if not row[0]]
        shares = " | ".join(f"{sum(column) / len(with_skill):.2f}" for column in zip(*with_skill))
        print(f"| {language} | {len(with_skill)} | {shares} | {sum(without)} of {len(without)} |")


def read(name):
    return [json.loads(line) for line in (DATASETS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def grouped(tasks):
    libraries = defaultdict(list)
    for task in tasks:
        libraries[task["library"]].append(task)
    return libraries


def scores(args, library, tasks):
    """Returns for each task whether it has a skill, whether something is loaded, and whether that is right."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as queries:
        for number, task in enumerate(tasks):
            queries.write(json.dumps({"query_id": str(number), "query": task["query"]}, ensure_ascii=False) + "\n")
        queries.flush()
        command = [args.skillmux, "route", "--queries", queries.name, "--index", args.sets / f"library-{library}.ix", "--budget", "0"]
        answered = subprocess.run(command, capture_output=True, text=True)
    # 1: nothing was found for any task.
    if answered.returncode not in (0, 1):
        raise SystemExit(answered.stderr)
    lines = answered.stdout.splitlines()
    routes = {route["query_id"]: route for route in map(json.loads, lines)}
    return [scored(task, routes[str(number)]) for number, task in enumerate(tasks)]


def scored(task, route):
    loaded = [skill for step in route["steps"] for skill in step["skills"]]
    ids = {skill["id"] for skill in loaded}
    if "skill_ids" not in task:
        return False, bool(loaded), False, False
    best = max(loaded, key=lambda skill: skill["score"], default={"id": None})
    is_first = best["id"] in {*task["skill_ids"], *task["also"]}
    return True, bool(loaded), is_first, all(ids & set(need) for need in task["skills"] if need)


if __name__ == "__main__":
    main()
