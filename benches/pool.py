"""Measures skillmux on a pool of real skills against the bars that it has to meet.

Prints a table and writes it as Markdown and JSON. A part that fails is reported, and the others go on.

    python pool.py --binary target/release/skillmux --data DATA --out results/pool
"""

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from statistics import median
from typing import Any

import kills
import quality
from child import Skillmux, run
from edits import Edit, Skill, write_queries, write_shards
from report import Row, below, machine, to_text, write

sys.path.insert(0, str(quality.BASELINE))

from jsonl import expand, read_jsonl

SEED = 1
N_INDEX_RUNS = 3
N_OPEN_RUNS = 20
N_QUERIES = 500
N_QUERY_WORDS = 160
N_KILL_SKILLS = 3000
MIB = 2**20

TASK = """
Our small team keeps a customer support dashboard in React with a FastAPI backend and a PostgreSQL database, and the
page that lists open tickets has become painfully slow. It takes about nine seconds to load when a manager filters by
region and by date, and the browser tab freezes while scrolling. Please find out where the time goes, on the server as
well as in the browser, and fix the worst causes without changing what users see. I suspect missing indexes, far too
many queries per ticket, and a table that renders every row at once, but I want measurements before and after each
change. Write tests for whatever you touch, keep the public endpoints compatible, and add a migration that we can run
at night without locking the tickets table. When you are done, summarise the results in a short report with a chart,
and list risks that remain, so that my colleagues can plan the next sprint.
"""

TASK_ZH = """
我们公司每个月都要从三个部门收集销售数据，表格的格式各不相同，有的日期写成文字，有的金额带着货币符号，
还有很多重复的行。请帮我写一个脚本，把这些 Excel 文件合并成一张干净的表，统一日期和金额的格式，去掉重复的记录，
并标出缺失或者明显异常的数值。然后按地区和产品做一份汇总，画出最近十二个月的趋势图，
最后生成一份给领导看的中文报告，说明数据来源、处理步骤和主要结论。
"""


class Bench:
    """What the parts share; the costly things are made when a part first needs them."""

    def __init__(self, skillmux: Skillmux, data: Path, work: Path, n_kills: int) -> None:
        self.skillmux = skillmux
        self.data = data
        self.work = work
        self.n_kills = n_kills

    def skills(self) -> Iterator[Skill]:
        """Reads the pool."""
        return chain.from_iterable(read_jsonl(path) for path in expand([self.data / "pool"]))

    @cached_property
    def index(self) -> Path:
        """Index of the pool."""
        path = self.work / "index-0"
        if not path.exists():
            self.skillmux.index([self.data / "pool"], path)
        return path

    @cached_property
    def queries(self) -> Path:
        """Folder with the queries and qrels of the data."""
        path = self.work / "queries"
        run([sys.executable, quality.BASELINE / "make_queries.py", self.data, path])
        return path

    @cached_property
    def long_queries(self) -> Path:
        """Queries of 160 words each, of joined prompts."""
        pairs = read_jsonl(self.data / "queries-train.jsonl.zst")
        prompts = sorted({pair["query"] for pair in pairs if pair["relevant"] and pair["lang"] == "lat"})
        random.Random(SEED).shuffle(prompts)
        words = (word for prompt in prompts for word in prompt.split())
        texts = (" ".join(islice(words, N_QUERY_WORDS)) for _ in range(N_QUERIES))
        queries = {f"long-{number}": text for number, text in enumerate(texts)}
        return write_queries(self.work / "long.jsonl", queries)


def full_index(bench: Bench) -> list[Row]:
    """Indexes the pool into a fresh folder, several times."""
    runs = [
        bench.skillmux.index([bench.data / "pool"], bench.work / f"index-{number}") for number in range(N_INDEX_RUNS)
    ]
    n_skills = json.loads(runs[0].stdout)["n_kept"]
    what = f"index {n_skills:,} skills from nothing"
    seconds = [finished.seconds for finished in runs]
    cpu_seconds = median(finished.cpu_seconds for finished in runs)
    note = f"longest of {len(runs)}: {max(seconds):.1f} s; {cpu_seconds:.1f} s of CPU"
    peak_gib = [finished.peak_bytes / 2**30 for finished in runs]
    return [
        below(f"{what}: time", median(seconds), 240, "s", note),
        Row(
            f"{what}: peak memory",
            f"{median(peak_gib):.2f} GiB (highest {max(peak_gib):.2f} GiB)",
            "< 1.5 GiB",
            median(peak_gib) < 1.5,
            {"GiB": median(peak_gib)},
        ),
    ]


