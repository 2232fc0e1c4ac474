#!/usr/bin/env python3
"""Compares weights and their means by the cosine alone, on tasks that nothing was trained on.

usage: compare.py DATA OUT NAME=WEIGHTS[+WEIGHTS...] ...

Each task of `libraries` (`datasets/library-fit.jsonl`) is asked in its own library of 66 skills, the first skill of `skill_ids` or one of `also` is right. The tasks of the
other sets are asked among all right skills of their set and 300 others: `datasets/other-words-fit.jsonl`, both directions of
`datasets/cross-language-fit.jsonl`, and 500 tasks each of OUT/select.jsonl and OUT/long.jsonl. 128 tokens a skill; Chinese as the binary reads it. The last columns say how well the
highest cosine of a library tells its tasks of one part from the requests of `datasets/near-none.jsonl` that it does not serve (AUROC), by kind of request.
"""

import random
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file

import data
import model
import prepare
from fourth_part import LEXICON, Lexicon

SEED = 5
N_TASKS, N_OTHERS = 500, 300
DATASETS = prepare.REPOSITORY / "datasets"


def mean_of(paths):
    states = [load_file(path) for path in paths]
    with tempfile.NamedTemporaryFile(suffix=".safetensors") as file:
        save_file({name: sum(state[name] for state in states) / len(states) for name in states[0]}, file.name)
        return model.Encoder.load(file.name).eval()


def sets_of(out, skills):
    """Returns the sets by name: groups of tasks, each with the skills among which they are asked."""
    draw = random.Random(SEED)
    across = list(data.read_lines(DATASETS / "cross-language-fit.jsonl"))
    rows = {
        "other words": data.read_lines(DATASETS / "other-words-fit.jsonl"),
        "Chinese to English": [row for row in across if row["lang"] == "zh"],
        "English to Chinese": [row for row in across if row["lang"] == "en"],
        "select": data.read_lines(out / "select.jsonl"),
        "long": data.read_lines(out / "long.jsonl"),
    }
    sets = {}
    for name, tasks in rows.items():
        tasks = [(task["query"], set(task.get("skill_ids") or task["gold"])) for task in tasks]
        tasks = draw.sample(tasks, min(N_TASKS, len(tasks))) if name in ("select", "long") else tasks
        right = set().union(*(gold for _, gold in tasks))
        others = [id for id in sorted(set(skills) - right) if name != "English to Chinese" or data.is_chinese(skills[id]["description"])]
        sets[name] = [(tasks, sorted(right) + draw.sample(others, N_OTHERS))]
    libraries, of_library = {row["library"]: row["skill_ids"] for row in data.read_lines(DATASETS / "fit-libraries.jsonl")}, defaultdict(list)
    for row in data.read_lines(DATASETS / "library-fit.jsonl"):
        of_library[row["library"]].append((row["query"], {*row["skill_ids"], *row.get("also", [])}))
    sets["libraries"] = [(tasks, libraries[name]) for name, tasks in of_library.items()]
    return sets


class Encoded:
    """Says the cosines of texts to skills by one encoder; Chinese as the binary reads it."""

    def __init__(self, encoder, skills):
        self.encoder, self.skills = encoder, skills
        self.tokenizer, self.lexicon = model.base_tokenizer(), Lexicon(LEXICON)

    def cosines(self, queries, ids):
        said = lambda texts, n_tokens: model.encode(self.encoder, self.tokenizer, [self.lexicon.says(text) for text in texts], n_tokens)
        return said(queries, model.QUERY_TOKENS) @ said([self.skills[id]["text"] for id in ids], model.DOCUMENT_TOKENS).T


def auroc(encoded):
    """Returns by kind of request how well the highest cosine of a library tells tasks of one part from requests that it does not serve."""
    libraries = {row["library"]: row["skill_ids"] for row in data.read_lines(DATASETS / "fit-libraries.jsonl")}
    asked = [(row["library"], row["query"], "task") for row in data.read_lines(DATASETS / "library-fit.jsonl") if len(row["skills"]) == 1]
    asked += [(row["library"], row["query"], row["kind"]) for row in data.read_lines(DATASETS / "near-none.jsonl") if "library" in row]
    highest = defaultdict(list)
    for library, ids in libraries.items():
        here = [(query, kind) for of, query, kind in asked if of == library]
        for (_, kind), row in zip(here, encoded.cosines([query for query, _ in here], ids)):
            highest[kind].append(row.max())
    tasks = np.array(highest.pop("task"))
    return {kind: float((tasks[:, None] > np.array(of)[None]).mean()) for kind, of in sorted(highest.items())}


def main():
    folder, out, systems = Path(sys.argv[1]), Path(sys.argv[2]), [argument.split("=") for argument in sys.argv[3:]]
    torch.set_num_threads(2)
    skills, _ = prepare.read_skills(folder)
    sets = sets_of(out, skills)
    titles = [f"{name}, {sum(len(tasks) for tasks, _ in groups)} tasks" for name, groups in sets.items()]
    print("| weights | " + " | ".join([*titles, "near", "other", "talk"]) + " |\n" + "|---" * (4 + len(titles)) + "|")
    for name, paths in systems:
        encoded = Encoded(mean_of(paths.split("+")), skills)
        cells = []
        for groups in sets.values():
            places = []
            for tasks, ids in groups:
                order = np.argsort(-encoded.cosines([query for query, _ in tasks], ids), axis=1)
                places += [next(at for at, i in enumerate(row) if ids[i] in gold) for row, (_, gold) in zip(order, tasks)]
            cells.append(", ".join(f"{(np.array(places) < n).mean():.3f}" for n in (1, 5)))
        cells += [f"{value:.3f}" for value in auroc(encoded).values()]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
