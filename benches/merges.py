"""Compares ways to merge the rankings of a task and of its needs: round robin, reciprocal ranks, and the shares that skillmux takes.

    python benches/merges.py SKILLMUX INDEX TASKS.jsonl NEEDS.jsonl [TRAIN.jsonl]

TASKS has `task_id` (or `query_id`), `query`, and `skill_ids` (or `skills`); NEEDS has `query_id` and `needs`. Only tasks of several skills count. Each text is
searched on its own, 50 deep, by id: no near-copies are put together. Brackets are 95 % intervals of 5,000 paired resamples.

With TRAIN, a learned merge is measured as well: a listwise regression of 14 features, fitted to the tasks of TRAIN that are not among TASKS.
It needs numpy.
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
MAX_BELOW_TASK = 5.0


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


def with_task(task, needs):
    """Returns the rankings of the needs, with the log-odds for the task added to those for the need, at most 5 below the best."""
    of_task = {skill: max(score - task[0][1], -MAX_BELOW_TASK) for skill, score in task}
    added = [[(skill, score + of_task.get(skill, -MAX_BELOW_TASK)) for skill, score in need] for need in needs]
    return [sorted(need, key=lambda found: (-found[1], found[0])) for need in added]


OURS = "shares, needs with the task (skillmux)"

WAYS = {
    "the task alone": lambda task, needs: [skill for skill, _ in task],
    "round robin over the needs": lambda task, needs: round_robin(needs),
    "round robin, the task first": lambda task, needs: round_robin([task, *needs]),
    "reciprocal ranks, k = 60": lambda task, needs: by_sum([task, *needs], reciprocal(60)),
    "reciprocal ranks, k = 10": lambda task, needs: by_sum([task, *needs], reciprocal(10)),
    "shares": lambda task, needs: by_sum([task, *needs], shares),
    OURS: lambda task, needs: by_sum([task, *with_task(task, needs)], shares),
}


def interval(values, n_resamples=5000):
    rng = random.Random(42)
    means = sorted(sum(rng.choices(values, k=len(values))) / len(values) for _ in range(n_resamples))
    return sum(values) / len(values), means[int(0.025 * n_resamples)], means[int(0.975 * n_resamples)]


def id_of(task):
    return task.get("task_id") or task["query_id"]


def right(task):
    return set(task.get("skill_ids") or task["skills"])


def of_several(path, needs_of):
    return [task for task in lines(path) if len(right(task)) > 1 and needs_of.get(id_of(task))]


def candidates(task, needs):
    """Returns the candidates of a task and of its needs, by id, and a row of features for each."""
    lists = [task, *needs]
    share = [dict(zip([skill for skill, _ in ranking], shares(ranking))) for ranking in lists]
    score, place = [dict(ranking) for ranking in lists], [{skill: at for at, (skill, _) in enumerate(ranking)} for ranking in lists]
    skills, rows = sorted(set().union(*share)), []
    for skill in skills:
        of_needs = [of.get(skill, 0.0) for of in share[1:]]
        below = [max(-8.0, of.get(skill, -math.inf) - ranking[0][1]) for of, ranking in zip(score, lists)]
        best = min(of.get(skill, DEPTH) for of in place[1:])
        rows.append([
            share[0].get(skill, 0.0), below[0] / 4, sum(of_needs), max(of_needs), max(below[1:]) / 4, sum(below[1:]) / len(needs) / 4,
            max(of.get(skill, -30.0) for of in score[1:]) / 5, sum(of.get(skill) == 0 for of in place[1:]), math.log1p(best), 1 / (1 + best),
            1 / (1 + place[0].get(skill, DEPTH)), sum(part > 0.1 for part in of_needs), max(of_needs) / len(needs), score[0].get(skill, -6.0) / 5,
        ])
    return skills, rows


def learned(lists, tasks):
    """Returns a way to merge that is fitted to tasks: the softmax of a weighted sum of features, by Adam."""
    import numpy

    examples = []
    for task in tasks:
        skills, rows = candidates(*lists[id_of(task)])
        is_right = numpy.array([skill in right(task) for skill in skills], float)
        if is_right.any():
            examples.append((numpy.array(rows), is_right / is_right.sum()))
    every = numpy.concatenate([rows for rows, _ in examples])
    mean, deviation = every.mean(0), every.std(0) + 1e-9
    weights, first, second = (numpy.zeros(every.shape[1]) for _ in range(3))
    for step in range(1, 601):
        gradient = 1e-3 * weights
        for rows, target in examples:
            scaled = (rows - mean) / deviation
            logits = scaled @ weights
            chances = numpy.exp(logits - logits.max())
            gradient += scaled.T @ (chances / chances.sum() - target) / len(examples)
        first, second = 0.9 * first + 0.1 * gradient, 0.99 * second + 0.01 * gradient**2
        weights -= 0.05 * first / (1 - 0.9**step) / (numpy.sqrt(second / (1 - 0.99**step)) + 1e-8)

    def merge(task, needs):
        skills, rows = candidates(task, needs)
        order = numpy.argsort(-((numpy.array(rows) - mean) / deviation @ weights), kind="stable")
        return [skills[at] for at in order]

    return merge


def main(skillmux, index, tasks_path, needs_path, train_path=None):
    needs_of = {line["query_id"]: line["needs"] for line in lines(needs_path)}
    tasks = of_several(tasks_path, needs_of)
    measured = {id_of(task) for task in tasks}
    train = [task for task in of_several(train_path, needs_of) if id_of(task) not in measured] if train_path else []
    texts = {}
    for task in tasks + train:
        texts[f"{id_of(task)}|task"] = task["query"]
        texts.update({f"{id_of(task)}|{n}": need for n, need in enumerate(needs_of[id_of(task)])})
    rankings = searched(skillmux, index, texts)
    lists = {}
    for task in tasks + train:
        of_needs = [rankings[f"{id_of(task)}|{n}"] for n in range(len(needs_of[id_of(task)]))]
        lists[id_of(task)] = (rankings[f"{id_of(task)}|task"], [ranking for ranking in of_needs if ranking])
    ways = WAYS | ({f"learned from {len(train)} other tasks": learned(lists, train)} if train else {})
    scores = {way: ([], []) for way in ways}
    for task in tasks:
        for way, merge in ways.items():
            merged = merge(*lists[id_of(task)])
            scores[way][0].append(float(merged[0] in right(task)))
            scores[way][1].append(len(right(task).intersection(merged[:10])) / len(right(task)))
    print(f"{len(tasks)} tasks\n")
    print("| merged by | Hit@1 | Recall@10 | ours less this: Hit@1 | Recall@10 |\n|---|---:|---:|---|---|")
    for way, measured in scores.items():
        cells = [f"{sum(values) / len(values):.3f}" for values in measured]
        for ours, values in zip(scores[OURS], measured):
            mean, low, high = interval([a - b for a, b in zip(ours, values)])
            cells.append("" if way == OURS else f"{mean:+.3f} [{low:+.3f}, {high:+.3f}]")
        print(f"| {way} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main(*sys.argv[1:])
