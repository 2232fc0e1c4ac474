#!/usr/bin/env python3
"""Measures whether the first skills are exactly the right ones (Set-Compat of R3-Skill), for a ranking and for a plan.

usage: set_compat.py SKILLMUX LIBRARIES

LIBRARIES is the folder of `benches/baseline/set_libraries.py`, with `library-held-N.ix` made by `skillmux index`: libraries of 136 to 184 skills. The
tasks are those of `tasks.jsonl` with two right skills or more, all of them in the library and one of them held out from the training of the set head. A
task of `n` right skills counts if the first `n` skills are these. A plan is read as a ranking: what it loads, then the rest of the ranking.
The intervals are 95 % bootstrap intervals over tasks.
"""

import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from decisions import read, routes

N_SAMPLES = 5000


def main():
    skillmux, folder = sys.argv[1], Path(sys.argv[2])
    tasks = [task for task in read(folder / "tasks.jsonl") if len(task["skill_ids"]) > 1]
    rows = []
    for shard in sorted(folder.glob("library-held-*.jsonl")):
        ids = {skill["skill_id"] for skill in read(shard)}
        asked = [task for task in tasks if ids.issuperset(task["skill_ids"])]
        queries, index = [task["query"] for task in asked], shard.with_suffix(".ix")
        for task, plan, ranking in zip(asked, routes(skillmux, index, queries), rankings(skillmux, index, queries)):
            right = set(task["skill_ids"])
            loaded = [skill["id"] for step in plan["steps"] for skill in step["skills"]]
            planned = loaded + [skill for skill in ranking if skill not in loaded]
            rows.append((right == set(ranking[: len(right)]), right == set(planned[: len(right)]), right == set(loaded), right.issubset(loaded)))
    names = ["Set-Compat of the ranking", "Set-Compat of the plan", "plan exactly right", "plan has all"]
    for name, column in zip(names, zip(*rows)):
        print(f"{name:28} {interval(column)}")
    print(f"{'plan minus ranking':28} {interval([plan - ranking for ranking, plan, *_ in rows])}    {len(rows)} tasks")


def rankings(skillmux, index, queries):
    """Returns the first ten skills for each query."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "queries.jsonl"
        rows = ({"query_id": str(number), "query": query} for number, query in enumerate(queries))
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
        done = subprocess.run([skillmux, "search", "--queries", path, "--index", index], capture_output=True, text=True, check=True)
    found = {str(number): [] for number in range(len(queries))}
    for line in done.stdout.splitlines():
        query, _, rest = line.split(" ", 2)
        found[query].append(rest.rsplit(" ", 3)[0])
    return list(found.values())


def interval(numbers):
    draw = random.Random(1)
    mean = lambda sample: sum(sample) / len(sample)
    means = sorted(mean(draw.choices(numbers, k=len(numbers))) for _ in range(N_SAMPLES))
    return f"{mean(numbers):+.3f} [{means[N_SAMPLES // 40]:+.3f}, {means[-N_SAMPLES // 40]:+.3f}]"


if __name__ == "__main__":
    main()
