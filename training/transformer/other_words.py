#!/usr/bin/env python3
"""Writes what the second and third part of the training are done on: tasks that avoid the skills' words, and a share of the part before.

usage: other_words.py DATA OUT SKILLMUX INDEX PART

PART is 2 or 3. Reads `datasets/other-words-train.jsonl`, of which part 2 has the first 4,588 tasks and part 3 the others, and what the part before was done
on; writes OUT/groups-PART.jsonl. A group is a skill, its two tasks, and a hard negative: a skill that
BM25 finds for the name and the description of the right one, and that prepare.py would take as well.
"""

import random
import sys
from pathlib import Path

import data
import prepare

# Tasks of part 2.
N_SECOND = 4588
# Groups of the part before for each new one, so that what it taught is kept.
SHARE_OF_BEFORE = {2: 0.9, 3: 0.7}


def main():
    folder, out, skillmux, index, part = sys.argv[1:]
    part = int(part)
    folder, out = Path(folder), Path(out)
    draw = random.Random(part)
    skills, _ = prepare.read_skills(folder)
    sets = prepare.Sets(folder, skills)
    installed = list(data.read_lines(prepare.REPOSITORY / "datasets/installed-tasks.jsonl"))
    libraries = {task["library"] + "/" for task in installed}
    of_library = [id for id in skills if any(id.startswith(library) for library in libraries)]
    sets.closed_keys |= {sets.keys[id] for id in of_library}
    sets.closed_texts |= {sets.wording(id) for id in of_library}
    queries = {}
    tasks = list(data.read_lines(prepare.REPOSITORY / "datasets/other-words-train.jsonl"))
    for task in tasks[:N_SECOND] if part == 2 else tasks[N_SECOND:]:
        queries.setdefault(task["skill_ids"][0], []).append(task["query"])
    queries = {id: texts for id, texts in queries.items() if sets.is_open(id)}
    groups = [{"skill": id, "queries": texts, "kind": "other"} for id, texts in queries.items()]
    print(len(groups), "groups of", sum(len(group["queries"]) for group in groups), "tasks")
    for group in groups:
        for at, query in enumerate(group["queries"]):
            if draw.random() < prepare.MISSPELLED_SHARE:
                group["queries"][at] = data.misspelled(query, draw)
    headlines = [data.headline(skills[id]["name"], skills[id]["description"]) for id in queries]
    rankings = prepare.search(skillmux, index, headlines, prepare.DEPTH, "joined", out / f"mining-{part}")
    prepare.add_negatives(groups, sets, dict(zip(queries, rankings)), draw)
    before = {2: "groups.jsonl", 3: "groups-2.jsonl"}[part]
    first = [group for group in data.read_lines(out / before) if sets.is_open(group["skill"])]
    draw.shuffle(first)
    groups += first[: int(SHARE_OF_BEFORE[part] * len(groups))]
    draw.shuffle(groups)
    data.write_lines(out / f"groups-{part}.jsonl", groups)


if __name__ == "__main__":
    main()
