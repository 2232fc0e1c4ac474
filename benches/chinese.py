#!/usr/bin/env python3
"""Scores Chinese tasks over small libraries: Hit@1 and Recall@10 of the default ranking.

usage: chinese.py SKILLMUX OUT

OUT is the folder that benches/baseline/composer_tasks.py wrote, with an index beside each library (library-NAME.ix). A task counts in each
library that holds all of its skills. The right skills are those of `skill_ids`, and of `fixtures/user-tasks.jsonl` the first for each need.
"""

import csv
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
CHINESE = re.compile("[\u4e00-\u9fff]")


def rows(path):
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def tasks(path):
    """Returns the Chinese tasks of a file with their skills."""
    found = []
    for row in rows(path):
        skills = row.get("skill_ids") or [ids[0] for ids in row.get("skills", []) if ids]
        if skills and len(CHINESE.findall(row["query"])) >= 6:
            found.append((row["query"], list(dict.fromkeys(skills))))
    return found


def scores(skillmux, source, found):
    """Returns Hit@1 and Recall@10 of each task."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tasks.jsonl"
        with path.open("w", encoding="utf-8") as file:
            for number, (query, skills) in enumerate(found):
                file.write(json.dumps({"task_id": str(number), "query": query, "skills": skills}, ensure_ascii=False) + "\n")
        command = [skillmux, "eval", "run", path, *source, "--system", "default", "--budget", "0", "--format", "csv"]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    table = csv.DictReader(done.stdout.splitlines())
    return [(float(row["default: Hit@1"]), float(row["default: Recall@10"])) for row in table]


def main():
    skillmux, out = sys.argv[1], Path(sys.argv[2])
    sets = {"user-tasks": [(["--library", REPOSITORY / "fixtures/user-library.jsonl"], tasks(REPOSITORY / "fixtures/user-tasks.jsonl"))]}
    of_all = {"part-tasks": tasks(REPOSITORY / "datasets/part-tasks.jsonl"), "tasks": tasks(out / "tasks.jsonl")}
    for name, pattern in {"part-tasks": "library-part-*.jsonl", "tasks": "library-tasks.jsonl"}.items():
        for library in sorted(out.glob(pattern)):
            ids = {row["skill_id"] for row in rows(library)}
            found = [(query, skills) for query, skills in of_all[name] if ids.issuperset(skills)]
            sets.setdefault(name, []).append((["--index", library.with_suffix(".ix")], found))
    for name, libraries in sets.items():
        all_scores = [score for source, found in libraries for score in scores(skillmux, source, found)]
        hit, recall = (sum(column) / len(all_scores) for column in zip(*all_scores))
        print(f"{name:12} {len(all_scores):4} tasks  Hit@1 {hit:.3f}  Recall@10 {recall:.3f}")


if __name__ == "__main__":
    main()
