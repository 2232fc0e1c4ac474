#!/usr/bin/env python3
"""Times exact scans of vectors on one thread: those of skillmux, those of faiss, and reading the same bytes.

usage: scan.py [N_VECTORS] [DIM] [N_QUERIES]

Draws unit vectors, builds scan.rs with rustc, and asks all systems in turn for the 100 best of each query, so that what else
the machine does meets all of them. Prints medians. Needs numpy, faiss-cpu and rustc.
"""

import os

os.environ["OMP_NUM_THREADS"] = "1"

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import faiss
import numpy as np

N_BEST = 100
KINDS = {"int8": "QT_8bit", "f16": "QT_fp16", "f32": None}


def unit(x):
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def write(folder, vectors, queries):
    scales = np.abs(vectors).max(1) / np.float32(127)
    (vectors / scales[:, None]).round().astype(np.int8).tofile(folder / "int8.bin")
    vectors.astype(np.float16).tofile(folder / "f16.bin")
    vectors.tofile(folder / "f32.bin")
    scales.tofile(folder / "scales.bin")
    queries.tofile(folder / "queries.bin")


def faiss_index(kind, vectors):
    n, dim = vectors.shape
    if kind == "f32":
        index = faiss.IndexFlatIP(dim)
    else:
        index = faiss.IndexScalarQuantizer(dim, getattr(faiss.ScalarQuantizer, KINDS[kind]), faiss.METRIC_INNER_PRODUCT)
        index.train(vectors[:: max(1, n // 20_000)])
    index.add(vectors)
    return index


def main():
    n, dim, n_queries = map(int, sys.argv[1:] + ["78361", "384", "100"][len(sys.argv) - 1 :])
    faiss.omp_set_num_threads(1)
    random = np.random.default_rng(42)
    vectors = unit(random.standard_normal((n, dim), dtype=np.float32))
    queries = unit(random.standard_normal((n_queries, dim), dtype=np.float32))
    here = Path(__file__).resolve().parent
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        write(folder, vectors, queries)
        subprocess.run(["rustc", "--edition", "2024", "-Copt-level=3", "-o", folder / "scan", here / "scan.rs"], check=True)
        indexes = {kind: faiss_index(kind, vectors) for kind in KINDS}
        scan = subprocess.Popen([folder / "scan", folder, str(n), str(dim)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

        def ask(line):
            scan.stdin.write(line + "\n")
            scan.stdin.flush()
            time_us, *best = scan.stdout.readline().split()
            return float(time_us) / 1000, best

        times = {(system, kind): [] for kind in KINDS for system in ("read", "skillmux", "faiss")}
        overlaps = {key: [] for key in times}
        for kind in KINDS:
            ask(f"{kind} 0")
        for at, query in enumerate(queries):
            exact = None
            for kind in reversed(KINDS):
                times["read", kind].append(ask(f"read {kind}")[0])
                time_ms, best = ask(f"{kind} {at}")
                exact = exact or set(best)
                times["skillmux", kind].append(time_ms)
                overlaps["skillmux", kind].append(len(exact & set(best)) / N_BEST)
                started = time.perf_counter()
                _, found = indexes[kind].search(query[None], N_BEST)
                times["faiss", kind].append(1000 * (time.perf_counter() - started))
                overlaps["faiss", kind].append(len(exact & {str(place) for place in found[0]}) / N_BEST)
        scan.stdin.close()
        scan.wait()
    print(f"{n:,} vectors of {dim} numbers, {n_queries} queries, one thread, faiss {faiss.__version__}\n")
    print("| vectors | MB | reading them, ms (GB/s) | skillmux, ms | times reading | faiss, ms | faiss / skillmux | same best 100 as f32: skillmux, faiss |")
    print("|---|---:|---:|---:|---:|---:|---:|---|")
    for kind, n_bytes in zip(KINDS, (1, 2, 4)):
        read, own, other = (np.median(times[system, kind]) for system in ("read", "skillmux", "faiss"))
        megabytes = n * dim * n_bytes / 1e6
        same = ", ".join(f"{np.mean(overlaps[system, kind]):.3f}" for system in ("skillmux", "faiss"))
        print(f"| {kind} | {megabytes:.0f} | {read:.2f} ({megabytes / read:.1f}) | {own:.2f} | {own / read:.2f} | {other:.2f} | {other / own:.1f} | {same} |")


if __name__ == "__main__":
    main()
