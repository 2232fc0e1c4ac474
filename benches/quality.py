"""Ranking quality of skillmux and bm25s on the same text, with intervals of the difference."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent / "baseline"))

from score import METRICS
from trec import Qrels, Run, read_qrels, read_run

from child import Skillmux, run
from report import Row

BASELINE = Path(__file__).parent / "baseline"
K = 50
N_RESAMPLES = 10_000
N_AT_ONCE = 100
BARS = {("dev-swe", "Hit@1"), ("queries-dev", "Recall@10")}
"""Sets and metrics where skillmux must not be worse."""


def measure(skillmux: Skillmux, data: Path, queries: Path, work: Path, seed: int) -> list[Row]:
    """Ranks both query sets in the pool and the skills of `dev`, and compares all metrics."""
    sources = [data / "pool", data / "dev" / "skills.jsonl"]
    index = work / "index"
    skillmux.index(sources, index)
    sets = {name: queries / f"{name}.queries.jsonl" for name in ("dev-swe", "queries-dev")}
    both = work / "both.queries.jsonl"
    both.write_bytes(b"".join(path.read_bytes() for path in sets.values()))
    ours, theirs = work / "skillmux.run", work / "bm25s.run"
    ours.write_bytes(skillmux.search(index, both, K).stdout)
    run(bm25s(sources, both, theirs))
    our_run, their_run = read_run(ours), read_run(theirs)
    rows = []
    for name in sets:
        rows += compare(name, our_run, their_run, read_qrels(queries / f"{name}.qrels"), seed)
    return rows


def bm25s(sources: list[Path], queries: Path, out: Path) -> list[str | Path]:
    """Returns the command that ranks with the baseline."""
    script = BASELINE / "bm25s_run.py"
    return [sys.executable, script, "--pool", *sources, "--queries", queries, "-k", str(K), "--out", out]


def compare(name: str, our_run: Run, their_run: Run, qrels: Qrels, seed: int) -> list[Row]:
    """Returns one row per metric: both means, and the 95 % interval of their difference."""
    ours, theirs = values(our_run, qrels), values(their_run, qrels)
    low, high = intervals(ours - theirs, seed)
    rows = []
    for column, metric in enumerate(METRICS):
        our_mean, their_mean = float(ours[:, column].mean()), float(theirs[:, column].mean())
        measured = (
            f"{our_mean:.4f} against {their_mean:.4f}; difference {our_mean - their_mean:+.4f} "
            f"[{low[column]:+.4f}, {high[column]:+.4f}]"
        )
        has_bar = (name, metric) in BARS
        numbers = {"skillmux": our_mean, "bm25s": their_mean, "low": float(low[column]), "high": float(high[column])}
        rows.append(
            Row(
                f"{metric} of {name}, {len(qrels)} queries, against bm25s",
                measured,
                "at least bm25s" if has_bar else "",
                our_mean >= their_mean if has_bar else None,
                numbers,
            )
        )
    return rows


def values(ranked: Run, qrels: Qrels) -> np.ndarray:
    """Returns every metric of every query, `[n_queries, n_metrics]`; a query that the run lacks counts as 0."""
    return np.array(
        [
            [metric(ranked.get(query_id, []), set(gold), k) for metric, k in METRICS.values()]
            for query_id, gold in qrels.items()
        ]
    )


def intervals(differences: np.ndarray, seed: int) -> np.ndarray:
    """Returns the 2.5th and 97.5th percentile of the mean of each column over resampled queries."""
    rng = np.random.default_rng(seed)
    n_queries = len(differences)
    means = [
        rng.multinomial(n_queries, np.full(n_queries, 1 / n_queries), size=N_AT_ONCE) @ differences / n_queries
        for _ in range(N_RESAMPLES // N_AT_ONCE)
    ]
    percentiles: np.ndarray = np.percentile(np.concatenate(means), [2.5, 97.5], axis=0)
    return percentiles
