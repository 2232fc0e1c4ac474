#!/usr/bin/env python3
"""Compares weights and their means by the cosine alone, on tasks that nothing was trained on.

usage: compare.py PACK NAME=WEIGHTS[+WEIGHTS...] ...

Prints Hit@1 and Recall@5 on the sets of scored.py. The last columns say how well the highest cosine of a library tells its tasks of one part from the requests of
`datasets/near-none.jsonl` that it does not serve (AUROC), by kind of request.
"""

import sys
import tempfile
from pathlib import Path

import torch

import average
import train


def main():
    pack, systems = Path(sys.argv[1]), [argument.split("=") for argument in sys.argv[2:]]
    device = "cuda" if torch.cuda.is_available() else "cpu"
    packed = train.Pack(pack, device, seed=1)
    for at, (name, paths) in enumerate(systems):
        with tempfile.NamedTemporaryFile(suffix=".safetensors") as file:
            average.write_mean(file.name, paths.split("+"))
            row = train.scores(train.load(file.name, device), packed)
        if at == 0:
            print("| weights | " + " | ".join(row) + " |\n" + "|---" * (1 + len(row)) + "|")
        cells = [", ".join(f"{x:.3f}" for x in value) if isinstance(value, list) else f"{value:.3f}" for value in row.values()]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
