"""TREC run and qrels lines, with ids made safe for a space-separated format."""

import re
from collections import defaultdict
from pathlib import Path
from urllib.parse import quote

Qrels = dict[str, dict[str, int]]
"""Relevance by query id, then by encoded skill id."""

Run = dict[str, list[str]]
"""Encoded skill ids by query id, best first."""


def encode_id(skill_id: str) -> str:
    """Percent-encodes `%` and whitespace, and leaves every other character as it is."""
    return re.sub(r"[\s%]", lambda match: quote(match.group(), safe=""), skill_id)


def run_line(query_id: str, skill_id: str, rank: int, score: float, tag: str) -> str:
    """Formats one line of a run; `rank` counts from 1."""
    return f"{query_id} Q0 {encode_id(skill_id)} {rank} {score:.6f} {tag}\n"


def qrels_line(query_id: str, skill_id: str, relevance: int) -> str:
    """Formats one line of a qrels file."""
    return f"{query_id} 0 {encode_id(skill_id)} {relevance}\n"


def read_qrels(path: Path) -> Qrels:
    """Reads a qrels file and leaves out pairs whose relevance is not positive."""
    qrels: Qrels = defaultdict(dict)
    for line in path.read_text(encoding="utf-8").splitlines():
        query_id, _, skill_id, relevance = line.split()
        if int(relevance) > 0:
            qrels[query_id][skill_id] = int(relevance)
    return dict(qrels)


def read_run(path: Path) -> Run:
    """Reads a run and orders each query's skills by their rank column."""
    ranked: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for line in path.read_text(encoding="utf-8").splitlines():
        query_id, _, skill_id, rank, _, _ = line.split()
        ranked[query_id].append((int(rank), skill_id))
    return {query_id: [skill_id for _, skill_id in sorted(pairs)] for query_id, pairs in ranked.items()}
