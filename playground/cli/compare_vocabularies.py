"""`tokens --compare M1,M2,…`: several vocabularies on one text, aligned by its characters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from playground.cli.show import emit, emit_json, piece, table
from playground.cutting.comparing import compare
from playground.text import say
from playground.tokenlab import Column, Comparison
from playground.trace import piece_text
from playground.views import tokenlab as views
from playground.vocabularies import Tokenizers


def show(names: Sequence[str], text: str, *, as_json: bool, lang: str) -> None:
    """Print how each vocabulary cuts `text` (no lone surrogates). Raises PlaygroundError for a
    name that can not be had."""
    found = compare(Tokenizers(free=True).readers(names), text)
    if as_json:
        emit_json(views.compare_payload(found, names), indent=None)
        return
    head = [say(lang, f"cli.compare.{name}") for name in ("name", "size", "tokens", "rate", "lost")]
    emit(table(head, [_counts(found, column) for column in found.columns], left=(0, 4)))
    emit()
    stretches = list(_stretches(found))
    head = [say(lang, "cli.compare.from"), say(lang, "cli.compare.text"), *names, ""]
    emit(table(head, [_row(found, *ends) for ends in stretches], left=range(1, len(names) + 3)))
    emit()
    apart = sum(_differs(found, *ends) for ends in stretches)
    emit(say(lang, "cli.compare.counts", n=len(stretches), apart=apart, bytes=found.n_bytes))


def _counts(found: Comparison, column: Column) -> list[str]:
    n = len(column.ids)
    rate = f"{found.n_bytes / n:.2f}" if n else "–"
    return [column.name, str(column.size), str(n), rate, column.lost.hex(" ")]


def _stretches(found: Comparison) -> Iterator[tuple[int, int]]:
    """The text between two places where every vocabulary ends a piece."""
    return pairwise((0, *found.shared, len(found.text))) if found.text else iter(())


def _row(found: Comparison, start: int, end: int) -> list[str]:
    cells = [" ".join(_shown(raw) for raw in _within(c, start, end)) for c in found.columns]
    mark = "≠" if _differs(found, start, end) else ""
    return [str(start), piece(found.text[start:end]), *cells, mark]


def _within(column: Column, start: int, end: int) -> list[bytes]:
    """The pieces of one stretch; one of no characters (a space put in) stands before the next."""
    return [
        raw
        for raw, (a, b) in zip(column.raw, column.spans, strict=True)
        if start <= a < end and b <= end
    ]


def _differs(found: Comparison, start: int, end: int) -> bool:
    return len({tuple(_within(column, start, end)) for column in found.columns}) > 1


def _shown(raw: bytes) -> str:
    return f"[{piece(piece_text(raw))}]"
