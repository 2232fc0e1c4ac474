#!/usr/bin/env python3
"""Writes what is trained on and what is scored.

usage: prepare.py DATA OUT SKILLMUX INDEX

INDEX is an index that SKILLMUX made of DATA/pool and DATA/dev/skills.jsonl. Written to OUT: `skills.jsonl` (id, name, description, text),
`groups.jsonl` (a skill, one or two queries for it, and a skill that is a hard negative), and one file of tasks for each set that is scored.
Seed 1 throughout; the same data give the same bytes.
"""

import json
import random
import re
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path
from urllib.parse import unquote

import data

REPOSITORY = Path(__file__).resolve().parents[2]
QUERIES_A_SKILL = 6
MISSPELLED_SHARE = 0.15
# Mined negatives come from so many of BM25's ranking, without the first.
DEPTH = 30
MAX_JACCARD = 0.5
N_TASKS = 500


def read_skills(folder):
    """Returns the skills by id, and for each id the first one with the same text."""
    skills, same, first = {}, {}, {}
    for path in [*sorted(folder.glob("pool/*.zst")), folder / "dev/skills.jsonl"]:
        for row in data.read_lines(path):
            name, description, body = row["name"], row["description"] or "", row["body"] or ""
            id = row["skill_id"]
            same[id] = first.setdefault((name.strip(), description.strip(), body.strip()), id)
            skills[id] = {"id": id, "name": name, "description": description, "text": data.document(name, description, body)}
    return skills, same


def words(text):
    return set(re.findall(r"[a-z0-9]+|[\u4e00-\u9fff]", text.lower()))


def jaccard(a, b):
    return len(a & b) / max(len(a | b), 1)


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
        for direction, pairs in (("zh-en", reserved), ("en-zh", [(en, zh) for zh, en in reserved])):
            self.tasks[direction] = [
                {"query": skills[asks]["description"], "gold": [right], "ignored": [asks]}
                for asks, right in pairs
                if skills[asks]["description"]
            ]
        known = {row["query_id"] for row in data.read_lines(REPOSITORY / "fixtures/long-tasks.jsonl")}
        self.long = list(data.read_lines(REPOSITORY / "datasets/long-tasks.jsonl"))
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


def make_groups(sets, draw):
    """Returns skills with one or two queries each: two share the cost of encoding the skill and its negative."""
    groups, counts = [], Counter()
    of_skill = defaultdict(list)
    for query, gold in sets.short.items():
        if all(map(sets.is_open, gold)):
            of_skill[gold[0]].append(query)
    for id in sorted(of_skill):
        queries = sorted(of_skill[id])
        draw.shuffle(queries)
        # Whole sentences of a user first, then templates with [places] to fill.
        queries.sort(key=lambda query: "[" in query)
        queries = queries[:QUERIES_A_SKILL]
        draw.shuffle(queries)
        groups += [{"skill": id, "queries": queries[at : at + 2], "kind": "short"} for at in range(0, len(queries), 2)]
    for task in sets.long:
        if all(map(sets.is_open, task["skill_ids"])):
            groups += [{"skill": id, "queries": [task["query"]], "kind": "long"} for id in task["skill_ids"]]
    for zh, en in sets.translations:
        if sets.is_open(zh) and sets.is_open(en):
            for asks, right in ((zh, en), (en, zh)):
                if sets.skills[asks]["description"]:
                    groups.append({"skill": right, "queries": [sets.skills[asks]["description"]], "kind": "translation"})
    for group in groups:
        for at, query in enumerate(group["queries"]):
            if group["kind"] != "translation" and draw.random() < MISSPELLED_SHARE:
                group["queries"][at] = data.misspelled(query, draw)
                counts["misspelled"] += group["queries"][at] != query
            counts[group["kind"]] += 1
    print("pairs:", dict(counts), "in", len(groups), "groups of", len({group["skill"] for group in groups}), "skills")
    return groups


def search(skillmux, index, queries, depth, retriever, out):
    """Returns the ranking of each query: pairs of id and score."""
    out.mkdir(parents=True, exist_ok=True)
    data.write_lines(out / "ask.jsonl", ({"query_id": str(at), "query": query} for at, query in enumerate(queries)))
    command = [skillmux, "search", "--queries", out / "ask.jsonl", "--index", index, "-k", str(depth), "--retriever", retriever]
    run = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rankings = [[] for _ in queries]
    for line in run.splitlines():
        task, _, skill, _, score, _ = line.split()
        rankings[int(task)].append((unquote(skill), float(score)))
    return rankings


def add_negatives(groups, sets, found, draw):
    """Gives each group a skill that BM25 finds for a query of its skill, and that is most likely no answer.

    Left out are skills that share a name with the right one, those whose name and description say nearly the same (Jaccard of words
    above 0.5), and skills that are the answer of a scored task. train.py leaves out those whose vectors are too much alike.
    """
    skills, counts = sets.skills, Counter()
    candidates = {}
    for right, ranking in found.items():
        mine = words(data.headline(skills[right]["name"], skills[right]["description"]))
        candidates[right] = []
        for id, _ in ranking[1:]:
            same_name = sets.keys[id] == sets.keys[right]
            closed = sets.keys[id] in sets.closed_keys
            near = jaccard(mine, words(data.headline(skills[id]["name"], skills[id]["description"]))) > MAX_JACCARD
            counts.update(same_name=same_name, closed=closed, near=near, seen=1)
            if not (same_name or closed or near or id == right):
                candidates[right].append(id)
        draw.shuffle(candidates[right])
    open_ids = sorted(id for id in skills if sets.keys[id] not in sets.closed_keys)
    for group in groups:
        left = candidates[group["skill"]]
        counts.update(by_chance=not left)
        group["negative"] = left.pop() if left else draw.choice(open_ids)
    print("negatives:", dict(counts))


def main():
    folder, out, skillmux, index = sys.argv[1:]
    folder, out = Path(folder), Path(out)
    out.mkdir(parents=True, exist_ok=True)
    draw = random.Random(1)
    skills, same = read_skills(folder)
    (out / "data-folder").write_text(str(folder.resolve()))
    data.write_lines(out / "skills.jsonl", ({**skill, "same": same[id]} for id, skill in skills.items()))
    sets = Sets(folder, skills)
    for name, tasks in sets.tasks.items():
        if len(tasks) > N_TASKS:
            tasks = random.Random(1).sample(tasks, N_TASKS)
        print(f"{name}: {len(tasks)} of {len(sets.tasks[name])} tasks")
        data.write_lines(out / f"{name}.jsonl", tasks)
    groups = make_groups(sets, draw)
    assert not sets.closed_keys & {sets.keys[group["skill"]] for group in groups}
    first = {}
    for group in groups:
        first.setdefault(group["skill"], group["queries"][0])
    rankings = search(skillmux, index, list(first.values()), DEPTH, "joined", out / "mining")
    add_negatives(groups, sets, dict(zip(first, rankings)), draw)
    draw.shuffle(groups)
    data.write_lines(out / "groups.jsonl", groups)


if __name__ == "__main__":
    main()
