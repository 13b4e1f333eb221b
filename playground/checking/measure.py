"""How far is too far, and the largest deviation of many with the place where it was found."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from playground.inspection.check import Check, judged


@dataclass(frozen=True, slots=True)
class Tolerances:
    """What rounding may do, by the model's dtype.

    logits (also bits and nats): the same position in passes of different shapes. probs: what that
    does to a probability at temperature 1. stream: one layer's sum in the model's dtype, by its
    largest number. attention: weights again from q and k against what attention gave. parts: a
    logit against the sum of all that wrote into the stream, each rounded on its way.
    """

    logits: float
    probs: float
    stream: float
    attention: float
    parts: float


TOLERANCES = {
    "float32": Tolerances(1e-3, 1e-4, 1e-5, 1e-4, 1e-3),
    # logits: four units in the last place at 16 … 32
    "float16": Tolerances(6.4e-2, 1e-2, 4e-3, 4e-3, 6e-2),
    "bfloat16": Tolerances(5e-1, 7e-2, 3.2e-2, 3.2e-2, 5e-1),
}
# Sums to 1 of float32 numbers, whatever the model's dtype: over the positions, and over the whole
# vocabulary (49,152 rows: up to 1.7e-5 measured, torch's soft-max adds up in float32).
ROW_SUM, PROB_SUM = 1e-5, 1e-4


def tolerances(dtype: str) -> Tolerances:
    """Of a model in `dtype`; a dtype that is not listed is held to float32's."""
    return TOLERANCES.get(dtype, TOLERANCES["float32"])


def apart(a: Any, b: Any) -> np.ndarray:
    """|a - b| in float64; equal infinities are no difference, NaN is as far as can be."""
    left, right = np.asarray(a, "f8"), np.asarray(b, "f8")
    with np.errstate(invalid="ignore"):
        gap = np.where(left == right, 0.0, np.abs(left - right))
    return np.nan_to_num(gap, nan=np.inf, posinf=np.inf)


class Worst:
    """The largest of many deviations and its step; how many there were."""

    def __init__(self) -> None:
        self.measured, self.step, self.compared = 0.0, 0, 0

    def see(self, step: int, gaps: Any) -> None:
        """`gaps`: one deviation or an array of them, at `step`."""
        values = np.nan_to_num(np.asarray(gaps, "f8"), nan=np.inf, posinf=np.inf)
        self.compared += values.size
        largest = float(values.max(initial=0.0))
        if largest > self.measured:
            self.measured, self.step = largest, step

    def verdict(self, name: str, tolerance: float, unit: str) -> Check:
        return judged(
            name, self.measured, tolerance, unit, "check.detail.worst",
            step=self.step, compared=self.compared,
        )  # fmt: skip


class Count:
    """How many of many places are not what they must be; the first step that has one."""

    def __init__(self) -> None:
        self.wrong, self.first, self.compared = 0, -1, 0

    def see(self, step: int, wrong: int, compared: int = 1) -> None:
        self.compared += compared
        self.wrong += int(wrong)
        if wrong and self.first < 0:
            self.first = step

    def verdict(self, name: str) -> Check:
        if self.wrong:
            return judged(
                name, self.wrong, 0, "count", "check.detail.first",
                step=self.first, compared=self.compared,
            )  # fmt: skip
        return judged(name, 0, 0, "count", "check.detail.equal", compared=self.compared)


def worst_of(name: str, gaps: Any, tolerance: float, unit: str, axis: str) -> Check:
    """Of gaps that lie along layers or steps; axis: "layer" or "step"."""
    values = np.nan_to_num(np.atleast_1d(np.asarray(gaps, "f8")), nan=math.inf, posinf=math.inf)
    at = int(values.argmax())
    return judged(
        name,
        float(values[at]),
        tolerance,
        unit,
        f"check.detail.{axis}",
        at=at,
        compared=values.size,
    )
