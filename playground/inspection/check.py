"""One invariant, held against one trace: what was measured, what is allowed, and the verdict."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

UNITS = ("count", "probability", "logits", "bits", "nats", "relative", "embedding", "u")

Values = Mapping[str, str | int | float]


@dataclass(frozen=True, slots=True)
class Check:
    """name: `check.<name>.title` and `.how` are its texts. ok: None where it was not checked.

    measured: the largest deviation found, in `unit` (one of UNITS); inf where a number was not
    one. tolerance: the largest allowed; 0 means equal. detail: a text key, filled in with
    `values`: where the measured value is, or why nothing was checked.
    """

    name: str
    ok: bool | None
    measured: float | None
    tolerance: float | None
    unit: str
    detail: str
    values: Values = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.unit not in UNITS:
            raise ValueError(f"{self.unit} is no unit of a check")
        if (self.ok is None) != (self.measured is None or self.tolerance is None):
            raise ValueError("checked means measured against a tolerance")
        if self.measured is not None and self.tolerance is not None:
            # NaN is within no tolerance
            within = self.measured <= self.tolerance and math.isfinite(self.tolerance)
            if self.ok != within:
                raise ValueError(f"{self.measured} against {self.tolerance} is not {self.ok}")


def judged(
    name: str,
    measured: float,
    tolerance: float,
    unit: str,
    detail: str,
    **values: str | int | float,
) -> Check:
    """`measured` against `tolerance`; what is not finite counts as infinitely far."""
    far = float(measured) if math.isfinite(measured) else math.inf
    return Check(name, far <= tolerance, far, float(tolerance), unit, detail, values)


def unchecked(name: str, unit: str, why: str, values: Values | None = None) -> Check:
    """Neither green nor red; why: a text key."""
    return Check(name, None, None, None, unit, why, values or {})
