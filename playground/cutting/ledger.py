"""A text to the byte: character, code point, bytes, pieces, ids, and what was lost or rewritten."""

from __future__ import annotations

import codecs
from collections.abc import Sequence

from playground.tokenlab import Ledger, LedgerPiece, PieceKind, Rewrite
from playground.tokens import Piece, Vocabulary


def ledger(vocabulary: Vocabulary, text: str, *, control: bool = False) -> Ledger:
    """The ledger of `text` (no lone surrogates).

    control: control text becomes the tokens it names; else it stays plain text.
    """
    pieces = vocabulary.encode(text, control=control)
    normalised = vocabulary.normalised(text)
    first = [-1] * len(text)
    for i in reversed(range(len(pieces))):
        for at in range(pieces[i].start, pieces[i].end):
            first[at] = i
    found = _pieces(vocabulary, pieces)
    joined = b"".join(piece.raw for piece in found if piece.kind != "space")
    rewrites = tuple(
        Rewrite(start, end, vocabulary.normalised(text[start:end]))
        for start, end in vocabulary.rewritten(text)
    )
    missing = vocabulary.lost_bytes(text)
    lost = tuple(
        i for i, char in enumerate(text)
        if first[i] < 0
        or (missing and set(vocabulary.normalised(char).encode()) & set(missing)
            and vocabulary.decoder.byte_level)
    )  # fmt: skip
    return Ledger(
        text, normalised, rewrites, found, tuple(first), lost, joined == normalised.encode()
    )


def _pieces(vocabulary: Vocabulary, pieces: Sequence[Piece]) -> tuple[LedgerPiece, ...]:
    found = []
    utf8 = codecs.getincrementaldecoder("utf-8")("strict")
    for i, piece in enumerate(pieces):
        raw = vocabulary.opening(piece.id) if i == 0 else vocabulary.raw(piece.id)
        before, missing, stray = _held(utf8, raw)
        found.append(
            LedgerPiece(
                piece.id, vocabulary.written(piece.id), raw, piece.start, piece.end,
                _kind(vocabulary, piece, raw), before, missing, stray,
            )
        )  # fmt: skip
    return tuple(found)


def _held(utf8: codecs.IncrementalDecoder, raw: bytes) -> tuple[int, int, bool]:
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


def _kind(vocabulary: Vocabulary, piece: Piece, raw: bytes) -> PieceKind:
    if vocabulary.added(piece.id):
        return "added"
    if piece.id == vocabulary.unknown:
        return "unknown"
    if piece.start == piece.end and raw.strip() == b"":
        return "space"
    if vocabulary.decoder.byte_pieces and vocabulary.written(piece.id).startswith("<0x"):
        return "byte"
    return "text"
