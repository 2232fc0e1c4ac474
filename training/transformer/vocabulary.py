#!/usr/bin/env python3
"""Chooses the tokens that are kept of the base's vocabulary.

usage: vocabulary.py OUT TARGET

Reads what prepare.py wrote to OUT; writes TARGET, a token a line in the order of its number: special ones, single characters that occur, and then the most
frequent ones of skills and queries.
"""

import json
import sys
from collections import Counter
from pathlib import Path

from tokenizers import Tokenizer

import data
import model

N_TOKENS = 18_000
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
SHIPPED = data.REPOSITORY / "crates/skillmux-transformer-embeddings/assets/vocabulary.txt"


def counts_of_tokens(tokenizer, out):
    """How often each token occurs in what the encoder reads of the pool, and in the queries that it is trained on."""
    counts = Counter()
    skills = (skill["text"] for skill in data.read_lines(out / "skills.jsonl") if not skill["id"].startswith(("swe-skills-bench/", "ops")))
    queries = (query for group in data.read_lines(out / "groups.jsonl") for query in group["queries"])
    for texts in (skills, queries):
        for text in texts:
            counts.update(tokenizer.encode(text).ids[: model.QUERY_TOKENS])
    return counts


def chosen(tokenizer, counts):
    vocabulary = sorted(tokenizer.get_vocab().items(), key=lambda pair: pair[1])
    single = lambda token: len(token.removeprefix("##")) == 1
    kept = {token for token, id in vocabulary if token in SPECIAL or (single(token) and (counts[id] or token.removeprefix("##").isascii()))}
    for token, id in sorted(vocabulary, key=lambda pair: (-counts[pair[1]], pair[1])):
        if len(kept) >= N_TOKENS or not counts[id]:
            break
        kept.add(token)
    return [token for token, _ in vocabulary if token in kept]


def read(path=SHIPPED):
    """Returns the kept tokens, each with its number in the base."""
    base = model.base_tokenizer()
    return [(token, base.token_to_id(token)) for token in Path(path).read_text(encoding="utf-8").removesuffix("\n").split("\n")]


def tokenizer_of(kept):
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


def main():
    out, target = map(Path, sys.argv[1:])
    tokenizer = model.base_tokenizer()
    counts = counts_of_tokens(tokenizer, out)
    kept = chosen(tokenizer, counts)
    ids = {tokenizer.token_to_id(token) for token in kept}
    total = sum(counts.values())
    print(f"{len(kept):,} of {model.N_VOCABULARY:,} tokens, {sum(counts[id] for id in ids) / total:.5f} of their uses;")
    print(f"{sum(count > 0 for count in counts.values()):,} tokens occur at all; unknown: {counts[tokenizer.token_to_id('[UNK]')] / total:.5f}")
    target.write_text("".join(token + "\n" for token in kept), encoding="utf-8")


if __name__ == "__main__":
    main()
