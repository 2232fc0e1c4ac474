#!/usr/bin/env python3
"""Scores encoders alone and added to the shipped ranker.

usage: evaluate.py OUT SKILLMUX INDEX NAME=WEIGHTS... [--SETTING...]

WEIGHTS is a safetensors file of this pipeline or `base`. Three settings:

sample    cosine alone, among 4,000 skills: the right ones of all sets and others by chance
rerank    the 20 best of the shipped ranker over the whole INDEX, ordered anew by its score plus w times the cosine
library   20 libraries of 130 skills: 30 right ones of a set and 100 of the 4,000 by chance; the ranker indexes each by itself

w is chosen on the set `select` in the same setting, among WEIGHTS_TRIED, by Hit@1 plus Recall@5. Intervals: 95 %, 10,000 bootstrap resamples of
tasks (of libraries in the last setting). Writes OUT/scores.md and, for each encoder, its vectors as fp16, which are read again.
"""

import hashlib
import json
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import torch

import data
import model
from prepare import search

N_SKILLS = 4_000
DEPTH = 20
N_LIBRARIES, N_RIGHT, N_OTHERS = 20, 30, 100
QUERIES_A_SKILL = 2
WEIGHTS_TRIED = [0, 1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 30, 50]
SETS = ["select", "queries-dev", "dev", "long", "zh-en", "en-zh"]
RERANKED = {"select": 150, "queries-dev": 250, "dev": 100, "long": 100}
ALONE = "cosine"


class Vectors:
    """Vectors of texts by one encoder, kept in OUT."""

    def __init__(self, out, name, weights):
        self.path = out / f"vectors-{name}.npz"
        digest = hashlib.sha256(Path(weights).read_bytes()).hexdigest() if weights != "base" else "base"
        self.digest = digest
        self.encoder, self.tokenizer = model.Encoder.load(weights).eval(), model.base_tokenizer()
        self.vectors = {}
        if self.path.exists():
            saved = np.load(self.path, allow_pickle=False)
            if str(saved["digest"]) == digest:
                self.vectors = dict(zip(saved["keys"].tolist(), saved["vectors"]))

    @staticmethod
    def key(text, n_tokens):
        return hashlib.sha256(f"{n_tokens} {text}".encode()).hexdigest()[:24]

    def of(self, texts, n_tokens):
        keys = [self.key(text, n_tokens) for text in texts]
        new = {key: text for key, text in zip(keys, texts) if key not in self.vectors}
        items = list(new.items())
        for start in range(0, len(items), 4096):
            some = items[start : start + 4096]
            vectors = model.encode(self.encoder, self.tokenizer, [text for _, text in some], n_tokens)
            self.vectors.update(zip((key for key, _ in some), vectors.astype(np.float16)))
            np.savez(self.path, digest=self.digest, keys=np.array(list(self.vectors)), vectors=np.stack(list(self.vectors.values())))
            print(f"{self.path.name}: {len(self.vectors):,} texts", file=sys.stderr)
        return np.stack([self.vectors[key] for key in keys]).astype(np.float32)


def measures(rankings, golds):
    """Returns Hit@1, Recall@5, Recall@10 and MRR@10 of each task."""
    rows = []
    for ranking, gold in zip(rankings, golds):
        hits = [id in gold for id in ranking[:10]]
        first = hits.index(True) if any(hits) else None
        rows.append([float(hits[:1] == [True]), sum(hits[:5]) / len(gold), sum(hits) / len(gold), 0 if first is None else 1 / (1 + first)])
    return np.array(rows)


MEASURES = ["Hit@1", "R@5", "R@10", "MRR@10"]


def interval(values, units=None):
    """Returns mean and 95 % interval; `units` names what is drawn, each task by itself if absent."""
    units = np.arange(len(values)) if units is None else np.asarray(units)
    names = np.unique(units)
    sums = np.array([values[units == name].sum(0) for name in names])
    sizes = np.array([(units == name).sum() for name in names])
    draws = np.random.default_rng(1).integers(0, len(names), (10_000, len(names)))
    means = sums[draws].sum(1) / sizes[draws].sum(1)
    return values.mean(), *np.quantile(means, [0.025, 0.975])


def cell(values, units=None, sign=""):
    mean, low, high = interval(values, units)
    return f"{mean:{sign}.3f} [{low:{sign}.3f}, {high:{sign}.3f}]"


