#!/usr/bin/env python3
"""Writes what the sixth part of the training is done on: new tasks, most of them for skills that are near to each other, and some of all that came before.

usage: sixth_part.py DATA OUT START

START is what the part begins with, which also finds the negatives. Writes OUT/groups-6.jsonl, and OUT/skills-6.jsonl, where Chinese skills are as the binary
reads them. README.md says what the parts are.
"""

import random
import sys
from collections import defaultdict
from pathlib import Path

import data
import fifth_part
import model
import prepare
from fourth_part import Part, add_negatives

SEED = 7
TASKS = prepare.REPOSITORY / "datasets/group-tasks-train.jsonl"
REQUESTS = prepare.REPOSITORY / "datasets/near-none.jsonl"
N_TIMES_NEW = 2
# Of the groups of each older file.
OLD_TASKS = {"other-words-train": 0.5, "parts-train": 1.0}
N_CHINESE, N_OTHER_OF_FIRST_PART = 1000, 600


def old_groups(sets, lexicon, misspelled, draw):
    """Returns groups of the tasks in other words, of parts of tasks, and of the prompts and translations of part 1."""
    groups = []
    for name, share in OLD_TASKS.items():
        queries = defaultdict(list)
        for task in data.read_lines(prepare.REPOSITORY / f"datasets/{name}.jsonl"):
            if sets.is_open(task["skill_ids"][0]):
                queries[task["skill_ids"][0]].append(lexicon.says(task["query"]))
        for id in draw.sample(sorted(queries), int(share * len(queries))):
            groups.append({"skill": id, "queries": [misspelled(query) for query in queries[id]], "kind": "other"})
    first = [group for group in prepare.make_groups(sets, random.Random(1)) if sets.is_open(group["skill"])]
    is_chinese = lambda group: any(map(data.is_chinese, [*group["queries"], sets.skills[group["skill"]]["description"]]))
    draw.shuffle(first)
    chinese = [group for group in first if is_chinese(group)][:N_CHINESE]
    rest = [group for group in first if not is_chinese(group)][:N_OTHER_OF_FIRST_PART]
    for group in chinese + rest:
        groups.append({**group, "queries": [lexicon.says(query) for query in group["queries"]]})
    return groups


def add_requests(groups, of_near, lexicon):
    """Tells one group of each number of the requests that no skill of that number serves."""
    left = {near: [lexicon.says(query) for query in queries] for near, queries in of_near.items()}
    for group in groups:
        if group.get("near") in left:
            group["none"] = left.pop(group["near"])
    return sum(len(group.get("none", [])) for group in groups)


def main():
    folder, out, start = map(Path, sys.argv[1:])
    part = Part(folder, start, SEED)
    draw, lexicon, sets, texts, misspelled = part.draw, part.lexicon, part.sets, part.texts, part.misspelled
    encoder, tokenizer = part.encoder, part.tokenizer
    groups = fifth_part.new_groups(TASKS, N_TIMES_NEW, sets, lexicon, misspelled)
    unserved = defaultdict(list)
    n_near = 1 + max(group["near"] for group in groups if "near" in group)
    for group in fifth_part.new_groups(fifth_part.TASKS, 1, sets, lexicon, misspelled):
        groups.append({**group, "near": n_near + group["near"]} if "near" in group else group)
    for request in data.read_lines(REQUESTS):
        if "near" in request:
            unserved[n_near + request["near"]].append(request["query"])
    near = [group for group in groups if "near" in group]
    far = [group for group in groups if "near" not in group] + fifth_part.add_near_negatives(near, texts, encoder, tokenizer, draw)
    old = old_groups(sets, lexicon, misspelled, draw)
    add_negatives(far + old, sets, texts, encoder, tokenizer, draw)
    groups += old
    draw.shuffle(groups)
    print(add_requests(groups, unserved, lexicon), "requests that none of their group serves")
    print(len(near), "groups of near skills,", len(far), "of others,", len(old), "of older parts")
    data.write_lines(out / "groups-6.jsonl", groups)
    data.write_lines(out / "skills-6.jsonl", part.rows.values())


if __name__ == "__main__":
    main()
