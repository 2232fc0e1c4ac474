#!/usr/bin/env python3
"""Turns the weights that ship into a start for train.py.

usage: unpack.py START

Reads the safetensors files and the vocabulary of the crates; writes START, a safetensors file with the names and the vocabulary of the base. Tokens that
export.py left out have the vectors of the base. What 8 bits lose is lost: the numbers are those that ship.
"""

import sys
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

import export
import model

CRATES = Path(__file__).resolve().parents[2] / "crates"
EMBEDDINGS = CRATES / "skillmux-transformer-embeddings/assets"
LAYERS = CRATES / "skillmux-transformer-layers/assets"


def packed():
    """Returns the tensors of both crates as they are written."""
    tensors = {}
    for path in sorted([*EMBEDDINGS.glob("*.safetensors"), *LAYERS.glob("*.safetensors")]):
        tensors |= load_file(path)
    return tensors


def vocabulary():
    """Returns the tokens in the order of their numbers."""
    return next(EMBEDDINGS.glob("vocabulary*")).read_text(encoding="utf-8").removesuffix("\n").split("\n")


def numbers(tensors):
    """Returns the numbers that the tensors stand for, by name."""
    return {
        name: tensor.float() * tensors[f"{name}.scale"][:, None] if f"{name}.scale" in tensors else tensor
        for name, tensor in tensors.items()
        if not name.endswith(".scale")
    }


def shipped():
    """Returns the encoder that the crates hold, and its tokenizer."""
    tokenizer = model.base_tokenizer()
    kept = [(token, tokenizer.token_to_id(token)) for token in vocabulary()]
    return export.unfolded(numbers(packed())), export.pruned_tokenizer(kept)


def main():
    start = Path(sys.argv[1])
    state = numbers(packed())
    tokenizer = model.base_tokenizer()
    encoder = model.Encoder.load("base")
    base = encoder.state_dict()
    words = base["embeddings.word_embeddings.weight"].clone()
    for token, vector in zip(vocabulary(), state.pop("embeddings.word_embeddings.weight")):
        words[tokenizer.token_to_id(token)] = vector
    positions = base["embeddings.position_embeddings.weight"].clone()
    of_positions = state.pop("embeddings.position_embeddings.weight")
    positions[: len(of_positions)] = of_positions
    # The one token type that is used was added to the positions.
    types = torch.zeros_like(base["embeddings.token_type_embeddings.weight"])
    positions[len(of_positions) :] += base["embeddings.token_type_embeddings.weight"][0]
    state |= {
        "embeddings.word_embeddings.weight": words,
        "embeddings.position_embeddings.weight": positions,
        "embeddings.token_type_embeddings.weight": types,
    }
    encoder.load_state_dict(state)
    encoder.save(start)


if __name__ == "__main__":
    main()
