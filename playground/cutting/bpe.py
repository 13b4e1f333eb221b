"""Byte pair encoding of one word, one merge at a time, by the tokenizer's own learnt list."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from playground.tokenlab import Merge, Story

Pair = tuple[str, str]


class Bpe:
    """The model of a BPE tokenizer as its JSON says it (`tokenizers`, models/bpe/model.rs)."""

    def __init__(self, model: Mapping[str, object]) -> None:
        self._vocab: Mapping[str, int] = model["vocab"]  # type: ignore[assignment]
        merges: list[Pair] = model["merges"]  # type: ignore[assignment]
        self._ranks: dict[Pair, int] = {}
        for rank, (left, right) in enumerate(merges):
            self._ranks[left, right] = rank  # the last of equals counts, as in the library's map
        self._prefix = str(model.get("continuing_subword_prefix") or "")
        self._suffix = str(model.get("end_of_word_suffix") or "")
        self._unknown = model.get("unk_token")
        self._fuse = bool(model.get("fuse_unk"))
        self._bytes = bool(model.get("byte_fallback"))
        self._whole = bool(model.get("ignore_merges"))

    def rank(self, left: str, right: str) -> int | None:
        """The place of a merge in the learnt list, None where there is no such merge."""
        return self._ranks.get((left, right))

    def story(self, written: str) -> Story:
        """How `written` (a word as the pre-tokenizer leaves it) becomes pieces."""
        if self._whole and written in self._vocab:
            return self._told(written, [written], (), [written], True, ())
        symbols, unknown = self._symbols(written)
        parts, merges = list(symbols), []
        ranks = [self._ranks.get(pair) for pair in pairwise(parts)]
        while True:
            known = [(rank, at) for at, rank in enumerate(ranks) if rank is not None]
            if not known:
                break
            rank, at = min(known)  # the earliest learnt, the leftmost of equals
            left, right = parts[at : at + 2]
            merges.append(Merge(rank, at, left, right))
            parts[at : at + 2] = [left + right.removeprefix(self._prefix)]
            ranks[at : at + 1] = []
            for i in (at - 1, at):
                if 0 <= i < len(ranks):
                    ranks[i] = self._ranks.get((parts[i], parts[i + 1]))
        return self._told(written, symbols, tuple(merges), parts, False, unknown)

    def _symbols(self, written: str) -> tuple[list[str], tuple[int, ...]]:
        symbols: list[str] = []
        unknown: list[int] = []
        last = len(written) - 1
        for i, char in enumerate(written):
            symbol = char
            if i and self._prefix:
                symbol = self._prefix + symbol
            if i == last and self._suffix:
                symbol += self._suffix
            if symbol in self._vocab:
                symbols.append(symbol)
                continue
            pieces = [f"<0x{byte:02X}>" for byte in symbol.encode()]
            if self._bytes and all(piece in self._vocab for piece in pieces):
                symbols += pieces
            elif isinstance(self._unknown, str):
                if self._fuse and unknown and unknown[-1] == len(symbols) - 1:
                    continue
                unknown.append(len(symbols))
                symbols.append(self._unknown)
            # Without an unknown token the library drops what it has no symbol for.
        return symbols, tuple(unknown)

    def _told(
        self,
        written: str,
        symbols: list[str],
        merges: tuple[Merge, ...],
        pieces: list[str],
        whole: bool,
        unknown: tuple[int, ...],
    ) -> Story:
        ids = tuple(self._vocab[piece] for piece in pieces)
        return Story(
            "bpe", written, tuple(symbols), merges, tuple(pieces), ids, whole, None, unknown
        )
