"""Times the stages of `skillmux route` on long tasks, for one binary or for several in turn.

usage: python3 benches/stages.py INDEX SKILLMUX [OTHER_SKILLMUX ...]

Each binary answers the first 60 English tasks of 120 to 200 words, eight times, one after the other. The shortest time of each
task counts, because others had to wait for the machine. The table has the medians over the tasks, in milliseconds.
"""

import json
import statistics
import subprocess
import sys
import tempfile

N_TASKS = 60
N_ROUNDS = 8
STAGES = ["retrieve", "compose", "page"]


def long_tasks():
    with open("datasets/long-tasks.jsonl", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    rows = [row for row in rows if row["lang"] == "en" and 120 <= len(row["query"].split()) <= 200]
    return [{"query_id": row["query_id"], "query": row["query"]} for row in rows[:N_TASKS]]


def times(binary, index, queries):
    command = [binary, "route", "--queries", queries, "--index", index]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    for line in done.stdout.splitlines():
        route = json.loads(line)
        yield route["query_id"], {stage["stage"]: stage["time_us"] / 1000 for stage in route["trace"]}


def main():
    index, *binaries = sys.argv[1:]
    best = {binary: {} for binary in binaries}
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        file.writelines(json.dumps(task) + "\n" for task in long_tasks())
        file.flush()
        for _ in range(N_ROUNDS):
            for binary in binaries:
                for query_id, stages in times(binary, index, file.name):
                    stages["all"] = sum(stages.values())
                    known = best[binary].setdefault(query_id, stages)
                    for stage, time in stages.items():
                        known[stage] = min(known[stage], time)
    for binary in binaries:
        medians = [statistics.median(task[stage] for task in best[binary].values()) for stage in STAGES + ["all"]]
        print(binary, *(f"{stage} {median:.2f}" for stage, median in zip(STAGES + ["all"], medians)), sep="  ")


if __name__ == "__main__":
    main()
