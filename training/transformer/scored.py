"""The sets by which weights are compared: tasks that nothing was trained on, each among some skills.

Each task of `libraries` (`datasets/library-fit.jsonl`) is asked in its own library of 66 skills; the first skill of `skill_ids` or one of `also` is right. The
tasks of the other sets are asked among all right skills of their set and 300 others. The tasks of `pool` are those of `select`, with 5,000 others.
"""

import random
from collections import defaultdict

import data
from prepare import DATASETS

SEED = 5
N_TASKS, N_OTHERS, N_OF_POOL = 500, 300, 5_000


def sets_of(out, skills, lexicon):
    """Returns the sets by name: groups of tasks (query, right skills), each with the skills among which they are asked."""
    draw = random.Random(SEED)
    across = list(data.read_lines(DATASETS / "cross-language-fit.jsonl"))
    rows = {
        "other words": data.read_lines(DATASETS / "other-words-fit.jsonl"),
        "Chinese to English": [row for row in across if row["lang"] == "zh"],
        "English to Chinese": [row for row in across if row["lang"] == "en"],
        "select": data.read_lines(out / "select.jsonl"),
        "long": data.read_lines(out / "long.jsonl"),
    }
    sets = {}
    for name, tasks in rows.items():
        tasks = [(lexicon.says(task["query"]), set(task.get("skill_ids") or task["gold"])) for task in tasks]
        tasks = draw.sample(tasks, min(N_TASKS, len(tasks))) if name in ("select", "long") else tasks
        right = set().union(*(gold for _, gold in tasks))
        others = [id for id in sorted(set(skills) - right) if name != "English to Chinese" or data.is_chinese(skills[id]["description"])]
        sets[name] = [(tasks, sorted(right) + draw.sample(others, N_OTHERS))]
    libraries, of_library = {row["library"]: row["skill_ids"] for row in data.read_lines(DATASETS / "fit-libraries.jsonl")}, defaultdict(list)
    for row in data.read_lines(DATASETS / "library-fit.jsonl"):
        of_library[row["library"]].append((lexicon.says(row["query"]), {*row["skill_ids"], *row.get("also", [])}))
    sets["libraries"] = [(tasks, libraries[name]) for name, tasks in of_library.items()]
    [(tasks, ids)] = sets["select"]
    sets["pool"] = [(tasks, sorted({*ids, *draw.sample(sorted(skills), N_OF_POOL)}))]
    return sets


def requests_of(lexicon):
    """Returns for each library its skills, and its tasks of one part and the requests that it does not serve, each with its kind."""
    libraries = {row["library"]: row["skill_ids"] for row in data.read_lines(DATASETS / "fit-libraries.jsonl")}
    asked = [(row["library"], row["query"], "task") for row in data.read_lines(DATASETS / "library-fit.jsonl") if len(row["skills"]) == 1]
    asked += [(row["library"], row["query"], row["kind"]) for row in data.read_lines(DATASETS / "near-none.jsonl") if "library" in row]
    return [([(lexicon.says(query), kind) for of, query, kind in asked if of == library], ids) for library, ids in libraries.items()]
