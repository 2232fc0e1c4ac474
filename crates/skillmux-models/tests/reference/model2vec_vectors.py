"""Writes model2vec.json: what model2vec computes for tiny static models whose numbers follow a rule.

    pip install model2vec
    python3 model2vec_vectors.py
"""

import json
import pathlib
import tempfile

import model2vec
import numpy as np
from model2vec import StaticModel
from rule import BERT_TOKENIZER, TEXTS, weight
from safetensors.numpy import save_file

DIM = 8
N_TOKENS = len(BERT_TOKENIZER["model"]["vocab"])
CONFIG = {"model_type": "model2vec", "architectures": ["StaticModel"], "hidden_dim": DIM, "seq_length": 1000000}
TYPES = {"F32": np.float32, "F16": np.float16, "I8": np.int8}


def case(name, config, dtype="F32", n_rows=N_TOKENS, has_weights=False):
    """A model; one with fewer rows than tokens maps tokens to rows."""
    embeddings = weight("embeddings", (n_rows, DIM))
    # Whole numbers are those of an int8 model.
    embeddings = np.round(embeddings * 200) if dtype == "I8" else embeddings
    tensors = {"embeddings": embeddings.astype(TYPES[dtype])}
    if n_rows < N_TOKENS:
        tensors["mapping"] = (np.arange(N_TOKENS) * 5 % n_rows).astype(np.int32)
    if has_weights:
        tensors["weights"] = weight("weights", (N_TOKENS,))
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        save_file(tensors, path / "model.safetensors")
        (path / "config.json").write_text(json.dumps(CONFIG | config))
        (path / "tokenizer.json").write_text(json.dumps(BERT_TOKENIZER))
        model = StaticModel.from_pretrained(path)
        # A text that writes `[SEP]` means these characters here.
        model.tokenizer.encode_special_tokens = True
        vectors = model.encode(TEXTS, normalize=True).astype(np.float64)
        if dtype != "F32":
            # model2vec would round the vectors to the type of the model.
            rows = tensors["embeddings"].astype(np.float64)
            vectors = np.array([rows[ids].mean(axis=0) for ids in model.tokenize(TEXTS)])
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return {
        "name": name, "config": CONFIG | config, "dtype": dtype, "n_rows": n_rows, "has_weights": has_weights,
        "expected": [[round(x, 6) for x in row] for row in vectors.tolist()],
    }


CASES = [
    case("plain", {"normalize": True}),
    case("weights and a mapping, not normalised", {"normalize": False}, n_rows=7, has_weights=True),
    case("half precision", {"normalize": True}, dtype="F16"),
    case("int8", {"normalize": True}, dtype="I8"),
    case("at most three tokens", {"normalize": True, "max_length": 3}),
]
path = pathlib.Path(__file__).with_name("model2vec.json")
document = {
    "made_with": f"model2vec {model2vec.__version__}", "texts": TEXTS, "dim": DIM, "n_tokens": N_TOKENS,
    "tokenizer": BERT_TOKENIZER, "cases": CASES,
}
lines = json.dumps(document, separators=(",", ":")).replace('{"name":', '\n{"name":').replace('"tokenizer":', '\n"tokenizer":')
path.write_text(lines + "\n")
print(path, path.stat().st_size, "bytes")
