"""JSON values to a `Bundle`, every field checked, none taken on trust.

As `playground.store.read` for traces; beyond that every array must have the sizes that the model
and the other arrays give its axes, and every token that is named must have its bytes.
"""

from __future__ import annotations

import dataclasses
import re
from functools import partial
from typing import Any

import numpy as np

from playground.inspection import (
    INSPECTION_SCHEMA,
    Attribution,
    Gaps,
    Heads,
    Histogram,
    Inspection,
    Lens,
    Missing,
    Stream,
)
from playground.inspection.bundle import Bundle
from playground.store import fields, read_asked
from playground.store.arrays import Arrays, Limit
from playground.store.fields import fail, instance, many, maybe, number, whole, within
from playground.store.read import MAX_ENTROPY, milliseconds
from playground.store.read_layer import MAX_P, DetailReader
from playground.store.read_row import MAX_COUNT, MAX_FLOAT, check_schema, info, piece
from playground.trace import ModelInfo

PARTS = ("writes", "heads", "mid_norms", "lens")
MAX_NEURONS = 100_000
MAX_ABLATIONS = 10_000
MAX_CHECKS = 200
MAX_PIECES = 1_000_000

_COSINE = Limit(-1.001, 1.001, optional=True)
_NORMS, _SOME_NORMS = Limit(0), Limit(0, optional=True)
_trace_id = partial(fields.pattern, shape=re.compile("[0-9a-f]{16}"))
_id = re.compile("0|[1-9][0-9]{0,9}")


def bundle(data: Any) -> Bundle:
    """The bundle in a JSON value; what else `store.inside` writes beside it is not looked at.

    Raises PlaygroundError.
    """
    check_schema(data, INSPECTION_SCHEMA)
    names = tuple(f.name for f in dataclasses.fields(Bundle))
    top = fields.record(data, "", ("schema", "checksum", *names))
    inspection, arrays = _inspection(top["inspection"], "inspection")
    model, chosen = inspection.model, inspection.chosen.tolist()
    neuron = read_asked.neuron_of(arrays, model)
    ablation = read_asked.ablation_of(arrays, model, inspection.n_prompt, chosen)
    return instance(
        Bundle,
        trace_id=_trace_id,
        inspection=lambda value, path: inspection,
        weights=maybe(read_asked.weights_of(model)),
        neurons=many(neuron, limit=MAX_NEURONS),
        ablations=many(ablation, limit=MAX_ABLATIONS),
        uncached=maybe(read_asked.uncached_of(arrays)),
        checks=many(read_asked.check, limit=MAX_CHECKS),
    )({name: top[name] for name in names}, "")


def _inspection(value: Any, path: str) -> tuple[Inspection, Arrays]:
    """The inspection, and a reader for arrays beside it."""
    names = tuple(f.name for f in dataclasses.fields(Inspection))
    got = fields.record(value, path, names)
    model = _model(got["model"], within(path, "model"))
    arrays = Arrays(
        {"L": model.n_layers, "H": model.n_heads, "G": model.n_kv_heads, "D": model.d_model}
    )
    n_prompt = whole(got["n_prompt"], within(path, "n_prompt"), low=1, high=MAX_COUNT)
    ids = Limit(0, model.vocab_rows - 1)
    own = {n: read(got[n], within(path, n)) for n, read in arrays.of(
        Inspection, ids=ids, chosen=ids).items()}  # fmt: skip
    n_positions = len(own["ids"])
    if n_positions != n_prompt + len(own["chosen"]) - 1:
        fail("error.trace_contradiction", within(path, "ids"), other=within(path, "chosen"))
    pieces = pieces_of(got["pieces"], within(path, "pieces"), model)
    read = instance(
        Inspection,
        schema=whole,
        model=lambda value, path: model,
        n_prompt=lambda value, path: n_prompt,
        ids=lambda value, path: own["ids"],
        chosen=lambda value, path: own["chosen"],
        stream=_stream(arrays),
        lens=_lens(arrays, model),
        heads=maybe(_heads(arrays, model, n_positions)),
        attribution=maybe(_attribution(arrays)),
        histogram=instance(
            Histogram, **arrays.of(Histogram, counts=Limit(0, model.vocab_rows))
        ),
        details=many(DetailReader(arrays, model, n_positions), limit=model.n_layers),
        gaps=_gaps(arrays),
        missing=many(missing_part, limit=16),
        pieces=lambda value, path: pieces,
        special=partial(special_of, pieces=pieces),
        forward_ms=milliseconds,
        lens_ms=milliseconds,
    )  # fmt: skip
    found = read(got, path)
    named = {*found.ids.tolist(), *found.chosen.tolist(), *np.unique(found.lens.ids).tolist()}
    for token_id in sorted(named - pieces.keys()):
        fail("error.trace_missing", within(path, "pieces"), name=token_id)
    return found, arrays


