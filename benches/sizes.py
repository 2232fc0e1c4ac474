#!/usr/bin/env python3
"""Writes libraries of 1,000 and 5,000 skills, and tasks over them, for `skillmux eval`.

usage: sizes.py DATA OUT

DATA is the folder that benches/README.md describes. A library holds the skills of `dev`, right skills of English prompts of `queries-dev` (250 or 700), those of 150 English tasks of
`datasets/long-tasks.jsonl` of the fold that the ranker holds out, and others of the pool by chance. Written for each size: OUT/LN.jsonl, the skills, and OUT/LN.q.jsonl, 500 prompts
(kind `store`) and the 150 tasks (kind `long`). Written for the whole pool: OUT/pool.set.jsonl, the held-out tasks of `set-tasks`, OUT/pool.part.jsonl, those of
`part-tasks`, and OUT/pool.cross.jsonl, those of `cross-language-tasks`; right skills that the pool lacks are left out. Needs `zstandard` and `blake3`. Seed 9.
"""

import random
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY / "training/transformer"))

import data  # noqa: E402

SIZES = {1000: 250, 5000: 700}
N_PROMPTS, N_LONG = 500, 150


def main():
    folder, out = map(Path, sys.argv[1:])
    out.mkdir(parents=True, exist_ok=True)
    rows = {row["skill_id"]: row for path in sorted(folder.glob("pool/*.zst")) for row in data.read_lines(path)}
    dev = list(data.read_lines(folder / "dev/skills.jsonl"))
    draw = random.Random(9)
    prompts = {}
    for row in data.read_lines(folder / "queries-dev.jsonl.zst"):
        if row["relevant"] and not data.is_chinese(row["query"]):
            prompts.setdefault(row["query"], []).append(row["skill_id"])
    fold = lambda id: data.is_scored_fold(data.key_of_name(rows[id]["name"]))
    tasks = data.read_lines(REPOSITORY / "datasets/long-tasks.jsonl")
    tasks = [task for task in tasks if task["lang"] == "en" and any(map(fold, task["skill_ids"]))]
    draw.shuffle(tasks)
    tasks = tasks[:N_LONG]
    right = sorted({id for ids in prompts.values() for id in ids})
    draw.shuffle(right)
    of_tasks = [id for task in tasks for id in task["skill_ids"]]
    for size, n_right in SIZES.items():
        picked = dict.fromkeys(right[:n_right] + of_tasks)
        others = sorted(set(rows) - set(picked))
        draw.shuffle(others)
        ids = list(picked) + others[: size - len(picked) - len(dev)]
        data.write_lines(out / f"L{size}.jsonl", [*dev, *(rows[id] for id in ids)])
        inside = set(ids)
        asked = [(query, skills) for query, skills in prompts.items() if set(skills) <= inside]
        draw.shuffle(asked)
        lines = [{"task_id": f"q{at}", "query": query, "skills": skills, "kind": "store"} for at, (query, skills) in enumerate(asked[:N_PROMPTS])]
        lines += [{"task_id": task["query_id"], "query": task["query"], "skills": task["skill_ids"], "kind": "long"} for task in tasks]
        data.write_lines(out / f"L{size}.q.jsonl", lines)
    known = rows.keys() | {row["skill_id"] for row in dev}
    for name, file in {"set": "set-tasks", "part": "part-tasks", "cross": "cross-language-tasks"}.items():
        tasks = data.read_lines(REPOSITORY / f"datasets/{file}.jsonl")
        tasks = [task for task in tasks if name != "set" or "held" in task["query_id"]]
        lines = [{"task_id": task["query_id"], "query": task["query"], "skills": [id for id in task["skill_ids"] if id in known]} for task in tasks]
        data.write_lines(out / f"pool.{name}.jsonl", [line for line in lines if line["skills"]])


if __name__ == "__main__":
    main()
