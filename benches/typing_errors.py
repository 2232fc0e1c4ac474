#!/usr/bin/env python3
"""Counts which typing errors are mended: errors are made in tasks of `datasets/library-fit.jsonl`, over the libraries of these tasks.

usage: typing_errors.py SKILLMUX SETS [--written INDEX]

SETS is the folder of `benches/baseline/set_libraries.py`, with `library-fit-N.ix` made by `skillmux index`. In each English task of up to 80 words,
about one word in eight gets an error, as in the training of the transformer (`training/transformer/typos.py`). It prints how many of the wrong words
were read as the right ones, as other words or as they stand, and how many right words were changed. A stem of the right word counts as right.
With --written, it also counts the errors of `datasets/typing-errors.jsonl` over INDEX, a folder of `skillmux index fixtures/user-library.jsonl`.
"""

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY / "training/transformer"))

from typos import misspelled  # noqa: E402

WRITTEN = REPOSITORY / "datasets/typing-errors.jsonl"
MAX_WORDS, SEED = 80, 5


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("skillmux")
    parser.add_argument("sets", type=Path)
    parser.add_argument("--written", type=Path, metavar="INDEX")
    args = parser.parse_args()
    tasks = defaultdict(list)
    for line in (REPOSITORY / "datasets/library-fit.jsonl").open(encoding="utf-8"):
        task = json.loads(line)
        if task["query"].isascii() and len(task["query"].split()) <= MAX_WORDS:
            tasks[task["library"]].append(task["query"])
    counts, rng = Counter(), random.Random(SEED)
    for library, texts in tasks.items():
        wrong = [misspelled(text, rng) for text in texts]
        read_all(args.skillmux, args.sets / f"library-{library}.ix", texts, wrong, counts)
    tell("made", counts)
    if args.written:
        pairs = [json.loads(line) for line in WRITTEN.read_text(encoding="utf-8").splitlines()]
        counts = Counter()
        read_all(args.skillmux, args.written, [pair["right"] for pair in pairs], [pair["query"] for pair in pairs], counts)
        tell("written", counts)


def read_all(skillmux, index, right, wrong, counts):
    for pair, read in zip(zip(right, wrong), corrections(skillmux, index, wrong)):
        count(counts, *map(plain_words, pair), read)


def tell(kind, counts):
    n = sum(counts[kind] for kind in ("right", "other", "left"))
    print(f"{kind}: {n} wrong words: {counts['right']} read as the right ones, {counts['other']} as others, {counts['left']} as they stand")
    print(f"{counts['changed']} right words changed")


def corrections(skillmux, index, texts):
    """Returns the words that were read as others in each text."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as queries:
        for at, text in enumerate(texts):
            queries.write(json.dumps({"query_id": str(at), "query": text}) + "\n")
        queries.flush()
        command = [skillmux, "route", "--queries", queries.name, "--index", index, "--budget", "0"]
        lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return [{found["from"]: found["to"] for found in json.loads(line).get("corrections", [])} for line in lines]


def plain_words(text):
    return [re.sub(r"^\W+|\W+$", "", word) for word in text.split()]


def count(counts, right, wrong, read):
    """Counts what was made of each wrong word of a task, and of the right ones."""
    for before, after in zip(right, wrong):
        meant = read.get(after)
        if before == after:
            counts["changed"] += meant is not None
        elif meant is None:
            counts["left"] += 1
        else:
            counts["right" if before.startswith(meant) or meant.startswith(before) else "other"] += 1


if __name__ == "__main__":
    main()
