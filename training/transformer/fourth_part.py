#!/usr/bin/env python3
"""Writes what the fourth part of the training is done on: parts of tasks, Chinese as the binary reads it, and nearer negatives.

usage: fourth_part.py DATA OUT START

prepare.py has written to OUT; START is what the part begins with, which also finds the negatives. Writes OUT/groups-4.jsonl, and OUT/skills-4.jsonl, where
Chinese skills are as the binary reads them: word by word in English. README.md says what the parts are.
"""

import random
import re
import sys
from collections import defaultdict
from math import log
from pathlib import Path

import numpy as np
import torch

import data
import model
import prepare

LEXICON = prepare.REPOSITORY / "crates/skillmux-models/assets/lexicon.tsv"
SEED = 5
# Tasks in other words that are cut to the clause that is closest to their skill.
SHARE_OF_CLAUSES = 0.35
MISSPELLED_SHARE = 0.12
N_TIMES_PARTS = 2
N_OF_FIRST_PART = 1200
MIN_CLAUSE_WORDS = 4
# Negatives are drawn from the nearest skills of so many, as in the library of a user: of a whole registry, they would be right as well.
N_LIBRARY, N_CHINESE = 7000, 800
N_NEAREST, N_LOOKED_AT, MAX_COSINE = 4, 40, 0.85


class Lexicon:
    """Says Chinese in English, as `skillmux_models::Lexicon` does."""

    def __init__(self, path):
        counted = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
        count_of = lambda count: max(float(count), 20.0)
        total = sum(count_of(count) for _, count, _ in counted)
        self.words = {word: (-log(count_of(count) / total), english) for word, count, english in counted}

    def says(self, text):
        """Returns a text with its Chinese word by word in English. Japanese stays as it is."""
        has_kana = any("\u3040" <= c <= "\u30ff" for c in text)
        if has_kana or not any("\u4e00" <= c <= "\u9fff" for c in text):
            return text
        out = []
        for run in re.findall("[\u4e00-\u9fff]+|[^\u4e00-\u9fff]+", text):
            if "\u4e00" <= run[0] <= "\u9fff":
                out += self.words_of(run)
            elif run.strip():
                out.append(run.strip())
        return " ".join(out)

    def words_of(self, run):
        best = [(0.0, 0)]
        for end in range(1, len(run) + 1):
            least = (best[end - 1][0] + 15.0, end - 1)
            for start in range(max(0, end - 6), end):
                if run[start:end] in self.words:
                    least = min(least, (best[start][0] + self.words[run[start:end]][0], start), key=lambda pair: pair[0])
            best.append(least)
        cuts, end = [], len(run)
        while end:
            cuts.append(run[best[end][1] : end])
            end = best[end][1]
        return [self.words[word][1] for word in reversed(cuts) if word in self.words and self.words[word][1]]


def clauses(text):
    found = re.split(r"(?<=[.!?;:,])\s+|\s+(?=(?:and|but|then|so)\s)|\s[-–—]\s", text)
    return [clause.strip(" ,;:") for clause in found if len(clause.split()) >= MIN_CLAUSE_WORDS]


def best_clauses(tasks, skills, encoder, tokenizer):
    """Returns the clause of each task that is closest to its skill, for tasks of several clauses."""
    of_task = {query: clauses(query) for _, query in tasks}
    of_task = {query: found for query, found in of_task.items() if len(found) > 1}
    texts = sorted({clause for found in of_task.values() for clause in found})
    ids = sorted({id for id, query in tasks if query in of_task})
    vectors = dict(zip(texts, model.encode(encoder, tokenizer, texts, model.QUERY_TOKENS)))
    of_skill = dict(zip(ids, model.encode(encoder, tokenizer, [skills[id]["text"] for id in ids], model.DOCUMENT_TOKENS)))
    closest = lambda id, query: max(of_task[query], key=lambda clause: float(vectors[clause] @ of_skill[id]))
    return {query: closest(id, query) for id, query in tasks if query in of_task}


