#!/usr/bin/env python3
"""Writes a library for `skillmux train abstention`: the skills of `datasets/other-words-fit.jsonl` and 128 others of the pool.

usage: other_words_library.py DATA OUT.jsonl

No skill of the libraries of `datasets/installed-tasks.jsonl` is drawn. Seed 3.
"""

import random
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "training/transformer"))

import data  # noqa: E402

N_OTHERS = 128


def main():
    folder, out = map(Path, sys.argv[1:])
    of_file = lambda name: data.read_lines(REPOSITORY / "datasets" / name)
    wanted = {task["skill_ids"][0] for task in of_file("other-words-fit.jsonl")}
    closed = {task["library"] for task in of_file("installed-tasks.jsonl")}
    rows = {row["skill_id"]: row for path in sorted(folder.glob("pool/*.zst")) for row in data.read_lines(path)}
    others = [id for id in sorted(rows) if id not in wanted and "/".join(id.split("/")[:2]) not in closed]
    picked = sorted(wanted) + random.Random(3).sample(others, N_OTHERS)
    data.write_lines(out, (rows[id] for id in picked))


if __name__ == "__main__":
    main()
