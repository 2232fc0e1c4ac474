"""Makes query and qrels files for the baseline and the benches from the data folder.

Writes `dev-swe` (the tasks of SWE-Skills-Bench), `queries-dev` and `queries-train` (prompts for skills of the
pool, the relevant pairs only), each as `NAME.queries.jsonl` and `NAME.qrels`.

    python make_queries.py DATA OUT --sample 3000 --seed 1
"""

import argparse
import hashlib
import json
import random
from collections import defaultdict
from pathlib import Path

from jsonl import read_jsonl
from trec import Qrels, qrels_line

SWE_BENCHMARK = "swe-skills-bench"

Queries = dict[str, str]
"""Query text by query id."""


def swe_tasks(dev: Path) -> tuple[Queries, Qrels]:
    """Reads the SWE-Skills-Bench tasks; a query's id is its task's id."""
    relevance = json.loads((dev / "relevance.json").read_text(encoding="utf-8"))
    queries: Queries = {}
    qrels: Qrels = {}
    for task in read_jsonl(dev / "tasks.jsonl"):
        if task["benchmark"] != SWE_BENCHMARK:
            continue
        task_id = task["task_id"]
        queries[task_id] = task["instruction_text"]
        qrels[task_id] = {skill: value for skill, value in relevance[task_id]["relevance"].items() if value > 0}
    return queries, qrels


def prompt_pairs(path: Path) -> tuple[Queries, Qrels]:
    """Reads the relevant pairs, one query per distinct text; its id is the start of the text's SHA-256."""
    queries: Queries = {}
    qrels: Qrels = defaultdict(dict)
    for pair in read_jsonl(path):
        if not pair["relevant"]:
            continue
        query_id = hashlib.sha256(pair["query"].encode("utf-8")).hexdigest()[:16]
        queries[query_id] = pair["query"]
        qrels[query_id][pair["skill_id"]] = 1
    return queries, dict(qrels)


def sample_queries(queries: Queries, n_queries: int, seed: int) -> Queries:
    """Draws `n_queries` queries without replacement, or all of them if there are fewer."""
    query_ids = sorted(queries)
    drawn = random.Random(seed).sample(query_ids, min(n_queries, len(query_ids)))
    return {query_id: queries[query_id] for query_id in sorted(drawn)}


def write(out: Path, name: str, queries: Queries, qrels: Qrels) -> None:
    """Writes the two files of one query set, and says how many queries and pairs they hold."""
    with (out / f"{name}.queries.jsonl").open("w", encoding="utf-8") as file:
        for query_id, query in queries.items():
            file.write(json.dumps({"query_id": query_id, "query": query}, ensure_ascii=False) + "\n")
    lines = [
        qrels_line(query_id, skill_id, relevance)
        for query_id in queries
        for skill_id, relevance in qrels[query_id].items()
    ]
    (out / f"{name}.qrels").write_text("".join(lines), encoding="utf-8")
    print(f"{name}: {len(queries)} queries, {len(lines)} relevant pairs")


def main() -> None:
    """Writes the three query sets."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="the data folder")
    parser.add_argument("out", type=Path, help="the folder to write to")
    parser.add_argument("--sample", type=int, metavar="N", help="keep N queries of queries-train (default: all)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the sample (default: %(default)s)")
    args = parser.parse_args()

    args.out.mkdir(parents=True, exist_ok=True)
    write(args.out, "dev-swe", *swe_tasks(args.data / "dev"))
    write(args.out, "queries-dev", *prompt_pairs(args.data / "queries-dev.jsonl.zst"))
    queries, qrels = prompt_pairs(args.data / "queries-train.jsonl.zst")
    if args.sample is not None:
        queries = sample_queries(queries, args.sample, args.seed)
    write(args.out, "queries-train", queries, qrels)


if __name__ == "__main__":
    main()