def _model(value: Any, path: str) -> ModelInfo:
    model = info(value, path)
    for name in ("n_layers", "n_heads", "n_kv_heads", "d_ffn"):
        if getattr(model, name) < 1:
            fail("error.trace_range", within(path, name), low=1, high=MAX_COUNT)
    if model.n_heads % model.n_kv_heads:
        fail("error.trace_contradiction", within(path, "n_kv_heads"), other="n_heads")
    return model


def pieces_of(value: Any, path: str, model: ModelInfo) -> dict[int, bytes]:
    found = fields.mapping(piece, keys=_id, limit=MAX_PIECES)(value, path)
    for name in found:
        if int(name) >= model.vocab_rows:
            fail("error.trace_unknown", path, name=name)
    return {int(name): raw for name, raw in found.items()}


def special_of(value: Any, path: str, *, pieces: dict[int, bytes]) -> frozenset[int]:
    ids = many(whole, limit=MAX_PIECES)(value, path)
    if len(set(ids)) != len(ids) or not pieces.keys() >= set(ids):
        fail("error.trace_contradiction", path, other="pieces")
    return frozenset(ids)


missing_part = instance(
    Missing,
    part=partial(fields.choice, choices=PARTS),
    reason=partial(read_asked.known_text, rooms=("missing",)),
    values=read_asked.values,
)


def _stream(arrays: Arrays) -> fields.Reader[Stream]:
    return instance(Stream, **arrays.of(
        Stream, norms=_NORMS, mid_norms=_SOME_NORMS, attn_norms=_SOME_NORMS,
        ffn_norms=_SOME_NORMS, attn_cosine=_COSINE, ffn_cosine=_COSINE,
        position_rows=Limit(optional=True),
    ))  # fmt: skip


def _lens(arrays: Arrays, model: ModelInfo) -> fields.Reader[Lens]:
    probs, last = Limit(0, MAX_P), model.n_layers
    read = instance(Lens, **arrays.of(
        Lens, layers=Limit(0, last), ids=Limit(0, model.vocab_rows - 1), probs=probs, prob=probs,
        logprob=Limit(high=1e-5, minus_inf=True), rank=Limit(1, model.vocab_rows),
        entropy_bits=Limit(0, MAX_ENTROPY), settled=Limit(-1, last, optional=True),
    ))  # fmt: skip

    def reader(value: Any, path: str) -> Lens:
        lens = read(value, path)
        if lens.layers[-1] != last or (np.diff(lens.layers) < 1).any():
            fail("error.trace_contradiction", within(path, "layers"), other="model.n_layers")
        return lens

    return reader


def _heads(arrays: Arrays, model: ModelInfo, n_positions: int) -> fields.Reader[Heads]:
    weights, window = Limit(0, MAX_P), maybe(partial(whole, low=1, high=MAX_COUNT))

    def windows(value: Any, path: str) -> tuple[int | None, ...]:
        found = many(window, limit=model.n_layers)(value, path)
        if len(found) != model.n_layers:
            fail("error.trace_shape", path, want=model.n_layers, got=len(found))
        return found

    return instance(Heads, windows=windows, **arrays.of(
        Heads, sink=weights, entropy_bits=Limit(0, MAX_ENTROPY), peak=Limit(0, n_positions - 1),
        peak_weight=weights, key_norms=_NORMS, value_norms=_NORMS,
    ))  # fmt: skip


def _attribution(arrays: Arrays) -> fields.Reader[Attribution]:
    some, cap = Limit(optional=True), partial(number, low=1e-6, high=MAX_FLOAT)
    return instance(
        Attribution, cap=maybe(cap), **arrays.of(Attribution, position=some, heads=some,
        attn_bias=some),
    )  # fmt: skip


def _gaps(arrays: Arrays) -> fields.Reader[Gaps]:
    some = [n for n in Gaps.AXES if n != "logits"]
    amount = partial(number, low=0, high=MAX_FLOAT)
    return instance(
        Gaps, head=amount, embedding=maybe(amount),
        **arrays.of(Gaps, logits=_NORMS, **dict.fromkeys(some, _SOME_NORMS)),
    )  # fmt: skip
