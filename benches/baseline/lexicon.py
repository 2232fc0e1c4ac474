"""Makes the Chinese-English lexicon of the binary: words that were translated by hand, and words of skills that exist in both languages.

What `datasets/chinese-words.tsv` says of a word counts. For other words it reads the pairs of `bilingual.jsonl`, but for those that are kept for scores, and aligns the lines of their bodies:
line by line where both have as many, else by their marks (headings, items, code). Names of Chinese skills in Latin
letters are pairs with their titles and descriptions, for words that no line has. IBM Model 1 (Brown et al. 1993,
section 4.1) is trained in both directions; a word gets its best translation by the geometric mean of both, and a
second one that is half as good.

Needs jieba 0.42.1, which cuts Chinese into words. The same data gives the same file.

    python lexicon.py DATA OUT.tsv

A line is a Chinese word, how often the data has it, and its English words, none for a word of grammar. A word that was translated by hand
is counted in the descriptions of Chinese skills and in Chinese prompts of `queries-train`.
"""

import argparse
import difflib
import hashlib
import logging
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import jieba

from jsonl import expand, read_jsonl

DATASETS = Path(__file__).parents[2] / "datasets"

HAN = re.compile("[\u4e00-\u9fff]")
HAN_WORD = re.compile("[\u4e00-\u9fff]+")
ENGLISH_WORD = re.compile(r"[a-z][a-z0-9+#.-]*[a-z0-9+#]|[a-z]")

Words = list[str]
Sentences = list[tuple[Words, Words]]

N_ITERATIONS = 6
MIN_PROBABILITY = 1e-3

MIN_IN_LINES = 2
"""Lines that hold a word of the lexicon at least; in names it is one more."""

MIN_SCORE = 0.1
"""Least geometric mean of both probabilities."""

MIN_SHARE = 0.55
"""Least score of a second translation, as a share of that of the first."""

MIN_ENGLISH = 3
"""English names and descriptions that hold an English word of the lexicon at least."""

ENGLISH_STOP_WORDS = frozenset(
    "a an the of to in on for and or is are be with by as at it its that this from your you can will not if all any each into "
    "than then when while do does did has have was were which what who how their there these those use used using".split()
)

OTHER_LANGUAGES = frozenset(
    "que para nos em com uma los las del por como os das dos el una con se um na ao ou mais isso este esta sao voce".split()
)
"""Words of Portuguese and Spanish: two of them tell a line that is no English."""

GRAMMAR = (
    "的 了 和 与 或 在 是 有 我 你 他 她 它 我们 你们 他们 它们 这 那 这个 那个 这些 那些 一个 一下 一些 一 个 几 几个 每 把 被 让 给 对 从 到 向 往 为 以 及 并 而 但 "
    "但是 也 还 又 再 就 都 很 太 更 最 不 没 没有 不要 别 要 想 想要 需要 能 能不能 可以 可 会 应该 得 地 着 过 吗 呢 吧 啊 呀 嘛 帮 帮我 帮忙 请 麻烦 谢谢 您好 你好 怎么 "
    "怎么样 什么 哪 哪些 哪里 多少 为什么 如何 以及 等 等等 里 里面 上 下 中 内 外 前 后 之后 以后 以前 之前 然后 接着 最后 先 首先 现在 今天 时候 时 如果 因为 所以 因此 "
    "虽然 只 只要 只有 已 已经 正在 刚 自己 别人 大家 人 东西 事 事情 样 这样 那样 一样 起来 出来 下来 上来 进去 出 进 来 去 做 弄 搞 办 用 使用 点 点儿 些 真 真的 其实 "
    "可能 比较 非常 特别 顺便 顺手 另外 同时 而且 或者 还是 不是 是不是 有没有 各 该 此 其 某 另 即 则 若 将 由 于 至 第 次 种 位 名 份 条 张 块 只能 不能 不会 不想 不用 "
    "不到 好 好的 行 成 全 全部 所有 任何 整个 一直 总是 老是 老 经常 有时 马上 立刻 直接 通过 根据 按照 关于 有关 之间 之一 当 看 看看 说 一份 一套 一张 一次 每个 每天 每次"
).split()


