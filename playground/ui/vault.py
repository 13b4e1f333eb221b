"""Traces that visitors made or opened, on the server, under a byte budget and a time to live.

Sessions keep ids only. A trace is found by its id, a run under way by its run's id, and a run
that ended by either. What has not been asked for longest goes first.
"""

from __future__ import annotations

import dataclasses
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from playground.errors import PlaygroundError
from playground.trace import Step, Trace


def footprint(value: Any) -> int:
    """Bytes that `value` and all it holds take, objects held twice counted twice."""
    size = sys.getsizeof(value)
    if isinstance(value, np.ndarray):
        return size if value.flags.owndata else size + value.nbytes
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return size + sum(footprint(getattr(value, f.name)) for f in dataclasses.fields(value))
    if isinstance(value, Mapping):
        return size + sum(footprint(k) + footprint(v) for k, v in value.items())
    if isinstance(value, (tuple, list)):
        return size + sum(map(footprint, value))
    return size


@dataclass(slots=True)
class Kept:
    """A finished trace; intact: its file's checksum was right (always so for own runs)."""

    trace: Trace
    intact: bool
    size: int
    used: float


class Vault:
    """Thread-safe. clock: seconds that only grow (the tests bring their own)."""

    def __init__(
        self, max_bytes: int, ttl_s: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.max_bytes = max_bytes
        self.ttl_s = ttl_s
        self._clock = clock
        self._kept: OrderedDict[str, Kept] = OrderedDict()
        self._live: dict[str, list[Step]] = {}
        self._ended: OrderedDict[str, str] = OrderedDict()  # run id -> trace id
        self._changed = threading.Condition()

    def put(self, trace_id: str, trace: Trace, intact: bool = True) -> None:
        """Keep `trace`. Raises PlaygroundError when it alone is larger than the whole budget."""
        size = footprint(trace)
        if size > self.max_bytes:
            raise PlaygroundError(
                "error.trace_over_budget", megabytes=f"{size / 1e6:.0f}", limit=self._limit()
            )
        with self._changed:
            self._kept[trace_id] = Kept(trace, intact, size, self._clock())
            self._kept.move_to_end(trace_id)
            self._expire()

    def get(self, key: str) -> tuple[str, Trace, bool]:
        """(trace id, trace, intact) for a trace id or the id of a run that ended.

        Raises PlaygroundError when it is not (or no longer) here.
        """
        with self._changed:
            self._expire()
            trace_id = self._ended.get(key, key)
            kept = self._kept.get(trace_id)
            if kept is None:
                raise PlaygroundError("error.trace_gone")
            kept.used = self._clock()
            self._kept.move_to_end(trace_id)
            return trace_id, kept.trace, kept.intact

    def begin(self, run: str) -> None:
        """A run starts; its steps can be asked for as they come."""
        with self._changed:
            self._live[run] = []

    def append(self, run: str, step: Step) -> None:
        with self._changed:
            self._live[run].append(step)

    def end(self, run: str, trace_id: str | None, trace: Trace | None) -> None:
        """A run is over. trace_id None: there is nothing to keep (it never made a step)."""
        try:
            if trace_id is not None and trace is not None:
                self.put(trace_id, trace)
        finally:
            with self._changed:
                self._live.pop(run, None)
                if trace_id is not None:
                    self._ended[run] = trace_id
                self._changed.notify_all()

    def steps(self, run: str, first: int) -> tuple[Step, ...]:
        """The steps of a run from `first` on, as far as there are any."""
        with self._changed:
            live = self._live.get(run)
            if live is not None:
                return tuple(live[first:])
        return self.get(run)[1].steps[first:]

    def wait(self, run: str, seconds: float) -> None:
        """Come back when the run has ended, at the latest after `seconds`."""
        with self._changed:
            self._changed.wait_for(lambda: run not in self._live, seconds)

    @property
    def size(self) -> int:
        """Bytes of all kept traces. The steps of a run under way are not in it."""
        with self._changed:
            self._expire()
            return sum(kept.size for kept in self._kept.values())

    def _limit(self) -> str:
        return f"{self.max_bytes / 1e6:.0f}"

    def _expire(self) -> None:
        """Called with the lock held."""
        total = sum(kept.size for kept in self._kept.values())
        oldest = self._clock() - self.ttl_s
        while self._kept:
            key, kept = next(iter(self._kept.items()))
            if kept.used >= oldest and total <= self.max_bytes:
                break
            total -= kept.size
            del self._kept[key]
        for run in [r for r, t in self._ended.items() if t not in self._kept]:
            del self._ended[run]