def table(rows, first=None, units=None):
    """Prints rows of scores; with `first`, also the difference from that row in Hit@1 and R@10."""
    lines = ["| system | " + " | ".join(MEASURES) + (f" | Hit@1 minus {first} | R@10 minus {first} |" if first else " |")]
    lines.append("|---" * (1 + len(MEASURES) + (2 if first else 0)) + "|")
    for name, values in rows.items():
        cells = [cell(values[:, at], units) for at in range(len(MEASURES))]
        if first:
            cells += [cell(values[:, at] - rows[first][:, at], units, "+") if name != first else "" for at in (0, 2)]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


class Evaluation:
    def __init__(self, out, skillmux, index, encoders):
        self.out, self.skillmux, self.index = out, skillmux, index
        self.skills = {skill["id"]: skill for skill in data.read_lines(out / "skills.jsonl")}
        self.same = {id: skill["same"] for id, skill in self.skills.items()}
        self.sets = {name: list(data.read_lines(out / f"{name}.jsonl")) for name in SETS}
        for tasks in self.sets.values():
            for task in tasks:
                task["gold"] = {self.same[id] for id in task["gold"]}
                task["ignored"] = {self.same[id] for id in task.get("ignored", [])}
        right = sorted({id for tasks in self.sets.values() for task in tasks for id in task["gold"] | task["ignored"]})
        others = sorted(set(self.same.values()) - set(right))
        self.sampled = right + random.Random(1).sample(others, N_SKILLS - len(right))
        self.vectors = {name: Vectors(out, name, weights) for name, weights in encoders.items()}
        self.page = []

    def say(self, text):
        print(text, flush=True)
        self.page.append(text)
        (self.out / "scores.md").write_text("\n".join(self.page))

    def documents(self, name, ids):
        return self.vectors[name].of([self.skills[id]["text"] for id in ids], model.DOCUMENT_TOKENS)

    def queries(self, name, tasks):
        return self.vectors[name].of([task["query"] for task in tasks], model.QUERY_TOKENS)

    def ranked(self, tasks, index, depth, folder):
        """The shipped ranker's ranking of each task; kept in OUT."""
        path = self.out / folder
        kept = path / "rankings.json"
        if kept.exists():
            return json.loads(kept.read_text())
        found = search(self.skillmux, index, [task["query"] for task in tasks], depth, "ranked", path)
        found = [[(self.same.get(id, id), score) for id, score in ranking] for ranking in found]
        kept.write_text(json.dumps(found))
        return found

    def sample(self):
        ids = self.sampled
        self.say(f"## Cosine alone among {len(ids):,} skills\n")
        typing = random.Random(2)
        wrong = [{**task, "query": data.misspelled(task["query"], typing)} for task in self.sets["queries-dev"]]
        for name, tasks in [*self.sets.items(), ("queries-dev, misspelled", wrong)]:
            golds, rows = [task["gold"] for task in tasks], {}
            for encoder in self.vectors:
                scores = self.queries(encoder, tasks) @ self.documents(encoder, ids).T
                rankings = []
                for task, row in zip(tasks, scores):
                    best = [ids[at] for at in np.argsort(-row, kind="stable")[:12]]
                    rankings.append([id for id in best if id not in task["ignored"]])
                rows[encoder] = measures(rankings, golds)
            self.say(f"### {name}: {len(tasks)} tasks\n\n{table(rows)}")

    def fused(self, encoder, tasks, rankings, weight):
        ids = sorted({id for ranking in rankings for id, _ in ranking})
        place = {id: at for at, id in enumerate(ids)}
        documents, queries = self.documents(encoder, ids), self.queries(encoder, tasks)
        fused = []
        for query, ranking in zip(queries, rankings):
            cosines = documents[[place[id] for id, _ in ranking]] @ query if ranking else []
            own = 0.0 if weight == ALONE else 1.0
            factor = 1.0 if weight == ALONE else weight
            scores = [own * score + factor * cosine for (_, score), cosine in zip(ranking, cosines)]
            fused.append([ranking[at][0] for at in np.argsort(-np.array(scores), kind="stable")])
        return fused

    def best_weight(self, encoder, tasks, rankings):
        golds = [task["gold"] for task in tasks]
        tried = {}
        for weight in WEIGHTS_TRIED:
            values = measures(self.fused(encoder, tasks, rankings, weight), golds)
            tried[weight] = values[:, 0].mean() + values[:, 1].mean()
        return max(tried, key=tried.get)

    def compare(self, encoder_weights, tasks, rankings, units=None):
        golds = [task["gold"] for task in tasks]
        rows = {"ranker": measures([[id for id, _ in ranking] for ranking in rankings], golds)}
        for encoder, weight in encoder_weights.items():
            rows[f"{encoder} alone"] = measures(self.fused(encoder, tasks, rankings, ALONE), golds)
            rows[f"ranker + {weight} {encoder}"] = measures(self.fused(encoder, tasks, rankings, weight), golds)
        return table(rows, "ranker", units)

    def rerank(self):
        self.say(f"## The {DEPTH} best of the shipped ranker over the whole pool, ordered anew\n")
        weights = {}
        for name, n in RERANKED.items():
            tasks = self.sets[name][:n]
            rankings = self.ranked(tasks, self.index, DEPTH, f"rerank-{name}-{n}")
            if name == "select":
                weights = {encoder: self.best_weight(encoder, tasks, rankings) for encoder in self.vectors}
            self.say(f"### {name}: {len(tasks)} tasks\n\n{self.compare(weights, tasks, rankings)}")

    def libraries(self, name):
        """Returns tasks with the library that each is asked of, and the rankings of the shipped ranker."""
        draw = random.Random(3)
        of_skill = {}
        for task in self.sets[name]:
            if len(task["gold"]) == 1 and not task["ignored"]:
                of_skill.setdefault(next(iter(task["gold"])), []).append(task)
        pool = sorted(set(self.sampled) - set(of_skill))
        tasks, units, rankings = [], [], []
        bodies = None
        for library in range(N_LIBRARIES):
            right = draw.sample(sorted(of_skill), min(N_RIGHT, len(of_skill)))
            ids = right + draw.sample(pool, N_RIGHT + N_OTHERS - len(right))
            asked = [task for id in right for task in of_skill[id][:QUERIES_A_SKILL]]
            folder = self.out / f"library-{name}-{library}"
            if not (folder / "rankings.json").exists():
                bodies = bodies or whole_skills(self.out)
                folder.mkdir(exist_ok=True)
                data.write_lines(folder / "skills.jsonl", (bodies[id] for id in ids))
                run_index(self.skillmux, folder / "skills.jsonl", folder / "index")
            found = self.ranked(asked, folder / "index", N_RIGHT + N_OTHERS, folder.name)
            # What the ranker does not return at all stands last, below its worst.
            for ranking in found:
                worst = min((score for _, score in ranking), default=0.0) - 1.0
                known = {id for id, _ in ranking}
                rankings.append([tuple(pair) for pair in ranking] + [(id, worst) for id in ids if id not in known])
            tasks += asked
            units += [library] * len(asked)
        return tasks, units, rankings

    def library(self):
        self.say(f"## {N_LIBRARIES} libraries of {N_RIGHT + N_OTHERS} skills\n")
        weights = {}
        for name in ("select", "queries-dev", "dev", "long"):
            tasks, units, rankings = self.libraries(name)
            if name == "select":
                weights = {encoder: self.best_weight(encoder, tasks, rankings) for encoder in self.vectors}
            self.say(f"### {name}: {len(tasks)} tasks\n\n{self.compare(weights, tasks, rankings, units)}")


def whole_skills(out):
    """The skills with their bodies, from where prepare.py read them."""
    folder = Path((out / "data-folder").read_text())
    rows = {}
    for path in [*sorted(folder.glob("pool/*.zst")), folder / "dev/skills.jsonl"]:
        for row in data.read_lines(path):
            rows[row["skill_id"]] = row
    return rows


def run_index(skillmux, library, index):
    subprocess.run([skillmux, "index", library, "--index", index], check=True, capture_output=True)


def main():
    out, skillmux, index, *encoders = sys.argv[1:]
    torch.set_num_threads(2)
    only = [name[2:] for name in encoders if name.startswith("--")]
    encoders = dict(name.split("=", 1) for name in encoders if not name.startswith("--"))
    evaluation = Evaluation(Path(out), skillmux, index, encoders)
    for setting in only or ["library", "sample", "rerank"]:
        getattr(evaluation, setting)()


if __name__ == "__main__":
    main()
