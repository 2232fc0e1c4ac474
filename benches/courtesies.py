#!/usr/bin/env python3
"""Scores user tasks with another last mark, and with greetings, thanks and the like around them: the table of docs/plan.md, "Courtesies".

usage: courtesies.py SKILLMUX INDEX [--tasks FILE] [--frames FILE]

INDEX is a folder of `skillmux index fixtures/user-library.jsonl`. Each English or Chinese task gets four of the frames of its language, one after
the other. The columns are those of benches/user_tasks.py, and the share of the tasks for which the same skills load as for the task alone.
"""

import argparse
import json
from pathlib import Path

from user_tasks import TASKS, routes, scored

FRAMES = Path(__file__).resolve().parent.parent / "datasets/courtesies.jsonl"
N_FRAMES = 4
# What ends a task in English and in Chinese.
MARKS = {"without a last mark": ("", ""), "with a full stop": (".", "\u3002")}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("skillmux")
    parser.add_argument("index", type=Path)
    parser.add_argument("--tasks", type=Path, default=TASKS)
    parser.add_argument("--frames", type=Path, default=FRAMES)
    args = parser.parse_args()
    tasks, frames = ([json.loads(line) for line in path.open(encoding="utf-8")] for path in (args.tasks, args.frames))
    tasks = [task for task in tasks if task["lang"] in ("en", "zh", "mixed")]
    print("| tasks | decision | first | all | set F1 | skills | same skills |\n|---|---:|---:|---:|---:|---:|---:|")
    alone = routes(args, tasks, ("query_id", "query"))
    tell("alone", [(task, alone[task["query_id"]], alone[task["query_id"]]) for task in tasks])
    for name, mark in MARKS.items():
        texts = [{**task, "query": marked(task["query"], mark)} for task in tasks]
        found = routes(args, texts, ("query_id", "query"))
        tell(name, [(task, found[task["query_id"]], alone[task["query_id"]]) for task in tasks])
    framed = []
    for turn in range(N_FRAMES):
        texts = [{**task, "query": within(frames, task, number + turn)} for number, task in enumerate(tasks)]
        found = routes(args, texts, ("query_id", "query"))
        framed += [(task, found[task["query_id"]], alone[task["query_id"]]) for task in tasks]
    tell("with courtesies", framed)


def marked(text, marks):
    """Returns a text that ends with a mark of its language, and with no other."""
    is_chinese = any("\u4e00" <= c <= "\u9fff" for c in text)
    return text.rstrip(".!?\u3002\uff01\uff1f ") + marks[is_chinese]


def within(frames, task, number):
    """Returns the text of a task within one of the frames of its language."""
    text = task["query"]
    lang = "zh" if task["lang"] == "zh" else "en"
    frames = [frame for frame in frames if frame["lang"] == lang]
    frame = frames[number % len(frames)]
    if frame["lower"] and not text[:2].isupper():
        text = text[0].lower() + text[1:]
    return frame["before"] + text + frame["after"]


def tell(name, rows):
    names = [[{skill["id"] for step in route["steps"] for skill in step["skills"]} for route in pair] for _, *pair in rows]
    columns = [*zip(*(scored(task, route) for task, route, _ in rows)), [found == alone for found, alone in names]]
    print(f"| {name} | {' | '.join(f'{sum(column) / len(rows):.2f}' for column in columns)} |", flush=True)


if __name__ == "__main__":
    main()
