"""Draws what `skillmux train composer` is fitted to: tasks with all their skills, and a library that holds these skills.

Writes

- `tasks.jsonl`: the tasks of `datasets/long-tasks.jsonl` that need several skills, 300 that need one, 500 prompts of the
  `queries.jsonl` of `sample_train.py`, 300 tasks of `datasets/other-words-fit.jsonl`, and those of `datasets/part-tasks.jsonl`;
- `library-tasks.jsonl`, a shard of the skills of the long tasks and of 300 others of the pool;
- `library-long-N.jsonl`, shards of 75 to 250 of these skills: those of some long tasks, and a quarter as many others;
- `library-part-N.jsonl`, the libraries of `datasets/part-libraries.jsonl`.

    python composer_tasks.py DATA CALIB OUT --seed 6

`CALIB` is the folder that `sample_train.py` wrote.
"""

import argparse
import itertools
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jsonl import expand, read_jsonl

N_ONE = 300
N_PROMPTS = 500
N_OTHER_WORDS = 300
N_FILL = 300

LIBRARY_SIZES = (60, 120, 200)
"""Skills that the tasks of a small library need, in turn."""

Task = dict[str, Any]

DATASETS = Path(__file__).parents[2] / "datasets"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("calib", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seed", type=int, default=6)
    args = parser.parse_args()
    rng = random.Random(args.seed)
    args.out.mkdir(parents=True, exist_ok=True)

    long_tasks = list(read_jsonl(DATASETS / "long-tasks.jsonl"))
    several = [task for task in long_tasks if len(task["skill_ids"]) > 1]
    one = [task for task in long_tasks if len(task["skill_ids"]) == 1]
    long_tasks = several + rng.sample(one, N_ONE)
    prompts = rng.sample(list(read_jsonl(args.calib / "queries.jsonl")), N_PROMPTS)
    others = rng.sample(list(read_jsonl(DATASETS / "other-words-fit.jsonl")), N_OTHER_WORDS)
    parts = [task for task in read_jsonl(DATASETS / "part-tasks.jsonl") if task["skill_ids"]]
    with (args.out / "tasks.jsonl").open("w", encoding="utf-8") as file:
        for task in long_tasks + prompts + others + parts:
            line = {key: task[key] for key in ("query", "skill_ids", "also") if key in task}
            file.write(json.dumps(line, ensure_ascii=False) + "\n")

    wanted = {skill for task in long_tasks for skill in task["skill_ids"]}
    libraries = {row["library"]: row["skill_ids"] for row in read_jsonl(DATASETS / "part-libraries.jsonl")}
    wanted_apart = {skill for ids in libraries.values() for skill in ids}
    held, rest, apart = {}, [], {}
    for path in expand([args.data / "pool"]):
        for skill in read_jsonl(path):
            skill_id = skill["skill_id"]
            if skill_id in wanted_apart:
                apart[skill_id] = skill
            if skill_id in wanted:
                held[skill_id] = skill
            else:
                rest.append(skill)
    for skill in rng.sample(rest, N_FILL):
        held[skill["skill_id"]] = skill
    write_shard(args.out / "library-tasks.jsonl", list(held.values()))
    for number, ids in enumerate(small_libraries(long_tasks, list(held), rng)):
        write_shard(args.out / f"library-long-{number}.jsonl", [held[skill_id] for skill_id in ids])
    for name, ids in libraries.items():
        write_shard(args.out / f"library-{name}.jsonl", [apart[skill_id] for skill_id in ids])


def small_libraries(tasks: list[Task], ids: list[str], rng: random.Random) -> Iterator[list[str]]:
    """Returns the ids of libraries that hold what some tasks need, each task in one of them, and some others."""
    tasks = rng.sample(tasks, len(tasks))
    for number in itertools.count():
        needed: dict[str, None] = {}
        while tasks and len(needed) < LIBRARY_SIZES[number % len(LIBRARY_SIZES)]:
            needed.update(dict.fromkeys(tasks.pop()["skill_ids"]))
        if not needed:
            return
        others = [skill_id for skill_id in ids if skill_id not in needed]
        yield [*needed, *rng.sample(others, len(needed) // 4)]


def write_shard(path: Path, skills: list[Task]) -> None:
    """Writes skills, one a line."""
    with path.open("w", encoding="utf-8") as file:
        for skill in skills:
            file.write(json.dumps(skill, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
