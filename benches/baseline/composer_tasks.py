"""Draws what `skillmux train composer` is fitted to: tasks with all their skills, and a library that holds these skills.

Writes

- `tasks.jsonl`: the tasks of `datasets/long-tasks.jsonl` that need several skills, 300 that need one, 500 prompts of the
  `queries.jsonl` of `sample_train.py`, and 300 tasks of `datasets/other-words-fit.jsonl`;
- `library-tasks.jsonl`, a shard of the skills of the long tasks and of 300 others of the pool.

    python composer_tasks.py DATA CALIB OUT --seed 6

`CALIB` is the folder that `sample_train.py` wrote.
"""

import argparse
import json
import random
from pathlib import Path

from jsonl import expand, read_jsonl

N_ONE = 300
N_PROMPTS = 500
N_OTHER_WORDS = 300
N_FILL = 300

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
    with (args.out / "tasks.jsonl").open("w", encoding="utf-8") as file:
        for task in long_tasks + prompts + others:
            line = {"query": task["query"], "skill_ids": task["skill_ids"]}
            file.write(json.dumps(line, ensure_ascii=False) + "\n")

    wanted = {skill for task in long_tasks for skill in task["skill_ids"]}
    held, rest = [], []
    for path in expand([args.data / "pool"]):
        for skill in read_jsonl(path):
            (held if skill["skill_id"] in wanted else rest).append(skill)
    shard = held + rng.sample(rest, N_FILL)
    with (args.out / "library-tasks.jsonl").open("w", encoding="utf-8") as file:
        for skill in shard:
            file.write(json.dumps(skill, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
