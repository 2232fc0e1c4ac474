#!/usr/bin/env python3
"""Averages the weights of several trainings of one base (Wortsman et al. 2022, "Model soups").

usage: average.py TARGET WEIGHTS WEIGHTS...
"""

import sys

import model


def write_mean(target, paths):
    states = [model.Encoder.load(path).state_dict() for path in paths]
    mean = model.Encoder(len(states[0]["embeddings.word_embeddings.weight"]))
    mean.load_state_dict({name: sum(state[name] for state in states) / len(states) for name in states[0]})
    mean.save(target)


def main():
    target, *paths = sys.argv[1:]
    write_mean(target, paths)


if __name__ == "__main__":
    main()
