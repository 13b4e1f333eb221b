"""What the records of an inspection share: arrays with named axes that must agree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from playground.trace import own

Axes = Mapping[str, tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Missing:
    """A part that this model does not let be seen; reason: a key of `playground.text`, filled in
    with `values`.

    part: "writes", all that is made of what the blocks wrote (norms and cosines of the writes,
    attribution, projections and neurons of a detail); "heads", all that is made of attention
    weights; "mid_norms"; "lens", the rows before the last.
    """

    part: str
    reason: str
    values: Mapping[str, str | int]


def own_arrays(record: Any) -> None:
    """Replace each array that `AXES` names by an owned, read-only one; None stays None.

    Raises ValueError when two arrays of the record disagree on the size of an axis.
    """
    for name, (dtype, _) in record.AXES.items():
        value = getattr(record, name)
        if value is not None:
            object.__setattr__(record, name, own(value, dtype))
    agree([record])


def agree(records: Iterable[Any]) -> None:
    """Every axis letter has one size over all arrays of `records`; M = L + 1 and X = B + 1."""
    sizes: dict[str, int] = {}
    for record in records:
        for name, (_, axes) in record.AXES.items():
            value = getattr(record, name)
            if value is None:
                continue
            if value.ndim != len(axes):
                raise ValueError(f"{name} has shape {value.shape}, not {axes}")
            for axis, n in zip(axes, value.shape, strict=True):
                axis, n = {"M": ("L", n - 1), "X": ("B", n - 1)}.get(axis, (axis, n))
                if sizes.setdefault(axis, n) != n:
                    raise ValueError(f"{name}: axis {axis} is {n}, elsewhere {sizes[axis]}")
