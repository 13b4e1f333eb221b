"""Bytes from anywhere to plain JSON values, strictly.

A trace file may come from a stranger. So the size is capped before anything is unpacked, and
the depth and the number of values before anything is parsed. Python's `json` alone accepts
NaN, 1e999 and duplicate keys, and answers 100,000 brackets with a RecursionError. Lone
surrogates are left to `playground.store.fields`, which sees every string.
"""

from __future__ import annotations

import json
import math
import re
import zlib
from typing import Any, NoReturn

from playground.errors import PlaygroundError

MAX_DEPTH = 16
MAX_VALUES = 4_000_000
MAX_CONTAINERS = 1_000_000
MAX_DIGITS = 40  # the longest double in shortest form has 24 characters
GZIP_MAGIC = b"\x1f\x8b"

# A string that never ends swallows the rest, so that the scan stays linear on any input.
_STRUCTURE = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)


def shown(text: str) -> str:
    """A stranger's text for use in a sentence: short, and plain ASCII."""
    return ascii(text[:40])


def parse(data: bytes, max_bytes: int) -> Any:
    """The JSON value in `data` (gzip is known by its first bytes).

    max_bytes: limit for the data as given and for the data unpacked.
    """
    if len(data) > max_bytes:
        raise PlaygroundError("error.trace_size", limit=max_bytes)
    if data.startswith(GZIP_MAGIC):
        data = _inflate(data, max_bytes)
    _scan(data)
    try:
        return json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_unique,
            parse_int=_int,
            parse_float=_float,
            parse_constant=_constant,
        )
    except (UnicodeDecodeError, json.JSONDecodeError):
        raise PlaygroundError("error.trace_json") from None


def _inflate(data: bytes, max_bytes: int) -> bytes:
    unpack = zlib.decompressobj(wbits=31)
    try:
        # One byte more than allowed is enough to know; the rest is never unpacked.
        plain = unpack.decompress(data, max_bytes + 1)
    except zlib.error:
        raise PlaygroundError("error.trace_gzip") from None
    if len(plain) > max_bytes:
        raise PlaygroundError("error.trace_size", limit=max_bytes)
    if not unpack.eof or unpack.unused_data:
        raise PlaygroundError("error.trace_gzip")
    return plain


def _scan(data: bytes) -> None:
    """Refuse before parsing what would cost too much to parse.

    Commas and brackets inside of strings are counted too: an upper bound in one quick pass.
    """
    containers = data.count(b"[") + data.count(b"{")
    if containers > MAX_CONTAINERS or data.count(b",") > MAX_VALUES:
        raise PlaygroundError("error.trace_values")
    depth = 0
    for match in _STRUCTURE.finditer(data):
        mark = match[0][:1]
        if mark in b"[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise PlaygroundError("error.trace_depth", limit=MAX_DEPTH)
        elif mark in b"]}":
            depth -= 1


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise PlaygroundError("error.trace_duplicate", name=shown(key))
            seen.add(key)
    return result


def _int(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise PlaygroundError("error.trace_number", value=shown(digits))
    return int(digits)


def _float(digits: str) -> float:
    value = float(digits) if len(digits) <= MAX_DIGITS else math.inf
    if math.isinf(value):
        raise PlaygroundError("error.trace_number", value=shown(digits))
    return value


def _constant(name: str) -> NoReturn:
    raise PlaygroundError("error.trace_number", value=shown(name))
