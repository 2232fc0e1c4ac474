#!/usr/bin/env python3
"""Trains the verifier, and writes it in 8 bits, with what it says of some pairs.

usage: verifier_train.py OUT TARGET [--seconds N]

OUT is the folder that `verifier_pairs.py` has written. TARGET is the safetensors file of the crate `skillmux-transformer-layers`. It takes two epochs, or N
seconds if these are over before. `crates/skillmux-models/tests/data/verifier.json` gets what the written numbers make of a few pairs, by which the engine is tested.
"""

import argparse
import json
import math
import random
import time
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch.nn import functional as F

import data
import rounding
import unpack
import verifier

EPOCHS, BATCH, RATE, WARM_UP = 2, 24, 7e-4, 20
# Batches whose rows are sorted by length together.
SORTED = 20


def batches(rows, draw):
    order = list(range(len(rows)))
    draw.shuffle(order)
    found = []
    for start in range(0, len(order), BATCH * SORTED):
        some = sorted(order[start : start + BATCH * SORTED], key=lambda at: len(rows[at][0]))
        found += [some[at : at + BATCH] for at in range(0, len(some), BATCH)]
    draw.shuffle(found)
    return found


def train(net, rows, answers, seconds):
    draw = random.Random(1)
    parameters = [parameter for parameter in net.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(parameters, lr=RATE, weight_decay=0.01)
    steps = [batch for _ in range(EPOCHS) for batch in batches(rows, draw)]
    began, losses = time.time(), []
    for step, batch in enumerate(steps):
        done = max(step / len(steps), (time.time() - began) / seconds)
        if done >= 1:
            break
        for group in optimizer.param_groups:
            group["lr"] = RATE * min(1, (step + 1) / WARM_UP) * 0.5 * (1 + math.cos(math.pi * done))
        log_odds = net([rows[at][0] for at in batch], [rows[at][1] for at in batch])
        loss = F.binary_cross_entropy_with_logits(log_odds, answers[batch])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(float(loss.detach()))
        if step % 25 == 24:
            print(step + 1, "of", len(steps), "loss", round(sum(losses[-100:]) / len(losses[-100:]), 3), flush=True)


def in_8_bits(name, numbers):
    """Returns the tensors of a matrix: steps within [-127, 127], and a scale a row."""
    scale = rounding.scales(numbers)
    return {name: (numbers / scale[:, None]).round().to(torch.int8), f"{name}.scale": scale}


def tensors_of(net):
    found = {"second": net.second.detach()}
    for name, tensor in net.head.state_dict().items():
        found |= in_8_bits(f"head.{name}", tensor) if name == "0.weight" else {f"head.{name}": tensor.flatten()}
    for name, module in net.encoder.named_modules():
        if isinstance(module, verifier.Adapted):
            found |= in_8_bits(f"{name}.down", module.down.detach())
            found |= in_8_bits(f"{name}.up", module.up.detach() * verifier.SCALE)
    return {name: tensor.contiguous() for name, tensor in found.items()}


REFERENCE = data.REPOSITORY / "crates/skillmux-models/tests/data/verifier.json"
UPGRADE = "postgres major upgrade: Move a PostgreSQL cluster to a new major version with pg_upgrade"
EXPENSES = "expense splitter: Split shared expenses of a group and say who pays whom"
PAIRS = [
    ("upgrade our MySQL 5.7 server to 8.4", UPGRADE),
    ("move the cluster from Postgres 14 to 17 without losing data", UPGRADE),
    ("who owes whom after our trip to Lisbon", EXPENSES),
    ("book me a flight to Lisbon for Friday", EXPENSES),
]


def read_back(net, tensors):
    """Gives the network the numbers that the tensors stand for."""
    numbers = unpack.numbers(tensors)
    parameters = dict(net.named_parameters())
    for name, number in numbers.items():
        known = parameters[name if name in parameters else f"encoder.{name}"]
        known.data = (number / verifier.SCALE if name.endswith(".up") else number).view(known.shape)


@torch.inference_mode()
def reference(net, tokenizer):
    """Returns what the network says of each of PAIRS."""
    said = []
    for task, skill in PAIRS:
        ids, start = verifier.pair(tokenizer, task, skill)
        said.append({"task": task, "skill": skill, "log_odds": round(float(net([ids], [start])), 4)})
    return said


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("--seconds", type=float, default=math.inf)
    args = parser.parse_args()
    torch.manual_seed(1)
    encoder, tokenizer = unpack.shipped()
    texts = json.loads((args.out / "texts.json").read_text(encoding="utf-8"))
    pairs = list(data.read_lines(args.out / "pairs.jsonl"))
    rows = [verifier.pair(tokenizer, pair["query"], texts[pair["skill"]]) for pair in pairs]
    net = verifier.Verifier(encoder)
    train(net, rows, torch.tensor([float(pair["serves"]) for pair in pairs]), args.seconds)
    tensors = tensors_of(net)
    save_file(tensors, args.target)
    read_back(net, tensors)
    REFERENCE.write_text(json.dumps(reference(net, tokenizer), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
