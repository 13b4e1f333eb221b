"""What the command line prints: text that can not steer a terminal, tables, JSON.

A user's or a model's text may hold escape sequences, bidirectional overrides or characters
that do not show. `visible` writes those as `‹U+202E›`, so that what is on the screen is what
is in the text.
"""

from __future__ import annotations

import json
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

# Controls, formats (bidi, zero width), surrogates, private use, unassigned, and the line and
# paragraph separators.
_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
# Joins emoji; alone it shows nothing, inside of a text it makes one picture of several.
_JOINER = "\u200d"


def visible(text: str, keep: str = "") -> str:
    """`text` with everything that does not show written out; `keep`: characters left alone."""
    return "".join(
        char
        if char in keep or unicodedata.category(char) not in _HIDDEN
        else f"‹U+{ord(char):04X}›"
        for char in text
    )


def streamed(text: str) -> str:
    """Running text: line breaks, tabs and joined emoji work, nothing else acts."""
    return visible(text, "\n\t" + _JOINER)


def piece(text: str) -> str:
    """One token: its blanks and line breaks show as marks."""
    marked = text.replace(" ", "·").replace("\n", "↵").replace("\t", "→")
    return visible(marked)


def width(text: str) -> int:
    """Columns that `text` takes on a terminal; East Asian characters take two."""
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def table(head: Sequence[str], rows: Iterable[Sequence[str]], left: Iterable[int] = ()) -> str:
    """Columns side by side, to the right except those numbered in `left`."""
    lines = [list(head), *(list(row) for row in rows)]
    widths = [max(width(line[i]) for line in lines) for i in range(len(head))]
    at_left = set(left)
    out = []
    for line in lines:
        cells = []
        for i, cell in enumerate(line):
            blanks = " " * (widths[i] - width(cell))
            cells.append(cell + blanks if i in at_left else blanks + cell)
        out.append("  ".join(cells).rstrip())
    return "\n".join(out)


def emit(text: str = "", *, end: str = "\n", file: TextIO | None = None) -> None:
    """Print at once, whatever the terminal's encoding can write."""
    out = file or sys.stdout
    encoding = out.encoding or "utf-8"
    out.write((text + end).encode(encoding, "backslashreplace").decode(encoding))
    out.flush()


def emit_json(value: Any, indent: int | None = 1) -> None:
    """Print `value` as JSON; in plain ASCII where the output is not UTF-8."""
    utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    emit(json.dumps(value, ensure_ascii=not utf8, allow_nan=False, indent=indent))


def one_line(text: str) -> str:
    """`text` fit for a line on stderr."""
    return visible(" ".join(text.split()))
