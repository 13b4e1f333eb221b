"""JSON values to the details of layers, every array checked.

Two kinds of arrays may be written as a word, because others give them to the bit. SAME: the
angles of the rotation are those of the detail before. ROTATED: q or k is the normed one, or
without a norm the projected one, turned by these angles.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any

import numpy as np

from playground.inspection import LayerDetail
from playground.inspection.rotation import rotated
from playground.store import fields
from playground.store.arrays import Arrays, Limit
from playground.store.fields import fail, maybe, number, whole, within
from playground.store.read_row import MAX_COUNT, MAX_FLOAT
from playground.trace import ModelInfo

SAME, ROTATED = "same", "rotated"
ANGLES, TURNED = ("cos", "sin"), ("q", "k")
_WORDS = {**dict.fromkeys(ANGLES, SAME), **dict.fromkeys(TURNED, ROTATED)}
MAX_P = 1 + 1e-5  # a float32 soft-max may add up to a hair more than one

_NAMES = tuple(f.name for f in dataclasses.fields(LayerDetail))
# What is known together or not at all, and what is known only with another.
_TOGETHER = (
    ("q", "k", "v", "scaling"), ("q_raw", "k_raw"), ("q_normed", "k_normed"), ANGLES,
    ("rows", "scores", "weights"), ("neurons", "activation", "up", "write_norms"),
)  # fmt: skip
_ONLY_WITH = (("gate", "neurons"), ("scores", "q"), ("q_normed", "q_raw"), ("cos", "q_raw"))


class DetailReader:
    """Reads the details of one file, by rising layer."""

    def __init__(self, arrays: Arrays, model: ModelInfo, n_positions: int) -> None:
        limits = dict.fromkeys(LayerDetail.AXES, Limit(optional=True)) | {
            "rows": Limit(0, n_positions - 1, optional=True),
            "scores": Limit(optional=True, minus_inf=True),
            "weights": Limit(0, MAX_P, optional=True),
            "neurons": Limit(0, model.d_ffn - 1, optional=True),
            "write_norms": Limit(0, optional=True),
        }
        self._arrays, self._before = arrays, LayerDetail(-1, *[None] * (len(_NAMES) - 1))
        self._readers: dict[str, fields.Reader[Any]] = {
            **arrays.of(LayerDetail, **limits),
            "layer": partial(whole, high=model.n_layers - 1),
            "scaling": maybe(partial(number, low=-MAX_FLOAT, high=MAX_FLOAT)),
            "softcap": maybe(partial(number, low=1e-6, high=MAX_FLOAT)),
            "window": maybe(partial(whole, low=1, high=MAX_COUNT)),
        }

    def __call__(self, value: Any, path: str) -> LayerDetail:
        """Raises PlaygroundError."""
        got, found = fields.record(value, path, _NAMES), dict[str, Any]()
        words = {name for name, word in _WORDS.items() if got[name] == word}
        for name in (n for n in _NAMES if n not in words):
            found[name] = self._readers[name](got[name], within(path, name))
        for name in (n for n in ANGLES if n in words):
            found[name] = self._same(name, within(path, name))
        for name in (n for n in TURNED if n in words):
            found[name] = self._rotated(name, found, path)
        if found["layer"] <= self._before.layer:
            fail("error.trace_contradiction", within(path, "layer"), other="details")
        for group in _TOGETHER:
            known = [name for name in group if found[name] is not None]
            for name in group if known else ():
                if found[name] is None:
                    fail("error.trace_contradiction", within(path, name), other=known[0])
        for name, needed in _ONLY_WITH:
            if found[name] is not None and found[needed] is None:
                fail("error.trace_contradiction", within(path, needed), other=name)
        self._before = LayerDetail(**found)
        return self._before

    def _same(self, name: str, path: str) -> np.ndarray:
        array: np.ndarray | None = getattr(self._before, name)
        if array is None:
            fail("error.trace_form", path)
        self._arrays.spend(array.nbytes, path)
        return array

    def _rotated(self, name: str, found: dict[str, Any], path: str) -> np.ndarray:
        place = within(path, name)
        x: np.ndarray | None = found[f"{name}_normed"]
        x = found[f"{name}_raw"] if x is None else x
        cos, sin = (found[angle] for angle in ANGLES)
        if x is None or (cos is None) != (sin is None):
            fail("error.trace_form", place)
        if cos is not None and (cos.shape[1] > x.shape[2] or cos.shape[1] % 2):
            fail("error.trace_form", within(path, "cos"))
        self._arrays.spend(x.nbytes, place)
        with np.errstate(over="ignore", invalid="ignore"):
            array = rotated(x, cos, sin)
        if not np.isfinite(array).all():
            fail("error.trace_form", place)
        return array