def open_and_answer(bench: Bench) -> list[Row]:
    """Times whole processes that open the index and answer one task."""
    rows = []
    for command in (["route", "--budget", "2000"], ["search"]):
        for language, task in (("English", TASK), ("Chinese", TASK_ZH)):
            line: list[str | Path] = [bench.skillmux.binary, *command, "--index", bench.index, task.strip()]
            run(line, codes=(0, 1))
            times_ms = [run(line, codes=(0, 1)).seconds * 1000 for _ in range(N_OPEN_RUNS)]
            what = f"open and {command[0]}, whole process, one {language} task"
            rows.append(below(what, median(times_ms), 150, "ms", f"longest of 20: {max(times_ms):.0f} ms"))
    return rows


def query(bench: Bench) -> list[Row]:
    """Times long queries in process, on one thread, next to bm25s."""
    ours = percentiles(bench.skillmux.search(bench.index, bench.long_queries, quality.K).stderr)
    out = bench.work / "long.run"
    command = quality.bm25s([bench.data / "pool"], bench.long_queries, out)
    theirs = percentiles(run(["env", "OMP_NUM_THREADS=1", *command]).stderr)
    what = f"query of {N_QUERY_WORDS} words, one thread, best {quality.K}"
    return [
        below(f"{what}: median", ours[0], 8, "ms"),
        below(f"{what}: 99th percentile", ours[1], 30, "ms"),
        Row(
            f"{what}: bm25s",
            f"median {theirs[0]:.1f} ms, {theirs[0] / ours[0]:.1f} times ours; 99th percentile {theirs[1]:.1f} ms",
            values={"p50_ms": theirs[0], "p99_ms": theirs[1], "ratio": theirs[0] / ours[0]},
        ),
    ]


def percentiles(stderr: str) -> tuple[float, float]:
    """Reads the median and the 99th percentile, in milliseconds, from what both programs print."""
    found = re.search(r"p50 ([\d.]+) ms, p99 ([\d.]+) ms", stderr)
    if found is None:
        raise RuntimeError(f"no timings in `{stderr.strip()[-200:]}`")
    return float(found[1]), float(found[2])


def update(bench: Bench) -> list[Row]:
    """Times the update after an edit, and compares it with an index of the edited library from nothing."""
    library, updated, rebuilt = (bench.work / name for name in ("library", "updated", "rebuilt"))
    n_skills = sum(1 for _ in bench.skills())
    edit = Edit.draw(n_skills, n_changed=100, n_new=50, n_deleted=50, seed=SEED)
    write_shards(library, bench.skills())
    bench.skillmux.index([library], updated)
    write_shards(library, edit.apply(bench.skills()))
    finished = bench.skillmux.index([library], updated)
    bench.skillmux.index([library], rebuilt)

    queries = edit.queries(bench.skills())
    prompts = [
        (record["query_id"], record["query"]) for record in read_jsonl(bench.queries / "queries-dev.queries.jsonl")
    ]
    queries |= dict(random.Random(SEED).sample(prompts, N_QUERIES - len(queries)))
    path = write_queries(bench.work / "update.jsonl", queries)
    runs = [bench.skillmux.search(index, path, 100).stdout for index in (updated, rebuilt)]
    counts = [json.loads(bench.skillmux.stats(index))["n_skills"] for index in (updated, rebuilt)]
    n_lines = runs[0].count(b"\n")
    n_equal = sum(a == b for a, b in zip(runs[0].splitlines(), runs[1].splitlines(), strict=False))
    summary = json.loads(finished.stdout)
    note = f"{finished.cpu_seconds:.1f} s of CPU; {summary['n_added']} added, {summary['n_removed']} removed"
    what = "update after 100 changed, 50 new, 50 deleted"
    same = runs[0] == runs[1] and counts[0] == counts[1]
    measured = "identical" if same else f"{n_equal:,} of {n_lines:,} lines equal"
    return [
        below(f"{what}: time", finished.seconds, 10, "s", note),
        Row(
            f"{what}: best 100 of {len(queries)} queries against a fresh index",
            f"{measured}; {counts[0]:,} and {counts[1]:,} skills",
            "identical",
            same,
            {"lines": n_lines, "equal_lines": n_equal},
        ),
    ]


