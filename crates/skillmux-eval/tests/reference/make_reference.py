"""Writes reference.json: random runs and samples, and what the reference libraries say about them.

    python -m venv venv && venv/bin/pip install -r requirements.txt && venv/bin/python make_reference.py

The same seed gives the same file. pytrec-eval-terrier is pytrec_eval with trec_eval inside, so that it
builds without a download.
"""

import json
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytrec_eval
from ranx import Qrels, Run, evaluate
from scipy import stats

SEED = 20260601
N_QUERIES = 40
CUTOFFS = [1, 5, 10, 20, 50]
LIBRARIES = ["numpy", "pytrec-eval-terrier", "ranx", "scipy"]

rng = np.random.default_rng(SEED)


def make_queries():
    """Yields (id, scores by document, grades by document, number of loaded documents)."""
    documents = [f"d{n:02}" for n in range(80)]
    for number in range(N_QUERIES):
        # Some queries are not answered, some rankings are shorter than every cutoff, and scores tie.
        n_found = [0, 3, 12, 60][number % 4] if number % 8 < 5 else int(rng.integers(1, 80))
        found = rng.choice(documents, n_found, replace=False)
        scores = {str(d): float(rng.integers(0, 40)) / 4 for d in found}
        judged = rng.choice(documents, int(rng.integers(2, 14)), replace=False)
        grades = {str(d): int(rng.integers(0, 4)) for d in judged}
        grades[str(judged[0])] = int(rng.integers(1, 4))
        yield f"q{number:02}", scores, grades, int(rng.integers(0, 7))


def trec_order(scores):
    """The order of trec_eval: falling score, ties by falling id."""
    return sorted(scores, key=lambda d: (scores[d], d), reverse=True)


def pytrec(scores, grades, measures):
    if not scores:  # trec_eval -c: an unanswered query counts 0.
        return dict.fromkeys(measures, 0.0)
    families = {m.rsplit("_", 1)[0] + "." + m.rsplit("_", 1)[1] if m[-1].isdigit() else m for m in measures}
    values = pytrec_eval.RelevanceEvaluator({"q": grades}, families).evaluate({"q": scores})["q"]
    return {m: float(values[m]) for m in measures}


def ranx(scores, grades, measures):
    if not scores:
        return dict.fromkeys(measures, 0.0)
    # ranx breaks ties at random, so it gets the order of trec_eval.
    ranked = {d: float(-rank) for rank, d in enumerate(trec_order(scores))}
    relevant = {d: g for d, g in grades.items() if g > 0}
    values = evaluate(Qrels({"q": relevant}), Run({"q": ranked}), measures)
    return {m: float(v) for m, v in values.items()} if len(measures) > 1 else {measures[0]: float(values)}


def first(k, scores):
    return {d: scores[d] for d in trec_order(scores)[:k]}


def expected(scores, grades, n_loaded):
    binary = {d: int(g > 0) for d, g in grades.items()}
    loaded = first(n_loaded, scores)
    by_trec = {}
    for k in CUTOFFS:
        graded = pytrec(scores, grades, [f"success_{k}", f"recall_{k}", f"ndcg_cut_{k}"])
        by_trec[f"hit@{k}"] = graded[f"success_{k}"]
        by_trec[f"recall@{k}"] = graded[f"recall_{k}"]
        by_trec[f"ndcg_graded@{k}"] = graded[f"ndcg_cut_{k}"]
        by_trec[f"ndcg@{k}"] = pytrec(scores, binary, [f"ndcg_cut_{k}"])[f"ndcg_cut_{k}"]
        by_trec[f"mrr@{k}"] = pytrec(first(k, scores), grades, ["recip_rank"])["recip_rank"]
    by_trec["r_precision"] = pytrec(scores, grades, ["Rprec"])["Rprec"]
    by_trec["set_f1"] = pytrec(loaded, grades, ["set_F"])["set_F"]

    by_ranx = {}
    for k in CUTOFFS:
        graded = ranx(scores, grades, [f"hit_rate@{k}", f"recall@{k}", f"ndcg@{k}", f"mrr@{k}"])
        by_ranx[f"hit@{k}"] = graded[f"hit_rate@{k}"]
        by_ranx[f"recall@{k}"] = graded[f"recall@{k}"]
        by_ranx[f"ndcg_graded@{k}"] = graded[f"ndcg@{k}"]
        by_ranx[f"mrr@{k}"] = graded[f"mrr@{k}"]
        by_ranx[f"ndcg@{k}"] = ranx(scores, binary, [f"ndcg@{k}"])[f"ndcg@{k}"]
    by_ranx["r_precision"] = ranx(scores, grades, ["r-precision"])["r-precision"]
    by_ranx["set_f1"] = ranx(loaded, grades, ["f1"])["f1"]
    return {"pytrec_eval": by_trec, "ranx": by_ranx}