def is_scored(english_id: str) -> bool:
    """Returns whether a pair is kept for scores."""
    return int(hashlib.sha256(english_id.encode()).hexdigest()[:8], 16) % 5 == 0


def key(name: str) -> str:
    """Returns what names that are the same have in common."""
    return re.sub(r"[^a-z0-9\u4e00-\u9fff]", "", name.lower())


def english_words(text: str) -> Words:
    return ENGLISH_WORD.findall(re.sub("[`*_]", " ", text.lower()))


def chinese_words(text: str) -> Words:
    return [word for word in jieba.cut(text, HMM=False) if HAN_WORD.fullmatch(word)]


def outline(line: str) -> str:
    """Returns what a line and its translation have in common."""
    return f"{line[:1] if line[:1] in '#-*>|`' or line[:1].isdigit() else '~'}{len(re.findall('[0-9`#*|-]', line)) // 2}"


def aligned(chinese: str, english: str) -> Iterator[tuple[str, str]]:
    """Returns the lines of two bodies that translate each other."""
    a, b = ([line.strip() for line in text.split("\n") if line.strip()] for text in (chinese, english))
    if len(a) == len(b):
        yield from zip(a, b)
    elif abs(len(a) - len(b)) < 0.3 * max(len(a), len(b)):
        blocks = difflib.SequenceMatcher(None, [outline(x) for x in a], [outline(x) for x in b], autojunk=False)
        for block in blocks.get_matching_blocks():
            if block.size >= 4:
                yield from zip(a[block.a : block.a + block.size], b[block.b : block.b + block.size])


def is_translation(chinese: str, english: str) -> bool:
    n_chinese, n_english = len(HAN.findall(chinese)), len(ENGLISH_WORD.findall(english.lower()))
    is_english = not HAN.search(english) and len(set(english_words(english)) & OTHER_LANGUAGES) < 2
    return n_chinese >= 2 and n_english > 0 and is_english and 0.3 < n_chinese / n_english < 6


def sentences(pairs: Iterable[tuple[str, str]], known: Counter[str]) -> Sentences:
    """Returns the words of pairs of texts. Latin words that the Chinese text has explain themselves."""
    found = []
    for chinese, english in pairs:
        latin = set(english_words(chinese))
        left = chinese_words(chinese)
        right = [
            word
            for word in english_words(english)
            if word not in latin and word not in ENGLISH_STOP_WORDS and len(word) > 1 and known[word] >= MIN_ENGLISH
        ]
        if 0 < len(left) < 60 and 0 < len(right) < 60:
            found.append((left, right))
    return found


def model_1(pairs: Iterable[tuple[Words, Words]]) -> dict[tuple[str, str | None], float]:
    """Returns the probability of a word of the second text for one of the first."""
    pairs = list(pairs)
    probability: dict[tuple[str, str | None], float] = {}
    for iteration in range(N_ITERATIONS):
        counts: dict[tuple[str, str | None], float] = defaultdict(float)
        totals: dict[str | None, float] = defaultdict(float)
        for source, target in pairs:
            sources = [*source, None]
            for word in target:
                shares = [probability.get((word, s), 1e-4 if iteration else 1.0) for s in sources]
                total = sum(shares)
                for s, share in zip(sources, shares):
                    if share / total > MIN_PROBABILITY:
                        counts[word, s] += share / total
                        totals[s] += share / total
        probability = {k: n / totals[k[1]] for k, n in counts.items() if n / totals[k[1]] > MIN_PROBABILITY}
    return probability


