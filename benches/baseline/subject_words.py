"""Counts which words name a subject, as `kubernetes` does and `make` does not.

    python subject_words.py DATA [OUT]

DATA is the folder that benches/README.md describes; its public skills are counted, but for those of the libraries that
`datasets/installed-tasks.jsonl` is about. OUT is `crates/skillmux-lexicons/assets/subjects.tsv` unless told. A line is a word, a tab and
its weight in hundredths: the share of the skills with the word that have it in name or description, with 5 skills more that have it in
neither, less 0.1. A plural has no more than its singular. Left out are words of no weight, words of fewer than 3 skills, and words
for every day, which are the whole words in the vocabularies of the transformer and of its base. The same skills give the same file.
"""

import re
import sys
from collections import Counter
from pathlib import Path

from jsonl import expand, read_jsonl

CRATES = Path(__file__).parents[2] / "crates"
DATASETS = Path(__file__).parents[2] / "datasets"
VOCABULARIES = [CRATES / "skillmux-transformer-embeddings/assets/vocabulary.txt", CRATES / "skillmux-models/assets/words.txt"]

WORD = re.compile(r"[a-z][a-z0-9]+")
MIN_SKILLS = 3
N_SPARE = 5
MIN_SHARE = 0.1
MAX_LETTERS = 30


def words(text):
    """Returns the distinct words of a text."""
    return {word for word in WORD.findall(text.lower()) if len(word) <= MAX_LETTERS}


def main():
    held_out = {task["library"] for task in read_jsonl(DATASETS / "installed-tasks.jsonl")}
    n_skills, n_headlines = Counter(), Counter()
    for path in expand([Path(sys.argv[1]) / "pool"]):
        for skill in read_jsonl(path):
            if "/".join(skill["skill_id"].split("/")[:2]) not in held_out:
                headline = words(f"{skill['name']} {skill['description']}")
                n_headlines.update(headline)
                n_skills.update(headline | words(skill["body"]))
    everyday = {word for path in VOCABULARIES for word in path.read_text(encoding="utf-8").split() if WORD.fullmatch(word)}
    known = {word for word, n in n_skills.items() if n >= MIN_SKILLS and word not in everyday}
    share = {word: n_headlines[word] / (n_skills[word] + N_SPARE) for word in known}
    weights = {}
    for word in known:
        singular = word.removesuffix("s")
        weight = round(100 * (min(share[word], share.get(singular, 1.0)) - MIN_SHARE))
        if weight > 0 and (word == singular or singular not in everyday):
            weights[word] = weight
    out = Path(sys.argv[2]) if len(sys.argv) > 2 else CRATES / "skillmux-lexicons/assets/subjects.tsv"
    out.write_text("".join(f"{word}\t{weight}\n" for word, weight in sorted(weights.items())), encoding="utf-8")
    print(len(weights), "words")


if __name__ == "__main__":
    main()