def make_paired():
    """Yields (name, a, b): every branch of scipy's `method="auto"`."""
    def normal(n, shift):
        a = rng.normal(size=n)
        return a, a + rng.normal(shift, 1, n)

    yield "exact", *normal(20, 0.4)
    yield "exact, no difference", *normal(35, 0.0)
    yield "exact, one-sided", np.zeros(8), np.arange(1.0, 9.0)
    yield "exact, 50", *normal(50, 0.3)
    yield "approximate, 51", *normal(51, 0.3)
    yield "approximate, 300", *normal(300, -0.1)
    yield "binary", rng.integers(0, 2, 300), rng.integers(0, 2, 300)
    yield "binary, better", np.repeat([0, 1, 0, 1], [25, 100, 75, 100]), np.repeat([0, 1, 1, 0], [25, 100, 75, 100])
    yield "zeros and ties, 30", rng.integers(0, 5, 30) / 4, rng.integers(0, 5, 30) / 4
    yield "zeros and ties, 12", rng.integers(0, 5, 12) / 4, rng.integers(0, 5, 12) / 4
    yield "ties, 13", np.zeros(13), np.array([1, 1, 1, -1, 2, 2, -2, 3, 3, 3, 3, -1, 4.0])
    yield "zeros, 40", np.r_[np.zeros(10), rng.normal(size=30)], np.zeros(40)
    yield "ties, 14", np.zeros(14), np.array([1, 1, 1, -1, 2, 2, -2, 3, 3, 3, 3, -1, 4.0, 5.0])


def bca(values, level):
    result = stats.bootstrap((values,), np.mean, n_resamples=999, confidence_level=level, method="BCa", rng=rng)
    interval = result.confidence_interval
    return {
        "values": values.tolist(),
        "level": level,
        "resampled_means": result.bootstrap_distribution.tolist(),
        "low": float(interval.low),
        "high": float(interval.high),
    }


def lines(items):
    return "[\n" + ",\n".join(json.dumps(item, separators=(",", ":")) for item in items) + "\n]"


def main():
    queries = [
        {"id": i, "run": s, "qrels": g, "n_loaded": n, "expected": expected(s, g, n)}
        for i, s, g, n in make_queries()
    ]
    paired = [
        {
            "name": name,
            "a": np.asarray(a, float).tolist(),
            "b": np.asarray(b, float).tolist(),
            "p": float(stats.wilcoxon(b, a).pvalue),
        }
        for name, a, b in make_paired()
    ]
    intervals = [bca(rng.exponential(1, 40), 0.95), bca((rng.random(60) < 0.9).astype(float), 0.9)]
    text = '{{"seed":{},\n"libraries":{},\n"queries":{},\n"paired":{},\n"bca":{}}}\n'.format(
        SEED,
        json.dumps({name: version(name) for name in LIBRARIES}),
        lines(queries),
        lines(paired),
        lines(intervals),
    )
    (Path(__file__).parent / "reference.json").write_text(text)


main()
