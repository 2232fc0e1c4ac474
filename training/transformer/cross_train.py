#!/usr/bin/env python3
"""Trains a cross-encoder from the encoder that ships: it reads a query and a skill at once, and says how well the skill fits.

usage: cross_train.py OUT RUN N_STEPS

cross_prepare.py has written to OUT. Word vectors and layer 0 stay those of the encoder; layers 1 to 5 and the weights of the score are trained. Writes RUN/log.jsonl, and
RUN/cross.safetensors at the end. README.md says what the loss is.
"""

import json
import random
import sys
import time
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import nn
from torch.nn import functional as F

import data
import model
import unpack

SEED = 1
QUERIES_A_STEP = 16
N_CANDIDATES = 5
RATE, WARM_UP, COOL_DOWN, WEIGHT_DECAY = 8e-5, 40, 0.3, 0.01
# Of the queries, how many have no right skill among the candidates.
NONE_SHARE = 0.2
# Of each product of the two means at the beginning.
FIRST_WEIGHT = 15.0
QUERY_TOKENS, SKILL_TOKENS = 96, 72


class CrossEncoder(nn.Module):
    """Reads `[CLS] query [SEP] skill [SEP]`; the score is a weighed product of the mean state of the query and that of the skill, each of length 1.

    So it begins as the encoder's own cosine, of states that know of each other.
    """

    def __init__(self, encoder):
        super().__init__()
        self.bert = encoder
        self.weights = nn.Parameter(torch.full((model.WIDTH,), FIRST_WEIGHT))
        self.bias = nn.Parameter(torch.zeros(()))

    def trained(self):
        """Returns the parameters that are trained, by name."""
        frozen = ("bert.embeddings.", "bert.encoder.layer.0.")
        return {name: p for name, p in self.named_parameters() if not name.startswith(frozen)}

    def forward(self, ids, lengths, query_lengths):
        """Returns a score a row of `ids`, `[n]`: above 0 if the skill fits. query_lengths has the tokens up to the first [SEP], with it."""
        length = ids.shape[1]
        place = torch.arange(length)[None]
        is_token, is_query = place < lengths[:, None], place < query_lengths[:, None]
        e = self.bert.embeddings
        with torch.no_grad():
            x = e["word_embeddings"](ids) + e["position_embeddings"].weight[:length] + e["token_type_embeddings"].weight[0]
            x = e["LayerNorm"](x)
            mask = torch.zeros(is_token.shape).masked_fill(~is_token, -1e9)[:, None, None]
            if torch.is_autocast_enabled("cpu"):
                x, mask = x.to(torch.bfloat16), mask.to(torch.bfloat16)
            x = self.bert.encoder["layer"][0](x, mask)
        for layer in self.bert.encoder["layer"][1:]:
            x = layer(x, mask)
        x = x.float()
        mean = lambda part: F.normalize((x * part.float()[..., None]).sum(1), dim=1)
        return (mean(is_query) * mean(is_token & ~is_query)) @ self.weights + self.bias


def row_of(query, skill):
    """Joins the tokens of a query and of a skill, both with [CLS] and [SEP], to one row; returns it with the number of those of the query."""
    return [*query, *skill[1:]], len(query)


