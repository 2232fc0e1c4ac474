"""Says Chinese in English, word by word, as the binary does (`skillmux_models::RunLexicon`)."""

import re
from math import log

import data

PATH = data.REPOSITORY / "crates/skillmux-lexicons/assets/chinese.tsv"


class Lexicon:
    def __init__(self, path=PATH):
        counted = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
        count_of = lambda count: max(float(count), 20.0)
        total = sum(count_of(count) for _, count, _ in counted)
        self.words = {word: (-log(count_of(count) / total), english) for word, count, english in counted}

    def says(self, text):
        """Returns a text with its Chinese word by word in English. Japanese stays as it is."""
        has_kana = any("\u3040" <= c <= "\u30ff" for c in text)
        if has_kana or not any("\u4e00" <= c <= "\u9fff" for c in text):
            return text
        out = []
        for run in re.findall("[\u4e00-\u9fff]+|[^\u4e00-\u9fff]+", text):
            if "\u4e00" <= run[0] <= "\u9fff":
                out += self.words_of(run)
            elif run.strip():
                out.append(run.strip())
        return " ".join(out)

    def words_of(self, run):
        best = [(0.0, 0)]
        for end in range(1, len(run) + 1):
            least = (best[end - 1][0] + 15.0, end - 1)
            for start in range(max(0, end - 6), end):
                if run[start:end] in self.words:
                    least = min(least, (best[start][0] + self.words[run[start:end]][0], start), key=lambda pair: pair[0])
            best.append(least)
        cuts, end = [], len(run)
        while end:
            cuts.append(run[best[end][1] : end])
            end = best[end][1]
        return [self.words[word][1] for word in reversed(cuts) if word in self.words and self.words[word][1]]
