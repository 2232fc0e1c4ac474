#!/usr/bin/env python3
"""Tunes the base on what pack.py packed; on a GPU if there is one.

usage: train.py PACK RUN --steps N | --seconds S [--seed N] [--rate X] [--start WEIGHTS] [--yes-no SHARE]

The rate falls with the steps that are done, or with the time that has gone. Writes RUN/log.jsonl and RUN/tuned.safetensors (16 bits); prints the scores of scored.py.
Needs torch, numpy, safetensors and tokenizers, and of the repository only model.py and typos.py.
"""

import argparse
import gzip
import json
import math
import random
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer
from torch.nn import functional as F

import model
from typos import misspelled

GROUPS_A_STEP = 128
QUERIES_A_GROUP = 2
# Negatives of a group: from all skills, and from a library of so many, as a user has; of near skills, some of those.
N_FROM_ALL, N_FROM_LIBRARY = 1, 2
LIBRARY = 8_000
N_KEPT_OF_ALL, N_KEPT_OF_LIBRARY = 24, 8
RATE, WARM_UP, WEIGHT_DECAY = 1e-4, 100, 0.01
TEMPERATURE = 0.05
# Skills whose vectors have a cosine above this to the right one's are no negatives of its queries. A negative that is drawn from all skills must also
# be farther from the query than the right one, by this factor: else it is most likely right, too.
MAX_COSINE, MAX_SHARE = 0.85, 0.95
# The second loss: whether a skill serves a query, each pair for itself; even at this cosine. Its share beside InfoNCE.
EVEN_COSINE, YES_NO_SHARE, N_UNSERVED = 0.33, 0.06, 8
MISSPELLED_SHARE = 0.12
# Groups of these kinds come in an epoch by chance only.
SHARES = {"section": 0.5}
CHECK_EVERY = 600


class Texts:
    """Tokens of texts on the device, `[n, most]`, and their lengths."""

    def __init__(self, rows, device):
        self.ids, self.lengths = (tensor.to(device) for tensor in model.padded(rows))
        self.ids = self.ids.to(torch.int32)

    def __len__(self):
        return len(self.lengths)


