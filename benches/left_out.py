#!/usr/bin/env python3
"""Counts how often a skill that a task needs and no step loads is among the best that are left out, by their least score.

usage: left_out.py SKILLMUX INDEX

INDEX is a folder of `skillmux index fixtures/user-library.jsonl`. As in the answer of the prompt hook, at most three skills are named: substitutes, the
best of each step first, and, if the task has several steps, those below the cut.
"""

import argparse
import itertools
import json
from pathlib import Path

from user_tasks import TASKS, routes

N_NAMED = 3


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("skillmux")
    parser.add_argument("index", type=Path)
    args = parser.parse_args()
    tasks = [json.loads(line) for line in TASKS.read_text(encoding="utf-8").splitlines()]
    answers = routes(args, tasks, ("query_id", "query"))
    missed = {task["query_id"]: missing(task, answers[task["query_id"]]) for task in tasks}
    several = sum(len(route["steps"]) > 1 for route in answers.values())
    print(f"{sum(map(bool, missed.values()))} tasks load something and miss something; {several} answers have several steps\n")
    print("| least score of a skill for a part | tasks of which all that is missing is named | skills named |\n|---|---:|---:|")
    for least in (None, 5, 4, 3, 2, 0):
        names = {id: named(route, least) for id, route in answers.items()}
        found = sum(all(need & set(names[id]) for need in needs) for id, needs in missed.items() if needs)
        print(f"| {'only substitutes' if least is None else least} | {found} | {sum(map(len, names.values()))} |")


def loaded(route):
    return {skill["id"] for step in route["steps"] for skill in step["skills"]}


def missing(task, route):
    """Returns the needs, each a set of skills that serve it, of which a plan that loads something has none."""
    needs = [set(need) for need in task["skills"] if need]
    return [need for need in needs if not need & loaded(route)] if route["decision"] == "load" else []


def named(route, least):
    """Returns the skills that are named beside those that are loaded."""
    of = lambda step, why: [other for other in step["alternatives"] if other["reason"]["why"] == why]
    in_turn = itertools.chain(*itertools.zip_longest(*(of(step, "substitute") for step in route["steps"])))
    others = [other for other in in_turn if other]
    if least is not None and len(route["steps"]) > 1:
        below = [other for step in route["steps"] for other in of(step, "below_cut") if other["score"] >= least]
        others += sorted(below, key=lambda other: -other["score"])
    ids = [other["id"] for other in others if other["id"] not in loaded(route)]
    return list(dict.fromkeys(ids))[:N_NAMED] if route["decision"] == "load" else []


if __name__ == "__main__":
    main()
