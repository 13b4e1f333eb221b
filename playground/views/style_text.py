"""Numbers as a chart shows them: what assets/js/format.js does in the page.

A rounded probability never reads as 0 or 100 % unless it is that. tests/test_view_candidates.py
holds both writings equal.
"""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Decimal

import numpy as np

_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


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
        return f"{_scientific(100 * p, 2)}%"
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
