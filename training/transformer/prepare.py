#!/usr/bin/env python3
"""Writes what is trained on and what is scored.

usage: prepare.py DATA OUT

Written to OUT: `skills.jsonl` (id, name, description, and the text as the binary reads it: Chinese word by word in English), `groups.jsonl` (a skill, and
queries that it answers), `unserved.jsonl` (requests that no skill of a group serves), and a file of tasks for each set that is scored.
Seed 1 throughout; the same data give the same bytes.
"""

import json
import random
import sys
from collections import Counter, defaultdict
from pathlib import Path

import data
from lexicon import Lexicon

DATASETS = data.REPOSITORY / "datasets"
# Tasks of our own for one skill each; what tells them apart in `groups.jsonl`.
TASKS = {"other-words-train": "other", "parts-train": "parts", "more-tasks-train": "new", "group-tasks-train": "new"}
QUERIES_A_GROUP = 3
# Stretches of a body that the encoder does not read of the skill, as long queries for it.
N_SECTIONS, SECTION_CHARACTERS = 12_000, (300, 1500)
N_TASKS = 500


def read_skills(folder):
    """Yields the skills of the pool and of `dev`."""
    for path in [*sorted(folder.glob("pool/*.zst")), folder / "dev/skills.jsonl"]:
        for row in data.read_lines(path):
            name, description, body = row["name"], row["description"] or "", row["body"] or ""
            yield {"id": row["skill_id"], "name": name, "description": description, "body": body}


class Sets:
    """The sets that are scored, and the names and descriptions that must not be trained on for their sake."""

    def __init__(self, folder, skills):
        self.skills = skills
        self.keys = {id: data.key_of_name(skill["name"]) for id, skill in skills.items()}
        self.tasks = {}
        rows = defaultdict(list)
        for row in data.read_lines(folder / "queries-dev.jsonl.zst"):
            if row["relevant"]:
                rows[row["query"]].append(row["skill_id"])
        self.tasks["queries-dev"] = [{"query": query, "gold": gold} for query, gold in rows.items()]
        gold = {task: row["gt_skill_ids"] for task, row in json.loads((folder / "dev/relevance.json").read_text()).items()}
        self.tasks["dev"] = [
            {"query": row["instruction_text"], "gold": gold[row["task_id"]]}
            for row in data.read_lines(folder / "dev/tasks.jsonl")
            if gold.get(row["task_id"])
        ]
        self.translations = []
        reserved = []
        for row in data.read_lines(folder / "bilingual.jsonl.zst"):
            (reserved if data.is_reserved_translation(row["en"]) else self.translations).append((row["zh"], row["en"]))
        known = {row["query_id"] for row in data.read_lines(data.REPOSITORY / "fixtures/long-tasks.jsonl")}
        self.long = list(data.read_lines(DATASETS / "long-tasks.jsonl"))
        hashed = [task for task in self.long if any(data.is_held_out_long(self.keys[id]) for id in task["skill_ids"])]
        scored = [task for task in hashed if any(data.is_scored_fold(self.keys[id]) for id in task["skill_ids"])]
        self.tasks["long"] = [
            {"query": task["query"], "gold": task["skill_ids"], "lang": task["lang"]}
            for task in scored
            if task["query_id"] not in known
        ]
        closed = [id for tasks in self.tasks.values() for task in tasks for id in task["gold"]]
        closed += [id for task in hashed for id in task["skill_ids"]]
        closed += [id for pair in reserved for id in pair]
        installed = tuple({task["library"] + "/" for task in data.read_lines(DATASETS / "installed-tasks.jsonl")})
        closed += [id for id in skills if id.startswith(installed)]
        closed += [id for task in data.read_lines(DATASETS / "cross-language-tasks.jsonl") for id in task["skill_ids"]]
        self.closed_keys = {self.keys[id] for id in closed}
        self.closed_texts = {self.wording(id) for id in closed} - {""}
        rows = defaultdict(list)
        for row in data.read_lines(folder / "queries-train.jsonl.zst"):
            if row["relevant"]:
                rows[row["query"]].append(row["skill_id"])
        self.short = rows
        # For what is chosen by measuring: names that neither this encoder, the static one nor the ranker was fitted to.
        fold = lambda key: key // 10 % 10 in (0, 5, 1) and data.is_held_out_short(key)
        self.tasks["select"] = [
            {"query": query, "gold": gold} for query, gold in rows.items() if all(fold(self.keys[id]) for id in gold)
        ]

    def wording(self, id):
        return " ".join(self.skills[id]["description"].lower().split())

    def is_open(self, id):
        key = self.keys[id]
        return not data.is_held_out_short(key) and key not in self.closed_keys and self.wording(id) not in self.closed_texts


