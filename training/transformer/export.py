#!/usr/bin/env python3
"""Prunes the vocabulary and quantises the weights; measures what each costs.

usage: export.py OUT WEIGHTS TARGET [N_TOKENS]

Writes to TARGET `vocabulary.txt` (a token a line, in the order of its number), `embeddings.safetensors` (with layer 0) and
`layers.safetensors` (layers 1 to 5); README.md has the format. The cosines are those of 500 skills and 500 queries of OUT to the vectors of WEIGHTS
with the whole vocabulary, 32-bit sums and weights.
"""

import json
import random
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer

import data
import model
import rounding

N_TOKENS = 18_000
N_POSITIONS = 256
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
# Values of one scale in the 4-bit form.
GROUP = 32
# Skills, and queries, by whose inputs matrices are rounded.
N_FOR_ROUNDING = 256


def counts_of_tokens(tokenizer, out):
    """How often each token occurs in what the encoder reads of the pool, and in the queries that it was trained on."""
    counts = Counter()
    skills = (skill["text"] for skill in data.read_lines(out / "skills.jsonl") if not skill["id"].startswith(("swe-skills-bench/", "ops")))
    queries = (query for group in data.read_lines(out / "groups.jsonl") for query in group["queries"])
    for texts in (skills, queries):
        for text in texts:
            counts.update(tokenizer.encode(text).ids[: model.QUERY_TOKENS])
    return counts


def pruned_tokens(tokenizer, counts, n_tokens):
    """Returns the tokens to keep, in the base's order: special ones, single characters that occur, and then the most frequent."""
    vocabulary = sorted(tokenizer.get_vocab().items(), key=lambda pair: pair[1])
    single = lambda token: len(token.removeprefix("##")) == 1
    kept = {token for token, id in vocabulary if token in SPECIAL or (single(token) and (counts[id] or token.removeprefix("##").isascii()))}
    by_count = sorted(vocabulary, key=lambda pair: (-counts[pair[1]], pair[1]))
    for token, id in by_count:
        if len(kept) >= n_tokens or not counts[id]:
            break
        kept.add(token)
    return [(token, id) for token, id in vocabulary if token in kept]


def pruned_tokenizer(kept):
    """The base's tokenizer with another vocabulary: a word whose tokens are gone is read in shorter pieces."""
    spec = json.loads((model.base_folder() / "tokenizer.json").read_text())
    number = {token: at for at, (token, _) in enumerate(kept)}
    spec["model"]["vocab"] = number
    spec["truncation"] = spec["padding"] = None
    spec["added_tokens"] = [{**token, "id": number[token["content"]]} for token in spec["added_tokens"] if token["content"] in number]
    for name, token in spec["post_processor"].get("special_tokens", {}).items():
        token["ids"] = [number[name]]
    if spec["post_processor"]["type"] == "BertProcessing":
        spec["post_processor"]["sep"][1], spec["post_processor"]["cls"][1] = number["[SEP]"], number["[CLS]"]
    return Tokenizer.from_str(json.dumps(spec))


def to_8_bits(weight, moments):
    """Returns numbers within [-127, 127], and a scale a row; rounded by the second moments of its inputs, if there are any."""
    scale = rounding.scales(weight)
    if moments is not None:
        return rounding.steps(weight, scale, moments), scale
    return (weight / scale[:, None]).round().to(torch.int8), scale


def to_4_bits(weight):
    """Returns numbers within [-7, 7], two a byte (the even one in the low half, plus 8), and a scale for each 32 of a row."""
    n, width = weight.shape
    groups = weight.view(n, width // GROUP, GROUP)
    scale = (groups.abs().amax(2).clamp_min(1e-12) / 7).half().float()
    numbers = (groups / scale[..., None]).round().clamp(-7, 7).view(n, width)
    shifted = (numbers + 8).to(torch.uint8)
    return shifted[:, 0::2] | (shifted[:, 1::2] << 4), scale.half(), (numbers.view_as(groups) * scale[..., None]).view(n, width)


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


def quantised(state, moments={}, four_bits=lambda name: False):
    """Returns the tensors to write, and the state that they stand for; `moments` has the second moments of the inputs of matrices."""
    tensors, stands_for = {}, {}
    for name, tensor in state.items():
        if not is_matrix(name, tensor):
            tensors[name] = stands_for[name] = tensor
        elif four_bits(name):
            tensors[name], tensors[name + ".scale"], stands_for[name] = to_4_bits(tensor)
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
    out, weights, target = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
    n_tokens = int(sys.argv[4]) if len(sys.argv) > 4 else N_TOKENS
    target.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(2)
    whole, tokenizer = model.Encoder.load(weights).eval(), model.base_tokenizer()
    counts = counts_of_tokens(tokenizer, out)
    kept = pruned_tokens(tokenizer, counts, n_tokens)
    small = pruned_tokenizer(kept)
    total = sum(counts.values())
    ids = {id for _, id in kept}
    print(f"{len(kept):,} of {model.N_VOCABULARY:,} tokens, {sum(counts[id] for id in ids) / total:.5f} of their uses;")
    print(f"{sum(count > 0 for count in counts.values()):,} tokens occur at all; unknown: {counts[tokenizer.token_to_id('[UNK]')] / total:.5f}\n")
    (target / "vocabulary.txt").write_text("".join(token + "\n" for token, _ in kept), encoding="utf-8")
    state = {name: tensor.detach().clone() for name, tensor in whole.state_dict().items()}
    state["embeddings.word_embeddings.weight"] = state["embeddings.word_embeddings.weight"][[id for _, id in kept]]
    state = folded(state)
    quality = Quality(out, whole, tokenizer)
    print("| weights | cosine of skills: mean, 1st percentile | of queries | Hit@1 | R@10 |\n|---|---|---|---|---|")
    quality.row("f32, whole vocabulary", quality.whole)
    quality.row(f"f32, {len(kept):,} tokens", quality.vectors(unfolded(state), small))
    _, nearest = quantised(state)
    quality.row("8 bits, each to the nearest step", quality.vectors(unfolded(nearest), small))
    tensors, stands_for = quantised(state, moments_of(unfolded(state), small, out))
    quality.row("8 bits", quality.vectors(unfolded(stands_for), small))
    quality.row("8 bits, inputs too", quality.vectors(quantise_inputs(unfolded(stands_for)), small))
    four, stands_for_four = quantised(state, four_bits=lambda name: name.startswith("embeddings.word"))
    quality.row("embeddings 4 bits, layers 8", quality.vectors(unfolded(stands_for_four), small))
    every, stands_for_every = quantised(state, four_bits=lambda name: True)
    quality.row("4 bits throughout", quality.vectors(unfolded(stands_for_every), small))
    sizes = write(tensors, target)
    for name, form in (("4-bit-embeddings", four), ("4-bit", every)):
        folder = target / name
        folder.mkdir(exist_ok=True)
        sizes.update({f"{name}/{file}": size for file, size in write(form, folder).items()})
    print()
    for file, size in sizes.items():
        print(f"{file}: {size:,} bytes")


if __name__ == "__main__":
    main()
