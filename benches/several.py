#!/usr/bin/env python3
"""Writes the tasks of `datasets/long-tasks.jsonl` that need several skills, one of them of the ranker's held-out fold, for `skillmux eval`.

usage: several.py DATA OUT.jsonl

DATA is the folder that benches/README.md describes. A task keeps its id, by which `datasets/needs/long-tasks.jsonl` has its needs.
"""

import json
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY / "training/transformer"))

from data import is_scored_fold, key_of_name, read_lines  # noqa: E402


def main():
    data, out = Path(sys.argv[1]), Path(sys.argv[2])
    tasks = [task for task in read_lines(REPOSITORY / "datasets/long-tasks.jsonl") if len(task["skill_ids"]) > 1]
    wanted = {skill for task in tasks for skill in task["skill_ids"]}
    skills = (skill for path in sorted(data.glob("pool/*.zst")) for skill in read_lines(path))
    held = {s["skill_id"] for s in skills if s["skill_id"] in wanted and is_scored_fold(key_of_name(s["name"]))}
    tasks = [task for task in tasks if not held.isdisjoint(task["skill_ids"])]
    with out.open("w", encoding="utf-8") as file:
        for task in tasks:
            row = {"task_id": task["query_id"], "query": task["query"], "skills": task["skill_ids"], "kind": "long", "lang": task.get("lang", "en")}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    print(len(tasks), "tasks")


if __name__ == "__main__":
    main()