def groups_of(of_skill, kind):
    """Returns the queries of each skill in groups, which share the cost of reading the skill."""
    return [
        {"skill": id, "queries": queries[at : at + QUERIES_A_GROUP], "kind": kind}
        for id, queries in sorted(of_skill.items())
        for at in range(0, len(queries), QUERIES_A_GROUP)
    ]


def prompts(sets, draw):
    """Returns the prompts of `queries-train`: of each skill, whole sentences of a user first, then templates with [places] to fill."""
    of_skill = defaultdict(list)
    for query, gold in sets.short.items():
        if all(map(sets.is_open, gold)):
            of_skill[gold[0]].append(query)
    for queries in of_skill.values():
        queries.sort()
        draw.shuffle(queries)
        queries.sort(key=lambda query: "[" in query)
    return groups_of(of_skill, "short")


def long_tasks(sets):
    whole = [task for task in sets.long if all(map(sets.is_open, task["skill_ids"]))]
    return [{"skill": id, "queries": [task["query"]], "kind": "long"} for task in whole for id in task["skill_ids"]]


def translations(sets):
    groups = []
    for zh, en in sets.translations:
        if sets.is_open(zh) and sets.is_open(en):
            groups += [
                {"skill": right, "queries": [sets.skills[asks]["description"]], "kind": "translation"}
                for asks, right in ((zh, en), (en, zh))
                if sets.skills[asks]["description"]
            ]
    return groups


def sections(sets, draw):
    """Returns groups of one query: a stretch of a body behind what the encoder reads of the skill."""
    least, most = SECTION_CHARACTERS
    read = data.TEXT_CHARACTERS
    ids = [id for id in sorted(sets.skills) if sets.is_open(id) and len(sets.skills[id]["body"]) > read + most and not data.is_chinese(sets.skills[id]["body"][read:])]
    groups = []
    for id in draw.sample(ids, min(N_SECTIONS, len(ids))):
        body, length = sets.skills[id]["body"], draw.randint(least, most)
        start = draw.randint(read, len(body) - length)
        text = body[start : start + length].partition("\n")[2] or body[start : start + length]
        if len(text) >= least // 2:
            groups.append({"skill": id, "queries": [text], "kind": "section"})
    return groups


def own_tasks(sets):
    """Returns the groups of our own tasks; skills that a writer told apart have the number of their group (`near`)."""
    groups, n_near, first_near = [], 0, {}
    for name, kind in TASKS.items():
        of_skill, near_of = defaultdict(list), {}
        for task in data.read_lines(DATASETS / f"{name}.jsonl"):
            id = task["skill_ids"][0]
            if sets.is_open(id):
                of_skill[id].append(task["query"])
                if task.get("near") is not None:
                    near_of[id] = task["near"]
        first_near[name] = n_near
        groups += [{**group, "near": n_near + near_of[group["skill"]]} if group["skill"] in near_of else group for group in groups_of(of_skill, kind)]
        n_near += 1 + max(near_of.values(), default=-1)
    return groups, first_near


def main():
    folder, out = map(Path, sys.argv[1:])
    out.mkdir(parents=True, exist_ok=True)
    draw, lexicon = random.Random(1), Lexicon()
    skills = {skill["id"]: skill for skill in read_skills(folder)}
    sets = Sets(folder, skills)
    texts = {id: lexicon.says(data.document(skill["name"], skill["description"], skill["body"])) for id, skill in skills.items()}
    data.write_lines(out / "skills.jsonl", (
        {"id": id, "name": skill["name"], "description": skill["description"], "text": texts[id], "open": sets.is_open(id), "closed": sets.keys[id] in sets.closed_keys}
        for id, skill in skills.items()
    ))
    for name, tasks in sets.tasks.items():
        if len(tasks) > N_TASKS:
            tasks = random.Random(1).sample(tasks, N_TASKS)
        print(f"{name}: {len(tasks)} of {len(sets.tasks[name])} tasks")
        data.write_lines(out / f"{name}.jsonl", tasks)
    own, first_near = own_tasks(sets)
    groups = own + prompts(sets, draw) + long_tasks(sets) + translations(sets) + sections(sets, draw)
    assert not sets.closed_keys & {sets.keys[group["skill"]] for group in groups}
    for group in groups:
        group["queries"] = [lexicon.says(query) for query in group["queries"]]
    data.write_lines(out / "groups.jsonl", groups)
    unserved = [
        {"near": first_near["more-tasks-train"] + request["near"], "query": lexicon.says(request["query"])}
        for request in data.read_lines(DATASETS / "near-none.jsonl")
        if "near" in request
    ]
    data.write_lines(out / "unserved.jsonl", unserved)
    counts = Counter()
    for group in groups:
        counts[group["kind"]] += len(group["queries"])
    print("pairs:", dict(counts), "in", len(groups), "groups of", len({group["skill"] for group in groups}), "skills;", len(unserved), "requests that no skill serves")


if __name__ == "__main__":
    main()
