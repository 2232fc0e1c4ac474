"""Scores a TREC run against qrels: Hit@1, Hit@10, Recall@10, Recall@50 and MRR@10.

Each number is a mean over the queries of the qrels; a query that the run lacks counts as 0.

    python score.py run.trec dev-swe.qrels
"""

import argparse
from pathlib import Path
from statistics import fmean

from trec import read_qrels, read_run


def hit(ranked: list[str], gold: set[str], k: int) -> float:
    """Returns 1 if a gold skill is among the first `k`, else 0."""
    return float(not gold.isdisjoint(ranked[:k]))


def recall(ranked: list[str], gold: set[str], k: int) -> float:
    """Returns the share of the gold skills that are among the first `k`."""
    return len(gold.intersection(ranked[:k])) / len(gold)


def reciprocal_rank(ranked: list[str], gold: set[str], k: int) -> float:
    """Returns 1 / rank of the first gold skill among the first `k`, or 0 if there is none."""
    return next((1 / rank for rank, skill_id in enumerate(ranked[:k], start=1) if skill_id in gold), 0.0)


METRICS = {
    "Hit@1": (hit, 1),
    "Hit@10": (hit, 10),
    "Recall@10": (recall, 10),
    "Recall@50": (recall, 50),
    "MRR@10": (reciprocal_rank, 10),
}


def main() -> None:
    """Prints one metric per line, then the number of queries."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="the TREC run")
    parser.add_argument("qrels", type=Path, help="the TREC qrels")
    args = parser.parse_args()

    run = read_run(args.run)
    qrels = read_qrels(args.qrels)
    if not qrels:
        parser.error(f"`{args.qrels}` holds no relevant pair")
    for name, (metric, k) in METRICS.items():
        mean = fmean(metric(run.get(query_id, []), set(gold), k) for query_id, gold in qrels.items())
        print(f"{name}\t{mean:.4f}")
    print(f"queries\t{len(qrels)}")


if __name__ == "__main__":
    main()
