#!/usr/bin/env python3
"""Writes the pairs that the verifier is trained on.

usage: verifier_pairs.py DATA OUT

Written to OUT: `texts.json` (the beginning of what the binary reads of each skill, by its id) and `pairs.jsonl` (a query, a skill, whether the skill serves it,
and what the pair is). Seed 5; the same data give the same bytes.
"""

import json
import random
import sys
from collections import Counter, defaultdict
from pathlib import Path

import data
import prepare
from lexicon import Lexicon

TASKS = ["group-tasks-train", "more-tasks-train", "other-words-train", "parts-train"]
# Far more than the 96 tokens that are read.
TEXT_CHARACTERS = 700
# Tasks of a skill that has near requests, and how many of these skills get a task of another one.
N_OWN, RANDOM_SHARE = 3, 0.4
# Skills of groups of near skills, and other skills.
N_IN_GROUPS, N_OTHERS = 1100, 500


def main():
    folder, out = map(Path, sys.argv[1:])
    out.mkdir(parents=True, exist_ok=True)
    draw, lexicon = random.Random(5), Lexicon()
    tasks, groups, near = defaultdict(list), defaultdict(set), defaultdict(list)
    for name in TASKS:
        for task in data.read_lines(prepare.DATASETS / f"{name}.jsonl"):
            id = task["skill_ids"][0]
            tasks[id].append(task["query"])
            if task.get("near") is not None:
                groups[name, task["near"]].add(id)
    for request in data.read_lines(prepare.DATASETS / "near-train.jsonl"):
        near[request["skill_id"]].append(request["query"])
    texts = {}
    for skill in prepare.read_skills(folder):
        if skill["id"] in tasks:
            text = lexicon.says(data.document(skill["name"], skill["description"], skill["body"]))
            texts[skill["id"]] = text[:TEXT_CHARACTERS]
    group_of = {id: group for group, ids in sorted(groups.items()) for id in sorted(ids)}
    pairs = []
    add = lambda query, id, serves, kind: pairs.append({"query": lexicon.says(query), "skill": id, "serves": serves, "kind": kind})
    for id in sorted(near):
        for query in near[id]:
            add(query, id, 0, "near")
        for query in tasks[id][:N_OWN]:
            add(query, id, 1, "own")
        if draw.random() < RANDOM_SHARE:
            add(draw.choice(tasks[draw.choice(sorted(tasks))]), id, 0, "other")
    for id in draw.sample([id for id in sorted(group_of) if id not in near], N_IN_GROUPS):
        add(draw.choice(tasks[id]), id, 1, "own")
        others = sorted(groups[group_of[id]] - {id})
        if others:
            add(draw.choice(tasks[draw.choice(others)]), id, 0, "group")
    for request in data.read_lines(prepare.DATASETS / "near-none.jsonl"):
        if request.get("near") is not None:
            add(request["query"], draw.choice(sorted(groups["more-tasks-train", request["near"]])), 0, "none")
    for id in draw.sample([id for id in sorted(tasks) if id not in group_of and id not in near], N_OTHERS):
        add(draw.choice(tasks[id]), id, 1, "own")
    draw.shuffle(pairs)
    data.write_lines(out / "pairs.jsonl", pairs)
    (out / "texts.json").write_text(json.dumps(texts), encoding="utf-8")
    print(len(pairs), "pairs", dict(Counter(pair["kind"] for pair in pairs)))


if __name__ == "__main__":
    main()