def encode(encoder, texts, at, n_parts):
    """Returns the vectors of the texts numbered `at`, `[n, 384]`; texts of like length share a part, so that less is padded."""
    lengths = texts.lengths[at]
    order = torch.argsort(lengths)
    vectors = []
    with torch.autocast(at.device.type, torch.bfloat16):
        for part in order.chunk(n_parts):
            longest = -(-int(lengths[part[-1]]) // 8) * 8
            vectors.append(encoder(texts.ids[at[part], :longest].long(), lengths[part]))
    return torch.cat(vectors)[torch.argsort(order)]


@torch.inference_mode()
def encode_all(encoder, texts, a_part=1024, n=None):
    at = torch.arange(n or len(texts), device=texts.lengths.device)
    return encode(encoder, texts, at, max(1, len(at) // a_part))


class Pack:
    def __init__(self, folder, device, seed):
        self.device = device
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        saved = np.load(folder / "skills.npz")
        rows = np.split(saved["tokens"].astype(np.int64), np.cumsum(saved["lengths"].astype(np.int64))[:-1])
        self.skills = Texts(rows, device)
        tensor = lambda name: torch.from_numpy(saved[name]).to(device)
        self.keys, self.wordings, self.is_open = tensor("keys"), tensor("wordings"), tensor("is_open")
        self.groups = self.read(folder / "groups.json.gz")
        self.scored = self.read(folder / "scored.json.gz")
        draw = random.Random(seed)
        texts, self.query_of_group, skill_of, gold_of = [], [], [], defaultdict(set)
        for group in self.groups:
            self.query_of_group.append(list(range(len(texts), len(texts) + len(group["queries"]))))
            texts += group["queries"]
            skill_of += [group["skill"]] * len(group["queries"])
            for query in group["queries"]:
                gold_of[query].add(group["skill"])
        most = max(map(len, gold_of.values()))
        self.gold = torch.tensor([[*gold_of[text], *[-1] * (most - len(gold_of[text]))] for text in texts], device=device)
        self.skill_of = torch.tensor(skill_of, device=device)
        self.n_queries = len(texts)
        wrong = [misspelled(text, draw) for text in texts]
        # The first half as they are written, the second half with typing errors.
        self.queries = Texts(self.tokens(texts + wrong), device)
        self.may_be_misspelled = [group["kind"] not in ("section", "translation") for group in self.groups]
        self.near = torch.full((len(self.skills),), -1, device=device)
        for group in self.groups:
            if "near" in group:
                self.near[group["skill"]] = group["near"]
        unserved = self.read(folder / "unserved.json.gz")
        self.unserved = Texts(self.tokens([request["query"] for request in unserved]), device)
        self.unserved_of = defaultdict(list)
        for at, request in enumerate(unserved):
            self.unserved_of[request["near"]].append(at)

    @staticmethod
    def read(path):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            return json.load(file)

    def tokens(self, texts):
        return model.tokens_of(self.tokenizer, texts, model.QUERY_TOKENS)

    def may_be_right(self, query, skill):
        """Whether skills `[n, m]` may answer queries `[n]` as well as their right one, by what is written in the data."""
        right = self.skill_of[query][:, None]
        alike = (self.keys[skill] == self.keys[right]) | (self.wordings[skill] == self.wordings[right])
        return alike | (self.gold[query][:, :, None] == skill[:, None, :]).any(1)


@torch.inference_mode()
def mine(encoder, pack, generator, a_part=2048):
    """Returns for each query the skills that are near to it and most likely wrong: of all skills, and of a library; -1 where there are fewer."""
    encoder.eval()
    skills, queries = encode_all(encoder, pack.skills), encode_all(encoder, pack.queries, n=pack.n_queries)
    encoder.train()
    open_ids = pack.is_open.nonzero()[:, 0]
    library = open_ids[torch.randperm(len(open_ids), generator=generator)[:LIBRARY].to(pack.device)]
    found = [[], []]
    for start in range(0, len(queries), a_part):
        at = torch.arange(start, min(start + a_part, len(queries)), device=pack.device)
        right = pack.skill_of[at]
        of_right = (queries[at] * skills[right]).sum(1, keepdim=True)
        for into, ids, n_looked_at, n_kept, factor in ((found[0], open_ids, 160, N_KEPT_OF_ALL, MAX_SHARE), (found[1], library, 40, N_KEPT_OF_LIBRARY, None)):
            cosines, place = (queries[at] @ skills[ids].T).topk(n_looked_at, dim=1)
            near = ids[place]
            wrong = ~pack.may_be_right(at, near) & ((skills[near] * skills[right][:, None]).sum(2) < MAX_COSINE)
            if factor is not None:
                wrong &= cosines < factor * of_right
            order = torch.argsort((~wrong).int(), dim=1, stable=True)[:, :n_kept]
            into.append(torch.where(wrong.gather(1, order), near.gather(1, order), -1).to(torch.int32))
    return [torch.cat(part) for part in found]


def epoch_of(pack, draw):
    """Returns batches of groups: each skill once, then those with more groups again, and so on; near ones side by side."""
    order = [at for at, group in enumerate(pack.groups) if draw.random() < SHARES.get(group["kind"], 1)]
    draw.shuffle(order)
    seen, unit_of = defaultdict(int), {}
    for at in order:
        group = pack.groups[at]
        unit_of[at] = ("near", group["near"], seen[group["skill"]]) if "near" in group else at
        seen[group["skill"]] += 1
    units = list(dict.fromkeys(unit_of[at] for at in order))
    draw.shuffle(units)
    place_of = {unit: place for place, unit in enumerate(units)}
    order.sort(key=lambda at: place_of[unit_of[at]])
    # Two groups of a skill must not share a batch.
    batches, left = [], order
    while left:
        batch, skills, later = [], set(), []
        for place, at in enumerate(left):
            if len(batch) == GROUPS_A_STEP:
                later += left[place:]
                break
            skill = pack.groups[at]["skill"]
            (later if skill in skills else batch).append(at)
            skills.add(skill)
        left = later
        if len(batch) == GROUPS_A_STEP:
            batches.append(batch)
    return batches


def loss_of(encoder, pack, batch, mined, draw, yes_no_share):
    """InfoNCE of each query against the right skills and the negatives of the whole batch, without what may be right too, and the loss of yes and no."""
    device = pack.device
    skills, asked, at_group = [pack.groups[at]["skill"] for at in batch], [], []
    in_near, unserved = defaultdict(list), []
    for place, at in enumerate(batch):
        if "near" in pack.groups[at]:
            in_near[pack.groups[at]["near"]].append(place)
        some = pack.query_of_group[at]
        some = draw.sample(some, min(QUERIES_A_GROUP, len(some)))
        asked += some
        at_group += [place] * len(some)
    for near in in_near:
        of = pack.unserved_of.get(near, [])
        unserved += draw.sample(of, min(2, len(of)))
    unserved = unserved[:N_UNSERVED]
    asked, right = torch.tensor(asked, device=device), torch.tensor(at_group, device=device)
    first = torch.tensor([place for place in range(len(at_group)) if place == 0 or at_group[place] != at_group[place - 1]], device=device)
    negatives = []
    for table, n in zip(mined, (N_FROM_ALL, N_FROM_LIBRARY)):
        rows = table[asked[first]]
        chance = torch.rand(rows.shape, device=device).masked_fill(rows < 0, -1)
        negatives.append(rows.gather(1, chance.topk(n, dim=1).indices).flatten())
    negatives = torch.cat(negatives).long()
    negatives = negatives[negatives >= 0].unique()
    of_right = torch.tensor(skills, device=device)
    negatives = negatives[~torch.isin(negatives, of_right)]
    documents = torch.cat([of_right, negatives])
    wrong = torch.tensor([draw.random() < MISSPELLED_SHARE and pack.may_be_misspelled[batch[place]] for place in at_group], device=device)
    of_documents = encode(encoder, pack.skills, documents, 2)
    of_queries = encode(encoder, pack.queries, asked + wrong * pack.n_queries, 3)
    blocked = pack.may_be_right(asked, documents[None].expand(len(asked), -1))
    with torch.no_grad():
        near = pack.near[documents]
        alike = of_documents[: len(batch)] @ of_documents.T > MAX_COSINE
        alike &= (near[: len(batch), None] != near) | (near < 0)
        blocked |= alike[right]
        blocked[torch.arange(len(asked), device=device), right] = False
    cosines = of_queries @ of_documents.T
    loss = F.cross_entropy((cosines / TEMPERATURE).masked_fill(blocked, -math.inf), right)
    if not yes_no_share:
        return loss
    wanted = torch.zeros_like(cosines)
    wanted[torch.arange(len(asked), device=device), right] = 1
    counts = (~blocked).float()
    if unserved:
        of_unserved = encode(encoder, pack.unserved, torch.tensor(unserved, device=device), 1)
        unserved_cosines = of_unserved @ of_documents.T
        cosines, wanted = torch.cat([cosines, unserved_cosines]), torch.cat([wanted, torch.zeros_like(unserved_cosines)])
        counts = torch.cat([counts, torch.ones_like(unserved_cosines)])
    each = F.binary_cross_entropy_with_logits((cosines - EVEN_COSINE) / TEMPERATURE, wanted, counts, reduction="sum")
    return loss + yes_no_share * each / len(cosines)


@torch.inference_mode()
def scores(encoder, pack):
    """Returns Hit@1 and Recall@5 by set, and AUROC by kind of request: how well the highest cosine tells tasks of a library from it."""
    encoder.eval()
    used = {id for groups in pack.scored["sets"].values() for group in groups for id in group["skills"]}
    used |= {id for library in pack.scored["requests"] for id in library["skills"]}
    used = torch.tensor(sorted(used), device=pack.device)
    skills = torch.zeros(len(pack.skills), model.WIDTH, device=pack.device)
    skills[used] = encode(encoder, pack.skills, used, max(1, len(used) // 256))
    said = lambda queries: encode_all(encoder, Texts(pack.tokens(queries), pack.device), 256)
    row = {}
    for name, groups in pack.scored["sets"].items():
        places = []
        for group in groups:
            ids = torch.tensor(group["skills"], device=pack.device)
            cosines = said([query for query, _ in group["tasks"]]) @ skills[ids].T
            for of, (_, gold) in zip(cosines, group["tasks"]):
                best = of[torch.isin(ids, torch.tensor(gold, device=pack.device))].max()
                places.append(int((of > best).sum()))
        row[name] = [round(float((np.array(places) < n).mean()), 3) for n in (1, 5)]
    highest = defaultdict(list)
    for library in pack.scored["requests"]:
        cosines = said([query for query, _ in library["asked"]]) @ skills[torch.tensor(library["skills"], device=pack.device)].T
        for (_, kind), value in zip(library["asked"], cosines.max(1).values.tolist()):
            highest[kind].append(value)
    tasks = np.array(highest.pop("task"))
    row |= {kind: round(float((tasks[:, None] > np.array(of)[None]).mean()), 3) for kind, of in sorted(highest.items())}
    encoder.train()
    return row


def load(path, device):
    encoder = model.Encoder.load(path).to(device)
    return encoder.train()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pack", type=Path)
    parser.add_argument("run", type=Path)
    length = parser.add_mutually_exclusive_group(required=True)
    length.add_argument("--steps", type=int)
    length.add_argument("--seconds", type=float)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rate", type=float, default=RATE)
    parser.add_argument("--start", default=None)
    parser.add_argument("--yes-no", type=float, default=YES_NO_SHARE)
    args = parser.parse_args()
    args.run.mkdir(parents=True, exist_ok=True)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(args.seed)
    torch.backends.cuda.matmul.allow_tf32 = True
    began = time.time()
    pack = Pack(args.pack, device, args.seed)
    encoder = load(args.start or args.pack / "base.safetensors", device)
    log = (args.run / "log.jsonl").open("w", buffering=1)

    def tell(**row):
        log.write(json.dumps(row) + "\n")
        print(json.dumps(row), flush=True)

    tell(read_s=round(time.time() - began, 1), groups=len(pack.groups), queries=pack.n_queries, skills=len(pack.skills))
    tell(step=0, **scores(encoder, pack))
    tell(scored_s=round(time.time() - began, 1))
    plain = [p for n, p in encoder.named_parameters() if n.endswith("bias") or "LayerNorm" in n]
    decayed = [p for n, p in encoder.named_parameters() if not (n.endswith("bias") or "LayerNorm" in n)]
    groups = [{"params": decayed, "weight_decay": WEIGHT_DECAY}, {"params": plain, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=args.rate, fused=device == "cuda")
    draw, generator = random.Random(args.seed), torch.Generator().manual_seed(args.seed)
    step, losses, begin = 0, [], time.time()
    done = lambda: step / args.steps if args.steps else (time.time() - begin) / args.seconds
    while done() < 1:
        started = time.time()
        mined = mine(encoder, pack, generator)
        batches = epoch_of(pack, draw)
        tell(step=step, mined_s=round(time.time() - started, 1), a_epoch=len(batches), without=round(float((mined[0] < 0).float().mean()), 3))
        for batch in batches:
            if done() >= 1:
                break
            # Rises for WARM_UP steps, and falls to 0 as a cosine does.
            rate = args.rate * min((step + 1) / WARM_UP, 1) * 0.5 * (1 + math.cos(math.pi * done()))
            for group in optimizer.param_groups:
                group["lr"] = rate
            loss = loss_of(encoder, pack, batch, mined, draw, args.yes_no)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(encoder.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            step += 1
            losses.append(loss.detach())
            if step % 100 == 0:
                tell(step=step, loss=round(float(torch.stack(losses).mean()), 4), rate=rate, wall_s=round(time.time() - begin, 1))
                losses = []
            if step % CHECK_EVERY == 0:
                tell(step=step, **scores(encoder, pack))
    tell(step=step, wall_s=round(time.time() - begin, 1), **scores(encoder, pack))
    state = {name: tensor.half() for name, tensor in encoder.state_dict().items()}
    save_file({name: tensor.contiguous().cpu() for name, tensor in state.items()}, args.run / "tuned.safetensors")


if __name__ == "__main__":
    main()
