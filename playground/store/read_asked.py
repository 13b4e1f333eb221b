"""JSON values to what was asked beside an inspection: neurons, ablations, checks and the like."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Sequence
from functools import partial
from typing import Any

from playground.inspection.check import UNITS, Check
from playground.inspection.experiment import Ablation, Neuron, Uncached
from playground.inspection.weights import Weights
from playground.store import fields
from playground.store.arrays import Arrays, Limit
from playground.store.fields import fail, instance, many, maybe, number, text, whole, within
from playground.store.read_layer import MAX_P
from playground.store.read_row import MAX_COUNT, MAX_FLOAT, count, key, piece, word
from playground.text import texts
from playground.trace import ModelInfo

MAX_BITS = 1e6
MAX_LISTED = 4096
MAX_VALUES = 32

_amount = partial(number, low=0, high=MAX_FLOAT)
_pieces = many(piece, limit=MAX_LISTED)


def known_text(value: Any, path: str, *, rooms: Sequence[str]) -> str:
    """The key of a sentence that this version has, in one of `rooms` ("check.detail")."""
    name = text(value, path, limit=100)
    if name.rpartition(".")[0] not in rooms or name not in texts("en"):
        fail("error.trace_form", path)
    return name


def _value(value: Any, path: str) -> str | int | float:
    if type(value) is int:
        return whole(value, path, low=-MAX_COUNT, high=MAX_COUNT)
    if type(value) is float:
        return number(value, path, low=-MAX_FLOAT, high=MAX_FLOAT)
    return word(value, path)


values = fields.mapping(_value, keys=key, limit=MAX_VALUES)


def neuron_of(arrays: Arrays, model: ModelInfo) -> fields.Reader[Neuron]:
    ids = Limit(0, model.vocab_rows - 1)

    def read(value: Any, path: str) -> Neuron:
        made = instance(
            Neuron,
            layer=partial(whole, high=model.n_layers - 1),
            id=partial(whole, high=model.d_ffn - 1),
            row_norm=_amount,
            up_raw=_pieces,
            down_raw=_pieces,
            **arrays.apart("K").of(Neuron, up_ids=ids, down_ids=ids),
        )(value, path)
        for name in ("up", "down"):
            _same_length(path, f"{name}_raw", len(getattr(made, f"{name}_raw")), made.up_ids)
        return made

    return read


def ablation_of(
    arrays: Arrays, model: ModelInfo, n_prompt: int, chosen: Sequence[int]
) -> fields.Reader[Ablation]:
    """chosen: the ids of all steps."""
    ids, probs = Limit(0, model.vocab_rows - 1), Limit(0, MAX_P)
    ranks, logits = Limit(1, model.vocab_rows), Limit(minus_inf=True)
    layer = partial(whole, high=model.n_layers - 1)
    bits = partial(number, low=0, high=MAX_BITS)

    def read(value: Any, path: str) -> Ablation:
        made = instance(
            Ablation,
            step=partial(whole, high=len(chosen) - 1),
            hide=maybe(partial(whole, high=n_prompt + len(chosen) - 2)),
            head=maybe(fields.pair(layer, partial(whole, high=model.n_heads - 1))),
            ffn=maybe(layer),
            chosen=partial(whole, high=model.vocab_rows - 1),
            raw=_pieces,
            entropy_bits_before=bits,
            entropy_bits_after=bits,
            kl_bits=bits,
            **arrays.apart("C").of(
                Ablation, ids=ids, special=Limit(0, 1), logits_before=logits, logits_after=logits,
                probs_before=probs, probs_after=probs, rank_before=ranks, rank_after=ranks,
            ),
        )(value, path)  # fmt: skip
        _same_length(path, "raw", len(made.raw), made.ids)
        if made.hide is None and made.head is None and made.ffn is None:
            fail("error.trace_empty", path)
        if made.hide is not None and made.hide >= n_prompt + made.step:
            fail("error.trace_contradiction", within(path, "hide"), other="step")
        if made.chosen != chosen[made.step] or made.chosen not in made.ids:
            fail("error.trace_contradiction", within(path, "chosen"), other="ids")
        return made

    return read


def uncached_of(arrays: Arrays) -> fields.Reader[Uncached]:
    limits = {"ms": Limit(0, 1e12), "positions": Limit(1), "logits_gap": Limit(0)}
    return instance(Uncached, **arrays.of(Uncached, **limits))


def weights_of(model: ModelInfo) -> fields.Reader[Weights]:
    read = instance(Weights, **{f.name: count for f in dataclasses.fields(Weights)})

    def reader(value: Any, path: str) -> Weights:
        made = read(value, path)
        parts = made.embedding, made.position, made.attention, made.ffn, made.head, made.other
        if sum(parts) != model.n_params:
            fail("error.trace_contradiction", path, other="model.n_params")
        return made

    return reader


def check(value: Any, path: str) -> Check:
    """What was measured is null where it was no number: then it is infinitely far."""
    got = fields.record(value, path, tuple(f.name for f in dataclasses.fields(Check)))
    ok = maybe(fields.flag)(got["ok"], within(path, "ok"))
    amount = maybe(_amount)
    measured = amount(got["measured"], within(path, "measured"))
    if ok is False and measured is None:
        measured = math.inf
    name = fields.pattern(
        got["name"], within(path, "name"), shape=re.compile("[a-z][a-z0-9_]{0,60}")
    )
    known_text(f"check.{name}.title", within(path, "name"), rooms=(f"check.{name}",))
    rooms = ("check.detail", "check.skip", "missing")
    rest: dict[str, Any] = {
        "tolerance": amount(got["tolerance"], within(path, "tolerance")),
        "unit": fields.choice(got["unit"], within(path, "unit"), choices=UNITS),
        "detail": known_text(got["detail"], within(path, "detail"), rooms=rooms),
        "values": values(got["values"], within(path, "values")),
    }
    try:
        return Check(name=name, ok=ok, measured=measured, **rest)
    except ValueError:
        fail("error.trace_contradiction", within(path, "ok"), other="measured")


def _same_length(path: str, name: str, got: int, ids: Any) -> None:
    if got != len(ids):
        fail("error.trace_shape", within(path, name), want=len(ids), got=got)
