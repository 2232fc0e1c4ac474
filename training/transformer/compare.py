#!/usr/bin/env python3
"""Compares weights and their means by the cosine alone, on tasks that nothing was trained on.

usage: compare.py DATA OUT NAME=WEIGHTS[+WEIGHTS...] ...

Each task of `libraries` (`datasets/library-fit.jsonl`) is asked in its own library of 66 skills, the first skill of `skill_ids` or one of `also` is right. The tasks of the
other sets are asked among all right skills of their set and 300 others: `datasets/other-words-fit.jsonl`, both directions of
`datasets/cross-language-fit.jsonl`, and 500 tasks each of OUT/select.jsonl and OUT/long.jsonl. 128 tokens a skill; Chinese as the binary reads it.
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


def main():
    folder, out, systems = Path(sys.argv[1]), Path(sys.argv[2]), [argument.split("=") for argument in sys.argv[3:]]
    torch.set_num_threads(2)
    tokenizer, lexicon = model.base_tokenizer(), Lexicon(LEXICON)
    skills, _ = prepare.read_skills(folder)
    sets = sets_of(out, skills)
    print("| weights | " + " | ".join(f"{name}, {sum(len(tasks) for tasks, _ in groups)} tasks" for name, groups in sets.items()) + " |")
    print("|---" * (1 + len(sets)) + "|")
    for name, paths in systems:
        encoder = mean_of(paths.split("+"))
        cells = []
        for groups in sets.values():
            places = []
            for tasks, ids in groups:
                documents = model.encode(encoder, tokenizer, [lexicon.says(skills[id]["text"]) for id in ids], model.DOCUMENT_TOKENS)
                queries = model.encode(encoder, tokenizer, [lexicon.says(query) for query, _ in tasks], model.QUERY_TOKENS)
                order = np.argsort(-(queries @ documents.T), axis=1)
                places += [next(at for at, i in enumerate(row) if ids[i] in gold) for row, (_, gold) in zip(order, tasks)]
            cells.append(", ".join(f"{(np.array(places) < n).mean():.3f}" for n in (1, 5)))
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
