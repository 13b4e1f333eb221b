"""A pair of prompts to a `.pair.json.gz` file and back, equal to the bit.

The keys are the field names of `inspection.pair`, plus `schema` and `checksum`; what follows from
the two traces (which tokens differ) is not written. Traces as in their own files, arrays exact
(`inspection.packed`), bytes hex. Reading trusts nothing. The checksum is over the content in one
canonical spelling; it tells damage and careless edits, and is no signature.
"""

from __future__ import annotations

import dataclasses
import re
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from playground import store
from playground.inspection import same_model
from playground.inspection.experiment import Contrast
from playground.inspection.packed import pack_arrays
from playground.inspection.pair import (
    PAIR_SCHEMA,
    NextTokens,
    Pair,
    Side,
    differing,
    named_by,
    prompt_ids,
)
from playground.store import fields, files, read, read_inside, strict
from playground.store.arrays import Arrays, Limit
from playground.store.fields import fail, instance, within
from playground.store.read import MAX_ENTROPY
from playground.store.read_layer import MAX_P
from playground.store.read_row import check_schema
from playground.trace import Trace

MAX_BYTES = 16 * 1024 * 1024
_PARTS = tuple(f.name for f in dataclasses.fields(Pair))
_OF_SIDE = tuple(f.name for f in dataclasses.fields(Side) if f.name != "differ")


class LoadedPair(NamedTuple):
    """intact: the content is what the file's checksum says it is."""

    pair: Pair
    intact: bool


def dumps(pair: Pair) -> bytes:
    """`pair` as UTF-8 JSON, not compressed; the same pair always makes the same bytes."""
    content = {
        "schema": PAIR_SCHEMA,
        "a": _side(pair.a),
        "b": _side(pair.b),
        "contrast": pack_arrays(pair.contrast),
        "next": pack_arrays(pair.next),
        "missing": [dataclasses.asdict(m) for m in pair.missing],
        "pieces": {str(i): raw.hex() for i, raw in pair.pieces.items()},
        "special": sorted(pair.special),
    }
    return files.sealed(content)


def loads(data: bytes, *, max_bytes: int = MAX_BYTES) -> LoadedPair:
    """The pair in `data`, which may be gzip. Raises PlaygroundError, one sentence."""
    value = strict.parse(data, max_bytes)
    pair = _pair(value)
    return LoadedPair(pair, files.intact(value))


def save(pair: Pair, path: str | Path) -> None:
    """Write `pair` to `path`, whole or not at all. Raises PlaygroundError."""
    files.write(Path(path), dumps(pair))


def load(path: str | Path, *, max_bytes: int = MAX_BYTES) -> LoadedPair:
    """The pair in the file `path`. Raises PlaygroundError."""
    return loads(files.read(Path(path), max_bytes), max_bytes=max_bytes)


def _side(side: Side) -> dict[str, Any]:
    plain = {"trace": store.to_json(side.trace), **pack_arrays(side)}
    del plain["differ"]
    return plain


# ---- reading ----


def _pair(data: Any) -> Pair:
    check_schema(data, PAIR_SCHEMA)
    top = fields.record(data, "", ("schema", "checksum", *_PARTS))
    fields.pattern(top["checksum"], "checksum", shape=re.compile("[0-9a-f]{64}"))
    traces = [_trace(top[name], name) for name in ("a", "b")]
    model = traces[0].model
    if not same_model(model, traces[1].model):
        fail("error.trace_contradiction", "b.trace.model", other="a.trace.model")
    differ = differing(*map(prompt_ids, traces))
    if not len(differ[0]) and not len(differ[1]):
        fail("error.trace_contradiction", "b.trace.prompt", other="a.trace.prompt")
    arrays = Arrays({"L": model.n_layers, "H": model.n_heads})
    ids, ranks, probs = Limit(0, model.vocab_rows - 1), Limit(1, model.vocab_rows), Limit(0, MAX_P)
    pieces = read_inside.pieces_of(top["pieces"], "pieces", model)
    found = instance(
        Pair,
        a=partial(_read_side, arrays=arrays, trace=traces[0], differ=differ[0]),
        b=partial(_read_side, arrays=arrays, trace=traces[1], differ=differ[1]),
        contrast=instance(
            Contrast, **arrays.of(Contrast, cosine=Limit(-1.001, 1.001), distance=Limit(0, 2.001))
        ),
        next=instance(
            NextTokens,
            **arrays.of(NextTokens, ids=ids, a=probs, b=probs, rank_a=ranks, rank_b=ranks),
        ),
        missing=fields.many(read_inside.missing_part, limit=16),
        pieces=lambda value, path: pieces,
        special=partial(read_inside.special_of, pieces=pieces),
    )({name: top[name] for name in _PARTS}, "")
    _agree(found)
    return found


def _trace(value: Any, path: str) -> Trace:
    got = fields.record(value, path, _OF_SIDE)
    trace = read.trace(got["trace"])
    if not trace.steps:
        fail("error.trace_empty", within(path, "trace.steps"))
    return trace


def _read_side(value: Any, path: str, *, arrays: Arrays, trace: Trace, differ: Any) -> Side:
    ids, probs = Limit(0, trace.model.vocab_rows - 1), Limit(0, MAX_P)
    # How many rows a lens has and how many tokens it lists is each side's own.
    readers = arrays.apart("RKW").of(
        Side, reads=Limit(0, MAX_P, optional=True), layers=Limit(0, trace.model.n_layers), ids=ids,
        probs=probs, entropy_bits=Limit(0, MAX_ENTROPY),
    )  # fmt: skip
    readers |= {"trace": lambda value, path: trace, "differ": lambda value, path: differ}
    side = instance(Side, **readers)({**value, "differ": None}, path)
    if side.reads is not None and not len(differ):
        fail("error.trace_contradiction", within(path, "reads"), other=within(path, "trace.prompt"))
    if side.layers[-1] != trace.model.n_layers or (np.diff(side.layers) < 1).any():
        fail("error.trace_contradiction", within(path, "layers"), other="model.n_layers")
    return side


def _agree(pair: Pair) -> None:
    """Every token that is named has its bytes, and they are the same everywhere."""
    if len(np.unique(pair.next.ids)) != len(pair.next.ids):
        fail("error.trace_contradiction", "next.ids", other="next.ids")
    named = named_by(pair.a) | named_by(pair.b) | set(pair.next.ids.tolist())
    for token_id in sorted(named - pair.pieces.keys()):
        fail("error.trace_missing", "pieces", name=token_id)
    for name, side in (("a", pair.a), ("b", pair.b)):
        for token in (*side.trace.prompt, *(step.token for step in side.trace.steps)):
            if pair.pieces[token.id] != token.raw or (token.id in pair.special) != token.special:
                fail("error.trace_contradiction", f"pieces.{token.id}", other=f"{name}.trace")
