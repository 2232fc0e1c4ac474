"""Draws what `skillmux train composer --kind sequence` is trained on: tasks of several skills, and libraries that hold these skills.

Writes

- `tasks.jsonl`: the tasks of `datasets/long-tasks.jsonl` that need several skills, 350 that need one, and those of
  `datasets/part-tasks.jsonl`, `datasets/set-tasks.jsonl` and `datasets/library-fit.jsonl`;
- `library-held-N.jsonl`, shards of the skills that the writers of 16 held-out tasks of `set-tasks.jsonl` saw: closed libraries
  of the size of SkillComposer's;
- `library-train-N.jsonl`, the same of 8, 16, 32 or 48 other tasks;
- `library-long-N.jsonl`, shards of 75 to 250 skills of the long tasks;
- `near-none.jsonl`: the requests of `datasets/near-none.jsonl` that are near one of these libraries, with its skills as `skill_ids`;
- `contrast-work.jsonl` and `contrast-talk.jsonl`: the lines of `datasets/contrast-fit.jsonl` that ask for work, and the others, with all
  skills of their library as `skill_ids`;
- `library-part-N.jsonl` and `library-fit-N.jsonl`, the libraries of `datasets/part-libraries.jsonl` and `datasets/fit-libraries.jsonl`.

    python set_libraries.py DATA OUT --seed 7
"""

import argparse
import json
import random
from itertools import count
from pathlib import Path
from typing import Any

from composer_tasks import DATASETS, small_libraries, write_shard
from jsonl import expand, read_jsonl

N_ONE = 350
N_LIBRARY_ONE = 300

GROUPS = {"held": [16], "train": [8, 16, 32, 48]}
"""Tasks of a library, in turn."""

Task = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args()
    rng = random.Random(args.seed)
    args.out.mkdir(parents=True, exist_ok=True)

    long_tasks = list(read_jsonl(DATASETS / "long-tasks.jsonl"))
    several = [task for task in long_tasks if len(task["skill_ids"]) > 1]
    one = rng.sample([task for task in long_tasks if len(task["skill_ids"]) == 1], N_ONE)
    parts = [task for task in read_jsonl(DATASETS / "part-tasks.jsonl") if task["skill_ids"]]
    sets = list(read_jsonl(DATASETS / "set-tasks.jsonl"))
    fit = list(read_jsonl(DATASETS / "library-fit.jsonl"))
    with (args.out / "tasks.jsonl").open("w", encoding="utf-8") as file:
        for task in several + one + parts + sets + fit:
            line = {key: task[key] for key in ("query", "skill_ids", "also", "rejected") if key in task}
            file.write(json.dumps(line, ensure_ascii=False) + "\n")

    libraries = {row["library"]: row["skill_ids"] for kind in ("part", "fit") for row in read_jsonl(DATASETS / f"{kind}-libraries.jsonl")}
    with (args.out / "near-none.jsonl").open("w", encoding="utf-8") as file:
        for request in read_jsonl(DATASETS / "near-none.jsonl"):
            if "library" in request:
                line = {"query_id": request["query_id"], "query": request["query"], "skill_ids": libraries[request["library"]]}
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
    with (
        (args.out / "contrast-work.jsonl").open("w", encoding="utf-8") as work,
        (args.out / "contrast-talk.jsonl").open("w", encoding="utf-8") as talk,
    ):
        for request in read_jsonl(DATASETS / "contrast-fit.jsonl"):
            ids = request["skill_ids"] or libraries[request["library"]]
            line = {"query_id": request["query_id"], "query": request["query"], "skill_ids": ids}
            (work if request["skill_ids"] else talk).write(json.dumps(line, ensure_ascii=False) + "\n")
    for tag, sizes in GROUPS.items():
        of_tag = [task["seen"] for task in sets if f"-{tag}-" in task["query_id"]]
        rng.shuffle(of_tag)
        for number in count():
            taken, of_tag = of_tag[: sizes[number % len(sizes)]], of_tag[sizes[number % len(sizes)] :]
            if not taken:
                break
            libraries[f"{tag}-{number:02}"] = sorted({skill for seen in taken for skill in seen})
    long_ids = dict.fromkeys(skill for task in several + one[:N_LIBRARY_ONE] for skill in task["skill_ids"])
    for number, ids in enumerate(small_libraries(several + one[:N_LIBRARY_ONE], list(long_ids), rng)):
        libraries[f"long-{number:02}"] = ids

    wanted = {skill for ids in libraries.values() for skill in ids}
    shards = expand([args.data / "pool"])
    found = {skill["skill_id"]: skill for path in shards for skill in read_jsonl(path) if skill["skill_id"] in wanted}
    for name, ids in libraries.items():
        write_shard(args.out / f"library-{name}.jsonl", [found[skill_id] for skill_id in ids if skill_id in found])


if __name__ == "__main__":
    main()
