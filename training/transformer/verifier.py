"""The verifier: the transformer that ships, with adapters of low rank (LoRA, Hu et al. 2021) and a small head, in plain torch.

It reads a task and a skill together, and gives the log-odds that the skill serves the task.
"""

import math

import torch
from torch import nn

import model

TASK_TOKENS, SKILL_TOKENS = 64, 96
RANK, SCALE, HIDDEN = 16, 2.0, 64


class Adapted(nn.Module):
    """A linear layer whose weights stay, and a change of low rank."""

    def __init__(self, base):
        super().__init__()
        self.base = base
        self.down = nn.Parameter(torch.randn(RANK, base.in_features) / math.sqrt(base.in_features))
        self.up = nn.Parameter(torch.zeros(base.out_features, RANK))

    def forward(self, x):
        return self.base(x) + (x @ self.down.T) @ self.up.T * SCALE


class Verifier(nn.Module):
    def __init__(self, encoder):
        super().__init__()
        for parameter in encoder.parameters():
            parameter.requires_grad_(False)
        for layer in encoder.encoder["layer"]:
            parts, out = layer.attention["self"], layer.attention["output"]
            for part in ("query", "key", "value"):
                parts[part] = Adapted(parts[part])
            for dense in (out, layer.intermediate, layer.output):
                dense["dense"] = Adapted(dense["dense"])
        self.encoder = encoder
        self.second = nn.Parameter(torch.zeros(model.WIDTH))
        self.head = nn.Sequential(nn.Linear(4 * model.WIDTH, HIDDEN), nn.GELU(), nn.Linear(HIDDEN, 1))

    def forward(self, rows, starts):
        """Returns the log-odds, `[n]`, of rows of ids in which the skill begins at `starts`."""
        ids, lengths = model.padded(rows)
        length = ids.shape[1]
        places = torch.arange(length)[None]
        is_token, is_skill = places < lengths[:, None], places >= torch.tensor(starts)[:, None]
        e = self.encoder.embeddings
        x = e["word_embeddings"](ids) + e["position_embeddings"].weight[:length] + e["token_type_embeddings"].weight[0]
        x = e["LayerNorm"](x + is_skill[..., None] * self.second)
        mask = torch.zeros(is_token.shape).masked_fill(~is_token, -1e9)[:, None, None]
        for layer in self.encoder.encoder["layer"]:
            x = layer(x, mask)
        mean = lambda is_in: (x * is_in[..., None]).sum(1) / is_in.sum(1, keepdim=True)
        task, skill = mean(is_token & ~is_skill), mean(is_token & is_skill)
        return self.head(torch.cat([x[:, 0], task, skill, task * skill], 1))[:, 0]


def pair(tokenizer, task, skill):
    """Returns the ids of both texts, and where the skill begins."""
    first = model.tokens_of(tokenizer, [task], TASK_TOKENS)[0]
    second = model.tokens_of(tokenizer, [skill], SKILL_TOKENS + 1)[0]
    return first + second[1:], len(first)
