"""Compares ways to merge the rankings of a task and of its needs: round robin, reciprocal ranks, and the shares that skillmux takes.

    python benches/merges.py SKILLMUX INDEX TASKS.jsonl NEEDS.jsonl

TASKS has `task_id` (or `query_id`), `query`, and `skill_ids` (or `skills`); NEEDS has `query_id` and `needs`. Only tasks of several skills count. Each text is
searched on its own, 50 deep, by id: no near-copies are put together. Brackets are 95 % intervals of 5,000 paired resamples.
"""

import json
import math
import random
import subprocess
import sys
import tempfile
from collections import defaultdict

DEPTH = 50
TEMPERATURE = 2.0


def lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def searched(skillmux, index, texts):
    """Returns the ranking of each text by its key, best first."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
        for key, text in texts.items():
            print(json.dumps({"query_id": key, "query": text}, ensure_ascii=False), file=file)
        file.flush()
        command = [skillmux, "search", "--queries", file.name, "--index", index, "-k", str(DEPTH)]
        found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rankings = defaultdict(list)
    for line in found.splitlines():
        key, _, skill, _, score, _ = line.split()
        rankings[key].append((skill, float(score)))
    return rankings


def round_robin(rankings):
    merged = []
    for place in range(DEPTH):
        for ranking in rankings:
            if place < len(ranking) and ranking[place][0] not in merged:
                merged.append(ranking[place][0])
    return merged


def by_sum(rankings, parts):
    sums = defaultdict(float)
    for ranking in rankings:
        for (skill, _), part in zip(ranking, parts(ranking)):
            sums[skill] += part
    return sorted(sums, key=lambda skill: (-sums[skill], skill))


def reciprocal(constant):
    return lambda ranking: [1 / (constant + place) for place in range(1, len(ranking) + 1)]


def shares(ranking):
    weights = [math.exp((score - ranking[0][1]) / TEMPERATURE) for _, score in ranking]
    return [weight / sum(weights) for weight in weights]


WAYS = {
    "the task alone": lambda task, needs: [skill for skill, _ in task],
    "round robin over the needs": lambda task, needs: round_robin(needs),
    "round robin, the task first": lambda task, needs: round_robin([task, *needs]),
    "reciprocal ranks, k = 60": lambda task, needs: by_sum([task, *needs], reciprocal(60)),
    "reciprocal ranks, k = 10": lambda task, needs: by_sum([task, *needs], reciprocal(10)),
    "shares (skillmux)": lambda task, needs: by_sum([task, *needs], shares),
}


def interval(values, n_resamples=5000):
    rng = random.Random(42)
    means = sorted(sum(rng.choices(values, k=len(values))) / len(values) for _ in range(n_resamples))
    return sum(values) / len(values), means[int(0.025 * n_resamples)], means[int(0.975 * n_resamples)]


def main(skillmux, index, tasks_path, needs_path):
    needs_of = {line["query_id"]: line["needs"] for line in lines(needs_path)}
    id_of = lambda task: task.get("task_id") or task["query_id"]
    right = lambda task: task.get("skill_ids") or task["skills"]
    tasks = [task for task in lines(tasks_path) if len(right(task)) > 1 and needs_of.get(id_of(task))]
    texts = {}
    for task in tasks:
        texts[f"{id_of(task)}|task"] = task["query"]
        texts.update({f"{id_of(task)}|{n}": need for n, need in enumerate(needs_of[id_of(task)])})
    rankings = searched(skillmux, index, texts)
    scores = {way: ([], []) for way in WAYS}
    for task in tasks:
        of_task = rankings[f"{id_of(task)}|task"]
        of_needs = [rankings[f"{id_of(task)}|{n}"] for n in range(len(needs_of[id_of(task)]))]
        gold = set(right(task))
        for way, merge in WAYS.items():
            merged = merge(of_task, [ranking for ranking in of_needs if ranking])
            scores[way][0].append(float(merged[0] in gold))
            scores[way][1].append(len(gold.intersection(merged[:10])) / len(gold))
    print(f"{len(tasks)} tasks\n")
    print("| merged by | Hit@1 | Recall@10 | shares less this: Hit@1 | Recall@10 |\n|---|---:|---:|---|---|")
    for way, measured in scores.items():
        cells = [f"{sum(values) / len(values):.3f}" for values in measured]
        for ours, values in zip(scores["shares (skillmux)"], measured):
            mean, low, high = interval([a - b for a, b in zip(ours, values)])
            cells.append("" if way.startswith("shares") else f"{mean:+.3f} [{low:+.3f}, {high:+.3f}]")
        print(f"| {way} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main(*sys.argv[1:])
