"""Packed arrays of JSON to numpy, strictly: the counterpart of `inspection.packed`.

Every array says its type, its shape and its bytes, and all three are known before they are
believed: the type by `AXES`, the shape by what other arrays said of the same axes, the length by
the shape. What all arrays of a file may take together is limited.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from playground.inspection.arrays import Axes
from playground.inspection.packed import CODES
from playground.store import fields
from playground.store.fields import fail, within
from playground.store.read_row import MAX_FLOAT

MAX_ARRAY_BYTES = 64 * 1024 * 1024
MAX_AXIS = 2**31 - 1
_ONE_MORE = {"M": "L", "X": "B"}  # axes that are one longer than another


class Limit(NamedTuple):
    """What the numbers of an array may be. optional: null in place of the array; minus_inf: also
    minus infinity. NaN and plus infinity never."""

    low: float = -MAX_FLOAT
    high: float = MAX_FLOAT
    optional: bool = False
    minus_inf: bool = False


class Arrays:
    """Reads arrays whose axes have one size each. sizes: those known from elsewhere."""

    def __init__(self, sizes: Mapping[str, int], budget: int = MAX_ARRAY_BYTES) -> None:
        self._sizes, self._left = dict(sizes), [budget]

    def apart(self, axes: str) -> Arrays:
        """A reader for which `axes` are not known yet; both take from one budget."""
        other = Arrays({a: n for a, n in self._sizes.items() if a not in axes})
        other._left = self._left
        return other

    def of(self, kind: Any, **limits: Limit) -> dict[str, fields.Reader[Any]]:
        """Readers of all arrays of the record `kind`; what is not named has the widest limits."""
        axes: Axes = kind.AXES
        if not limits.keys() <= axes.keys():
            raise TypeError(f"{kind.__name__} has other arrays than {sorted(limits)}")
        return {n: self._reader(*axes[n], limits.get(n, Limit())) for n in axes}

    def spend(self, n_bytes: int, path: str) -> None:
        """Count what the array at `path` takes. Raises PlaygroundError when it is too much."""
        self._left[0] -= n_bytes
        if self._left[0] < 0:
            fail("error.trace_length", path, limit=MAX_ARRAY_BYTES)

    def _reader(self, code: str, axes: str, limit: Limit) -> fields.Reader[Any]:
        def read(value: Any, path: str) -> np.ndarray | None:
            if value is None and limit.optional:
                return None
            array = self._unpack(value, path, code, axes)
            fits = (array >= limit.low) & (array <= limit.high)
            if limit.minus_inf:
                fits |= np.isneginf(array)
            if not fits.all():
                fail("error.trace_range", path, low=f"{limit.low:g}", high=f"{limit.high:g}")
            return array

        return read

    def _unpack(self, value: Any, path: str, code: str, axes: str) -> np.ndarray:
        got = fields.record(value, path, ("t", "s", "b"))
        kind = np.dtype(CODES[code])
        fields.choice(got["t"], within(path, "t"), choices=(CODES[code][1:],))
        place = within(path, "s")
        shape = fields.wholes(got["s"], place, length=len(axes), low=1, high=MAX_AXIS)
        self._agree(axes, shape, place)
        n_bytes = math.prod(shape) * kind.itemsize
        self.spend(n_bytes, path)
        place = within(path, "b")
        coded = fields.text(got["b"], place, limit=2 * MAX_ARRAY_BYTES)
        if len(coded) != 4 * -(-n_bytes // 3):
            fail("error.trace_shape", place, want=4 * -(-n_bytes // 3), got=len(coded))
        try:
            raw = base64.b64decode(coded, validate=True)
        except ValueError:
            fail("error.trace_form", place)
        if len(raw) != n_bytes or base64.b64encode(raw).decode() != coded:
            fail("error.trace_form", place)
        array = np.frombuffer(raw, kind).reshape(shape)
        if code == "?" and (array > 1).any():
            fail("error.trace_range", path, low=0, high=1)
        return array

    def _agree(self, axes: str, shape: list[int], path: str) -> None:
        want = [
            self._sizes.get(_ONE_MORE.get(axis, axis), n - (axis in _ONE_MORE))
            + (axis in _ONE_MORE)
            for axis, n in zip(axes, shape, strict=True)
        ]
        if want != shape:
            sizes = (" × ".join(map(str, s)) for s in (want, shape))
            fail("error.trace_shape", path, want=next(sizes), got=next(sizes))
        for axis, n in zip(axes, shape, strict=True):
            self._sizes[_ONE_MORE.get(axis, axis)] = n - (axis in _ONE_MORE)
