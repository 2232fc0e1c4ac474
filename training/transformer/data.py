"""Reads skills and queries, and says what is held out.

DATA is the folder that `benches/README.md` describes, with `bilingual.jsonl.zst` beside the queries. Its texts belong to third
parties: they are read from DATA, written to OUT, and to no other place.
"""

import hashlib
import io
import json
import re
from pathlib import Path

import zstandard
from blake3 import blake3

REPOSITORY = Path(__file__).resolve().parents[2]
# Characters that are read of a skill: far more than 128 tokens.
TEXT_CHARACTERS = 1500


def read_lines(path):
    path = Path(path)
    if path.suffix != ".zst":
        lines = path.open(encoding="utf-8", newline="\n")
    else:
        lines = io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(path.open("rb")), "utf-8", newline="\n")
    with lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)


def write_lines(path, rows):
    with Path(path).open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def headline(name, description):
    return f"{re.sub(r'[-_]+', ' ', name).strip()}: {' '.join(description.split())}"


def document(name, description, body):
    """Returns what the encoder reads of a skill; the tokenizer cuts it."""
    return f"{headline(name, description)}\n{' '.join(body[:TEXT_CHARACTERS].split())}"[:TEXT_CHARACTERS]


def key_of_name(name):
    """Returns the hash of a name without case and joints, as `skillmux train` does."""
    key = "".join(c.lower() for c in name if c.isalnum())
    return int.from_bytes(blake3(key.encode()).digest()[:8], "little")


def is_held_out_short(key):
    """Queries of these names are those that `skillmux train ranker` fits to: an encoder would be too sure of the ones it knows."""
    return key % 10 == 0


def is_scored_fold(key):
    """The fold that `skillmux train ranker` keeps for its scores."""
    return key // 10 % 10 in (0, 5)


def is_held_out_long(key):
    return is_held_out_short(key) or is_scored_fold(key)


def is_reserved_translation(en):
    return int(hashlib.sha256(en.encode()).hexdigest()[:8], 16) % 5 == 0


def is_chinese(text):
    letters = [c for c in text if c.isalpha()]
    return sum("\u4e00" <= c <= "\u9fff" for c in letters) * 10 >= max(len(letters), 1)