class Pairs:
    def __init__(self, out, tokenizer):
        self.rows = [row for name in ("cross", "cross-none") for row in data.read_lines(out / f"{name}.jsonl") if len(row["others"]) >= N_CANDIDATES]
        random.Random(SEED).shuffle(self.rows)
        ids = sorted({id for row in self.rows for id in (row.get("skill", row["others"][0]), *row["others"])})
        texts = {skill["id"]: skill["text"] for skill in data.read_lines(out / "skills-5.jsonl")}
        self.skills = dict(zip(ids, model.tokens_of(tokenizer, [texts[id] for id in ids], SKILL_TOKENS)))
        self.queries = model.tokens_of(tokenizer, [row["query"] for row in self.rows], QUERY_TOKENS)

    def batch(self, step):
        """Returns the rows of a step, those of a query side by side, and the place of the right one; the last place stands for none."""
        draw = random.Random(SEED * 1_000_000 + step)
        n = len(self.rows)
        start = step * QUERIES_A_STEP % n
        rows, right = [], []
        for at in range(start, start + QUERIES_A_STEP):
            row, query = self.rows[at % n], self.queries[at % n]
            others = row["others"]
            hard = draw.sample(others[:4], 2)
            rest = [id for id in others if id not in hard]
            some = hard + draw.sample(rest, min(len(rest), N_CANDIDATES - 2))
            if "skill" not in row or draw.random() < NONE_SHARE:
                candidates, place = some[:N_CANDIDATES], N_CANDIDATES
            else:
                candidates, place = [row["skill"], *some[: N_CANDIDATES - 1]], 0
            rows += [row_of(query, self.skills[id]) for id in candidates]
            right.append(place)
        return rows, torch.tensor(right)


def scores(cross, rows, n_parts=5):
    """Scores what row_of returns, in parts of like length, so that less is padded."""
    order = sorted(range(len(rows)), key=lambda at: len(rows[at][0]))
    size = -(-len(rows) // n_parts)
    parts = [order[start : start + size] for start in range(0, len(rows), size)]
    score = lambda part: cross(*model.padded([rows[at][0] for at in part]), torch.tensor([rows[at][1] for at in part]))
    found = torch.cat([score(part) for part in parts])
    back = torch.empty(len(rows), dtype=torch.long)
    back[torch.tensor([at for part in parts for at in part])] = torch.arange(len(rows))
    return found[back]


def rate_at(step, n_steps):
    left = (n_steps - step) / (COOL_DOWN * n_steps)
    return RATE * min((step + 1) / WARM_UP, left, 1)


def main():
    out, run, n_steps = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    run.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    encoder, tokenizer = unpack.shipped()
    cross = CrossEncoder(encoder).train()
    trained = cross.trained()
    for parameter in cross.parameters():
        parameter.requires_grad_(False)
    for parameter in trained.values():
        parameter.requires_grad_(True)
    pairs = Pairs(out, tokenizer)
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        cross.bias -= scores(cross, pairs.batch(0)[0]).mean()
    optimizer = torch.optim.AdamW(trained.values(), lr=RATE, weight_decay=WEIGHT_DECAY)
    log, start, sums = (run / "log.jsonl").open("a"), time.time(), [0.0, 0.0, 0.0]
    for step in range(n_steps):
        for part in optimizer.param_groups:
            part["lr"] = rate_at(step, n_steps)
        rows, right = pairs.batch(step)
        with torch.autocast("cpu", torch.bfloat16):
            found = scores(cross, rows).view(-1, N_CANDIDATES)
        # A skill is loaded if it fits better than none, whose score is 0.
        found = torch.cat([found, torch.zeros(len(found), 1)], 1)
        loss = F.cross_entropy(found, right)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(trained.values(), 1.0)
        optimizer.step()
        sums = [sums[0] + float(loss.detach()), sums[1] + float((found.argmax(1) == right).float().mean()), sums[2] + sum(len(row) for row, _ in rows)]
        if step % 20 == 19:
            line = {"step": step + 1, "loss": round(sums[0] / 20, 4), "right": round(sums[1] / 20, 3), "tokens": sums[2] / 20, "seconds": round(time.time() - start)}
            log.write(json.dumps(line) + "\n")
            log.flush()
            sums = [0.0, 0.0, 0.0]
        if step % 250 == 249 or step + 1 == n_steps:
            save_file({name: p.detach().contiguous() for name, p in trained.items()}, run / "cross.safetensors")


def load(path):
    """Returns a cross-encoder and its tokenizer."""
    encoder, tokenizer = unpack.shipped()
    cross = CrossEncoder(encoder)
    cross.load_state_dict(load_file(path), strict=False)
    return cross.eval(), tokenizer


if __name__ == "__main__":
    main()
