#!/usr/bin/env python3
"""Scores the tasks of `fixtures/user-tasks.jsonl`, by kind, alone and with their needs: the table of docs/plan.md.

usage: user_tasks.py SKILLMUX INDEX [--tasks FILE]

INDEX is a folder of `skillmux index fixtures/user-library.jsonl`. The columns are shares of the tasks: the decision is right; the
loaded skill of the highest score is right; each need has a skill. A task that needs none is right if nothing loads.
"""

import argparse
import json
import subprocess
import tempfile
from collections import defaultdict
from pathlib import Path

TASKS = Path(__file__).resolve().parent.parent / "fixtures/user-tasks.jsonl"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("skillmux")
    parser.add_argument("index", type=Path)
    parser.add_argument("--tasks", type=Path, default=TASKS)
    args = parser.parse_args()
    tasks = [json.loads(line) for line in args.tasks.read_text(encoding="utf-8").splitlines()]
    cells = [shares(tasks, routes(args, tasks, fields)) for fields in (("query_id", "query"), ("query_id", "query", "needs"))]
    print("| kind | tasks | task alone: decision | first | all | with needs: decision | first | all |\n|---|---:|---:|---:|---:|---:|---:|---:|")
    for kind in ["all", *sorted({task["kind"] for task in tasks})]:
        n = sum(kind in ("all", task["kind"]) for task in tasks)
        name = kind if kind == "all" else f"`{kind}`"
        print(f"| {name} | {n} | {cells[0][kind]} | {cells[1][kind]} |")


def routes(args, tasks, fields):
    """Returns the answer to each task, by its id."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as queries:
        for task in tasks:
            row = {name: task[name] for name in fields if task.get(name)}
            queries.write(json.dumps(row, ensure_ascii=False) + "\n")
        queries.flush()
        command = [args.skillmux, "route", "--queries", queries.name, "--index", args.index, "--budget", "0"]
        lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return {route["query_id"]: route for route in map(json.loads, lines)}


def shares(tasks, routes):
    """Returns the shares that are right, as text by kind."""
    rights = defaultdict(list)
    for task in tasks:
        right = scored(task, routes[task["query_id"]])
        rights["all"].append(right)
        rights[task["kind"]].append(right)
    return {kind: " | ".join(f"{sum(column) / len(rows):.2f}" for column in zip(*rows)) for kind, rows in rights.items()}


def scored(task, route):
    loaded = [skill for step in route["steps"] for skill in step["skills"]]
    is_decided = route["decision"] == task["decision"]
    needs = [need for need in task["skills"] if need]
    if not needs:
        return is_decided, is_decided, is_decided
    ids = {skill["id"] for skill in loaded}
    best = max(loaded, key=lambda skill: skill["score"], default={"id": None})["id"]
    return is_decided, any(best in need for need in needs), all(ids.intersection(need) for need in needs)


if __name__ == "__main__":
    main()
