"""What an inspection measured of itself and of the recorded run, as checks."""

from __future__ import annotations

import math

import numpy as np
import torch

from playground.checking.measure import ROW_SUM, Tolerances, Worst, apart, worst_of
from playground.inspection import Inspection
from playground.inspection.check import Check, judged, unchecked
from playground.inspection.experiment import Uncached


def inspection_checks(found: Inspection, allowed: Tolerances) -> tuple[Check, ...]:
    """All but the lens; what the model does not let be seen is named, not passed."""
    gaps = found.gaps

    def seen(name: str, value: object, part: str, tolerance: float, unit: str, axis: str) -> Check:
        if value is None:
            return _missing(found, name, unit, part)
        return worst_of(name, value, tolerance, unit, axis)

    embedding = (
        _missing(found, "embedding", "embedding", "writes")
        if gaps.embedding is None
        else judged(
            "embedding", gaps.embedding, 0, "embedding", "check.detail.positions",
            compared=len(found.ids),
        )
    )  # fmt: skip
    attribution = gaps.attribution
    parts = seen("attribution", attribution, "writes", allowed.parts, "logits", "step")
    heads = seen("heads", gaps.heads, "heads", allowed.parts, "logits", "layer")
    return (
        worst_of("logits", gaps.logits, allowed.logits, "logits", "step"),
        embedding,
        seen("residual", gaps.stream, "writes", allowed.stream, "relative", "layer"),
        seen("attention_sum", gaps.attention_sum, "heads", ROW_SUM, "probability", "layer"),
        seen("attention_causal", gaps.attention_future, "heads", 0, "probability", "layer"),
        seen("attention_output", gaps.attention_output, "heads", allowed.attention, "relative",
             "layer"),
        parts,
        heads,
    )  # fmt: skip


def _missing(found: Inspection, name: str, unit: str, part: str) -> Check:
    """Not checked, with the reason that the inspection gives for `part`, or for all of it."""
    for wanted in (part, "writes"):
        for missing in found.missing:
            if missing.part == wanted:
                return unchecked(name, unit, missing.reason, missing.values)
    return unchecked(name, unit, "check.skip.part", {"family": found.model.family})


class LastRow:
    """The lens' last row against the scores of a plain pass, step by step."""

    def __init__(self, found: Inspection) -> None:
        self._found, self._worst = found, Worst()

    def take(self, step: int, scores: torch.Tensor) -> None:
        """scores: f32[V] of the plain pass, on this side."""
        lens = self._found.lens
        row = scores.double().numpy()
        row = row - row.max()
        row -= math.log(float(np.exp(row).sum()))
        self._worst.see(step, apart(row[self._found.chosen[step]], lens.logprob[-1, step]))
        with np.errstate(divide="ignore"):
            listed = np.log(lens.probs[-1, step].astype("f8"))
        # Far down, a float32 probability has no logarithm worth comparing.
        near = listed > -60
        self._worst.see(step, apart(row[lens.ids[-1, step]], listed)[near])

    def verdict(self, allowed: Tolerances) -> Check:
        return self._worst.verdict("lens", allowed.logits, "nats")


def uncached_check(found: Uncached, allowed: Tolerances) -> Check:
    return worst_of("uncached", found.logits_gap, allowed.logits, "logits", "step")
