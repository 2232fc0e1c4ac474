#!/usr/bin/env python3
"""How much of a skill the embedded transformer should read: name and description, 128 or 256 tokens, or each section for itself.

usage: sections.py DATA ENCODER

DATA is the folder that benches/README.md describes. ENCODER is the example `embedded_vectors`. It prints Hit@1, Recall@5 and Recall@10 of
the cosine alone, on the tasks of `datasets/other-words-fit.jsonl` among their right skills and 300 others, and on the English tasks of
`datasets/installed-tasks.jsonl`. A skill of `also` is right at the first place.
"""

import json
import random
import re
import subprocess
import sys
from pathlib import Path

import numpy as np

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY / "training/transformer"))

from data import document, headline, read_lines  # noqa: E402

N_OTHERS = 300
N_SECTIONS = 8
SHORT = 500
"""Characters below which two neighbours are one section."""
CUT = 1500


def main():
    data, encoder = Path(sys.argv[1]), sys.argv[2]
    sets = read_sets(data)
    totals = {}
    for tag, skills, tasks in sets:
        ids = [skill["skill_id"] for skill in skills]
        queries = encode(encoder, [task["query"] for task in tasks], is_long=True)
        for system, cosines in systems(encoder, skills, queries).items():
            for task, row in zip(tasks, cosines):
                found = [ids[at] for at in np.argsort(-row, kind="stable")[:10]]
                totals.setdefault((system, tag), []).append(scores(task, found))
    for (system, tag), rows in totals.items():
        hit, five, ten = np.mean(rows, axis=0)
        print(f"{tag:12} {len(rows):4} tasks  {system:24} {hit:.3f} {five:.3f} {ten:.3f}")


def read_sets(data):
    """Returns the tasks of each library: its tag, its skills, its tasks."""
    fit = list(read_lines(REPOSITORY / "datasets/other-words-fit.jsonl"))
    installed = [t for t in read_lines(REPOSITORY / "datasets/installed-tasks.jsonl") if t["kind"] != "chinese"]
    right = {skill for task in fit for skill in task["skill_ids"]}
    libraries = {task["library"]: [] for task in installed}
    of_fit, others = [], []
    for path in sorted(data.glob("pool/*.zst")):
        for skill in read_lines(path):
            library = "/".join(skill["skill_id"].split("/")[:2])
            if library in libraries:
                libraries[library].append(skill)
            (of_fit if skill["skill_id"] in right else others).append(skill)
    of_fit += random.Random(1).sample(others, N_OTHERS)
    sets = [("other words", of_fit, fit)]
    for library, skills in libraries.items():
        sets.append(("installed", skills, [task for task in installed if task["library"] == library]))
    return sets


def systems(encoder, skills, queries):
    """Returns the value of each skill for each query, by system."""
    heads = [headline(skill["name"], skill["description"]) for skill in skills]
    texts = [document(skill["name"], skill["description"], skill["body"]) for skill in skills]
    bodies = [f"{head}\n{' '.join(skill['body'][:4000].split())}" for head, skill in zip(heads, skills)]
    parts, owners = [], []
    for at, skill in enumerate(skills):
        name = re.sub(r"[-_]+", " ", skill["name"]).strip()
        for section in sections(skill["body"]) or [skill["description"]]:
            parts.append(f"{name}: {section[:CUT]}")
            owners.append(at)
    of_text = queries @ encode(encoder, texts).T
    of_parts = queries @ encode(encoder, parts).T
    best, mean_of_two = np.empty_like(of_text), np.empty_like(of_text)
    for at in range(len(skills)):
        mine = np.sort(of_parts[:, np.array(owners) == at], axis=1)
        best[:, at], mean_of_two[:, at] = mine[:, -1], mine[:, -2:].mean(axis=1)
    return {
        "name and description": queries @ encode(encoder, heads).T,
        "128 tokens": of_text,
        "256 tokens": queries @ encode(encoder, bodies, is_long=True).T,
        "best section": best,
        "mean of two sections": mean_of_two,
        "128 tokens + 0.5 best": of_text + 0.5 * best,
    }


def sections(body):
    """Returns at most eight stretches of a body, each from a heading on."""
    found, is_code = [""], False
    for line in body.split("\n"):
        is_code ^= line.strip().startswith("```")
        is_heading = not is_code and re.match(r"#{1,4} ", line)
        if is_heading and len(found[-1]) >= SHORT:
            found.append("")
        found[-1] += " " + (line.lstrip("# ") + ":" if is_heading else line)
    found = [" ".join(text.split()) for text in found if text.strip()]
    while len(found) > N_SECTIONS:
        at = min(range(len(found) - 1), key=lambda n: len(found[n]) + len(found[n + 1]))
        found[at : at + 2] = [f"{found[at]} {found[at + 1]}"]
    return found


def encode(encoder, texts, is_long=False):
    lines = "".join(json.dumps(text) + "\n" for text in texts)
    out = subprocess.run([encoder, *(["long"] if is_long else [])], input=lines, capture_output=True, text=True, check=True).stdout
    return np.array([json.loads(line) for line in out.splitlines()], dtype=np.float32)


def scores(task, found):
    right = set(task["skill_ids"])
    is_first = found[0] in right | set(task.get("also", []))
    return is_first, len(right & set(found[:5])) / len(right), len(right & set(found)) / len(right)


if __name__ == "__main__":
    main()
