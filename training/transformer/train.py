#!/usr/bin/env python3
"""Tunes the base encoder on the groups of prepare.py; goes on from the last checkpoint if there is one.

usage: train.py OUT RUN N_STEPS [GROUPS START SKILL_TOKENS SKILLS]

A run that was stopped may be ended sooner, or go on longer, with another N_STEPS: the rate is even until the last fifth, so that the
result is that of a run with this N_STEPS from the start, as long as the last fifth has not begun. RUN/even.pt is the last checkpoint before that: put in
place of checkpoint.pt, it lets a run that has ended go on.
GROUPS is a file of OUT, `groups.jsonl` if none is named; START is a safetensors file to begin with, else
the base. Skills are cut to SKILL_TOKENS, else 64, and are those of OUT/SKILLS, else `skills.jsonl`.
Reads OUT/GROUPS and OUT/SKILLS; writes RUN/log.jsonl, RUN/checkpoint.pt every 10 steps and RUN/tuned.safetensors.
"""

import json
import math
import random
import shutil
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
WARM_UP = 20
COOL_DOWN = 0.2
WEIGHT_DECAY = 0.01
TEMPERATURE = 0.05
# Skills whose vectors have a cosine above this to the right one's are no negatives of its queries.
MAX_COSINE = 0.85
TRAIN_QUERY_TOKENS = 128
# The second loss: whether a skill serves a query, each pair for itself; even at this cosine. Its share beside InfoNCE.
EVEN_COSINE = 0.33
YES_NO_SHARE = 0.25
EVERY = 10
CHECK_EVERY = 50
N_CHECK_TASKS, N_CHECK_SKILLS = 100, 300


class Check:
    """Recall among 300 skills of tasks that nothing was trained on, to see the way that training goes."""

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
    """Rises for WARM_UP steps, stays, and falls to 0 over the last fifth."""
    left = (n_steps - step) / (COOL_DOWN * n_steps)
    return RATE * min(step / WARM_UP, left, 1)


