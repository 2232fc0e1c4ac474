#!/usr/bin/env python3
"""Times commands over a large index as whole processes: how long it takes to open it.

usage: opening.py INDEX BINARY [BINARY ...] [--runs 11]

Prints the median of each command for each binary. The binaries take turns. The question is about the first skill of datasets/intra-skill-bench.jsonl, which must
be in the index.
"""

import argparse
import json
import statistics
import subprocess
import time
from pathlib import Path

CASES = Path(__file__).resolve().parents[1] / "datasets/intra-skill-bench.jsonl"


def milliseconds(command):
    began = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return 1000 * (time.perf_counter() - began)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("index")
    parser.add_argument("binaries", nargs="+", metavar="BINARY")
    parser.add_argument("--runs", type=int, default=11)
    args = parser.parse_args()
    with CASES.open(encoding="utf-8") as lines:
        case = json.loads(next(lines))
    id, question = case["skill_id"], case["query"]
    for name, command in {
        "stats": ["stats"],
        "page without a question": ["page", id],
        "page --pager value": ["page", id, question, "--pager", "value"],
        "page": ["page", id, question],
        "search": ["search", question],
    }.items():
        times = {binary: [] for binary in args.binaries}
        for _ in range(args.runs):
            for binary in args.binaries:
                times[binary].append(milliseconds([binary, *command, "--index", args.index]))
        medians = (f"{statistics.median(of_binary):.0f}" for of_binary in times.values())
        print(f"{name}: median {', '.join(medians)} ms", flush=True)


if __name__ == "__main__":
    main()
