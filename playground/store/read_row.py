"""JSON values to `ModelInfo` and `EmbeddingRow`, every field checked, none taken on trust.

With the readers and limits that a whole trace (`playground.store.read`) needs as well.
"""

from __future__ import annotations

import dataclasses
import re
from functools import partial
from typing import Any

import numpy as np

from playground.errors import PlaygroundError
from playground.store import fields
from playground.store.fields import fail, flag, instance, many, maybe, number, text, whole
from playground.trace import SCHEMA, EmbeddingRow, ModelInfo, Neighbours

METRICS = ("cosine", "euclidean", "dot")

MAX_NEIGHBOURS = 4096
MAX_ROWS = 4096
MAX_WIDTH = 1_000_000
MAX_RAW = 8192  # bytes of one piece of a vocabulary
MAX_VOCABULARY = 2**31 - 1
MAX_COUNT = 2**53  # the whole numbers that JavaScript can hold
MAX_FLOAT = 3.4028235e38  # the largest float32, as its shortest decimal says it

key = re.compile(r"[A-Za-z][\w.+-]{0,63}", re.ASCII)
word = partial(text, limit=4096)
count = partial(whole, high=MAX_COUNT)
piece = partial(fields.hexed, limit=MAX_RAW)
_width = partial(whole, low=1, high=MAX_WIDTH)
_table = partial(whole, low=1, high=MAX_VOCABULARY)
_figure = partial(number, low=-MAX_FLOAT, high=MAX_FLOAT)

info = instance(
    ModelInfo,
    name=word,
    source=word,
    revision=maybe(word),
    family=word,
    device=word,
    dtype=word,
    n_layers=count,
    n_heads=count,
    n_kv_heads=count,
    d_model=_width,
    d_head=count,
    d_ffn=count,
    vocab_rows=_table,
    vocab_size=_table,
    n_params=count,
    max_context=maybe(count),
    norm=word,
    tied=flag,
)


def check_schema(data: Any, known: int = SCHEMA) -> None:
    """Look at the schema number before all else: one past `known` may differ in anything."""
    if type(data) is not dict:
        fail("error.trace_object", "")
    if "schema" not in data:
        fail("error.trace_missing", "", name="schema")
    schema = whole(data["schema"], "schema", low=1)
    if schema > known:
        raise PlaygroundError("error.trace_future", schema=schema, known=known)


def lines(value: Any, path: str, *, length: int) -> list[Any]:
    """A list of exactly `length` values, not looked at yet."""
    if type(value) is not list:
        fail("error.trace_list", path)
    if len(value) != length:
        fail("error.trace_shape", path, want=length, got=len(value))
    return value


def neighbours_of(model: ModelInfo) -> fields.Reader[Neighbours]:
    names = tuple(f.name for f in dataclasses.fields(Neighbours))
    pieces = many(piece, limit=MAX_NEIGHBOURS)

    def reader(value: Any, path: str) -> Neighbours:
        got = fields.record(value, path, names)
        raw = pieces(got["raw"], f"{path}.raw")
        n, rows = len(raw), model.vocab_rows
        ranks = [
            fields.wholes(line, f"{path}.rank_in[{i}]", length=n, low=1, high=rows)
            for i, line in enumerate(lines(got["rank_in"], f"{path}.rank_in", length=len(METRICS)))
        ]
        ids = fields.wholes(got["ids"], f"{path}.ids", length=n, low=0, high=rows - 1)
        limits: dict[str, Any] = {"length": n, "low": -MAX_FLOAT, "high": MAX_FLOAT}
        return Neighbours(
            metric=fields.choice(got["metric"], f"{path}.metric", choices=METRICS),
            ids=np.array(ids, "i8"),
            raw=raw,
            score=fields.floats(got["score"], f"{path}.score", **limits),
            rank_in=np.array(ranks, "i8").reshape(len(METRICS), n),
        )

    return reader


def row(data: Any, path: str = "") -> EmbeddingRow:
    """One row of an embedding table in a JSON value. Raises PlaygroundError."""
    names = tuple(f.name for f in dataclasses.fields(EmbeddingRow))
    got = fields.record(data, path, names)
    model = info(got["model"], fields.within(path, "model"))
    values = partial(fields.floats, length=model.d_model, low=-MAX_FLOAT, high=MAX_FLOAT)
    return instance(
        EmbeddingRow,
        model=lambda value, path: model,
        id=partial(whole, high=model.vocab_rows - 1),
        raw=piece,
        special=flag,
        values=values,
        norm=_figure,
        mean=_figure,
        minimum=_figure,
        maximum=_figure,
        neighbours=many(neighbours_of(model), limit=len(METRICS)),
    )(got, path)


def rows(data: Any) -> tuple[EmbeddingRow, ...]:
    """The rows in the JSON value of a rows file. Raises PlaygroundError."""
    check_schema(data)
    top = fields.record(data, "", ("schema", "rows"))
    return many(row, limit=MAX_ROWS)(top["rows"], "rows")
