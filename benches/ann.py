#!/usr/bin/env python3
"""Measures what an approximate search would give: HNSW and IVF of faiss over vectors of bytes, on one thread.

usage: ann.py INDEX [N_VECTORS]

Takes the vectors of whole texts of an index, of which every skill must have one (`skillmux index --transformer`). With N_VECTORS it turns
them to 256 numbers by principal components and adds vectors near random ones of them (cosine 0.8) until there are so many.
Queries are near random skills (cosine 0.7). Recall@100 is the share of the 100 best of an exact scan in single precision that is found.
Needs numpy and faiss-cpu.
"""

import os

os.environ["OMP_NUM_THREADS"] = "1"

import sys
import time
from pathlib import Path

import faiss
import numpy as np

N_BEST = 100
N_QUERIES = 50
SCALAR = faiss.ScalarQuantizer.QT_8bit


def unit(x):
    return x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-9)


def near(random, vectors, cosine):
    """Unit vectors with this cosine to others, in random directions."""
    noise = random.standard_normal(vectors.shape, dtype=np.float32)
    noise = unit(noise - (noise * vectors).sum(1, keepdims=True) * vectors)
    return (cosine * vectors + np.sqrt(1 - cosine**2) * noise).astype(np.float32)


def read(index):
    generation = (index / "CURRENT").read_text().split()[0]
    data = np.fromfile(index / generation / "transformer.bin", np.uint8)
    n, dim = map(int, data[8:16].view(np.uint32))
    scales = data[16 : 16 + 4 * n].view(np.float32)
    return unit(data[16 + 4 * n :].view(np.int8).reshape(n, dim) * scales[:, None])


def grown(random, vectors, queries, n, dim=256):
    _, _, axes = np.linalg.svd(vectors - vectors.mean(0), full_matrices=False)
    vectors, queries = (unit((x @ axes[:dim].T).astype(np.float32)) for x in (vectors, queries))
    parts = [vectors]
    while (n_left := n - sum(map(len, parts))) > 0:
        parts.append(near(random, vectors[random.integers(0, len(vectors), min(n_left, 50_000))], 0.8))
    return np.concatenate(parts), queries


def search(index, queries):
    found, times = [], []
    for query in queries:
        started = time.perf_counter()
        found.append(set(index.search(query[None], N_BEST)[1][0]))
        times.append(time.perf_counter() - started)
    return found, 1000 * np.median(times)


def main():
    faiss.omp_set_num_threads(1)
    random = np.random.default_rng(1)
    vectors = read(Path(sys.argv[1]))
    queries = near(random, vectors[random.choice(len(vectors), N_QUERIES, replace=False)], 0.7)
    if len(sys.argv) > 2:
        vectors, queries = grown(random, vectors, queries, int(sys.argv[2]))
    n, dim = vectors.shape
    exact = faiss.IndexFlatIP(dim)
    exact.add(vectors)
    expected, time_ms = search(exact, queries)
    print(f"{n:,} vectors of {dim} numbers; an exact scan of f32 by faiss takes {time_ms:.1f} ms\n")
    print("| search | built in, s | a query, ms | recall@100 |\n|---|---:|---:|---:|")

    def measure(name, index, n_trained, settings):
        started = time.perf_counter()
        index.train(vectors[random.choice(n, min(n, n_trained), replace=False)])
        index.add(vectors)
        built = time.perf_counter() - started
        for label, change in settings:
            change(index)
            found, time_ms = search(index, queries)
            recall = np.mean([len(a & b) / N_BEST for a, b in zip(found, expected)])
            print(f"| {name}{label} | {built:.0f} | {time_ms:.2f} | {recall:.3f} |", flush=True)

    def probing(lists):
        return f", nprobe {lists}", lambda index: setattr(index, "nprobe", lists)

    def keeping(candidates):
        return f", efSearch {candidates}", lambda index: setattr(index.hnsw, "efSearch", candidates)

    measure("exact, 8 bits", faiss.IndexScalarQuantizer(dim, SCALAR, faiss.METRIC_INNER_PRODUCT), 20_000, [("", lambda _: None)])
    n_lists = int(4 * n**0.5)
    lists = faiss.IndexIVFScalarQuantizer(faiss.IndexFlatIP(dim), dim, n_lists, SCALAR, faiss.METRIC_INNER_PRODUCT)
    measure(f"IVF {n_lists}, 8 bits", lists, 40 * n_lists, [probing(16), probing(64)])
    graph = faiss.IndexHNSWSQ(dim, SCALAR, 32, faiss.METRIC_INNER_PRODUCT)
    measure("HNSW 32, 8 bits", graph, 20_000, [keeping(64), keeping(128), keeping(256)])


if __name__ == "__main__":
    main()
