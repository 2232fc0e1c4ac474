"""Ranks skills for queries with bm25s, the BM25 library that a Python user would pick.

Lucene's BM25 with k1 = 1.2 and b = 0.75, English stop words and Snowball stemming, over name, description
and body joined by newlines. Writes a TREC run; timings go to stderr.

    python bm25s_run.py --pool pool/ dev/skills.jsonl --queries dev-swe.queries.jsonl -k 50 --out run.trec
"""

import argparse
import sys
import time
from pathlib import Path

import bm25s
import numpy as np
import Stemmer

from jsonl import expand, read_jsonl
from trec import run_line

K1 = 1.2
B = 0.75
TAG = "bm25s"


def load_skills(paths: list[Path]) -> tuple[list[str], list[str]]:
    """Reads skill ids and the text to index of each; the first of two equal ids wins."""
    texts: dict[str, str] = {}
    for path in expand(paths):
        for skill in read_jsonl(path):
            fields = (skill.get(field) or "" for field in ("name", "description", "body"))
            texts.setdefault(skill["skill_id"], "\n".join(fields))
    return list(texts), list(texts.values())


def build_index(texts: list[str], stemmer: Stemmer.Stemmer) -> bm25s.BM25:
    """Tokenises and indexes `texts`, and reports both times."""
    start = time.perf_counter()
    tokens = bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False)
    tokenised = time.perf_counter()
    index = bm25s.BM25(method="lucene", k1=K1, b=B, backend="numpy")
    index.index(tokens, show_progress=False)
    indexed = time.perf_counter()
    seconds = f"tokenise {tokenised - start:.1f} s, index {indexed - tokenised:.1f} s"
    print(f"{len(texts)} skills: {seconds}", file=sys.stderr)
    return index


def search(index: bm25s.BM25, stemmer: Stemmer.Stemmer, query: str, k: int) -> list[tuple[int, float]]:
    """Returns the positions and scores of the `k` best skills, best first, without those that score 0."""
    tokens = bm25s.tokenize(query, stopwords="en", stemmer=stemmer, return_ids=False, show_progress=False)
    positions, scores = index.retrieve(tokens, k=k, show_progress=False, n_threads=0)
    hits = zip(positions[0].tolist(), scores[0].tolist(), strict=True)
    return [(position, score) for position, score in hits if score > 0]


def main() -> None:
    """Indexes the pool, answers every query one at a time and writes the run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pool", type=Path, nargs="+", required=True, metavar="PATH", help="skill files or folders")
    parser.add_argument("--queries", type=Path, required=True, metavar="FILE", help="query_id and query per line")
    parser.add_argument("-k", type=int, default=50, help="skills per query (default: %(default)s)")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="the TREC run to write")
    args = parser.parse_args()

    skill_ids, texts = load_skills(args.pool)
    stemmer = Stemmer.Stemmer("english")
    index = build_index(texts, stemmer)
    k = min(args.k, len(skill_ids))

    latencies_ms = []
    with args.out.open("w", encoding="utf-8") as out:
        for record in read_jsonl(args.queries):
            start = time.perf_counter()
            hits = search(index, stemmer, record["query"], k)
            latencies_ms.append((time.perf_counter() - start) * 1000)
            for rank, (position, score) in enumerate(hits, start=1):
                out.write(run_line(record["query_id"], skill_ids[position], rank, score, TAG))

    p50, p99 = np.percentile(latencies_ms, [50, 99])
    print(f"{len(latencies_ms)} queries: p50 {p50:.1f} ms, p99 {p99:.1f} ms", file=sys.stderr)


if __name__ == "__main__":
    main()
