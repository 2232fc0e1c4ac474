#!/usr/bin/env python3
"""Sums up the runs of `skillmux eval` over the libraries of installed.py: one table over all, by kind.

usage: installed_scores.py OUT SYSTEM SYSTEM...

Reads OUT/out-NAME/SYSTEM.run for each OUT/NAME.tasks.jsonl. Hit@1 is the share of tasks whose first skill is right, R@5 the share of the right skills among the first five. Intervals of differences to the
second system: 95 %, 10,000 bootstrap resamples of tasks, seed 1.
"""

import json
import random
import sys
from collections import defaultdict
from pathlib import Path


def scores(out, system):
    """Returns Hit@1 and R@5 of each task, with its kind."""
    found = {}
    for path in sorted(out.glob("*.tasks.jsonl")):
        name = path.name.removesuffix(".tasks.jsonl")
        rankings = defaultdict(list)
        for line in (out / f"out-{name}/{system}.run").open(encoding="utf-8"):
            task, _, skill, rank, _, _ = line.split()
            rankings[task].append((int(rank), skill))
        for line in path.open(encoding="utf-8"):
            task = json.loads(line)
            right = {skill.replace(" ", "%20") for skill in task["skills"]}
            first = [skill for _, skill in sorted(rankings[task["task_id"]])[:5]]
            found[task["task_id"]] = (task["kind"], float(first[:1] != [] and first[0] in right), len(right & set(first)) / len(right))
    return found


def interval(differences):
    draw = random.Random(1)
    n = len(differences)
    means = sorted(sum(draw.choices(differences, k=n)) / n for _ in range(10_000))
    return means[250], means[9749]


def main():
    out, systems = Path(sys.argv[1]), sys.argv[2:]
    found = {system: scores(out, system) for system in systems}
    kinds = ["all", *sorted({kind for kind, _, _ in found[systems[0]].values()})]
    print("| kind | tasks |", " | ".join(f"{system}: Hit@1, R@5" for system in systems), "| difference in Hit@1 | in R@5 |")
    print("|---|---:|", "---|" * (len(systems) + 2))
    for kind in kinds:
        tasks = [task for task, row in found[systems[0]].items() if kind in ("all", row[0])]
        mean = lambda system, at: sum(found[system][task][at] for task in tasks) / len(tasks)
        cells = [f"{mean(system, 1):.3f}, {mean(system, 2):.3f}" for system in systems]
        for at in (1, 2):
            differences = [found[systems[0]][task][at] - found[systems[1]][task][at] for task in tasks]
            low, high = interval(differences)
            cells.append(f"{sum(differences) / len(tasks):+.3f} [{low:+.3f}, {high:+.3f}]")
        print(f"| {kind} | {len(tasks)} |", " | ".join(cells), "|")


if __name__ == "__main__":
    main()
