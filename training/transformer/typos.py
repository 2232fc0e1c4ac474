"""Typing errors."""

import re

NEIGHBORS = {
    key: row[max(at - 1, 0) : at] + row[at + 1 : at + 2]
    for row in ("qwertyuiop", "asdfghjkl", "zxcvbnm")
    for at, key in enumerate(row)
}


def misspelled(text, random):
    """Returns the text with typing errors: one word of four letters and more in eight, and one at least.

    Two letters change places, one is left out, doubled, or hit beside.
    """
    words = re.split(r"(\s+)", text)
    places = [at for at, word in enumerate(words) if re.fullmatch(r"[A-Za-z]{4,}[.,:;?!]?", word)]
    if not places:
        return text
    wrong = [at for at in places if random.random() < 1 / 8] or [random.choice(places)]
    for at in wrong:
        word = words[at]
        i = random.randrange(1, len(word.rstrip(".,:;?!")) - 1)
        kind = random.randrange(4)
        if kind == 0:
            word = word[:i] + word[i + 1] + word[i] + word[i + 2 :]
        elif kind == 1:
            word = word[:i] + word[i + 1 :]
        elif kind == 2:
            word = word[:i] + word[i] + word[i:]
        else:
            word = word[:i] + random.choice(NEIGHBORS[word[i].lower()]) + word[i + 1 :]
        words[at] = word
    return "".join(words)
