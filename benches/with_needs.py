"""Writes tasks with their needs, as `skillmux route --queries` and `search --queries` read them, to standard output.

    python benches/with_needs.py TASKS.jsonl NEEDS.jsonl [N]

TASKS has `query_id` and `query`, NEEDS `query_id` and `needs`. With N, only tasks of N needs and more are written, with the first N.
"""

import json
import sys


def lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def main(tasks_path, needs_path, n="0"):
    query_of = {task["query_id"]: task["query"] for task in lines(tasks_path)}
    n = int(n)
    for line in lines(needs_path):
        needs = line["needs"][: n or None]
        if line["query_id"] in query_of and needs and len(needs) >= n:
            print(json.dumps({"query_id": line["query_id"], "query": query_of[line["query_id"]], "needs": needs}, ensure_ascii=False))


if __name__ == "__main__":
    main(*sys.argv[1:])
