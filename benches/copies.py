#!/usr/bin/env python3
"""Measures how many of the first ten places of a ranking near-copies of a better skill take.

usage: copies.py SKILLMUX DATA POOL

DATA is the folder that benches/README.md describes, POOL an index of its pool. Asks every 17th task of `dev` twice: with `--all`, where copies have
places of their own, and without.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path


def search(skillmux, pool, task, *options):
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".txt") as file:
        file.write(task)
        file.flush()
        command = [skillmux, "search", "--file", file.name, "--index", pool, "--format", "json", *options]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    # 1: nothing was found.
    if done.returncode not in (0, 1):
        raise subprocess.CalledProcessError(done.returncode, command)
    return json.loads(done.stdout or "[]")


def main():
    skillmux, data, pool = sys.argv[1:]
    with (Path(data) / "dev/tasks.jsonl").open(encoding="utf-8") as file:
        tasks = [json.loads(line)["instruction_text"] for line in file][::17]
    n_places, n_copies, n_left = 0, 0, 0
    for task in tasks:
        distinct = search(skillmux, pool, task)
        behind = {copy for skill in distinct for copy in skill.get("copies", [])}
        every = search(skillmux, pool, task, "--all")
        n_places += len(every)
        n_copies += sum(skill["id"] in behind for skill in every)
        n_left += sum(skill["id"] in behind for skill in distinct)
    print(f"{len(tasks)} tasks, {n_places} places: {n_copies / n_places:.3f} copies with --all, {n_left / n_places:.3f} without")


if __name__ == "__main__":
    main()
