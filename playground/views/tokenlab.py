"""What the tokenizer laboratory finds, as the browser gets it: plain JSON, one list per column.

Bytes travel as hex, places as indices of code points (a browser's strings count otherwise).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from playground.tokenlab import (
    Comparison,
    Cutting,
    Form,
    FourWays,
    LanguageCost,
    Ledger,
    Rule,
    Story,
    Tokenizer,
    Training,
)


def lab_payload(
    tokenizers: Sequence[Tokenizer], encodings: Sequence[str], default: str, start: Sequence[str]
) -> dict[str, Any]:
    """What can be asked for by name. size: tokens that it knows, null before it was read.

    default: the one to begin with; start: those to compare first.
    """
    return {
        "tokenizers": [{"name": one.name, "size": one.size} for one in tokenizers],
        "tiktoken": list(encodings),
        "default": default,
        "start": list(start),
    }


def cut_payload(found: Cutting) -> dict[str, Any]:
    """words: [start, end, written, place in `rules` or -1]."""
    places: dict[Rule, int] = {}
    words = []
    for word in found.words:
        at = -1 if word.rule is None else places.setdefault(word.rule, len(places))
        words.append([word.start, word.end, word.written, at])
    return {
        "text": found.text,
        "normalised": found.normalised,
        "kind": found.kind,
        "merges": found.merges,
        "exact": found.exact,
        "ids": list(found.ids),
        "rules": [
            {"step": rule.step, "pattern": rule.pattern, "alternative": rule.alternative}
            for rule in places
        ],
        "words": words,
    }


def story_payload(found: Story, raw: Sequence[bytes]) -> dict[str, Any]:
    """raw: bytes of each piece. merges: [rank, at, left, right]."""
    return {
        "kind": found.kind,
        "written": found.written,
        "symbols": list(found.symbols),
        "merges": [[m.rank, m.at, m.left, m.right] for m in found.merges],
        "pieces": list(found.pieces),
        "ids": list(found.ids),
        "whole": found.whole,
        "scores": None if found.scores is None else list(found.scores),
        "unknown": list(found.unknown),
        "hexes": [piece.hex() for piece in raw],
    }


def ledger_payload(found: Ledger) -> dict[str, Any]:
    pieces = found.pieces
    return {
        "text": found.text,
        "normalised": found.normalised,
        "rewrites": [[r.start, r.end, r.into] for r in found.rewrites],
        "ids": [p.id for p in pieces],
        "written": [p.written for p in pieces],
        "hexes": [p.raw.hex() for p in pieces],
        "spans": [[p.start, p.end] for p in pieces],
        "kinds": [p.kind for p in pieces],
        "before": [p.before for p in pieces],
        "missing": [p.missing for p in pieces],
        "stray": [p.stray for p in pieces],
        "first": list(found.first),
        "lost": list(found.lost),
        "joined": found.joined,
    }


def ways_payload(found: FourWays) -> dict[str, Any]:
    return {
        "text": found.text,
        "words": [list(span) for span in found.words],
        "characters": [list(span) for span in found.characters],
        "pieces": [list(piece) for piece in found.pieces],
        "hexes": [piece.hex() for piece in found.raw],
        "n_bytes": found.n_bytes,
    }


def compare_payload(found: Comparison, names: Sequence[str]) -> dict[str, Any]:
    """names: what each vocabulary is called here, in order."""
    return {
        "text": found.text,
        "n_bytes": found.n_bytes,
        "columns": [
            {
                "name": name,
                "size": column.size,
                "ids": list(column.ids),
                "hexes": [piece.hex() for piece in column.raw],
                "spans": [list(span) for span in column.spans],
                "ends": list(column.ends),
                "lost": column.lost.hex(),
            }
            for name, column in zip(names, found.columns, strict=True)
        ],
        "shared": list(found.shared),
    }


def languages_payload(
    rows: Sequence[LanguageCost], names: Sequence[str], source: str
) -> dict[str, Any]:
    """names: of the vocabularies, in the order of each row's counts. source: of the sentences."""
    return {
        "models": list(names),
        "rows": [
            {
                "code": row.code,
                "text": row.text,
                "n_characters": row.n_characters,
                "n_bytes": row.n_bytes,
                "counts": list(row.counts),
            }
            for row in rows
        ],
        "source": source,
    }


def train_payload(found: Training) -> dict[str, Any]:
    """merges: [left, right, count, tokens]."""
    return {
        "alphabet": found.alphabet,
        "start": found.start,
        "n_bytes": found.n_bytes,
        "n_words": found.n_words,
        "merges": [[m.left, m.right, m.count, m.tokens] for m in found.merges],
    }


def form_payload(
    found: Form, tokens: Sequence[Mapping[str, Any]], error: Mapping[str, str] | None
) -> dict[str, Any]:
    """tokens: as in a trace's payload. error: the sentence in every language where the template
    refuses these messages; text and tokens are empty then."""
    return {
        "name": found.name,
        "text": found.text,
        "opens": found.opens,
        "tokens": list(tokens),
        "notes": [[key, dict(values)] for key, values in found.notes],
        "error": error,
    }
