#!/usr/bin/env python3
"""Scores the tasks of `fixtures/user-tasks.jsonl`, by kind, alone and with their needs: the table of docs/plan.md.

usage: user_tasks.py SKILLMUX INDEX [--tasks FILE] [--sets]

INDEX is a folder of `skillmux index fixtures/user-library.jsonl`. The columns are shares of the tasks: the decision is right; the
loaded skill of the highest score is right; each need has a skill. A task that needs none is right if nothing loads. With --sets there
are two more columns: the set F1 of the loaded skills, and how many skills load.
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
    parser.add_argument("--sets", action="store_true")
    args = parser.parse_args()
    tasks = [json.loads(line) for line in args.tasks.read_text(encoding="utf-8").splitlines()]
    columns = slice(0, 5 if args.sets else 3)
    names = ["decision", "first", "all", "set F1", "skills"][columns]
    has_needs = any(task.get("needs") for task in tasks)
    readings = [("task alone: ", ("query_id", "query")), ("with needs: ", ("query_id", "query", "needs"))][: 1 + has_needs]
    cells = [shares(tasks, routes(args, tasks, fields), columns) for _, fields in readings]
    heads = [" | ".join([reading + names[0], *names[1:]]) for reading, _ in readings]
    print(f"| kind | tasks | {' | '.join(heads)} |\n|---|---:|{'---:|' * len(names) * len(readings)}")
    for kind in ["all", *sorted({task["kind"] for task in tasks})]:
        n = sum(kind in ("all", task["kind"]) for task in tasks)
        name = kind if kind == "all" else f"`{kind}`"
        print(f"| {name} | {n} | {' | '.join(cell[kind] for cell in cells)} |")


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


def shares(tasks, routes, columns):
    """Returns the shares that are right, as text by kind."""
    rights = defaultdict(list)
    for task in tasks:
        right = scored(task, routes[task["query_id"]])[columns]
        rights["all"].append(right)
        rights[task["kind"]].append(right)
    return {kind: " | ".join(f"{sum(column) / len(rows):.2f}" for column in zip(*rows)) for kind, rows in rights.items()}


def scored(task, route):
    loaded = [skill for step in route["steps"] for skill in step["skills"]]
    is_decided = route["decision"] == task["decision"]
    needs = [need for need in task["skills"] if need]
    if not needs:
        return is_decided, is_decided, is_decided, is_decided, len(loaded)
    ids = {skill["id"] for skill in loaded}
    best = max(loaded, key=lambda skill: skill["score"], default={"id": None})["id"]
    served = sum(bool(ids.intersection(need)) for need in needs)
    # A skill may serve two needs, and two skills one need: of these, one counts as right.
    n_right = min(served, sum(any(found in need for need in needs) for found in ids))
    precision, recall = n_right / max(len(ids), 1), served / len(needs)
    f1 = 2 * precision * recall / max(precision + recall, 1e-9)
    return is_decided, any(best in need for need in needs), served == len(needs), f1, len(loaded)


if __name__ == "__main__":
    main()
