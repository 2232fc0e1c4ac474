#!/usr/bin/env python3
"""Writes what torch makes of the weights that ship, for the tests of the engine.

usage: reference.py

Reads the texts of crates/skillmux-models/tests/data/transformer.json, and writes their tokens and vectors there anew; the same for the pairs of cross-encoder.json
and their scores. Weights are those of 8 bits; sums, and what enters a product, have 32.
"""

import json

import torch
from safetensors.torch import load_file

import cross_train
import model
import unpack

FOLDER = unpack.CRATES / "skillmux-models/tests/data"
CROSS_ENCODER = unpack.CRATES / "skillmux-cross-encoder/assets/cross-encoder.safetensors"


def rewrite(name, made):
    """Writes a file of JSON lines anew, each with what is made of it."""
    path = FOLDER / name
    references = json.loads(path.read_text(encoding="utf-8"))
    lines = [json.dumps({**reference, **made(reference)}, ensure_ascii=False, separators=(",", ":")) for reference in references]
    path.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


def main():
    encoder, tokenizer = unpack.shipped()

    def of_text(reference):
        vector = model.encode(encoder, tokenizer, [reference["text"]], model.DOCUMENT_TOKENS)[0]
        tokens = model.tokens_of(tokenizer, [reference["text"]], model.DOCUMENT_TOKENS)[0]
        return {"tokens": [int(id) for id in tokens], "vector": [round(float(x), 4) for x in vector]}

    rewrite("transformer.json", of_text)
    cross = cross_train.CrossEncoder(encoder)
    numbers = unpack.numbers(load_file(CROSS_ENCODER))
    score = {"weights": numbers.pop("score.weight"), "bias": numbers.pop("score.bias")[0]}
    cross.load_state_dict({f"bert.{name}": tensor for name, tensor in numbers.items()} | score, strict=False)

    def of_pair(reference):
        query = model.tokens_of(tokenizer, [reference["query"]], cross_train.QUERY_TOKENS)[0]
        text = model.tokens_of(tokenizer, [reference["text"]], cross_train.SKILL_TOKENS)[0]
        with torch.inference_mode():
            found = cross_train.scores(cross, [cross_train.row_of(query, text)])
        return {"score": round(float(found[0]), 3)}

    rewrite("cross-encoder.json", of_pair)


if __name__ == "__main__":
    main()
