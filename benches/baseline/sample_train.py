"""Draws what `skillmux train abstention` is fitted to: prompts of `queries-train` and small libraries that answer them.

Writes

- `queries.jsonl`, prompts with the ids of their skills. Every kind, language and length of prompts gets the same share;
  what a rare one cannot give goes to the others. A prompt with a placeholder such as `[company]` is a template, not a
  request, and left out;
- `others.jsonl`, further prompts, drawn alike, whose skills are in none of the small libraries;
- `triggers.jsonl`, prompts of which the author of a skill says that they must not trigger it, with the id of that skill;
- `library-N-*.jsonl`, shards of the skills of `queries.jsonl`, no skill in two of them; `library-all.jsonl`, all of them;
- `library-line-*.jsonl`, skills of one line: of the description and of the body, the first sentence of the description
  is left. The larger one is filled up with skills of the pool;
- `library-triggers.jsonl`, the skills of `triggers.jsonl`.

    python sample_train.py DATA OUT --sample 1500 --seed 1
"""

import argparse
import hashlib
import json
import random
import re
from collections import defaultdict
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import Any

from jsonl import expand, read_jsonl

PLACEHOLDER = re.compile(r"\[[^\]\n]{2,}\]|\{[^}\n]{2,}\}|<[a-z _-]{2,}>")

LENGTHS = (60, 200)
"""Characters from which a prompt counts as middle and as long; a Chinese character counts as three."""

LIBRARY_SIZES = (50, 50, 50, 50, 200)
"""Skills of the small libraries."""

N_LINES_SMALL = 120
"""Skills of the small library of one-line skills."""

N_LINES = 2000
"""Skills of the large one."""

SENTENCE = re.compile(r"[^\n]{20,}?(?:[.!?](?=\s)|[。！？])")
"""The first sentence of a text, if that is not all of its first line."""

MAX_LINE_CHARACTERS = 200
"""Longest line of a one-line skill."""

Pair = dict[str, Any]


def length_class(query: str) -> int:
    """Returns 0 for a short, 1 for a middle and 2 for a long prompt."""
    n_characters = sum(1 if ord(character) < 0x2E80 else 3 for character in query)
    return sum(n_characters >= bound for bound in LENGTHS)


def prompts(path: Path, *, relevant: bool) -> dict[str, Pair]:
    """Reads the distinct prompts with the ids of all their skills, by the start of the text's SHA-256."""
    found: dict[str, Pair] = {}
    for pair in read_jsonl(path):
        if pair["relevant"] == relevant and not PLACEHOLDER.search(pair["query"]):
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


def one_line(skill: dict[str, Any]) -> dict[str, Any]:
    """Returns a skill that says the first sentence of its description, and nothing else."""
    description = skill["description"].strip() or skill["name"]
    sentence = SENTENCE.match(description)
    line = sentence.group() if sentence else description.splitlines()[0]
    line = line[:MAX_LINE_CHARACTERS].strip()
    return {**skill, "description": line, "body": line}


def write_queries(path: Path, pairs: dict[str, Pair]) -> None:
    """Writes prompts with the ids of their skills."""
    fields = ("query", "skill_ids", "kind", "lang")
    write_lines(path, [{"query_id": key, **{field: pair[field] for field in fields}} for key, pair in pairs.items()])


def write_lines(path: Path, lines: list[dict[str, Any]]) -> None:
    """Writes one object a line, and says how many."""
    print(f"{path.name}: {len(lines)}")
    with path.open("w", encoding="utf-8") as file:
        for line in lines:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


def main() -> None:
    """Writes the prompts and the libraries."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="the data folder")
    parser.add_argument("out", type=Path, help="the folder to write to")
    parser.add_argument("--sample", type=int, default=1500, metavar="N", help="number of prompts (default: %(default)s)")
    parser.add_argument("--others", type=int, default=600, metavar="N", help="further prompts (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the sample (default: %(default)s)")
    args = parser.parse_args()

    args.out.mkdir(parents=True, exist_ok=True)
    path = args.data / "queries-train.jsonl.zst"
    pairs = prompts(path, relevant=True)
    drawn = {query_id: pairs[query_id] for query_id in draw(pairs, args.sample, args.seed)}
    write_queries(args.out / "queries.jsonl", drawn)
    libraries = small_libraries({pair["skill_ids"][0] for pair in drawn.values()}, args.seed)

    taken = libraries["library-all"]
    rest = {key: pair for key, pair in pairs.items() if taken.isdisjoint(pair["skill_ids"])}
    write_queries(args.out / "others.jsonl", {key: rest[key] for key in draw(rest, args.others, args.seed)})
    triggers = prompts(path, relevant=False)
    write_queries(args.out / "triggers.jsonl", triggers)
    libraries["library-triggers"] = {skill for pair in triggers.values() for skill in pair["skill_ids"]}

    shuffle = random.Random(args.seed)
    order = sorted(taken)
    shuffle.shuffle(order)
    lines = {"library-line-small": set(order[:N_LINES_SMALL]), "library-line-large": set(order)}
    pool = list(read_pool(args.data / "pool"))
    fill = sorted(skill["skill_id"] for skill in pool if skill["skill_id"] not in taken)
    lines["library-line-large"] |= set(shuffle.sample(fill, min(max(N_LINES - len(order), 0), len(fill))))

    for name, skill_ids in libraries.items():
        write_lines(args.out / f"{name}.jsonl", [skill for skill in pool if skill["skill_id"] in skill_ids])
    for name, skill_ids in lines.items():
        write_lines(args.out / f"{name}.jsonl", [one_line(skill) for skill in pool if skill["skill_id"] in skill_ids])


def read_pool(path: Path) -> Iterator[dict[str, Any]]:
    """Reads the skills of all shards."""
    for part in expand([path]):
        yield from read_jsonl(part)


if __name__ == "__main__":
    main()
