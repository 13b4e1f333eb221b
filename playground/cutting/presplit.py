"""The words of a text: what the pre-tokenizer cuts apart before any piece is formed.

Each step of it is run by the library; which alternative of a pattern matched is found by matching
each of them alone at that place (with the `regex` module, whose `\\p{L}` and possessive forms are
those of the library's engine).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import regex
from tokenizers import PreTokenizedString, Tokenizer, pre_tokenizers

from playground.tokenlab import Rule, Word

# tokenizers' own for `ByteLevel` with `use_regex` (pre_tokenizers/byte_level.rs), GPT-2's.
GPT2_PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


def words(backend: Tokenizer, normalised: str) -> tuple[Word, ...]:
    """The words of `normalised` (a text after normalisation, without added tokens) in order."""
    found = PreTokenizedString(normalised)
    cutter: dict[tuple[int, int], Rule] = {}
    before = [(0, len(normalised))]
    for step in _steps(backend.pre_tokenizer):
        step.pre_tokenize(found)
        state = json.loads(step.__getstate__())
        spans = [(a, b) for _, (a, b), _ in _splits(found)]
        parents = iter(before)
        parent = next(parents, (0, 0))
        for span in spans:
            while span[1] > parent[1]:
                parent = next(parents, (0, len(normalised)))
            if span != parent:
                cutter[span] = _rule(state, normalised, span, parent[1])
        before = spans
    return tuple(
        Word(start, end, written, cutter.get((start, end)))
        for written, (start, end), _ in _splits(found)
    )


def _splits(found: PreTokenizedString) -> Any:
    return found.get_splits(offset_referential="original", offset_type="char")


def _steps(pre_tokenizer: Any) -> Iterator[Any]:
    if isinstance(pre_tokenizer, pre_tokenizers.Sequence):
        # It has no length of its own.
        count = len(json.loads(pre_tokenizer.__getstate__())["pretokenizers"])
        for i in range(count):
            yield from _steps(pre_tokenizer[i])
    elif pre_tokenizer is not None:
        yield pre_tokenizer


def _rule(state: dict[str, Any], text: str, span: tuple[int, int], end: int) -> Rule:
    """end: of the stretch that the step was given; a pattern sees no further."""
    pattern = None
    if state["type"] == "Split":
        pattern = state["pattern"].get("Regex") or regex.escape(state["pattern"]["String"])
    elif state["type"] == "ByteLevel" and state["use_regex"]:
        pattern = GPT2_PATTERN
    if pattern is None:
        return Rule(state["type"], None, None)
    return Rule(state["type"], pattern, _matched(pattern, text, span, end))


def _matched(pattern: str, text: str, span: tuple[int, int], end: int) -> str | None:
    for part in alternatives(pattern):
        compiled = _compiled(part)
        found = compiled.match(text, span[0], end) if compiled is not None else None
        if found is not None:
            return part if found.end() == span[1] else None
    return None


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> Any | None:
    try:
        return regex.compile(pattern)
    except regex.error:
        return None  # a form that this engine does not know: then it is not told


@lru_cache(maxsize=64)
def alternatives(pattern: str) -> tuple[str, ...]:
    """The parts of `pattern` between its outermost `|`; one group around all of it is looked
    into."""
    parts, depth, start, i, in_class = [], 0, 0, 0, False
    while i < len(pattern):
        char = pattern[i]
        if char == "\\":
            i += 1
        elif in_class:
            in_class = char != "]"
        elif char == "[":
            in_class = True
        elif char in "()":
            depth += 1 if char == "(" else -1
        elif char == "|" and depth == 0:
            parts.append(pattern[start:i])
            start = i + 1
        i += 1
    return (*parts, pattern[start:])
