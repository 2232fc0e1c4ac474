#!/usr/bin/env python3
"""Tunes the base encoder on the groups of prepare.py; goes on from the last checkpoint if there is one.

usage: train.py OUT RUN [EPOCHS]

Reads OUT/groups.jsonl and OUT/skills.jsonl; writes RUN/log.jsonl, RUN/checkpoint.pt every 25 steps and RUN/tuned.safetensors.
"""

import json
import math
import random
import sys
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
import torch

import data
import model

SEED = 1
GROUPS_A_STEP = 32
RATE = 5e-5
WARM_UP = 0.1
WEIGHT_DECAY = 0.01
TEMPERATURE = 0.05
TRAIN_QUERY_TOKENS = 128
EVERY = 25
N_CHECK_TASKS, N_CHECK_SKILLS = 200, 1000


class Check:
    """Recall among a thousand skills of tasks that nothing was trained on, to see the way that training goes."""

    def __init__(self, out, skills, tokenizer):
        draw = random.Random(SEED)
        self.tasks = draw.sample(list(data.read_lines(out / "select.jsonl")), N_CHECK_TASKS)
        right = {id for task in self.tasks for id in task["gold"]}
        others = draw.sample(sorted(set(skills) - right), N_CHECK_SKILLS - len(right))
        self.ids = sorted(right) + others
        self.texts = [skills[id]["text"] for id in self.ids]
        self.tokenizer = tokenizer

    def __call__(self, encoder):
        encoder.eval()
        documents = model.encode(encoder, self.tokenizer, self.texts, model.DOCUMENT_TOKENS)
        queries = model.encode(encoder, self.tokenizer, [task["query"] for task in self.tasks], model.QUERY_TOKENS)
        encoder.train()
        order = np.argsort(-(queries @ documents.T), axis=1)
        first = [
            next(place for place, at in enumerate(row) if self.ids[at] in task["gold"])
            for row, task in zip(order, self.tasks)
        ]
        return {"check_hit@1": float(np.mean(np.array(first) == 0)), "check_recall@10": float(np.mean(np.array(first) < 10))}


def rate_at(step, n_steps):
    warm = max(int(WARM_UP * n_steps), 1)
    return RATE * (step / warm if step < warm else max(n_steps - step, 0) / max(n_steps - warm, 1))


class Batches:
    def __init__(self, groups, skills, tokenizer):
        self.groups, self.skills, self.tokenizer = groups, skills, tokenizer
        self.gold_of = defaultdict(set)
        for group in groups:
            for query in group["queries"]:
                self.gold_of[query].add(group["skill"])
        ids = sorted({id for group in groups for id in (group["skill"], group["negative"])})
        self.rows = dict(zip(ids, model.tokens_of(tokenizer, [skills[id]["text"] for id in ids], model.DOCUMENT_TOKENS)))
        self.keys = {id: data.key_of_name(skills[id]["name"]) for id in ids}
        self.wordings = {id: " ".join(skills[id]["description"].lower().split()) for id in ids}

    def of_epoch(self, epoch):
        order = list(range(len(self.groups)))
        random.Random(SEED * 1000 + epoch).shuffle(order)
        whole = len(order) // GROUPS_A_STEP * GROUPS_A_STEP
        return [[self.groups[at] for at in order[start : start + GROUPS_A_STEP]] for start in range(0, whole, GROUPS_A_STEP)]

    def loss(self, encoder, groups):
        """InfoNCE: each query against the right skills and the hard negatives of the whole batch, without what may be right too."""
        documents = [group["skill"] for group in groups] + [group["negative"] for group in groups]
        asked = [(query, at) for at, group in enumerate(groups) for query in group["queries"]]
        rows = model.tokens_of(self.tokenizer, [query for query, _ in asked], TRAIN_QUERY_TOKENS)
        blocked = torch.zeros(len(asked), len(documents), dtype=torch.bool)
        for i, (query, at) in enumerate(asked):
            right = documents[at]
            for j, id in enumerate(documents):
                alike = self.keys[id] == self.keys[right] or self.wordings[id] == self.wordings[right]
                blocked[i, j] = j != at and (alike or id in self.gold_of[query])
        with torch.autocast("cpu", torch.bfloat16):
            of_documents = self.encode(encoder, [self.rows[id] for id in documents])
            of_queries = self.encode(encoder, rows)
        scores = (of_queries @ of_documents.T / TEMPERATURE).masked_fill(blocked, -math.inf)
        return torch.nn.functional.cross_entropy(scores, torch.tensor([at for _, at in asked]))

    @staticmethod
    def encode(encoder, rows):
        """Encodes in four parts of like length, so that less is padded."""
        order = sorted(range(len(rows)), key=lambda at: len(rows[at]))
        parts = [part for part in np.array_split(order, 4) if len(part)]
        vectors = torch.cat([encoder(*model.padded([rows[at] for at in part])) for part in parts])
        back = torch.empty(len(rows), dtype=torch.long)
        back[torch.tensor([int(at) for part in parts for at in part])] = torch.arange(len(rows))
        return vectors[back]


def main():
    out, run = Path(sys.argv[1]), Path(sys.argv[2])
    n_epochs = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    run.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(SEED)
    torch.set_num_threads(2)
    skills = {skill["id"]: skill for skill in data.read_lines(out / "skills.jsonl")}
    tokenizer = model.base_tokenizer()
    encoder = model.Encoder.load("base").train()
    batches = Batches(list(data.read_lines(out / "groups.jsonl")), skills, tokenizer)
    check = Check(out, skills, tokenizer)
    plain = [p for n, p in encoder.named_parameters() if n.endswith("bias") or "LayerNorm" in n]
    decayed = [p for n, p in encoder.named_parameters() if not (n.endswith("bias") or "LayerNorm" in n)]
    optimizer = torch.optim.AdamW([{"params": decayed, "weight_decay": WEIGHT_DECAY}, {"params": plain, "weight_decay": 0.0}], lr=RATE)
    steps = [batch for epoch in range(n_epochs) for batch in batches.of_epoch(epoch)]
    start = 0
    if (run / "checkpoint.pt").exists():
        saved = torch.load(run / "checkpoint.pt")
        encoder.load_state_dict(saved["encoder"])
        optimizer.load_state_dict(saved["optimizer"])
        start = saved["step"]
    log = (run / "log.jsonl").open("a", buffering=1)

    def tell(**row):
        log.write(json.dumps(row) + "\n")

    if start == 0:
        tell(step=0, n_steps=len(steps), n_groups=len(batches.groups), **check(encoder))
    losses, clock, cpu = [], time.time(), time.process_time()
    for step in range(start, len(steps)):
        for group in optimizer.param_groups:
            group["lr"] = rate_at(step + 1, len(steps))
        loss = batches.loss(encoder, steps[step])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(encoder.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
        if (step + 1) % EVERY == 0:
            took = {"wall_s": round(time.time() - clock, 1), "cpu_s": round(time.process_time() - cpu, 1)}
            tell(step=step + 1, loss=round(float(np.mean(losses)), 4), rate=rate_at(step + 1, len(steps)), **took)
            losses, clock, cpu = [], time.time(), time.process_time()
            saved = {"encoder": encoder.state_dict(), "optimizer": optimizer.state_dict(), "step": step + 1}
            torch.save(saved, run / "checkpoint.new")
            (run / "checkpoint.new").rename(run / "checkpoint.pt")
        if (step + 1) % (len(steps) // 3) == 0:
            tell(step=step + 1, **check(encoder))
    encoder.save(run / "tuned.safetensors")


if __name__ == "__main__":
    main()
