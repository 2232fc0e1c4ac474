"""Tells how far two writers of needs agree.

    python benches/agreement.py SECOND.jsonl FIRST.jsonl...

A file has `query_id` and `needs`. Words are those of Latin letters and digits, and Chinese characters.
"""

import json
import re
import sys


def read(path):
    with open(path, encoding="utf-8") as file:
        return {line["query_id"]: line["needs"] for line in map(json.loads, file)}


def words(text):
    return set(re.findall(r"[a-z0-9]+|[\u4e00-\u9fff]", text.lower()))


def jaccard(a, b):
    return len(words(a) & words(b)) / max(len(words(a) | words(b)), 1)


def main(second_path, *first_paths):
    second = read(second_path)
    print("| file | tasks of both | the same number | one off at most | Jaccard with the nearest phrase |\n|---|---:|---:|---:|---:|")
    for path in first_paths:
        pairs = [(needs, second[id]) for id, needs in read(path).items() if id in second]
        off = [abs(len(a) - len(b)) for a, b in pairs]
        near = [max(jaccard(need, other) for other in b) for a, b in pairs for need in a]
        shared = sum(near) / max(len(near), 1)
        print(f"| {path} | {len(pairs)} | {off.count(0)} | {sum(n <= 1 for n in off)} | {shared:.2f} |")


if __name__ == "__main__":
    main(*sys.argv[1:])
