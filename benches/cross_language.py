#!/usr/bin/env python3
"""Writes libraries for the tasks of `datasets/cross-language-tasks.jsonl`, for `skillmux eval`.

usage: cross_language.py DATA OUT

DATA is the folder that benches/README.md describes. OUT/cross-N.skills.jsonl has N skills: those of the tasks, and others of the pool by
chance, a quarter of them in Chinese. OUT/zh-en.jsonl has the Chinese tasks for English skills, OUT/en-zh.jsonl the others.
"""

import io
import json
import random
import sys
from pathlib import Path

import zstandard

REPOSITORY = Path(__file__).resolve().parents[1]
SIZES = (90, 300, 1000)
SEED = 11
CHINESE_SHARE = 0.25


def main():
    data, out = map(Path, sys.argv[1:])
    out.mkdir(parents=True, exist_ok=True)
    tasks = [json.loads(line) for line in (REPOSITORY / "datasets/cross-language-tasks.jsonl").open(encoding="utf-8")]
    for kind in ("zh-en", "en-zh"):
        with (out / f"{kind}.jsonl").open("w", encoding="utf-8") as file:
            for task in tasks:
                if task["kind"] == kind:
                    row = {"task_id": task["query_id"], "query": task["query"], "skills": task["skill_ids"], "kind": kind, "lang": kind[:2]}
                    file.write(json.dumps(row, ensure_ascii=False) + "\n")
    right = {skill for task in tasks for skill in task["skill_ids"]}
    of_tasks, chinese, others = [], [], []
    for path in sorted(data.glob("pool/*.zst")):
        with path.open("rb") as file:
            for line in io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(file), "utf-8", newline="\n"):
                skill = json.loads(line)
                if skill["skill_id"] in right:
                    of_tasks.append(line)
                else:
                    (chinese if is_chinese(skill["description"] or "") else others).append(line)
    rng = random.Random(SEED)
    rng.shuffle(chinese)
    rng.shuffle(others)
    for size in SIZES:
        n_fill = size - len(of_tasks)
        n_chinese = round(n_fill * CHINESE_SHARE)
        lines = of_tasks + chinese[:n_chinese] + others[: n_fill - n_chinese]
        (out / f"cross-{size}.skills.jsonl").write_text("".join(lines), encoding="utf-8")
    print(len(of_tasks), "skills of tasks")


def is_chinese(text):
    return sum("\u4e00" <= c <= "\u9fff" for c in text) > len(text) / 5


if __name__ == "__main__":
    main()
