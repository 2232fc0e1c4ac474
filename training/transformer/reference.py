#!/usr/bin/env python3
"""Writes what torch makes of the weights that ship, for the tests of the engine.

usage: reference.py

Reads the texts of crates/skillmux-models/tests/data/transformer.json, and writes their tokens and vectors there anew.
Weights are those of 8 bits; sums, and what enters a product, have 32.
"""

import json

import model
import unpack

FOLDER = unpack.CRATES / "skillmux-models/tests/data"


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


if __name__ == "__main__":
    main()
