#!/usr/bin/env python3
"""Measures steps of training in torch, of the shape that `skillmux train transformer` has by default.

usage: speed.py DATA N_STEPS PRECISION

32 queries a step, each with its skill and another one by chance; of a skill the name and the description, and the body, as two texts
of 64 tokens. PRECISION is `f32` or `bf16`. The first two steps do not count.
"""

import random
import sys
import time
from pathlib import Path

import torch

import data
import model
import train

N_PAIRS, N_TOKENS, N_QUERY_TOKENS = 32, 64, 128
RATE = 5e-5


def encode(encoder, rows):
    texts = train.Texts(rows, "cpu")
    return train.encode(encoder, texts, torch.arange(len(rows)), 4)


def main():
    folder, n_steps, precision = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    torch.set_num_threads(2)
    skills = {}
    for row in data.read_lines(sorted(folder.glob("pool/*.zst"))[0]):
        skills[row["skill_id"]] = (f"{row['name']}\n{row['description']}", row["body"] or "-")
    rows = (row for row in data.read_lines(folder / "queries-train.jsonl.zst") if row["relevant"])
    pairs = [(row["query"], row["skill_id"]) for row in rows if row["skill_id"] in skills]
    draw = random.Random(1)
    tokenizer = model.base_tokenizer()
    encoder = model.Encoder.load("base").train()
    optimizer = torch.optim.AdamW(encoder.parameters(), lr=RATE)
    started, cpu, n_read = time.time(), time.process_time(), 0
    for step in range(n_steps):
        if step == 2:
            started, cpu, n_read = time.time(), time.process_time(), 0
        batch = draw.sample(pairs, N_PAIRS)
        ids = [id for _, id in batch] + draw.sample(sorted(skills), N_PAIRS)
        texts = [part[:4000] for id in ids for part in skills[id]]
        queries = model.tokens_of(tokenizer, [query for query, _ in batch], N_QUERY_TOKENS)
        parts = model.tokens_of(tokenizer, texts, N_TOKENS)
        n_read += sum(map(len, queries + parts))
        with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bf16"):
            of_skills = encode(encoder, parts).view(len(ids), 2, -1).mean(1)
            of_queries = encode(encoder, queries)
        scores = of_queries @ of_skills.T / train.TEMPERATURE
        torch.nn.functional.cross_entropy(scores, torch.arange(N_PAIRS)).backward()
        torch.nn.utils.clip_grad_norm_(encoder.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
    n = n_steps - 2
    wall, cpu = time.time() - started, time.process_time() - cpu
    print(f"{precision}: {n / wall:.3f} steps a second, {cpu / n:.2f} s of processor time a step, {n_read // n} tokens a step")


if __name__ == "__main__":
    main()
