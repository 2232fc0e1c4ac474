#!/usr/bin/env python3
"""Turns weights that ship into such as train.py writes.

usage: unpack.py TARGET [CRATES]

Reads the safetensors files of the crates, those of this checkout if none are named; writes TARGET, a safetensors file with the names of the base. What 8 bits
lose is lost: the numbers are those that ship.
"""

import sys
from pathlib import Path

from safetensors.torch import load_file

import data
import export
import vocabulary

CRATES = data.REPOSITORY / "crates"


def packed(crates):
    """Returns the tensors of both crates as they are written."""
    tensors = {}
    for part in ("embeddings", "layers"):
        tensors |= load_file(crates / f"skillmux-transformer-{part}/assets/{part}.safetensors")
    return tensors


def numbers(tensors):
    """Returns the numbers that the tensors stand for, by name."""
    return {
        name: tensor.float() * tensors[f"{name}.scale"][:, None] if f"{name}.scale" in tensors else tensor
        for name, tensor in tensors.items()
        if not name.endswith(".scale")
    }


def shipped():
    """Returns the encoder that the crates hold, and its tokenizer."""
    return export.unfolded(numbers(packed(CRATES))), vocabulary.tokenizer_of(vocabulary.read())


def main():
    target, *crates = map(Path, sys.argv[1:])
    export.unfolded(numbers(packed(*crates or [CRATES]))).save(target)


if __name__ == "__main__":
    main()
