#!/usr/bin/env python3
"""Averages the weights of several trainings of one base (Wortsman et al. 2022, "Model soups").

usage: average.py TARGET WEIGHTS WEIGHTS...
"""

import sys

from safetensors.torch import load_file, save_file


def main():
    target, *paths = sys.argv[1:]
    states = [load_file(path) for path in paths]
    save_file({name: sum(state[name] for state in states) / len(states) for name in states[0]}, target)


if __name__ == "__main__":
    main()
