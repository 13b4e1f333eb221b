"""`tokens --bytes`: character, code point, bytes, piece and id, side by side."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from playground.cli.show import emit, emit_json, piece, table
from playground.cutting.ledger import ledger
from playground.text import say
from playground.tokenlab import Ledger, LedgerPiece
from playground.tokens import Vocabulary
from playground.views import tokenlab as views

COLUMNS = (
    "place", "character", "code_point", "utf8", "piece", "id", "written", "bytes", "note",
)  # fmt: skip
NONE = [""] * 4


def show(vocabulary: Vocabulary, text: str, *, as_json: bool, lang: str) -> None:
    """Print the ledger of `text` (no lone surrogates)."""
    found = ledger(vocabulary, text)
    if as_json:
        emit_json(views.ledger_payload(found), indent=None)
        return
    for change in found.rewrites:
        emit(
            say(
                lang, "cli.ledger.rewrite", start=change.start, end=change.end,
                was=code_points(text[change.start : change.end]), now=code_points(change.into),
            )
        )  # fmt: skip
    if found.rewrites:
        emit()
    head = [say(lang, f"cli.ledger.{name}") for name in COLUMNS]
    emit(table(head, _rows(found, lang), left=(1, 2, 3, 6, 7, 8)))
    emit()
    emit(
        say(
            lang, "cli.ledger.counts", characters=len(text), bytes=len(text.encode()),
            tokens=len(found.pieces),
        )
    )  # fmt: skip
    if found.lost:
        places = " ".join(map(str, found.lost))
        emit(say(lang, "cli.ledger.lost", n=len(found.lost), places=places))
    emit(say(lang, "cli.ledger.joined" if found.joined else "cli.ledger.parted"))


def code_points(text: str) -> str:
    return " ".join(f"U+{ord(char):04X}" for char in text)


def _rows(found: Ledger, lang: str) -> Iterator[list[str]]:
    """One line for each pair of a character and a piece that covers it; what goes on is blank."""
    told = 0  # characters that have had their line
    for k, one in enumerate(found.pieces):
        while told < one.start:
            yield _character(found, told) + NONE + [say(lang, "cli.ledger.note.lost")]
            told += 1
        cells = [str(k), str(one.id), piece(one.written), one.raw.hex(" ")]
        note = _note(one, lang)
        fresh = range(max(told, one.start), one.end)
        for n, at in enumerate(fresh):
            lost = say(lang, "cli.ledger.note.lost") if at in found.lost else ""
            yield _character(found, at) + (cells if n == 0 else NONE) + [lost or note * (n == 0)]
        if not fresh:
            yield ["", "", "", "", *cells, note]
        told = max(told, one.end)
    for at in range(told, len(found.text)):
        yield _character(found, at) + NONE + [say(lang, "cli.ledger.note.lost")]


def _character(found: Ledger, at: int) -> list[str]:
    char = found.text[at]
    # A mark that belongs on the character before gets a circle to stand on.
    shown = piece("◌" * bool(unicodedata.combining(char)) + char)
    return [str(at), shown, code_points(char), char.encode().hex(" ")]


def _note(one: LedgerPiece, lang: str) -> str:
    notes = [] if one.kind == "text" else [say(lang, f"cli.ledger.kind.{one.kind}")]
    if one.stray:
        notes.append(say(lang, "cli.ledger.note.stray"))
    elif one.missing:
        key = "cli.ledger.note.goes_on" if one.before else "cli.ledger.note.missing"
        key += ".one" if one.missing == 1 else ""
        notes.append(say(lang, key, n=one.missing))
    elif one.before:
        notes.append(say(lang, "cli.ledger.note.ends"))
    return "; ".join(notes)
