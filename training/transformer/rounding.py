"""Rounding a matrix to 8 bits so that its products change least (GPTQ, Frantar et al. 2023).

Rounding each number to the nearest step can cost Hit@1 .05 (RESULTS.md). What the rounding of a column loses can be made up for in those that are not rounded yet,
if it is known how the inputs of the matrix go together.
"""

import torch

import model

# Added to the diagonal of the second moments, as a share of its mean.
DAMPING = 0.01
MAX_STEP = 127


def linear_layers(encoder):
    return {name: module for name, module in encoder.named_modules() if isinstance(module, torch.nn.Linear)}


@torch.inference_mode()
def second_moments(encoder, rows, batch=16):
    """Returns the mean of x xT over the inputs x of each linear layer, `[n_in, n_in]` by the name of its weights, for rows of tokens."""
    sums, n_tokens, is_token = {}, 0, None

    def add(name):
        def hook(module, inputs, output):
            x = inputs[0][is_token].float()
            sums[name] = sums.get(name, 0) + x.T @ x
        return hook

    hooks = [layer.register_forward_hook(add(f"{name}.weight")) for name, layer in linear_layers(encoder).items()]
    order = sorted(range(len(rows)), key=lambda at: len(rows[at]))
    for start in range(0, len(rows), batch):
        some = order[start : start + batch]
        ids, lengths = model.padded([rows[at] for at in some])
        is_token = torch.arange(ids.shape[1])[None] < lengths[:, None]
        encoder(ids, lengths)
        n_tokens += int(lengths.sum())
    for hook in hooks:
        hook.remove()
    return {name: moments / n_tokens for name, moments in sums.items()}


def scales(weight):
    """Returns the size of a step, a row each."""
    return weight.abs().amax(1).clamp_min(1e-12) / MAX_STEP


def steps(weight, scale, moments):
    """Returns a matrix as whole steps, rounded column by column, those with the largest inputs first."""
    n_in = len(moments)
    order = torch.argsort(-moments.diag(), stable=True)
    rest, moments, scale = weight[:, order].double(), moments[order][:, order].double(), scale.double()[:, None]
    moments += DAMPING * moments.diag().mean() * torch.eye(n_in)
    inverse = torch.cholesky_inverse(torch.linalg.cholesky(moments))
    factor = torch.linalg.cholesky(inverse, upper=True)
    numbers = torch.empty_like(rest)
    for at in range(n_in):
        column = rest[:, at : at + 1]
        number = (column / scale).round().clamp(-MAX_STEP, MAX_STEP)
        numbers[:, at : at + 1] = number
        lost = (column - number * scale) / factor[at, at]
        rest[:, at + 1 :] -= lost * factor[at : at + 1, at + 1 :]
    return numbers[:, torch.argsort(order)].to(torch.int8)
