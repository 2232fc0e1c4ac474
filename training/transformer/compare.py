#!/usr/bin/env python3
"""Compares weights and their means by the cosine alone, on tasks that nothing was trained on.

usage: compare.py OUT NAME=WEIGHTS[+WEIGHTS...] ...

250 tasks of OUT/select.jsonl and 250 of `datasets/other-words-fit.jsonl`, among their right skills and 300 others; 128 tokens a skill. Seed 5.
"""

import random
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file

import data
import model
import prepare

N_TASKS, N_OTHERS = 250, 300


def mean_of(paths):
    states = [load_file(path) for path in paths]
    with tempfile.NamedTemporaryFile(suffix=".safetensors") as file:
        save_file({name: sum(state[name] for state in states) / len(states) for name in states[0]}, file.name)
        return model.Encoder.load(file.name).eval()


def main():
    out, systems = Path(sys.argv[1]), [argument.split("=") for argument in sys.argv[2:]]
    torch.set_num_threads(2)
    tokenizer = model.base_tokenizer()
    skills = {skill["id"]: skill["text"] for skill in data.read_lines(out / "skills.jsonl")}
    draw = random.Random(5)
    select = draw.sample(list(data.read_lines(out / "select.jsonl")), N_TASKS)
    other = draw.sample(list(data.read_lines(prepare.REPOSITORY / "datasets/other-words-fit.jsonl")), N_TASKS)
    other = [{"query": task["query"], "gold": task["skill_ids"]} for task in other]
    right = {id for task in select + other for id in task["gold"]}
    ids = sorted(right) + draw.sample(sorted(set(skills) - right), N_OTHERS)
    print("| weights | set | Hit@1 | R@5 | R@10 |\n|---|---|---|---|---|")
    for name, paths in systems:
        encoder = mean_of(paths.split("+"))
        documents = model.encode(encoder, tokenizer, [skills[id] for id in ids], model.DOCUMENT_TOKENS)
        for title, tasks in (("select", select), ("other words", other)):
            queries = model.encode(encoder, tokenizer, [task["query"] for task in tasks], model.QUERY_TOKENS)
            order = np.argsort(-(queries @ documents.T), axis=1)
            first = np.array([next(at for at, i in enumerate(row) if ids[i] in task["gold"]) for row, task in zip(order, tasks)])
            print(f"| {name} | {title} | " + " | ".join(f"{(first < n).mean():.3f}" for n in (1, 5, 10)) + " |", flush=True)


if __name__ == "__main__":
    main()
