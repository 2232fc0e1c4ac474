"""Makes the word lists of the binary for seven languages of `datasets/foreign-words`.

    python foreign_words.py [OUT]

OUT is the folder of the lists, `crates/skillmux-lexicons/assets` unless told. A file of the folder has four sections. A line of the
first three is an English word or phrase, a tab, and words that mean it, the most usual first. The lists have one English word for
each foreign one: that of section `first`; else that whose line names it earliest, where a line of `phrases` counts one place less; of
equals a line of `phrases`, then the earlier line. Words of `grammar` have no English. The same files give the same lists.
"""

import sys
from collections import defaultdict
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]


def sections(path):
    """Returns the lines of a file by section."""
    found = defaultdict(list)
    name = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            name = line[2:]
        elif line:
            found[name].append(line)
    return found


def pairs(lines):
    """Returns the number of the line, the English, and each foreign word with its place in the line."""
    for number, line in enumerate(lines):
        english, words = line.split("\t")
        for place, word in enumerate(words.split(", ")):
            yield number, english, place, word


def lexicon(path):
    """Returns the English of each foreign word."""
    of = sections(path)
    grammar = set(of["grammar"])
    claims = defaultdict(list)
    for sooner, name in enumerate(("words", "phrases")):
        for number, english, place, word in pairs(of[name]):
            if word not in grammar:
                claims[word].append((place - sooner, -sooner, number, english))
    said = {word: min(found)[3] for word, found in claims.items()}
    said |= dict.fromkeys(grammar, "")
    return said | {word: english for _, english, _, word in pairs(of["first"])}


def main():
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else REPOSITORY / "crates/skillmux-lexicons/assets"
    for path in sorted((REPOSITORY / "datasets/foreign-words").glob("*.tsv")):
        lines = sorted(f"{word}\t{english}\n" for word, english in lexicon(path).items())
        (out / path.name).write_text("".join(lines), encoding="utf-8")
        print(path.stem, len(lines))


if __name__ == "__main__":
    main()
