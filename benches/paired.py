"""Compares programs of skillmux that take turns over one index: the first is compared with each of the others.

usage: python3 benches/paired.py INDEX SKILLMUX [OTHER_SKILLMUX ...] [--rounds N] [--sources SOURCE ...]

`route` and `search` answer the first 60 English tasks of 120 to 200 words on one thread, N times each. Of `route`, the shortest
time of each task counts, because others had to wait for the machine; the table has the medians over the tasks. Of `search`, it
has the lowest median of a round. Times are in milliseconds.
`mcp` answers 100 such tasks; the table has its resident memory then. With `--sources`, each program indexes them once on one
core, and the table has the CPU time. At the end come the tasks that two programs answer differently.
"""

import argparse
import json
import os
import re
import resource
import statistics
import subprocess
import tempfile
from itertools import cycle, islice
from pathlib import Path

N_TASKS = 60
N_MCP_TASKS = 100
STAGES = ["retrieve", "compose", "page"]


def long_tasks():
    """Reads the tasks."""
    with open("datasets/long-tasks.jsonl", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    rows = [row for row in rows if row["lang"] == "en" and 120 <= len(row["query"].split()) <= 200]
    return [{"query_id": row["query_id"], "query": row["query"]} for row in rows[:N_TASKS]]


def ask(command, skillmux, index, queries):
    """Answers the tasks and returns what was printed, as answers and as notes."""
    command = [skillmux, *command, "--queries", queries, "--index", index]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout, done.stderr


def search_median(skillmux, index, queries):
    """Returns the median time of a search."""
    _, notes = ask(["search", "-k", "50", "--timings"], skillmux, index, queries)
    return float(re.search(r"p50 ([\d.]+) ms", notes)[1])


def fastest(known, query_id, times):
    """Keeps the shortest time of each stage of a task."""
    best = known.setdefault(query_id, times)
    for stage, time in times.items():
        best[stage] = min(best[stage], time)


def medians(known, stages):
    """Returns the median over the tasks, for each stage."""
    return {stage: statistics.median(times[stage] for times in known.values()) for stage in stages}


def route_times(answers):
    """Returns the stages of each task, in milliseconds."""
    for route in answers:
        times = {stage["stage"]: stage["time_us"] / 1000 for stage in route["trace"]}
        yield route["query_id"], times | {"all": sum(times.values())}


def without_times(answers):
    """Returns the answers without what differs from run to run."""
    return {route["query_id"]: {key: value for key, value in route.items() if key != "trace"} for route in answers}


def mcp_memory(skillmux, index, tasks):
    """Returns the resident memory of the MCP server in kB."""
    server = subprocess.Popen(
        [skillmux, "mcp", "--index", index], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )

    def send(method, params, number=None):
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        server.stdin.write(json.dumps(message if number is None else message | {"id": number}) + "\n")
        server.stdin.flush()
        if number is not None:
            assert "result" in json.loads(server.stdout.readline())

    client = {"name": "paired", "version": "1"}
    send("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}, 0)
    send("notifications/initialized", {})
    for number, task in enumerate(islice(cycle(tasks), N_MCP_TASKS), 1):
        arguments = {"task": task["query"], "budget_tokens": 3000}
        send("tools/call", {"name": "find_skills", "arguments": arguments}, number)
    status = Path(f"/proc/{server.pid}/status").read_text(encoding="utf-8")
    server.stdin.close()
    server.wait()
    return int(status.split("VmRSS:")[1].split()[0])


def index_seconds(skillmux, sources):
    """Returns the CPU time of indexing the sources from nothing on one core."""
    with tempfile.TemporaryDirectory() as folder:
        core = min(os.sched_getaffinity(0))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [skillmux, "index", *sources, "--index", f"{folder}/index", "--transformer", "never"]
        one_core = lambda: os.sched_setaffinity(0, {core})
        subprocess.run(command, check=True, capture_output=True, preexec_fn=one_core)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index")
    parser.add_argument("skillmux", nargs="+")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--sources", nargs="+")
    args = parser.parse_args()
    os.environ["RAYON_NUM_THREADS"] = "1"
    tasks = long_tasks()
    routes = {skillmux: {} for skillmux in args.skillmux}
    searches = {skillmux: [] for skillmux in args.skillmux}
    answers = {}
    with tempfile.TemporaryDirectory() as folder:
        queries = f"{folder}/tasks.jsonl"
        Path(queries).write_text("".join(json.dumps(task) + "\n" for task in tasks), encoding="utf-8")
        for _ in range(args.rounds):
            for skillmux in args.skillmux:
                lines, _ = ask(["route"], skillmux, args.index, queries)
                routed = [json.loads(line) for line in lines.splitlines()]
                answers[skillmux] = without_times(routed)
                for query_id, times in route_times(routed):
                    fastest(routes[skillmux], query_id, times)
                searches[skillmux].append(search_median(skillmux, args.index, queries))
    rows = {}
    for skillmux in args.skillmux:
        rows[skillmux] = medians(routes[skillmux], [*STAGES, "all"]) | {"search": min(searches[skillmux])}
        rows[skillmux]["mcp_kb"] = mcp_memory(skillmux, args.index, tasks)
        rows[skillmux]["bytes"] = os.path.getsize(skillmux)
        if args.sources:
            rows[skillmux]["index_s"] = index_seconds(skillmux, args.sources)
    first = args.skillmux[0]
    for skillmux, row in rows.items():
        print(skillmux)
        for what, value in row.items():
            print(f"  {what:9} {value:>14,.2f}  first is {rows[first][what] / value:.2f} x")
        different = [query_id for query_id in answers[first] if answers[first][query_id] != answers[skillmux][query_id]]
        print(f"  answers that differ from the first: {len(different)} of {len(tasks)}", *different)


if __name__ == "__main__":
    main()
