#!/usr/bin/env python3
"""Packs what train.py needs into one folder of some 60 MB, for a machine with a GPU and nothing else.

usage: pack.py OUT PACK [VOCABULARY]

Reads what prepare.py wrote to OUT. VOCABULARY has a token a line; that of the crate, if none is named. PACK gets the base with these tokens in 16 bits, its
tokenizer, the tokens of all skills, the groups, and the sets of scored.py.
"""

import gzip
import hashlib
import json
import sys
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file

import data
import model
import scored
import vocabulary
from lexicon import Lexicon


def hash_of(text):
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little", signed=True)


def write_json(path, value):
    with gzip.open(path, "wt", encoding="utf-8") as file:
        json.dump(value, file, ensure_ascii=False)


def main():
    out, pack = map(Path, sys.argv[1:3])
    pack.mkdir(parents=True, exist_ok=True)
    kept = vocabulary.read(*sys.argv[3:])
    tokenizer = vocabulary.tokenizer_of(kept)
    tokenizer.save(str(pack / "tokenizer.json"))
    state = model.Encoder.load("base").state_dict()
    state["embeddings.word_embeddings.weight"] = state["embeddings.word_embeddings.weight"][[id for _, id in kept]]
    save_file({name: tensor.to(torch.float16).contiguous() for name, tensor in state.items()}, pack / "base.safetensors")

    skills = {skill["id"]: skill for skill in data.read_lines(out / "skills.jsonl")}
    number = {id: at for at, id in enumerate(skills)}
    rows = model.tokens_of(tokenizer, [skill["text"] for skill in skills.values()], model.DOCUMENT_TOKENS)
    np.savez_compressed(
        pack / "skills.npz",
        tokens=np.concatenate([np.array(row, np.uint16) for row in rows]),
        lengths=np.array([len(row) for row in rows], np.uint8),
        keys=np.array([hash_of(str(data.key_of_name(skill["name"]))) for skill in skills.values()]),
        wordings=np.array([hash_of(" ".join(skill["description"].lower().split())) for skill in skills.values()]),
        is_open=np.array([not skill["closed"] for skill in skills.values()]),
    )
    write_json(pack / "groups.json.gz", [{**group, "skill": number[group["skill"]]} for group in data.read_lines(out / "groups.jsonl")])
    write_json(pack / "unserved.json.gz", list(data.read_lines(out / "unserved.jsonl")))
    lexicon = Lexicon()
    numbers = lambda ids: [number[id] for id in ids]
    write_json(pack / "scored.json.gz", {
        "sets": {
            name: [{"tasks": [[query, numbers(sorted(gold))] for query, gold in tasks], "skills": numbers(ids)} for tasks, ids in groups]
            for name, groups in scored.sets_of(out, skills, lexicon).items()
        },
        "requests": [{"asked": asked, "skills": numbers(ids)} for asked, ids in scored.requests_of(lexicon)],
    })
    print("\n".join(f"{path.name}: {path.stat().st_size:,} bytes" for path in sorted(pack.iterdir())))


if __name__ == "__main__":
    main()
