"""What a model gives the ten digits, to a `letters.json.gz` file and back, equal to the bit.

The keys are the field names of `inspection.digits`, plus `schema` and `checksum`; bytes are hex.
Reading trusts nothing. The checksum is over the content in one canonical spelling; it tells
damage and careless edits, and is no signature.
"""

from __future__ import annotations

import dataclasses
import re
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from playground.inspection.digits import (
    DIGITS,
    DIGITS_SCHEMA,
    Beginning,
    Chance,
    Digits,
    Questioned,
)
from playground.store import fields, files, strict
from playground.store.fields import fail, flag, instance, many, number, text, whole, within
from playground.store.read import token_of
from playground.store.read_row import check_schema, info, piece
from playground.trace import FINISHES, ModelInfo

MAX_BYTES = 1024 * 1024
MAX_TOKENS = 1000
MAX_P = 1 + 1e-9
_PARTS = tuple(f.name for f in dataclasses.fields(Digits))


class LoadedDigits(NamedTuple):
    """intact: the content is what the file's checksum says it is."""

    digits: Digits
    intact: bool


def dumps(found: Digits) -> bytes:
    """`found` as UTF-8 JSON, not compressed; the same record always makes the same bytes."""
    content = {"schema": DIGITS_SCHEMA, **_plain(found)}
    return files.sealed(content)


def loads(data: bytes, *, max_bytes: int = MAX_BYTES) -> LoadedDigits:
    """The record in `data`, which may be gzip. Raises PlaygroundError, one sentence."""
    value = strict.parse(data, max_bytes)
    found = _digits(value)
    return LoadedDigits(found, files.intact(value))


def save(found: Digits, path: str | Path) -> None:
    """Write `found` to `path`, whole or not at all. Raises PlaygroundError."""
    files.write(Path(path), dumps(found))


def load(path: str | Path, *, max_bytes: int = MAX_BYTES) -> LoadedDigits:
    """The record in the file `path`. Raises PlaygroundError."""
    return loads(files.read(Path(path), max_bytes), max_bytes=max_bytes)


def _plain(value: Any) -> Any:
    """As JSON: records by the names of their fields, bytes as hex."""
    if dataclasses.is_dataclass(value):
        return {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return value.hex() if isinstance(value, bytes) else value


# ---- reading ----


def _digits(data: Any) -> Digits:
    check_schema(data, DIGITS_SCHEMA)
    top = fields.record(data, "", ("schema", "checksum", *_PARTS))
    fields.pattern(top["checksum"], "checksum", shape=re.compile("[0-9a-f]{64}"))
    model = info(top["model"], "model")
    token_id = partial(whole, high=model.vocab_rows - 1)
    questioned = _questioned(model)
    found = instance(
        Digits,
        model=lambda value, path: model,
        prefix=partial(text, limit=MAX_TOKENS),
        counted=many(many(token_id, limit=MAX_TOKENS), limit=len(DIGITS)),
        a=questioned,
        b=questioned,
    )({name: top[name] for name in _PARTS}, "")
    if len(found.counted) != len(DIGITS):
        fail("error.trace_shape", "counted", want=len(DIGITS), got=len(found.counted))
    if found.a.after.given != found.b.after.given:
        fail("error.trace_contradiction", "b.after.given", other="a.after.given")
    return found


def _questioned(model: ModelInfo) -> fields.Reader[Questioned]:
    token = token_of(model, fields.TEXT_LIMIT)
    token_id = partial(whole, high=model.vocab_rows - 1)
    p = partial(number, low=0, high=MAX_P)
    chance = instance(Chance, id=token_id, raw=piece, special=flag, p=p)
    begin = instance(
        Beginning,
        given=many(token_id, limit=MAX_TOKENS),
        answer=many(token, limit=MAX_TOKENS),
        text=text,
        finish=partial(fields.choice, choices=FINISHES),
        probs=many(p, limit=len(DIGITS)),
        best=many(chance, limit=MAX_TOKENS),
    )

    def beginning(value: Any, path: str) -> Beginning:
        found = begin(value, path)
        if len(found.probs) != len(DIGITS):
            where = within(path, "probs")
            fail("error.trace_shape", where, want=len(DIGITS), got=len(found.probs))
        if tuple(token.id for token in found.answer[: len(found.given)]) != found.given:
            fail("error.trace_contradiction", within(path, "given"), other=within(path, "answer"))
        return found

    read = instance(
        Questioned, question=text, prompt=many(token, limit=MAX_TOKENS), first=beginning,
        after=beginning,
    )  # fmt: skip

    def reader(value: Any, path: str) -> Questioned:
        found = read(value, path)
        if not found.prompt or found.first.given:
            empty = within(path, "first.given" if found.prompt else "prompt")
            fail("error.trace_contradiction", empty, other=within(path, "prompt"))
        return found

    return reader
