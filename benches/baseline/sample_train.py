"""Draws what `skillmux train abstention` is fitted to: prompts of `queries-train` and small libraries that answer them.

Writes `queries.jsonl`, prompts with the ids of their skills, and `library-*.jsonl`, shards of the prompts' skills,
no skill in two of them, but that `library-all` holds them all. Every kind, language and length of prompts gets
the same share; what a rare one cannot give goes to the others. A prompt with a placeholder such as `[company]` is a
template, not a request, and left out.

    python sample_train.py DATA OUT --sample 1500 --seed 1
"""

import argparse
import hashlib
import json
import random
import re
from collections import defaultdict
from collections.abc import Hashable
from pathlib import Path
from typing import Any

from jsonl import expand, read_jsonl

PLACEHOLDER = re.compile(r"\[[^\]\n]{2,}\]|\{[^}\n]{2,}\}|<[a-z _-]{2,}>")

LENGTHS = (60, 200)
"""Characters from which a prompt counts as middle and as long; a Chinese character counts as three."""

LIBRARY_SIZES = (50, 50, 50, 50, 200)
"""Skills of the small libraries."""

Pair = dict[str, Any]


def length_class(query: str) -> int:
    """Returns 0 for a short, 1 for a middle and 2 for a long prompt."""
    n_characters = sum(1 if ord(character) < 0x2E80 else 3 for character in query)
    return sum(n_characters >= bound for bound in LENGTHS)


def prompts(path: Path) -> dict[str, Pair]:
    """Reads the distinct prompts with the ids of all their skills, by the start of the text's SHA-256."""
    found: dict[str, Pair] = {}
    for pair in read_jsonl(path):
        if pair["relevant"] and not PLACEHOLDER.search(pair["query"]):
            query_id = hashlib.sha256(pair["query"].encode("utf-8")).hexdigest()[:16]
            first = found.setdefault(query_id, {**pair, "skill_ids": []})
            first["skill_ids"].append(pair["skill_id"])
    return found


def draw(pairs: dict[str, Pair], n_queries: int, seed: int) -> list[str]:
    """Draws from every stratum in turn, rarest first, until there are `n_queries`."""
    strata: dict[Hashable, list[str]] = defaultdict(list)
    for query_id, pair in sorted(pairs.items()):
        strata[pair["kind"], pair["lang"], length_class(pair["query"])].append(query_id)
    order = sorted(strata, key=lambda stratum: (len(strata[stratum]), str(stratum)))
    shuffle = random.Random(seed)
    drawn: list[str] = []
    for position, stratum in enumerate(order):
        share = (n_queries - len(drawn)) // (len(order) - position)
        drawn += shuffle.sample(strata[stratum], min(share, len(strata[stratum])))
    return sorted(drawn)


def small_libraries(skill_ids: set[str], seed: int) -> dict[str, set[str]]:
    """Deals the skills out to libraries of the sizes, and one of them all; by name."""
    order = sorted(skill_ids)
    random.Random(seed).shuffle(order)
    libraries: dict[str, set[str]] = {}
    start = 0
    for number, size in enumerate(LIBRARY_SIZES):
        libraries[f"library-{size}-{number}"] = set(order[start : start + size])
        start += size
    libraries["library-all"] = set(order)
    return libraries


def write_lines(path: Path, lines: list[dict[str, Any]]) -> None:
    """Writes one object a line."""
    with path.open("w", encoding="utf-8") as file:
        for line in lines:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


def main() -> None:
    """Writes the prompts and the libraries."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="the data folder")
    parser.add_argument("out", type=Path, help="the folder to write to")
    parser.add_argument("--sample", type=int, default=1500, metavar="N", help="number of prompts (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the sample (default: %(default)s)")
    args = parser.parse_args()

    args.out.mkdir(parents=True, exist_ok=True)
    pairs = prompts(args.data / "queries-train.jsonl.zst")
    drawn = {query_id: pairs[query_id] for query_id in draw(pairs, args.sample, args.seed)}
    fields = ("query", "skill_ids", "kind", "lang")
    queries = [{"query_id": key, **{field: pair[field] for field in fields}} for key, pair in drawn.items()]
    write_lines(args.out / "queries.jsonl", queries)
    print(f"{len(drawn)} prompts of {len(pairs)}")

    libraries = small_libraries({pair["skill_ids"][0] for pair in drawn.values()}, args.seed)
    shards: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for part in expand([args.data / "pool"]):
        for skill in read_jsonl(part):
            for name, skill_ids in libraries.items():
                if skill["skill_id"] in skill_ids:
                    shards[name].append(skill)
    for name, skills in shards.items():
        write_lines(args.out / f"{name}.jsonl", skills)
        print(f"{name}: {len(skills)} skills")


if __name__ == "__main__":
    main()
