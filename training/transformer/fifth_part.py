#!/usr/bin/env python3
"""Writes what the fifth part of the training is done on: many new tasks, a third of them for skills that are near to each other.

usage: fifth_part.py DATA OUT START

fourth_part.py has written to OUT; START is what the part begins with, which also finds the negatives. Writes OUT/groups-5.jsonl, and OUT/skills-5.jsonl, where
Chinese skills are as the binary reads them. README.md says what the parts are.
"""

import random
import sys
from collections import defaultdict
from pathlib import Path

import data
import model
import prepare
from fourth_part import Part, add_negatives

SEED = 6
TASKS = prepare.REPOSITORY / "datasets/more-tasks-train.jsonl"
N_TIMES_NEW = 2
# Of the groups of part 4.
SHARE_OF_OLD = 0.6
N_NEAREST = 3


def new_groups(path, n_times, sets, lexicon, misspelled):
    """Returns a group of each skill of a file of tasks, n_times over; near skills have the number of their group."""
    queries, near_of = defaultdict(list), {}
    for task in data.read_lines(path):
        id = task["skill_ids"][0]
        if sets.is_open(id):
            queries[id].append(lexicon.says(task["query"]))
            near_of[id] = task.get("near")
    groups = []
    for _ in range(n_times):
        for id, asked in queries.items():
            near = {} if near_of[id] is None else {"near": near_of[id]}
            groups.append({"skill": id, "queries": [misspelled(query) for query in asked], "kind": "new", **near})
    return groups


def add_near_negatives(groups, texts, encoder, tokenizer, draw):
    """Gives each group of near skills one of those that its queries are nearest to."""
    of_near = defaultdict(set)
    for group in groups:
        of_near[group["near"]].add(group["skill"])
    ids = sorted(set().union(*of_near.values()))
    vectors = dict(zip(ids, model.encode(encoder, tokenizer, [texts[id] for id in ids], model.DOCUMENT_TOKENS)))
    asked = model.encode(encoder, tokenizer, [draw.choice(group["queries"]) for group in groups], model.DOCUMENT_TOKENS)
    alone = []
    for group, query in zip(groups, asked):
        others = sorted(of_near[group["near"]] - {group["skill"]}, key=lambda id: -float(vectors[id] @ query))
        if others:
            group["negative"] = draw.choice(others[:N_NEAREST])
        else:
            del group["near"]
            alone.append(group)
    return alone


def main():
    folder, out, start = map(Path, sys.argv[1:])
    part = Part(folder, start, SEED)
    draw, lexicon, sets, texts, misspelled = part.draw, part.lexicon, part.sets, part.texts, part.misspelled
    encoder, tokenizer = part.encoder, part.tokenizer
    groups = new_groups(TASKS, N_TIMES_NEW, sets, lexicon, misspelled)
    near = [group for group in groups if "near" in group]
    far = [group for group in groups if "near" not in group] + add_near_negatives(near, texts, encoder, tokenizer, draw)
    old = [group for group in data.read_lines(out / "groups-4.jsonl") if sets.is_open(group["skill"])]
    draw.shuffle(old)
    old = old[: int(SHARE_OF_OLD * len(old))]
    add_negatives(far + old, sets, texts, encoder, tokenizer, draw)
    groups += old
    draw.shuffle(groups)
    print(len(near), "groups of near skills,", len(far), "of others,", len(old), "of part 4")
    data.write_lines(out / "groups-5.jsonl", groups)
    data.write_lines(out / "skills-5.jsonl", part.rows.values())


if __name__ == "__main__":
    main()
