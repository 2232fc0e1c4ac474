"""What the scripts of this folder share: the texts, the numbers of tiny models, and a tokenizer of whole words."""

import json

import numpy as np

WORDS = ["fill", "in", "the", "pdf", "form", "merge", "two", "tables", "slow", "query", "yes", "no", "a", "of"]
TEXTS = [
    "fill in the pdf form",
    "merge two tables of a slow query , merge the form of the query in a table of no form of a pdf",
    "yes",
    "tune the SLOW query [SEP] </s> <|im_end|>",
    "merge two tables",
]


def weight(name, shape):
    """Numbers that follow from the name of a tensor and their position in it."""
    seed = 0xCBF29CE484222325
    for byte in name.encode():
        seed = ((seed ^ byte) * 0x100000001B3) % 2**64
    with np.errstate(over="ignore"):
        x = np.uint64(seed) + np.arange(np.prod(shape), dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        x = x ^ (x >> np.uint64(31))
    unit = (x >> np.uint64(40)).astype(np.float32) / np.float32(2**24) - np.float32(0.5)
    if "norm" in name.lower() and name.endswith("weight"):
        unit = np.float32(1) + unit / np.float32(2)
    elif name.endswith("bias"):
        unit = unit / np.float32(4)
    elif "embed" not in name:
        unit = unit / np.float32(2)
    return unit.reshape(shape)


def tokenizer(special, pad, unknown, single, pair):
    """A tokenizer of whole words that cuts and fills up as published ones do, which readers must undo."""
    ids = {token: i for i, token in enumerate(special + WORDS)}
    tokens = [token for token in special if token in json.dumps(single) + json.dumps(pair)]
    return {
        "version": "1.0",
        "truncation": {"direction": "Right", "max_length": 6, "strategy": "LongestFirst", "stride": 0},
        "padding": {
            "strategy": {"Fixed": 12}, "direction": "Right", "pad_to_multiple_of": None,
            "pad_id": ids[pad], "pad_type_id": 0, "pad_token": pad,
        },
        "added_tokens": [
            {"id": ids[token], "content": token, "single_word": False, "lstrip": False, "rstrip": False,
             "normalized": False, "special": True}
            for token in special
        ],
        "normalizer": None,
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": {
            "type": "TemplateProcessing", "single": single, "pair": pair,
            "special_tokens": {t: {"id": t, "ids": [ids[t]], "tokens": [t]} for t in tokens},
        },
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": ids, "unk_token": unknown},
    }


def token(name, kind=0):
    return {"SpecialToken": {"id": name, "type_id": kind}}


def text(which, kind=0):
    return {"Sequence": {"id": which, "type_id": kind}}


BERT_TOKENIZER = tokenizer(
    ["[PAD]", "[UNK]", "[CLS]", "[SEP]"], "[PAD]", "[UNK]",
    [token("[CLS]"), text("A"), token("[SEP]")],
    [token("[CLS]"), text("A"), token("[SEP]"), text("B", 1), token("[SEP]", 1)],
)
