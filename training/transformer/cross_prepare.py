#!/usr/bin/env python3
"""Writes what the cross-encoder is trained on: a query, the right skill, and skills that the encoder takes for it.

usage: cross_prepare.py OUT

fifth_part.py has written to OUT. Reads OUT/groups-5.jsonl and OUT/skills-5.jsonl; writes OUT/cross.jsonl, a line a query: `query`, `skill`, and `others`, at
most 12 skills, nearest to the query first. README.md says what is left out of them.
"""

import random
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
import torch

import data
import model
import prepare
import unpack
from fourth_part import LEXICON, Lexicon
from train import MAX_COSINE

SEED = 8
N_OTHERS = 12
# Skills of other groups among which those near to a query are looked for, at most.
N_SKILLS = 9_000
NONE = prepare.REPOSITORY / "datasets/near-none.jsonl"


def none_rows(texts, groups, encoder, tokenizer):
    """Returns requests with the skills of their group, nearest first, none of which serves them."""
    lexicon = Lexicon(LEXICON)
    of_near = defaultdict(set)
    for group in groups:
        if "near" in group:
            of_near[group["near"]].add(group["skill"])
    requests = [(lexicon.says(request["query"]), sorted(of_near[request["near"]])) for request in data.read_lines(NONE) if "near" in request]
    ids = sorted(set().union(*(some for _, some in requests)))
    vectors = dict(zip(ids, model.encode(encoder, tokenizer, [texts[id] for id in ids], model.DOCUMENT_TOKENS)))
    asked = model.encode(encoder, tokenizer, [query for query, _ in requests], model.DOCUMENT_TOKENS)
    for (query, some), vector in zip(requests, asked):
        yield {"query": query, "others": sorted(some, key=lambda id: -float(vectors[id] @ vector))[:N_OTHERS]}


def main():
    out = Path(sys.argv[1])
    torch.set_num_threads(2)
    draw = random.Random(SEED)
    encoder, tokenizer = unpack.shipped()
    skills = {skill["id"]: skill for skill in data.read_lines(out / "skills-5.jsonl")}
    groups = list(data.read_lines(out / "groups-5.jsonl"))
    right_of, near_of = defaultdict(set), {}
    for group in groups:
        for query in group["queries"]:
            right_of[query].add(group["skill"])
        if "near" in group:
            near_of[group["skill"]] = group["near"]
    written = sorted({group["skill"] for group in groups})
    mined = sorted({group["negative"] for group in groups} - set(written))
    ids = written + draw.sample(mined, min(len(mined), max(0, N_SKILLS - len(written))))
    print(len(written), "skills with queries,", len(ids) - len(written), "others", flush=True)
    vectors = model.encode(encoder, tokenizer, [skills[id]["text"] for id in ids], model.DOCUMENT_TOKENS)
    at = {id: i for i, id in enumerate(ids)}
    keys = np.array([hash(data.key_of_name(skills[id]["name"])) for id in ids])
    wordings = np.array([hash(" ".join(skills[id]["description"].lower().split())) for id in ids])
    near = np.array([near_of.get(id, -1) for id in ids])
    pairs = list(dict.fromkeys((query, group["skill"]) for group in groups for query in group["queries"]))
    asked = model.encode(encoder, tokenizer, [query for query, _ in pairs], model.DOCUMENT_TOKENS)
    rows, places = [], []
    for (query, skill), vector in zip(pairs, asked):
        i = at[skill]
        cosines = vectors @ vector
        alike = (vectors @ vectors[i] > MAX_COSINE) & ((near != near[i]) | (near < 0))
        open_ones = ~(alike | (keys == keys[i]) | (wordings == wordings[i]))
        open_ones[[at[id] for id in right_of[query]]] = False
        places.append(int((open_ones & (cosines > cosines[i])).sum()))
        order = np.argsort(-np.where(open_ones, cosines, -9), kind="stable")[:N_OTHERS]
        rows.append({"query": query, "skill": skill, "others": [ids[j] for j in order]})
    data.write_lines(out / "cross.jsonl", rows)
    data.write_lines(out / "cross-none.jsonl", none_rows({id: skills[id]["text"] for id in ids}, groups, encoder, tokenizer))
    places = np.array(places)
    print(f"{len(rows)} queries; the right skill is first for {(places == 0).mean():.3f}, among five for {(places < 5).mean():.3f}")


if __name__ == "__main__":
    main()