class Batches:
    def __init__(self, groups, skills, tokenizer, skill_tokens):
        self.groups, self.skills, self.tokenizer = groups, skills, tokenizer
        self.n_blocked = 0
        self.gold_of = defaultdict(set)
        for group in groups:
            for query in group["queries"]:
                self.gold_of[query].add(group["skill"])
        ids = sorted({id for group in groups for id in (group["skill"], group["negative"])})
        self.rows = dict(zip(ids, model.tokens_of(tokenizer, [skills[id]["text"] for id in ids], skill_tokens)))
        self.keys = {id: data.key_of_name(skills[id]["name"]) for id in ids}
        self.wordings = {id: " ".join(skills[id]["description"].lower().split()) for id in ids}
        # Skills that were told apart by who wrote their queries, by the number of those that they were told apart from.
        self.near = {group["skill"]: group["near"] for group in groups if "near" in group}
        self.tells_of_none = any("none" in group for group in groups)

    def of_epoch(self, epoch):
        """Each skill once, then those with more groups again, and so on; shuffled within each round, near ones side by side."""
        order = list(range(len(self.groups)))
        random.Random(SEED * 1000 + epoch).shuffle(order)
        seen, round_of = defaultdict(int), {}
        for at in order:
            round_of[at] = seen[self.groups[at]["skill"]]
            seen[self.groups[at]["skill"]] += 1
        place_of = {at: place for place, at in enumerate(sorted(order, key=round_of.get))}
        near_of = lambda at: self.groups[at].get("near")
        unit_of = lambda at: (at, None) if near_of(at) is None else (near_of(at), round_of[at])
        # Near ones stand where the one of them stands that comes first in the file, which is anywhere.
        place_of_unit = {}
        for at in range(len(self.groups)):
            place_of_unit.setdefault(unit_of(at), place_of[at])
        order.sort(key=lambda at: (place_of_unit[unit_of(at)], place_of[at]))
        whole = len(order) // GROUPS_A_STEP * GROUPS_A_STEP
        return [[self.groups[at] for at in order[start : start + GROUPS_A_STEP]] for start in range(0, whole, GROUPS_A_STEP)]

    def loss(self, encoder, groups):
        """InfoNCE of each query against the right skills and the hard negatives of the whole batch, without what may be right too. If groups tell of
        requests that none of them serves (`none`), the loss of yes and no for each pair is added, in which these are no for all."""
        documents = [group["skill"] for group in groups] + [group["negative"] for group in groups]
        asked = [(query, at) for at, group in enumerate(groups) for query in group["queries"]]
        unserved = [query for group in groups for query in group.get("none", [])]
        rows = model.tokens_of(self.tokenizer, [query for query, _ in asked] + unserved, TRAIN_QUERY_TOKENS)
        blocked = torch.zeros(len(asked), len(documents), dtype=torch.bool)
        for i, (query, at) in enumerate(asked):
            right = documents[at]
            for j, id in enumerate(documents):
                alike = self.keys[id] == self.keys[right] or self.wordings[id] == self.wordings[right]
                blocked[i, j] = j != at and (alike or id in self.gold_of[query])
        with torch.autocast("cpu", torch.bfloat16):
            of_documents = self.encode(encoder, [self.rows[id] for id in documents])
            of_queries = self.encode(encoder, rows)
        right = torch.tensor([at for _, at in asked])
        with torch.no_grad():
            alike = of_documents @ of_documents.T > MAX_COSINE
            near = torch.tensor([self.near.get(id, -1) for id in documents])
            alike &= (near[:, None] != near) | (near < 0)
            alike = alike[right]
            alike[torch.arange(len(asked)), right] = False
        blocked |= alike
        self.n_blocked += int(blocked.sum())
        cosines = of_queries @ of_documents.T
        loss = torch.nn.functional.cross_entropy((cosines[: len(asked)] / TEMPERATURE).masked_fill(blocked, -math.inf), right)
        if not self.tells_of_none:
            return loss
        wanted = torch.zeros_like(cosines)
        wanted[torch.arange(len(asked)), right] = 1
        counts = torch.cat([~blocked, torch.ones(len(unserved), len(documents), dtype=torch.bool)]).float()
        yes_no = torch.nn.functional.binary_cross_entropy_with_logits((cosines - EVEN_COSINE) / TEMPERATURE, wanted, counts, reduction="sum")
        return loss + YES_NO_SHARE * yes_no / len(cosines)

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
    n_steps = int(sys.argv[3])
    groups, begin, skill_tokens, skills = [*sys.argv[4:], *("groups.jsonl", "base", "64", "skills.jsonl")[len(sys.argv) - 4 :]]
    run.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(SEED)
    torch.set_num_threads(2)
    skills = {skill["id"]: skill for skill in data.read_lines(out / skills)}
    tokenizer = model.base_tokenizer()
    encoder = model.Encoder.load(begin).train()
    batches = Batches(list(data.read_lines(out / groups)), skills, tokenizer, int(skill_tokens))
    check = Check(out, skills, tokenizer)
    plain = [p for n, p in encoder.named_parameters() if n.endswith("bias") or "LayerNorm" in n]
    decayed = [p for n, p in encoder.named_parameters() if not (n.endswith("bias") or "LayerNorm" in n)]
    optimizer = torch.optim.AdamW([{"params": decayed, "weight_decay": WEIGHT_DECAY}, {"params": plain, "weight_decay": 0.0}], lr=RATE)
    a_epoch = len(batches.of_epoch(0))
    steps = [batch for epoch in range(-(-n_steps // a_epoch)) for batch in batches.of_epoch(epoch)][:n_steps]
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
        tell(step=0, n_steps=n_steps, n_steps_an_epoch=a_epoch, n_groups=len(batches.groups), **check(encoder))
    losses, clock, cpu = [], time.time(), time.process_time()
    for step in range(start, n_steps):
        for group in optimizer.param_groups:
            group["lr"] = rate_at(step + 1, n_steps)
        loss = batches.loss(encoder, steps[step])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(encoder.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
        if (step + 1) % EVERY == 0:
            took = {"wall_s": round(time.time() - clock, 1), "cpu_s": round(time.process_time() - cpu, 1)}
            tell(step=step + 1, loss=round(float(np.mean(losses)), 4), rate=rate_at(step + 1, n_steps), n_blocked=batches.n_blocked, **took)
            losses, clock, cpu, batches.n_blocked = [], time.time(), time.process_time(), 0
            saved = {"encoder": encoder.state_dict(), "optimizer": optimizer.state_dict(), "step": step + 1}
            torch.save(saved, run / "checkpoint.new")
            (run / "checkpoint.new").rename(run / "checkpoint.pt")
            if step + 1 <= (1 - COOL_DOWN) * n_steps:
                shutil.copy(run / "checkpoint.pt", run / "even.pt")
        if (step + 1) % CHECK_EVERY == 0 or step + 1 == n_steps:
            tell(step=step + 1, **check(encoder))
    encoder.save(run / "tuned.safetensors")


if __name__ == "__main__":
    main()
