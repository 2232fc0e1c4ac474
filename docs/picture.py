"""Draws the coloured output of a command as an SVG picture of a terminal.

Reads the output from standard input and writes the picture to standard output. The arguments are the lines
that the picture shows as typed. Needs Python 3.9 and nothing else. This makes the picture of the README:

    CLICOLOR_FORCE=1 skillmux route "Fill in the attached PDF form and check every field" \\
        --library fixtures/library --budget 120 |
      python3 docs/picture.py 'skillmux route "Fill in the attached PDF form and check every field" \\' \\
        '--library fixtures/library --budget 120' > docs/answer.svg
"""

import re
import sys
import unicodedata
from html import escape

COLUMNS = 80
CHAR_WIDTH = 8.4
LINE_HEIGHT = 19
MARGIN = 18
BAR = 34
BACKGROUND = "#16181d"
TEXT = "#d7dae0"
FAINT = "#868d99"
COLOURS = {31: "#ff7b72", 32: "#7ee787", 36: "#79c0ff"}
FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"


def width(text):
    """Returns the number of columns of a text: a Chinese character takes two."""
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def spans(output):
    """Yields each line as a list of (text, codes): the codes are those of the style that is in force."""
    codes = set()
    for line in output.splitlines():
        parts = []
        for at, part in enumerate(re.split(r"\x1b\[([\d;]*)m", line)):
            if at % 2 == 0:
                if part:
                    parts.append((part, frozenset(codes)))
                continue
            for code in part.split(";"):
                codes = codes | {int(code)} if code not in ("", "0") else set()
        yield parts


def wrapped(line):
    """Yields the lines that a narrow terminal makes of a line: they break at blanks where they can."""
    row, column = [], 0
    for text, codes in line:
        for word in re.findall(r"\s+|\S+", text):
            if column + width(word) > COLUMNS and column > 0 and word.strip():
                yield row
                row, column = [], 0
            row.append((word, codes))
            column += width(word)
    yield row


def drawn(text, codes, column, y):
    """Returns one piece of text as an SVG element."""
    colour = next((COLOURS[code] for code in sorted(codes) if code in COLOURS), FAINT if 2 in codes else TEXT)
    weight = ' font-weight="bold"' if 1 in codes else ""
    x = MARGIN + column * CHAR_WIDTH
    length = width(text) * CHAR_WIDTH
    return f'<text x="{x:.1f}" y="{y}" fill="{colour}"{weight} textLength="{length:.1f}">{escape(text)}</text>'


def main():
    typed = [[("$ " if at == 0 else "  ", frozenset([32])), (line, frozenset([1]))] for at, line in enumerate(sys.argv[1:])]
    shown = spans(sys.stdin.read().rstrip())
    lines = [*typed, [], *(row for line in shown for row in wrapped(line))]
    columns = max([COLUMNS, *(sum(width(text) for text, _ in line) for line in lines)])
    full_width = round(2 * MARGIN + columns * CHAR_WIDTH)
    full_height = BAR + len(lines) * LINE_HEIGHT + MARGIN
    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{full_width}" height="{full_height}" viewBox="0 0 {full_width} {full_height}">')
    print(f'<rect width="{full_width}" height="{full_height}" rx="10" fill="{BACKGROUND}"/>')
    for at, colour in enumerate(["#ff5f57", "#febc2e", "#28c840"]):
        print(f'<circle cx="{MARGIN + 6 + at * 20}" cy="18" r="6" fill="{colour}"/>')
    print(f'<g font-family="{FONT}" font-size="14" xml:space="preserve" style="white-space: pre">')
    for at, line in enumerate(lines):
        column = 0
        for text, codes in line:
            if text.strip():
                # Leading blanks move the start: some viewers drop them.
                blanks = len(text) - len(text.lstrip(" "))
                print(drawn(text.strip(" "), codes, column + blanks, BAR + (at + 1) * LINE_HEIGHT - 5))
            column += width(text)
    print("</g>\n</svg>")


if __name__ == "__main__":
    main()
