#!/usr/bin/env python3
"""Writes the libraries of `datasets/installed-tasks.jsonl` and their tasks, for `skillmux eval`.

usage: installed.py DATA OUT

DATA is the folder that benches/README.md describes. For each library: OUT/NAME.skills.jsonl, its skills, and OUT/NAME.tasks.jsonl, its tasks.
The right skills are those of `skill_ids` alone: those of `also` count as wrong.
"""

import io
import json
import sys
from collections import defaultdict
from pathlib import Path

import zstandard

REPOSITORY = Path(__file__).resolve().parents[1]


def main():
    data, out = map(Path, sys.argv[1:])
    out.mkdir(parents=True, exist_ok=True)
    tasks = defaultdict(list)
    for line in (REPOSITORY / "datasets/installed-tasks.jsonl").open(encoding="utf-8"):
        task = json.loads(line)
        tasks[task["library"]].append(task)
    skills = defaultdict(list)
    for path in sorted(data.glob("pool/*.zst")):
        with path.open("rb") as file:
            for line in io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(file), "utf-8", newline="\n"):
                library = "/".join(json.loads(line)["skill_id"].split("/")[:2])
                if library in tasks:
                    skills[library].append(line)
    for library, rows in tasks.items():
        name = library.split("/")[0]
        (out / f"{name}.skills.jsonl").write_text("".join(skills[library]), encoding="utf-8")
        with (out / f"{name}.tasks.jsonl").open("w", encoding="utf-8") as file:
            for task in rows:
                lang = "zh" if task["kind"] == "chinese" else "en"
                row = {"task_id": task["query_id"], "query": task["query"], "skills": task["skill_ids"], "kind": task["kind"], "lang": lang}
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
        print(name, len(skills[library]), "skills", len(rows), "tasks")


if __name__ == "__main__":
    main()
