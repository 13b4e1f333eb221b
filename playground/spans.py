"""Which characters a piece covers, where the tokenizer's own offsets do not say it.

They lose characters where its normaliser joins some: of `e` and a combining accent (NFC: one
`é`) they name the first alone. And they slip where its vocabulary lacks a byte: what follows
in the same word is counted from the wrong place.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from tokenizers import normalizers


def text_steps(normalizer: Any) -> Any | None:
    """The steps of `normalizer` that change a text; None where there is none.

    Left out are those that only write spaces in SentencePiece's way (`▁`): pieces are read back
    with spaces.
    """
    if normalizer is None:
        return None
    if isinstance(normalizer, normalizers.Sequence):
        steps = [normalizer[i] for i in range(len(normalizer))]
    else:
        steps = [normalizer]
    steps = [step for step in steps if not _writes_spaces(step)]
    return normalizers.Sequence(steps) if steps else None


def _writes_spaces(step: Any) -> bool:
    state: dict[str, Any] = json.loads(step.__getstate__())
    blank = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
    return state == blank or state["type"] == "Prepend"


def rewritten(text: str, normalizer: Any) -> list[tuple[int, int]]:
    """The groups (start, end) of characters that `normalizer` rewrites together.

    A group ends where the next character neither is a combining mark nor joins with what is
    before it. Where the groups one by one do not give the normalised text, there is one group:
    the whole text.
    """
    # A text has few characters and pairs of them that differ; long rows of marks are not kept.
    kept = cache(normalizer.normalize_str)

    def read(part: str) -> str:
        return str(kept(part) if len(part) < 8 else normalizer.normalize_str(part))

    groups, parts, start = [], [], 0
    while start < len(text):
        end, made = start + 1, read(text[start])
        while end < len(text):
            longer = read(text[start : end + 1])
            if not unicodedata.combining(text[end]) and longer == made + read(text[end]):
                break
            end, made = end + 1, longer
        if made != text[start:end]:
            groups.append((start, end))
        parts.append(made)
        start = end
    whole = normalizer.normalize_str(text)
    return groups if "".join(parts) == whole else [(0, len(text))]


def widened(
    spans: Iterable[tuple[int, int]], groups: Iterable[tuple[int, int]]
) -> list[tuple[int, int]]:
    """`spans`, each over the whole of every group that it touches."""
    groups = list(groups)
    if not groups:
        return list(spans)
    of = {i: group for group in groups for i in range(*group)}
    return [
        (min(start, of.get(start, (start,))[0]), max(end, of.get(end - 1, (0, end))[1]))
        for start, end in spans
    ]


def walked(
    raws: Iterable[bytes], text: str, groups: list[tuple[int, int]], normalizer: Any, lost: bytes
) -> list[tuple[int, int]]:
    """The characters of `text` that hold each of the byte pieces `raws`, found byte by byte.

    lost: the bytes that no piece stands for; they are passed over. A space that the tokenizer
    put before the text belongs to no character.
    """

    def places() -> Iterator[tuple[int, int, int]]:
        starts, at = dict(groups), 0
        while at < len(text):
            end = starts.get(at, at + 1)
            made = text[at:end] if at not in starts else normalizer.normalize_str(text[at:end])
            yield from ((byte, at, end) for byte in made.encode() if byte not in lost)
            at = end

    place = list(places())
    spans, at = [], 0
    for raw in raws:
        put_in = raw[:1] == b" " and at == 0 and place[:1] and place[0][0] != raw[0]
        n = len(raw) - bool(put_in)
        start = place[at][1] if at < len(place) else len(text)
        spans.append((start, place[at + n - 1][2] if n else start))
        at += n
    return spans
