#!/usr/bin/env python3
"""Measures how needs that want the same skill share it out, over tasks with needs in libraries of 63 to 66 skills.

usage: needs_shared.py SKILLMUX LIBRARIES

LIBRARIES is the folder of `benches/baseline/set_libraries.py`, with `library-fit-N.ix` and `library-part-N.ix` made by `skillmux index`. The first row is what the
program loads. The others come from the same rankings: a need leaves its best skill to another need if its next one is at most so much worse, in log-odds.
"""

import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

DATASETS = Path(__file__).resolve().parents[1] / "datasets"
MOST_WORSE = [-1, 1, 2, 3, 4, 9]


def tasks():
    rows = [json.loads(line) for name in ("library-fit", "part-tasks") for line in (DATASETS / f"{name}.jsonl").open(encoding="utf-8")]
    return [row for row in rows if len(row["needs"]) == len(row["skills"]) > 1]


def routes(skillmux, index, rows):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tasks.jsonl"
        asked = ({"query_id": row["query_id"], "query": row["query"], "needs": row["needs"]} for row in rows)
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in asked), encoding="utf-8")
        command = [skillmux, "route", "--queries", path, "--index", index, "--budget", "0", "--format", "json"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode > 1:
        raise SystemExit(done.stderr)
    return {route["query_id"]: route for route in map(json.loads, done.stdout.splitlines())}


def shared_out(route, most):
    """Returns the skills that the needs take."""
    rankings = []
    for step in route["steps"]:
        found = step["skills"] + step["alternatives"]
        if any(skill.get("reason", {}).get("why") != "abstained" for skill in found):
            rankings.append([(skill["id"], skill["score"]) for skill in sorted(found, key=lambda skill: -skill["score"])])
    places = [0] * len(rankings)
    gap = lambda at: rankings[at][places[at]][1] - rankings[at][places[at] + 1][1] if places[at] + 1 < len(rankings[at]) else float("inf")
    moved = True
    while moved:
        moved = False
        wanting = defaultdict(list)
        for at, place in enumerate(places):
            wanting[rankings[at][place][0]].append(at)
        for needs in wanting.values():
            keeper = max(needs, key=gap)
            for at in needs:
                if at != keeper and gap(at) <= most:
                    places[at] += 1
                    moved = True
    return {rankings[at][place][0] for at, place in enumerate(places)}


def scores(rows, loaded):
    """Returns the share of needs and of tasks whose skills are loaded, and the mean Set F1."""
    needs, whole, f1 = [], [], []
    for row, skills in zip(rows, loaded):
        right = [set(ids) for ids in row["skills"] if ids]
        hits = [bool(ids & skills) for ids in right]
        needs += hits
        whole.append(all(hits))
        precision = len(skills & set().union(*right)) / len(skills) if skills else 0
        recall = sum(hits) / len(hits) if hits else 0
        f1.append(2 * precision * recall / (precision + recall) if precision + recall else 0)
    return " | ".join(f"{sum(values) / len(values):.3f}" for values in (needs, whole, f1))


def main():
    skillmux, folder = sys.argv[1], Path(sys.argv[2])
    of_library = defaultdict(list)
    for row in tasks():
        of_library[row["library"]].append(row)
    rows, found = [], []
    for library, some in of_library.items():
        answers = routes(skillmux, folder / f"library-{library}.ix", some)
        rows += some
        found += [answers[row["query_id"]] for row in some]
    print(f"{len(rows)} tasks\n| most log-odds that a need may lose | needs | tasks | Set F1 |\n|---|---:|---:|---:|")
    loaded = [{skill["id"] for step in route["steps"] for skill in step["skills"]} for route in found]
    print(f"| the program | {scores(rows, loaded)} |")
    for most in MOST_WORSE:
        print(f"| {'none' if most < 0 else most} | {scores(rows, [shared_out(route, most) for route in found])} |")


if __name__ == "__main__":
    main()
