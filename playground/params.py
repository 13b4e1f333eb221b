"""How a token is picked: the settings, checked once for the page, the API and the command line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from playground.errors import PlaygroundError

TEMPERATURE_RANGE = (0.01, 100.0)
TOP_K_MAX = 1_000_000
SEED_MAX = 2**63 - 1


def _number(name: str, value: Any, whole: bool) -> None:
    kinds = (int, np.integer) if whole else (int, float, np.integer, np.floating)
    if isinstance(value, bool) or not isinstance(value, kinds):
        raise PlaygroundError("error.param_type", name=name, value=repr(value)[:40])


@dataclass(frozen=True, slots=True)
class SamplingParams:
    """How a token is picked. The same check serves the page, the API and the command line.

    temperature 0 = greedy, else 0.01 … 100. top_k 0 = off. 0 < top_p ≤ 1, 1 = off.
    0 ≤ min_p ≤ 1, 0 = off. seed 0 … 2**63 - 1. Raises PlaygroundError outside of these.
    """

    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        for name, whole in (
            ("temperature", False), ("top_k", True), ("top_p", False),
            ("min_p", False), ("seed", True),
        ):  # fmt: skip
            _number(name, getattr(self, name), whole)
        low, high = TEMPERATURE_RANGE
        # `not (a <= x <= b)` also catches NaN.
        if self.temperature != 0 and not low <= self.temperature <= high:
            self._refuse("temperature", f"0 (greedy), {low:g} … {high:g}")
        if not 0 <= self.top_k <= TOP_K_MAX:
            self._refuse("top_k", f"0 (off) … {TOP_K_MAX}")
        if not 0 < self.top_p <= 1:
            self._refuse("top_p", "0 < top_p ≤ 1")
        if not 0 <= self.min_p <= 1:
            self._refuse("min_p", "0 (off) … 1")
        if not 0 <= self.seed <= SEED_MAX:
            self._refuse("seed", "0 … 2^63 - 1")

    def _refuse(self, name: str, allowed: str) -> None:
        raise PlaygroundError(
            "error.param_range", name=name, value=repr(getattr(self, name))[:40], allowed=allowed
        )

    @property
    def greedy(self) -> bool:
        return self.temperature == 0
