#!/usr/bin/env python3
"""Asks what an agent does with a skill that is near its task but does not serve it.

usage: near_readers.py write SKILLMUX DATA OUT
       near_readers.py score OUT READING.json...

`write` asks `find_skills` of `skillmux mcp` over the 16 libraries of `datasets/fit-libraries.jsonl`: six near requests of `near-none.jsonl` and five
tasks of `library-fit.jsonl` each, English, drawn by a seed. OUT/items.txt has 120 answers that load skills, all near ones and some of the others, in
random order and without what is right; OUT/key.json has that. A reader (a language model, who plays the agent) then writes a READING: a JSON object from
the number of an item to the numbers of the skills that it would use. `score` counts. DATA is the folder that benches/README.md describes.
"""

import io
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import zstandard

REPOSITORY = Path(__file__).resolve().parents[1]
N_ITEMS, N_NEAR, N_ANSWERABLE = 120, 6, 5


def rows(name):
    return [json.loads(line) for line in (REPOSITORY / "datasets" / name).open(encoding="utf-8")]


def libraries(data, out):
    """Writes each library as one file, and returns their names."""
    skills = {row["library"]: row["skill_ids"] for row in rows("fit-libraries.jsonl")}
    wanted, found = {id for ids in skills.values() for id in ids}, {}
    for path in sorted(data.glob("pool/*.zst")):
        with path.open("rb") as file:
            for line in io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(file), "utf-8", newline="\n"):
                id = json.loads(line)["skill_id"]
                if id in wanted:
                    found[id] = line
    for library, ids in skills.items():
        (out / f"{library}.jsonl").write_text("".join(found[id] for id in ids), encoding="utf-8")
    return list(skills)


def ask(program, library, tasks):
    """Adds the answer of the tool to each task."""
    environment = dict(os.environ, HOME=str(library.parent), XDG_CACHE_HOME=str(library.parent / "cache"))
    # The transformer reads the library before the first answer.
    subprocess.run([program, "search", "first", "--library", library], env=environment, capture_output=True, check=True)
    server = subprocess.Popen(
        [program, "mcp", "--library", library], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )

    def send(message):
        server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        server.stdin.flush()

    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
    send({"id": 0, "method": "initialize", "params": client})
    server.stdout.readline()
    send({"method": "notifications/initialized"})
    for number, task in enumerate(tasks, 1):
        send({"id": number, "method": "tools/call", "params": {"name": "find_skills", "arguments": {"task": task["query"]}}})
        result = json.loads(server.stdout.readline())["result"]
        task["text"] = result["content"][0]["text"]
        task["skills"] = [skill["skill_id"] for skill in result["structuredContent"]["skills"]]
    server.stdin.close()
    server.wait()
    return tasks


def write(program, data, out):
    out.mkdir(parents=True, exist_ok=True)
    dice = random.Random(7)
    near = [row for row in rows("near-none.jsonl") if row["lang"] == "en"]
    answerable = [row for row in rows("library-fit.jsonl") if row["lang"] == "en"]
    asked = []
    for library in libraries(data, out):
        of = lambda rows, n: dice.sample([row for row in rows if row.get("library") == library], n)
        tasks = [{"id": row["query_id"], "query": row["query"], "right": row["skill_ids"] + row["also"]} for row in of(answerable, N_ANSWERABLE)]
        tasks += [{"id": row["query_id"], "query": row["query"], "right": []} for row in of(near, N_NEAR)]
        asked += ask(program, out / f"{library}.jsonl", tasks)
    loaded = [[task for task in asked if bool(task["right"]) == is_answerable and task["skills"]] for is_answerable in (False, True)]
    print(f"near requests: {len(loaded[0])} of {sum(not task['right'] for task in asked)} load a skill")
    items = loaded[0] + dice.sample(loaded[1], N_ITEMS - len(loaded[0]))
    dice.shuffle(items)
    texts = [f"######## item {number}\nUSER: {item['query']}\n--- answer of the tool ---\n{item['text']}\n" for number, item in enumerate(items, 1)]
    (out / "items.txt").write_text("\n".join(texts), encoding="utf-8")
    (out / "key.json").write_text(json.dumps([{name: item[name] for name in ("id", "right", "skills")} for item in items], indent=0), encoding="utf-8")


def score(out, readings):
    key = json.loads((out / "key.json").read_text(encoding="utf-8"))
    print("| reading | near requests that use a skill | tasks with a right skill on offer that use it |\n|---|---:|---:|")
    for path in readings:
        reading = json.loads(Path(path).read_text(encoding="utf-8"))
        n_near = n_near_used = n_offered = n_taken = 0
        for number, item in enumerate(key, 1):
            used = {item["skills"][place - 1] for place in reading[str(number)]}
            if not item["right"]:
                n_near += 1
                n_near_used += bool(used)
            elif set(item["right"]) & set(item["skills"]):
                n_offered += 1
                n_taken += bool(used & set(item["right"]))
        print(f"| {Path(path).stem} | {n_near_used} of {n_near} | {n_taken} of {n_offered} |")


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4]))
    else:
        score(Path(sys.argv[2]), sys.argv[3:])
