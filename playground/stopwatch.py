"""Two ways of doing one thing, timed against each other.

Both run in turn in one process, and the ratio is taken pair by pair, so that a slow minute of a
shared machine slows both. The result is the median of the ratios, with the smallest and the
largest beside it. The ratio of processor times is told as well: it does not see the time that a
busy machine gave to others.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class Ratio:
    """ours, theirs: medians in ms. ratio: median over the pairs of ours / theirs; low, high: the
    smallest and the largest of them. cpu_ratio: the same median of processor times. target: what
    the ratio should not exceed, None where nothing is promised."""

    name: str
    ours_ms: float
    theirs_ms: float
    ratio: float
    low: float
    high: float
    cpu_ratio: float
    pairs: int
    target: float | None


class Times(NamedTuple):
    """Milliseconds by the clock on the wall, and of the processor for this process."""

    wall: float
    cpu: float

    def per(self, n: int) -> Times:
        return Times(self.wall / n, self.cpu / n)


def ratio(name: str, ours: Sequence[Times], theirs: Sequence[Times], target: float | None) -> Ratio:
    """The comparison of times taken in pairs: ours[i] and theirs[i] were measured side by side."""
    pairs = list(zip(ours, theirs, strict=True))
    wall = [a.wall / b.wall for a, b in pairs]
    return Ratio(
        name=name,
        ours_ms=statistics.median(a.wall for a, _ in pairs),
        theirs_ms=statistics.median(b.wall for _, b in pairs),
        ratio=statistics.median(wall),
        low=min(wall),
        high=max(wall),
        cpu_ratio=statistics.median(a.cpu / b.cpu for a, b in pairs),
        pairs=len(pairs),
        target=target,
    )


def alternate(
    ours: Callable[[], Times], theirs: Callable[[], Times], pairs: int
) -> tuple[list[Times], list[Times]]:
    """Times of both, in turn and with the first of each pair changing; one warm-up each."""
    ours(), theirs()
    mine: list[Times] = []
    other: list[Times] = []
    for i in range(pairs):
        for side, times in ((ours, mine), (theirs, other))[:: 1 if i % 2 == 0 else -1]:
            times.append(side())
    return mine, other


class Clock:
    """Both clocks, from when it is made."""

    def __init__(self) -> None:
        self._cpu, self._wall = time.process_time(), time.perf_counter()

    def read(self) -> Times:
        wall, cpu = time.perf_counter() - self._wall, time.process_time() - self._cpu
        return Times(1000 * wall, 1000 * cpu)


def clock(work: Callable[[], object]) -> Times:
    """What `work` takes."""
    running = Clock()
    work()
    return running.read()