def add_negatives(groups, sets, texts, encoder, tokenizer, draw):
    """Gives each group one of the skills of a library that are nearest to its first query, and most likely no answer.

    Left out are skills that share a name with the right one, those whose name and description say nearly the same, and those whose vector is too near.
    """
    skills = sets.skills
    headline = lambda id: prepare.words(data.headline(skills[id]["name"], skills[id]["description"]))
    open_ids = sorted(id for id in skills if sets.keys[id] not in sets.closed_keys)
    right = sorted({group["skill"] for group in groups})
    chinese = [id for id in open_ids if data.is_chinese(skills[id]["description"])]
    library = sorted({*draw.sample(open_ids, N_LIBRARY), *draw.sample(chinese, N_CHINESE)})
    vectors = model.encode(encoder, tokenizer, [texts[id] for id in library], model.DOCUMENT_TOKENS)
    of_right = dict(zip(right, model.encode(encoder, tokenizer, [texts[id] for id in right], model.DOCUMENT_TOKENS)))
    words = [headline(id) for id in library]
    asked = model.encode(encoder, tokenizer, [group["queries"][0] for group in groups], model.DOCUMENT_TOKENS)
    for group, query in zip(groups, asked):
        id, mine = group["skill"], headline(group["skill"])
        alike = vectors @ of_right[id]
        found = []
        for at in np.argsort(-(vectors @ query))[:N_LOOKED_AT]:
            same_name = library[at] == id or sets.keys[library[at]] == sets.keys[id]
            if not (same_name or alike[at] > MAX_COSINE or prepare.jaccard(mine, words[at]) > prepare.MAX_JACCARD):
                found.append(library[at])
        group["negative"] = draw.choice(found[:N_NEAREST] or open_ids)


def closed_to_all(sets):
    """Closes the skills of the sets that came after prepare.py: they are scored."""
    installed = data.read_lines(prepare.REPOSITORY / "datasets/installed-tasks.jsonl")
    libraries = tuple({task["library"] + "/" for task in installed})
    across = data.read_lines(prepare.REPOSITORY / "datasets/cross-language-tasks.jsonl")
    closed = [id for id in sets.skills if id.startswith(libraries)] + [id for task in across for id in task["skill_ids"]]
    sets.closed_keys |= {sets.keys[id] for id in closed}
    sets.closed_texts |= {sets.wording(id) for id in closed} - {""}


class Part:
    """What a part of the training begins with: the skills as the binary reads them, what is held out, and the weights that find the negatives."""

    def __init__(self, folder, start, seed):
        torch.set_num_threads(2)
        self.draw = random.Random(seed)
        self.lexicon = Lexicon(LEXICON)
        self.skills, same = prepare.read_skills(folder)
        self.sets = prepare.Sets(folder, self.skills)
        closed_to_all(self.sets)
        self.encoder, self.tokenizer = model.Encoder.load(start).eval(), model.base_tokenizer()
        self.rows = {id: {**skill, "text": self.lexicon.says(skill["text"]), "same": same[id]} for id, skill in self.skills.items()}
        self.texts = {id: row["text"] for id, row in self.rows.items()}

    def misspelled(self, query):
        return data.misspelled(query, self.draw) if self.draw.random() < MISSPELLED_SHARE else query


def main():
    folder, out, start = map(Path, sys.argv[1:])
    part = Part(folder, start, SEED)
    draw, lexicon, skills, sets, misspelled = part.draw, part.lexicon, part.skills, part.sets, part.misspelled
    encoder, tokenizer = part.encoder, part.tokenizer

    tasks = [(task["skill_ids"][0], task["query"]) for task in data.read_lines(prepare.REPOSITORY / "datasets/other-words-train.jsonl")]
    tasks = [(id, query) for id, query in tasks if sets.is_open(id)]
    clause_of = best_clauses(tasks, skills, encoder, tokenizer)
    of_skill = defaultdict(list)
    for id, query in tasks:
        is_cut = draw.random() < SHARE_OF_CLAUSES
        of_skill[id].append(misspelled(clause_of.get(query, query) if is_cut else query))
    groups = [{"skill": id, "queries": queries, "kind": "other"} for id, queries in of_skill.items()]
    parts = defaultdict(list)
    for task in data.read_lines(prepare.REPOSITORY / "datasets/parts-train.jsonl"):
        if sets.is_open(task["skill_ids"][0]):
            parts[task["skill_ids"][0]].append(lexicon.says(task["query"]))
    for _ in range(N_TIMES_PARTS):
        groups += [{"skill": id, "queries": [misspelled(query) for query in queries], "kind": "parts"} for id, queries in parts.items()]
    first = [group for group in data.read_lines(out / "groups.jsonl") if sets.is_open(group["skill"])]
    is_chinese = lambda group: any(map(data.is_chinese, [*group["queries"], skills[group["skill"]]["description"]]))
    chinese = [group for group in first if is_chinese(group)]
    rest = [group for group in first if not is_chinese(group)]
    draw.shuffle(rest)
    for group in chinese + rest[:N_OF_FIRST_PART]:
        groups.append({**group, "queries": [lexicon.says(query) for query in group["queries"]]})
    print(len(of_skill), "groups of tasks in other words,", N_TIMES_PARTS, "times", len(parts), "of parts,", len(chinese), "of Chinese")

    add_negatives(groups, sets, part.texts, encoder, tokenizer, draw)
    draw.shuffle(groups)
    data.write_lines(out / "groups-4.jsonl", groups)
    data.write_lines(out / "skills-4.jsonl", part.rows.values())


if __name__ == "__main__":
    main()
