#!/usr/bin/env python3
"""Writes what cross_train.py trained with 8 bits a number; measures what that costs.

usage: cross_export.py OUT WEIGHTS TARGET

Writes TARGET/cross-encoder.safetensors: layers 1 to 5 in the form of export.py, `score.weight` `[384]` and `score.bias` `[1]`, F32. Word vectors, positions and
layer 0 are those of the encoder.
"""

import sys
from pathlib import Path

import torch
from safetensors.torch import save_file

import cross_train
import export
import rounding

N_QUERIES = 300


def main():
    out, weights, target = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
    torch.set_num_threads(2)
    cross, tokenizer = cross_train.load(weights)
    pairs = cross_train.Pairs(out, tokenizer)
    rows, right = [], []
    # The queries of batches that come after all of the training.
    for step in range(N_QUERIES // cross_train.QUERIES_A_STEP):
        more, place = pairs.batch(-1 - step)
        rows += more
        right.append(place)
    right = torch.cat(right)
    moments = rounding.second_moments(cross, [row for row, _ in rows], queries=[n for _, n in rows])
    state = {name.removeprefix("bert."): tensor for name, tensor in cross.trained().items()}
    score = {"score.weight": state.pop("weights").detach(), "score.bias": state.pop("bias").detach()[None]}
    tensors, stands_for = export.quantised({name: tensor.detach() for name, tensor in state.items()}, {name.removeprefix("bert."): m for name, m in moments.items()})

    def is_right():
        with torch.inference_mode():
            found = cross_train.scores(cross, rows, n_parts=20).view(-1, cross_train.N_CANDIDATES)
        return found, float((torch.cat([found, torch.zeros(len(found), 1)], 1).argmax(1) == right).float().mean())

    before, share_before = is_right()
    cross.load_state_dict({f"bert.{name}": tensor for name, tensor in stands_for.items()}, strict=False)
    after, share_after = is_right()
    print(f"right of {len(right)} queries: {share_before:.3f} with 32 bits, {share_after:.3f} with 8; scores differ by {float((before - after).abs().mean()):.3f}")
    target.mkdir(parents=True, exist_ok=True)
    save_file({name: tensor.contiguous() for name, tensor in (tensors | score).items()}, target / "cross-encoder.safetensors")


if __name__ == "__main__":
    main()