def rank_quality(bench: Bench) -> list[Row]:
    """Compares the rankings with those of bm25s."""
    work = bench.work / "quality"
    work.mkdir()
    return quality.measure(bench.skillmux, bench.data, bench.queries, work, SEED)


def kill(bench: Bench) -> list[Row]:
    """Kills updates of a small library."""
    work = bench.work / "kills"
    work.mkdir()
    skills = list(islice(bench.skills(), N_KILL_SKILLS))
    return kills.measure(bench.skillmux, work, skills, bench.n_kills, SEED)


def mcp(bench: Bench) -> list[Row]:
    """Reads the resident memory of a server that has answered once."""
    command: list[str | Path] = [bench.skillmux.binary, "mcp", "--index", bench.index]
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
    messages: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "find_skills", "arguments": {"task": TASK.strip()}}},
    ]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
        assert server.stdin and server.stdout
        memory = []
        for message in messages:
            server.stdin.write(json.dumps({"jsonrpc": "2.0"} | message).encode() + b"\n")
            server.stdin.flush()
            if "id" not in message:
                continue
            answer = json.loads(server.stdout.readline())
            if "error" in answer or answer["result"].get("isError"):
                raise RuntimeError(f"the server answered `{str(answer)[:200]}`")
            memory.append(status(server.pid))
        server.stdin.close()
    started, answered = memory
    measured = (
        f"{answered['VmRSS'] / MIB:.0f} MiB, of which {answered['RssFile'] / MIB:.0f} MiB mapped files; "
        f"{started['VmRSS'] / MIB:.0f} MiB before the first task"
    )
    return [Row("memory of the MCP server after one task", measured, values={"VmRSS_MiB": answered["VmRSS"] / MIB})]


def status(pid: int) -> dict[str, int]:
    """Reads the memory of a process from Linux, in bytes."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    sizes = (line.partition(":") for line in lines if line.endswith(" kB"))
    return {name: int(size.removesuffix(" kB")) * 1024 for name, _, size in sizes}


PARTS: dict[str, Callable[[Bench], list[Row]]] = {
    "index": full_index,
    "open": open_and_answer,
    "query": query,
    "update": update,
    "quality": rank_quality,
    "kills": kill,
    "mcp": mcp,
}


def measure(part: str, bench: Bench) -> list[Row]:
    """Runs one part and turns a failure into a row."""
    start = time.perf_counter()
    print(f"{part} ...", file=sys.stderr, flush=True)
    try:
        rows = PARTS[part](bench)
    except (OSError, RuntimeError, ValueError, KeyError) as error:
        rows = [Row(part, "failed: " + " ".join(str(error).split()), "runs", False)]
    print(f"{to_text(rows)}\n{part}: {time.perf_counter() - start:.0f} s\n", file=sys.stderr, flush=True)
    return rows


def main() -> None:
    """Runs the parts and writes the table; exits with 1 if a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, required=True, metavar="FILE", help="skillmux")
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="the data folder")
    parser.add_argument("--out", type=Path, default=Path("results/pool"), help="without ending (default: %(default)s)")
    parser.add_argument("--kills", type=int, default=200, metavar="N", help="updates to kill (default: %(default)s)")
    parser.add_argument("--skip", nargs="+", default=[], choices=PARTS, metavar="PART", help=", ".join(PARTS))
    args = parser.parse_args()

    skillmux = Skillmux(args.binary.resolve())
    about = machine(skillmux.version())
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="skillmux-bench-") as work:
        bench = Bench(skillmux, args.data, Path(work), args.kills)
        for part in PARTS:
            if part not in args.skip:
                rows += measure(part, bench)
    print(to_text(rows))
    write(args.out, rows, about)
    sys.exit(any(row.met is False for row in rows))


if __name__ == "__main__":
    main()
