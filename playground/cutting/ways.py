"""Four ways to cut a text: words, characters, subwords, bytes, each by a real tool.

Words: Han by jieba (a dictionary and a hidden Markov model), everything else at the word
boundaries of Unicode (UAX #29). Characters: extended grapheme clusters of the same standard.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Any

import regex

from playground.tokenlab import FourWays
from playground.tokens import Vocabulary

_HAN = regex.compile(r"[\p{Script=Han}々〇]+")
_WORDS = regex.compile(r"(?V1w)\b")
_CLUSTER = regex.compile(r"\X")
_lock = threading.Lock()


def four_ways(vocabulary: Vocabulary, text: str) -> FourWays:
    """`text` (no lone surrogates) in words, characters, pieces and bytes."""
    pieces = vocabulary.encode(text)
    return FourWays(
        text,
        tuple(words(text)),
        tuple(found.span() for found in _CLUSTER.finditer(text)),
        tuple((piece.id, piece.start, piece.end) for piece in pieces),
        tuple(vocabulary.raw(piece.id) for piece in pieces),
        len(text.encode()),
    )


def words(text: str) -> Iterator[tuple[int, int]]:
    """The spans of all words and of what stands between them."""
    at = 0
    for han in _HAN.finditer(text):
        yield from _boundaries(text, at, han.start())
        start = han.start()
        for word in _jieba().lcut(han[0]):
            yield start, start + len(word)
            start += len(word)
        at = han.end()
    yield from _boundaries(text, at, len(text))


def _boundaries(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    stretch = text[start:end]
    cuts = sorted({0, len(stretch), *(found.start() for found in _WORDS.finditer(stretch))})
    for a, b in pairwise(cuts):
        yield start + a, start + b


@cache
def _tokenizer() -> Any:
    import jieba

    jieba.setLogLevel(logging.WARNING)
    found = jieba.Tokenizer()
    found.initialize()  # reads its dictionary, half a second
    return found


def _jieba() -> Any:
    with _lock:  # two threads at once would read it twice
        return _tokenizer()
