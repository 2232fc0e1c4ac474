#!/usr/bin/env python3
"""Scores ways to add what the cross-encoder says to the scores of a ranking.

usage: cross_scores.py WEIGHTS SKILLMUX INSTALLED SETS WORK

WEIGHTS is what cross_train.py wrote; INSTALLED holds what benches/installed.py wrote, with an index NAME.ix of each library beside NAME.skills.jsonl; SETS
what benches/baseline/set_libraries.py wrote, with an index library-fit-N.ix of each of these libraries. Rankings of `--retriever bi-encoder` go to WORK.
Prints a line for each choice: the share of the answer that counts, the most skills that are asked, within so many log-odds of the best; Hit@1; AUC of the best
score, tasks against requests that need no skill; and how many skills are asked.
"""

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import torch

import cross_train
import data
import model
import prepare
from fourth_part import LEXICON, Lexicon

DATASETS, FIXTURES = prepare.REPOSITORY / "datasets", prepare.REPOSITORY / "fixtures"
LIBRARIES = ("panlm", "faahim", "AhmedMGabl")
N_CANDIDATES = 5
# A skill that a task names is first by this much.
NAMED = 50
# One request of no-skill.jsonl in so many, for each installed library.
NONE_ONE_IN = 3
CHOICES = [(weight, n, margin) for weight in (0.5, 0.75, 1.0) for n, margin in ((5, 99), (5, 2), (4, 2), (1, 0))]


def ranking(skillmux, tasks, index, work):
    """Returns the candidates of each task: pairs of id and score."""
    path = work / "tasks.jsonl"
    data.write_lines(path, ({"query_id": task["query_id"], "query": task["query"]} for task in tasks))
    command = [skillmux, "search", "--queries", path, "--index", index, "-k", "20", "--retriever", "bi-encoder"]
    found = defaultdict(list)
    for line in subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines():
        query_id, _, id, _, score, _ = line.split()
        found[query_id].append((unquote(id), float(score)))
    return [found[task["query_id"]][:N_CANDIDATES] for task in tasks]


def texts_of(path):
    return {unquote(s["skill_id"]): data.document(s["name"], s["description"], s["body"]) for s in data.read_lines(path)}


def read(skillmux, installed, sets, work):
    """Yields sets of tasks with their candidates, and the texts of the skills."""
    asked = list(data.read_lines(DATASETS / "installed-tasks.jsonl"))
    none = list(data.read_lines(FIXTURES / "no-skill.jsonl"))[::NONE_ONE_IN]
    for name in LIBRARIES:
        texts, index = texts_of(installed / f"{name}.skills.jsonl"), installed / f"{name}.ix"
        tasks = [task for task in asked if any(unquote(id) in texts for id in task["skill_ids"])]
        yield "installed", tasks, ranking(skillmux, tasks, index, work), texts
        yield "installed, none", none, ranking(skillmux, none, index, work), texts
    for library in data.read_lines(DATASETS / "fit-libraries.jsonl"):
        number = library["library"].removeprefix("fit-")
        texts, index = texts_of(sets / f"library-fit-{number}.jsonl"), sets / f"library-fit-{number}.ix"
        for name, file in (("fit", "library-fit"), ("fit, none", "library-none")):
            tasks = [task for task in data.read_lines(DATASETS / f"{file}.jsonl") if task["library"] == library["library"]]
            yield name, tasks, ranking(skillmux, tasks, index, work), texts


def area(right, wrong):
    """Returns the share of pairs in which the right one has more; half of those that have the same."""
    right, wrong = np.array(right)[:, None], np.array(wrong)[None]
    return ((right > wrong) + (right == wrong) / 2).mean()


def main():
    weights, skillmux, installed, sets, work = sys.argv[1], sys.argv[2], *map(Path, sys.argv[3:])
    torch.set_num_threads(2)
    work.mkdir(parents=True, exist_ok=True)
    lexicon = Lexicon(LEXICON)
    cross, tokenizer = cross_train.load(weights)
    tokens = lambda text, n: model.tokens_of(tokenizer, [lexicon.says(text)], n)[0]
    judged = []
    for name, tasks, found, texts in read(skillmux, installed, sets, work):
        for task, candidates in zip(tasks, found):
            if not candidates:
                continue
            query = tokens(task["query"], cross_train.QUERY_TOKENS)
            rows = [cross_train.row_of(query, tokens(texts[id], cross_train.SKILL_TOKENS)) for id, _ in candidates]
            with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16):
                answers = cross_train.scores(cross, rows, n_parts=1).float().numpy()
            right = {unquote(id) for id in [*task.get("skill_ids", ()), *task.get("also", ())]}
            judged.append((name, right, candidates, answers))
    print("| counts | asked, within | Hit@1: `library-fit`, installed | AUC: `library-fit`, `library-none`; installed, `no-skill`; installed, `library-none` | asked |\n|---|---|---|---|---|")
    for weight, n_most, margin in [(0.0, 1, 0), *CHOICES]:
        hits, best, n_asked = defaultdict(list), defaultdict(list), []
        for name, right, candidates, answers in judged:
            first = candidates[0][1]
            is_named = len(candidates) > 1 and first - candidates[1][1] > NAMED
            asked = [at for at, (_, score) in enumerate(candidates[: 1 if is_named else n_most]) if score >= first - margin]
            summed = [candidates[at][1] + weight * answers[at] for at in asked]
            n_asked.append(len(asked))
            best[name].append(max(summed))
            if right:
                hits[name].append(candidates[asked[int(np.argmax(summed))]][0] in right)
        areas = (area(best[a], best[b]) for a, b in (("fit", "fit, none"), ("installed", "installed, none"), ("installed", "fit, none")))
        row = f"| {weight} | {n_most}, {margin} | {np.mean(hits['fit']):.3f}, {np.mean(hits['installed']):.3f} | {', '.join(f'{a:.3f}' for a in areas)} "
        print(row + f"| {np.mean(n_asked) if weight else 0:.1f} |", flush=True)


if __name__ == "__main__":
    main()
