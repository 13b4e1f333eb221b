"""Numbers and tokens as a chart's labels show them: what assets/js/format.js does in the page.

A rounded number never reads as 0 or 100 % unless it is that. Blanks, line breaks and invisible
characters are marked, bytes that are no text alone are shown as bytes, and everything is made
safe for Plotly's own markup. tests/test_view_candidates.py holds both writings equal.
"""

from __future__ import annotations

import codecs
import math
import re
import unicodedata
from decimal import ROUND_HALF_UP, Decimal

import numpy as np

_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_SIGNS = {" ": "·", "\n": "↵", "\t": "→", "\r": "␍"}
# Fillers and variation selectors that draw nothing but are letters or marks by their category.
_ODD = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0\ufe00-\ufe0f\ufffd"
    "\U000e0100-\U000e01ef]"
)
_WIDE = re.compile(
    "[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60"
    "\U0001f300-\U0001faff\U00020000-\U0003fffd]"
)
_FAINT = '<span style="fill-opacity:0.55">{}</span>'
_ISOLATE, _END_ISOLATE = "\u2068", "\u2069"


def _fixed(x: float, places: int) -> str:
    """JavaScript's toFixed: of the exact binary value, halves away from zero."""
    return f"{Decimal(x).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP):f}".replace("-", "−")


def _scientific(x: float, digits: int) -> str:
    mantissa, exponent = f"{Decimal(x):.{digits - 1}e}".split("e")
    return f"{mantissa}×10{str(int(exponent)).translate(_SUPERSCRIPT)}".replace("-", "−")


def significant(x: float, digits: int = 3) -> str:
    """`x` with `digits` significant digits; scientific below 0.001 and from a million on."""
    if x == 0:
        return "0"
    if not math.isfinite(x):
        return "NaN" if math.isnan(x) else "∞" if x > 0 else "−∞"
    size = abs(x)
    if size < 1e-3 or size >= 1e6:
        return _scientific(x, digits)
    return _fixed(x, max(0, digits - 1 - math.floor(math.log10(size))))


def percent(p: float) -> str:
    """A probability in percent with three digits, more where it would round to 100 %."""
    if p in (0, 1):
        return f"{100 * p:.0f}%"
    if p < 1e-5:
        return _scientific(p, 2)
    whole = 100 * p
    if p > 1.5:  # only a file that lies says so, and it is shown
        return f"{significant(whole, 3)}%"
    if whole > 99.94:
        gap = abs(1 - p) * 100
        return f"{_fixed(whole, min(14, 1 + math.ceil(-math.log10(gap))))}%"
    return f"{significant(whole, 3)}%"


def plain(x: float) -> str:
    """A setting as JavaScript writes it: 0.8, 20, 0.00001, 1e-7."""
    if x == int(x):
        return str(int(x))
    if abs(x) >= 1e-6:
        return str(np.format_float_positional(x, trim="-"))
    mantissa, exponent = repr(x).split("e")
    return f"{mantissa}e{int(exponent)}"


def unit(x: float) -> str:
    """A running sum between 0 and 1: five places, more where it would round to 0 or 1."""
    if x in (0, 1):
        return f"{x:.0f}"
    shown = (_fixed(x, places) for places in range(5, 17))
    return next((text for text in shown if float(text) not in (0, 1)), repr(x))


def escape(text: str) -> str:
    """`text` as itself for Plotly, which reads tags, entities and TeX in every label."""
    for sign, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("$", "&#36;")):
        text = text.replace(sign, entity)
    return text


def marks(text: str) -> list[tuple[str, str]]:
    """`text` as runs (kind: text, sign or escape; the characters to show).

    Unlike the page, joiners inside an emoji are escaped too: they need tables that Python lacks.
    """
    runs: list[tuple[str, str]] = []
    for c in text:
        category = unicodedata.category(c)
        if c in _SIGNS:
            run = ("sign", _SIGNS[c])
        elif category[0] in "CZ" or _ODD.match(c):
            run = ("escape", f"‹U+{ord(c):04X}›")
        elif category[0] == "M" and (not runs or runs[-1][0] != "text"):
            run = ("text", f"◌{c}")
        else:
            run = ("text", c)
        if runs and runs[-1][0] == run[0]:
            runs[-1] = (run[0], runs[-1][1] + run[1])
        else:
            runs.append(run)
    return runs


def label(text: str, most: int) -> str:
    """`text` for a Plotly label: marked, at most `most` columns wide, isolated and escaped."""
    out, used = [], 0
    for kind, run in marks(text):
        part = ""
        for c in run:
            used += 2 if _WIDE.match(c) else 1
            if used > most:
                break
            part += c
        out.append(_FAINT.format(escape(part)) if kind != "text" and part else escape(part))
        if used > most:
            out.append("…")
            break
    return f"{_ISOLATE}{''.join(out)}{_END_ISOLATE}"


def decoded(raw: bytes) -> tuple[str | None, int]:
    """(the text of `raw`, 0), or (None, bytes still missing), or (None, 0) for stray bytes."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        text = decoder.decode(raw)
    except UnicodeDecodeError:
        return None, 0
    begun = decoder.getstate()[0]
    if not begun:
        return text, 0
    if begun[0] == 0xED and len(begun) > 1 and begun[1] > 0x9F:
        return None, 0  # half of a surrogate, which Python's decoder only refuses when whole
    size = 2 if begun[0] < 0xE0 else 3 if begun[0] < 0xF0 else 4
    return None, size - len(begun)


def piece(raw: bytes, held: bytes, most: int) -> str:
    """A token for a label: its text; else its bytes and, after the bytes `held` before it, the
    character that they complete or "+k", the bytes still needed."""
    alone, missing = decoded(raw)
    if alone is not None:
        return label(alone, most)
    together, more = decoded(held + raw)
    shown = f"⟨{raw.hex(' ')}⟩"
    if together is not None:
        return f"{escape(shown)} → {label(together, most)}"
    return escape(f"{shown} +{more or missing}" if more or missing else shown)