def lexicon(pairs: Sentences, min_count: int) -> tuple[dict[str, Words], Counter[str]]:
    counts = Counter(word for chinese, _ in pairs for word in set(chinese))
    forward = model_1(pairs)
    back = model_1((english, chinese) for chinese, english in pairs)
    found: dict[str, list[tuple[float, str]]] = defaultdict(list)
    for (english, chinese), p in forward.items():
        score = math.sqrt(p * back.get((chinese, english), 0.0)) if chinese else 0.0
        if chinese and score >= MIN_SCORE and counts[chinese] >= min_count:
            found[chinese].append((score, english))
    best = {}
    for chinese, translations in found.items():
        translations.sort(key=lambda pair: (-pair[0], pair[1]))
        kept: Words = []
        for score, english in translations:
            # `bot` and `bots` say the same.
            if score >= MIN_SHARE * translations[0][0] and len(kept) < 2 and all(w[:4] != english[:4] for w in kept):
                kept.append(english)
        best[chinese] = kept
    return best, counts


def hand_made() -> dict[str, Words]:
    """Returns the English of the words that were translated by hand."""
    lines = (DATASETS / "chinese-words.tsv").read_text(encoding="utf-8").splitlines()
    return {word: english.split() for word, english in (line.split("\t") for line in lines)}


def counted(words: Iterable[str], texts: Iterable[str]) -> Counter[str]:
    """Returns in how many texts each of some words is."""
    for word in words:
        jieba.add_word(word)
    return Counter(word for text in texts if HAN.search(text) for word in set(chinese_words(text)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    args = parser.parse_args()
    jieba.setLogLevel(logging.ERROR)

    bilingual = list(read_jsonl(args.data / "bilingual.jsonl.zst"))
    pairs = [pair for pair in bilingual if not is_scored(pair["en"])]
    scored = {skill for pair in bilingual if is_scored(pair["en"]) for skill in pair.values()}
    wanted = {skill for pair in pairs for skill in pair.values()}
    skills, chinese, scored_names, known = {}, [], set(), Counter()
    for path in expand([args.data / "pool"]):
        for skill in read_jsonl(path):
            description = skill["description"] or ""
            if skill["skill_id"] in wanted:
                skills[skill["skill_id"]] = skill
            if skill["skill_id"] in scored:
                scored_names.add(key(skill["name"]))
            if len(HAN.findall(description)) >= 6:
                chinese.append((skill["skill_id"], skill["name"], description, skill["body"][:200]))
            elif description.isascii():
                known.update(set(english_words(f"{skill['name']} {description}")))

    lines = []
    for pair in pairs:
        a, b = skills.get(pair["zh"]), skills.get(pair["en"])
        if a and b:
            lines.append((a["description"], b["description"]))
            lines += [(x, y) for x, y in aligned(a["body"], b["body"]) if is_translation(x, y)]
    names, seen = [], set()
    for skill_id, name, description, body in chinese:
        words = " ".join(re.findall("[a-z]{2,}", name.lower()))
        is_held_out = skill_id in scored or key(name) in scored_names
        if is_held_out or not words or not name.isascii() or description[:200] in seen:
            continue
        seen.add(description[:200])
        title = re.match(r"#\s*(.+)", body.strip())
        names += [(title[1], words)] if title and HAN.search(title[1]) else []
        names.append((re.split("[。；;\n]", description)[0][:80], words))

    of_names, counts = lexicon(sentences(names, known), MIN_IN_LINES + 1)
    of_lines, line_counts = lexicon(sentences(lines, known), MIN_IN_LINES)
    counts += line_counts
    by_hand = hand_made()
    prompts = (row["query"] for row in read_jsonl(args.data / "queries-train.jsonl.zst"))
    counts |= counted(by_hand, [*(description for *_, description, _ in chinese), *prompts])
    words = {**of_names, **of_lines, **{word: [] for word in GRAMMAR}, **by_hand}
    with args.out.open("w", encoding="utf-8") as file:
        for word in sorted(words):
            file.write(f"{word}\t{max(counts[word], 1)}\t{' '.join(words[word])}\n")
    print(f"{len(lines):,} pairs of lines, {len(names):,} of names, {len(words):,} words")


if __name__ == "__main__":
    main()
