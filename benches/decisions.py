#!/usr/bin/env python3
"""Counts how tasks are decided: what loads, whether the best loaded skill is right, and whether all skills that a task needs are loaded.

usage: decisions.py SKILLMUX INDEX [TASKS...] [--none FILE...]

INDEX is a folder of `skillmux index`. TASKS are JSON Lines, as `benches/installed.py` and `benches/baseline/sample_train.py` write them, and
those of `datasets/` and `fixtures/`: a task counts if the index has all its skills. FILE has requests that need no skill. It prints a line for
each kind of task, English and Chinese requests apart: tasks, loaded, right skill first, all loaded, skills a plan, all loaded or among the three
others that the prompt hook names.
"""

import argparse
import json
import subprocess
import tempfile
from collections import defaultdict
from pathlib import Path

# As in `crates/skillmux-cli/src/command/hook.rs`.
N_OTHERS = 3


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("skillmux")
    parser.add_argument("index", type=Path)
    parser.add_argument("tasks", type=Path, nargs="*")
    parser.add_argument("--none", type=Path, nargs="*", default=[])
    args = parser.parse_args()
    questions = [(row["query"], needed(row), kind_of(row)) for path in args.tasks for row in read(path)]
    questions = [question for question in questions if question[1]]
    questions += [(row["query"], [], f"none, {language(row['query'])}") for path in args.none for row in read(path)]
    ids = {skill for _, skills, _ in questions for skill in skills}
    held = {skill for skill in ids if is_held(args.skillmux, args.index, skill)} if ids else set()
    questions = [question for question in questions if held.issuperset(question[1])]
    counts = defaultdict(list)
    for (_, skills, kind), route in zip(questions, routes(args.skillmux, args.index, [query for query, _, _ in questions])):
        loaded = [skill for step in route["steps"] for skill in step["skills"]]
        found = {skill["id"] for skill in loaded}
        best = max(loaded, key=lambda skill: skill["score"], default={"id": None})["id"]
        offered = found | set(others(route)) if found else found
        row = (route["decision"] == "load", best in skills, *(bool(skills) and some.issuperset(skills) for some in (found, offered)), len(loaded))
        for name in (kind, "all none" if not skills else "all"):
            counts[name].append(row)
    print(f"{'kind':22} {'tasks':>6} {'loaded':>7} {'first':>6} {'all':>6} {'skills':>7} {'offered':>8}")
    for kind, rows in sorted(counts.items()):
        load, first, whole, offered, n = (sum(column) / len(rows) for column in zip(*rows))
        print(f"{kind:22} {len(rows):6} {load:7.3f} {first:6.3f} {whole:6.3f} {n:7.2f} {offered:8.3f}")


def others(route):
    """Returns the skills that the hook names beside those that it loads, as `skillmux hook` chooses them."""
    left_out = [[skill["id"] for skill in step["alternatives"] if skill["reason"]["why"] == "substitute"] for step in route["steps"]]
    in_turn = [ids[place] for place in range(N_OTHERS) for ids in left_out if place < len(ids)]
    return list(dict.fromkeys(in_turn))[:N_OTHERS]


def read(path):
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def needed(row):
    """Returns the skills that a task needs; of the lists of `fixtures/user-tasks.jsonl`, the first of each."""
    skills = row.get("skill_ids") or row.get("skills") or ([row["skill_id"]] if "skill_id" in row else [])
    return [skill[0] if isinstance(skill, list) else skill for skill in skills if skill]


def kind_of(row):
    return f"{row.get('kind') or 'task'}, {language(row['query'])}"


def language(text):
    return "zh" if sum("\u4e00" <= c <= "\u9fff" for c in text) > 3 else "en"


def is_held(skillmux, index, skill):
    done = subprocess.run([skillmux, "page", skill, "--index", index, "--budget", "1"], capture_output=True, check=False)
    return done.returncode < 2


def routes(skillmux, index, queries):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "queries.jsonl"
        rows = ({"query_id": str(number), "query": query} for number, query in enumerate(queries))
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
        command = [skillmux, "route", "--queries", path, "--index", index, "--budget", "0", "--format", "json"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode > 1:
        raise SystemExit(done.stderr)
    found = {row["query_id"]: row for row in map(json.loads, done.stdout.splitlines())}
    return [found[str(number)] for number in range(len(queries))]


if __name__ == "__main__":
    main()
