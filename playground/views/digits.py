"""How likely each digit is as the answer to two questions, as the browser gets it."""

from __future__ import annotations

from typing import Any

from playground.inspection.digits import Beginning, Digits, Questioned
from playground.trace import Token


def digits_payload(found: Digits, *, recorded: bool, intact: bool = True) -> dict[str, Any]:
    """recorded: read from a file; intact: as its checksum says. counted: ids of each of 0 … 9."""
    return {
        "recorded": recorded,
        "intact": intact,
        "model": {"name": found.model.name, "vocab_rows": found.model.vocab_rows},
        "prefix": found.prefix,
        "counted": [list(ids) for ids in found.counted],
        "a": _questioned(found.a),
        "b": _questioned(found.b),
    }


def _questioned(found: Questioned) -> dict[str, Any]:
    return {
        "question": found.question,
        "prompt": [_token(token) for token in found.prompt],
        "first": _beginning(found.first),
        "after": _beginning(found.after),
    }


def _beginning(found: Beginning) -> dict[str, Any]:
    """given: how many of the answer's tokens were put there."""
    return {
        "given": len(found.given),
        "answer": [_token(token) for token in found.answer],
        "text": found.text,
        "finish": found.finish,
        "probs": list(found.probs),
        "best": [[c.id, c.raw.hex(), c.special, c.p] for c in found.best],
    }


def _token(token: Token) -> dict[str, Any]:
    return {
        "id": token.id, "hex": token.raw.hex(), "special": token.special, "source": token.source
    }  # fmt: skip
