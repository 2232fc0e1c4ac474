#!/usr/bin/env python3
"""Rounds the weights to 8 bits; measures what that costs.

usage: export.py OUT WEIGHTS TARGET

Writes to TARGET `embeddings.safetensors` (with layer 0) and `layers.safetensors` (layers 1 to 5); README.md has the format. The cosines are those of 1,000
skills and 300 queries of OUT to the vectors of WEIGHTS, with 32-bit sums.
"""

import random
import sys
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file

import data
import model
import rounding
import vocabulary

N_POSITIONS = 256
# Skills, and queries, by whose inputs matrices are rounded.
N_FOR_ROUNDING = 256


def to_8_bits(weight, moments):
    """Returns numbers within [-127, 127], and a scale a row; rounded by the second moments of its inputs, if there are any."""
    scale = rounding.scales(weight)
    if moments is not None:
        return rounding.steps(weight, scale, moments), scale
    return (weight / scale[:, None]).round().to(torch.int8), scale


def is_matrix(name, tensor):
    return tensor.dim() == 2 and ("dense" in name or "attention.self" in name or name.startswith("embeddings.word"))


def folded(state):
    """Adds the one token type that is used to the positions, and leaves positions out that no text reaches."""
    state = dict(state)
    types = state.pop("embeddings.token_type_embeddings.weight")
    state["embeddings.position_embeddings.weight"] = state["embeddings.position_embeddings.weight"][:N_POSITIONS] + types[0]
    return state


def unfolded(state):
    state = dict(state)
    positions = torch.zeros(model.N_POSITIONS, model.WIDTH)
    positions[:N_POSITIONS] = state["embeddings.position_embeddings.weight"]
    state["embeddings.position_embeddings.weight"] = positions
    state["embeddings.token_type_embeddings.weight"] = torch.zeros(2, model.WIDTH)
    encoder = model.Encoder(len(state["embeddings.word_embeddings.weight"]))
    encoder.load_state_dict(state)
    return encoder.eval()


def quantised(state, moments={}):
    """Returns the tensors to write, and the state that they stand for; `moments` has the second moments of the inputs of matrices."""
    tensors, stands_for = {}, {}
    for name, tensor in state.items():
        if not is_matrix(name, tensor):
            tensors[name] = stands_for[name] = tensor
        else:
            numbers, scale = to_8_bits(tensor, moments.get(name))
            tensors[name], tensors[name + ".scale"] = numbers, scale
            stands_for[name] = numbers.float() * scale[:, None]
    return tensors, stands_for


def moments_of(encoder, tokenizer, out):
    draw = random.Random(3)
    skills = [skill["text"] for skill in data.read_lines(out / "skills.jsonl")]
    queries = [query for group in data.read_lines(out / "groups.jsonl") for query in group["queries"]]
    texts = draw.sample(skills, N_FOR_ROUNDING) + draw.sample(queries, N_FOR_ROUNDING)
    return rounding.second_moments(encoder, model.tokens_of(tokenizer, texts, model.DOCUMENT_TOKENS))


def quantise_inputs(encoder):
    """Rounds what enters each linear layer to 8 bits with a scale a token, as integer arithmetic does."""
    def rounded(module, inputs):
        x = inputs[0].float()
        scale = x.abs().amax(-1, keepdim=True).clamp_min(1e-12) / 127
        return ((x / scale).round() * scale).to(inputs[0].dtype)

    for module in encoder.modules():
        if isinstance(module, torch.nn.Linear):
            module.register_forward_pre_hook(rounded)
    return encoder


def first_file(name):
    return name.startswith("embeddings.") or name.startswith("encoder.layer.0.")


def write(tensors, folder):
    sizes = {}
    for file, part in (("embeddings", {k: v for k, v in tensors.items() if first_file(k)}), ("layers", {k: v for k, v in tensors.items() if not first_file(k)})):
        path = folder / f"{file}.safetensors"
        save_file({k: v.contiguous() for k, v in part.items()}, path)
        sizes[file] = path.stat().st_size
    return sizes


class Quality:
    """Cosines to the vectors of the whole encoder, and Hit@1 and Recall@10 among 1,000 skills."""

    def __init__(self, out, encoder, tokenizer):
        draw = random.Random(4)
        skills = {skill["id"]: skill["text"] for skill in data.read_lines(out / "skills.jsonl")}
        self.tasks = draw.sample(list(data.read_lines(out / "select.jsonl")), 300)
        right = sorted({id for task in self.tasks for id in task["gold"]})
        self.ids = right + draw.sample(sorted(set(skills) - set(right)), 1000 - len(right))
        self.texts = [skills[id] for id in self.ids]
        self.whole = self.vectors(encoder, tokenizer)

    def vectors(self, encoder, tokenizer):
        documents = model.encode(encoder, tokenizer, self.texts, model.DOCUMENT_TOKENS)
        return documents, model.encode(encoder, tokenizer, [task["query"] for task in self.tasks], model.QUERY_TOKENS)

    def row(self, name, vectors):
        documents, queries = vectors
        order = np.argsort(-(queries @ documents.T), axis=1, kind="stable")
        first = np.array([next(at for at, i in enumerate(row) if self.ids[i] in task["gold"]) for row, task in zip(order, self.tasks)])
        cosines = [(mine * whole).sum(1) for mine, whole in zip(vectors, self.whole)]
        print(
            f"| {name} | {cosines[0].mean():.4f}, {np.quantile(cosines[0], 0.01):.4f} | {cosines[1].mean():.4f}, {np.quantile(cosines[1], 0.01):.4f} "
            f"| {(first == 0).mean():.3f} | {(first < 10).mean():.3f} |",
            flush=True,
        )


def main():
    out, weights, target = map(Path, sys.argv[1:])
    target.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(2)
    whole, tokenizer = model.Encoder.load(weights).eval(), vocabulary.tokenizer_of(vocabulary.read())
    state = folded({name: tensor.detach().clone() for name, tensor in whole.state_dict().items()})
    quality = Quality(out, whole, tokenizer)
    print("| weights | cosine of skills: mean, 1st percentile | of queries | Hit@1 | R@10 |\n|---|---|---|---|---|")
    quality.row("32 bits", quality.whole)
    _, nearest = quantised(state)
    quality.row("8 bits, each to the nearest step", quality.vectors(unfolded(nearest), tokenizer))
    tensors, stands_for = quantised(state, moments_of(unfolded(state), tokenizer, out))
    quality.row("8 bits", quality.vectors(unfolded(stands_for), tokenizer))
    quality.row("8 bits, inputs too", quality.vectors(quantise_inputs(unfolded(stands_for)), tokenizer))
    for file, size in write(tensors, target).items():
        print(f"{file}: {size:,} bytes")


if __name__ == "__main__":
    main()
