"""A text to the byte: character, code point, bytes, pieces, ids, and what was lost or rewritten."""

from __future__ import annotations

import codecs
from collections.abc import Sequence

from playground.tokenlab import Ledger, LedgerPiece, PieceKind, Rewrite
from playground.tokens import Piece, Vocabulary

Held = tuple[int, int, bool]
WHOLE: Held = (0, 0, False)


def ledger(vocabulary: Vocabulary, text: str, *, control: bool = False) -> Ledger:
    """The ledger of `text` (no lone surrogates).

    control: control text becomes the tokens it names; else it stays plain text.
    """
    pieces = vocabulary.encode(text, control=control)
    normalised = vocabulary.normalised(text)
    first = [-1] * len(text)
    for i in reversed(range(len(pieces))):
        _, start, end = pieces[i]
        if end - start == 1:
            first[start] = i
        else:
            first[start:end] = [i] * (end - start)
    found = _pieces(vocabulary, pieces)
    joined = b"".join([piece.raw for piece in found if piece.kind != "space"])
    rewrites = tuple(
        Rewrite(start, end, vocabulary.normalised(text[start:end]))
        for start, end in vocabulary.rewritten(text)
    )
    return Ledger(
        text, normalised, rewrites, found, tuple(first), _lost(vocabulary, text, first),
        joined == normalised.encode(),
    )  # fmt: skip


def _lost(vocabulary: Vocabulary, text: str, first: Sequence[int]) -> tuple[int, ...]:
    """Places of characters that no piece covers, or that have a byte without a piece."""
    missing = set(vocabulary.lost_bytes(text)) if vocabulary.decoder.byte_level else set()
    if not missing:
        return tuple(i for i, at in enumerate(first) if at < 0) if -1 in first else ()
    lacking = {
        char for char in set(text) if not missing.isdisjoint(vocabulary.normalised(char).encode())
    }
    return tuple(i for i, char in enumerate(text) if first[i] < 0 or char in lacking)


def _pieces(vocabulary: Vocabulary, pieces: Sequence[Piece]) -> tuple[LedgerPiece, ...]:
    found: list[LedgerPiece] = []
    utf8 = codecs.getincrementaldecoder("utf-8")("strict")
    # Of each id once: its spelling, its bytes, what it is, and whether it is whole characters.
    known: dict[int, tuple[str, bytes, PieceKind, bool]] = {}
    holds = False
    for i, start, end in pieces:
        facts = known.get(i)
        if facts is None:
            raw = vocabulary.raw(i) if found else vocabulary.opening(i)
            facts = vocabulary.written(i), raw, _kind(vocabulary, i), _whole(raw)
            if found:
                known[i] = facts
        written, raw, kind, whole = facts
        if whole and not holds:
            before, missing, stray = WHOLE
        else:
            before, missing, stray = _held(utf8, raw)
            holds = missing > 0
        if start == end and kind in ("text", "byte") and not raw.strip():
            kind = "space"
        found.append(LedgerPiece(i, written, raw, start, end, kind, before, missing, stray))
    return tuple(found)


def _whole(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


def _held(utf8: codecs.IncrementalDecoder, raw: bytes) -> Held:
    """(bytes held before, bytes needed after, whether `raw` can not go on from there)."""
    before = len(utf8.getstate()[0])
    try:
        utf8.decode(raw)
    except UnicodeDecodeError:
        utf8.reset()
        return before, 0, True
    held = utf8.getstate()[0]
    return before, _size(held[0]) - len(held) if held else 0, False


def _size(lead: int) -> int:
    """Bytes of the character that begins with `lead`."""
    return 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4


def _kind(vocabulary: Vocabulary, token_id: int) -> PieceKind:
    if token_id == vocabulary.unknown:  # first: it is often an added token as well
        return "unknown"
    if vocabulary.added(token_id):
        return "added"
    if vocabulary.decoder.byte_pieces and vocabulary.written(token_id).startswith("<0x"):
        return "byte"
    return "text"
