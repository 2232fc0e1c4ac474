#!/usr/bin/env python3
"""Counts how the brief messages of `datasets/brief-tasks.jsonl` are decided.

usage: brief.py SKILLMUX SETS

SETS has an index `library-fit-N.ix` of each library of the messages, as the commands of `docs/abstention.md` make them. It prints a line for each
kind of message: messages, loaded, a right skill first. Each of the skills that a request names will do.
"""

import argparse
from collections import defaultdict
from pathlib import Path

from decisions import read, routes

TASKS = Path(__file__).parent.parent / "datasets/brief-tasks.jsonl"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("skillmux")
    parser.add_argument("sets", type=Path)
    args = parser.parse_args()
    of_library = defaultdict(list)
    for row in read(TASKS):
        of_library[row["library"]].append(row)
    counts = defaultdict(list)
    for library, rows in of_library.items():
        found = routes(args.skillmux, args.sets / f"library-{library}.ix", [row["query"] for row in rows])
        for row, route in zip(rows, found):
            loaded = [skill for step in route["steps"] for skill in step["skills"]]
            best = max(loaded, key=lambda skill: skill["score"], default={"id": None})["id"]
            counts[row["kind"], row["lang"]].append((bool(loaded), best in row["skill_ids"]))
    print(f"{'kind':10} {'language':8} {'messages':>8} {'loaded':>7} {'first':>6}")
    for (kind, language), rows in sorted(counts.items()):
        load, first = (sum(column) / len(rows) for column in zip(*rows))
        print(f"{kind:10} {language:8} {len(rows):8} {load:7.3f} {first:6.3f}")


if __name__ == "__main__":
    main()
