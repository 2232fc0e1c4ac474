#!/usr/bin/env python3
"""Writes the words of the base's vocabulary that the shipped one lacks: they are no typing errors.

usage: dropped_words.py TARGET

A word is three and more small letters without an accent. TARGET has one a line, in the order of the vocabulary.
"""

import sys
from pathlib import Path

import model
import vocabulary

N_LETTERS = 3


def main():
    kept = {token for token, _ in vocabulary.read()}
    tokens = sorted(model.base_tokenizer().get_vocab().items(), key=lambda pair: pair[1])
    words = [token for token, _ in tokens if token not in kept and len(token) >= N_LETTERS and token.isascii() and token.isalpha() and token.islower()]
    Path(sys.argv[1]).write_text("".join(word + "\n" for word in words), encoding="utf-8")
    print(f"{len(words):,} words")


if __name__ == "__main__":
    main()
