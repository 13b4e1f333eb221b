"""Where the page's knowledge of the inside of a run comes from: its file, or the model at hand.

What takes the model is a job; what jobs found lies on shelves. Everything here raises `NotYet`
while a job goes on, and PlaygroundError where there is nothing to be had.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, TypeVar

from playground.errors import PlaygroundError
from playground.inspection import Inspection, LayerDetail
from playground.inspection.bundle import Bundle
from playground.inspection.weights import Weights
from playground.trace import ModelInfo, Trace
from playground.ui.desk import Desk, same_model
from playground.ui.jobs import Done, Jobs, OnProgress, ShouldStop, State, Work
from playground.ui.shelf import Shelf

MIB = 2**20
LOOKED_BYTES = 384 * MIB
RESULTS_BYTES = 16 * MIB
RUNS_BYTES = 32 * MIB


@dataclass(frozen=True, slots=True)
class Asked:
    """One request. waiter: (who asks, what is asked in short); fields: as they came, unchecked."""

    op: str
    waiter: tuple[str, str]
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Shown:
    """The run that is asked about; bundle: what was recorded of its inside, None for nothing."""

    trace_id: str
    trace: Trace
    intact: bool
    bundle: Bundle | None = None

    @property
    def model(self) -> ModelInfo:
        return self.trace.model


class Looked(NamedTuple):
    """One inspection of the model at hand, and the count of that model's numbers."""

    found: Inspection
    weights: Weights | None


class OfModel(Protocol):
    @property
    def model(self) -> ModelInfo: ...


Made = TypeVar("Made", bound=OfModel)


class NotYet(Exception):
    """The answer is still being worked on."""

    def __init__(self, state: State) -> None:
        super().__init__()
        self.state = state


class Looking:
    """One for the whole server, for any thread.

    looked: inspections, with the details of as many layers as `layers_at_once` says. results:
    whatever else jobs found.
    """

    def __init__(
        self,
        desk: Desk,
        looked_bytes: int = LOOKED_BYTES,
        wait_s: float = 0.12,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.desk = desk
        self.jobs = Jobs(wait_s=wait_s, clock=clock)
        ttl_s = desk.host.limits.store_ttl_s
        self.looked = Shelf(looked_bytes, ttl_s, clock)
        self.results = Shelf(RESULTS_BYTES, ttl_s, clock)
        # A run that is being looked into is not lost when the vault lets it go.
        self._runs = Shelf(RUNS_BYTES, ttl_s, clock)

    def run(self, asked: Asked) -> Shown:
        """The run of the request's field `trace`, which has at least one step."""
        key = asked.fields.get("trace")
        try:
            run = Shown(*self.desk.find(key))
        except PlaygroundError as error:
            known: Shown | None = self._runs.get(key) if error.key == "error.trace_gone" else None
            if known is None:
                raise
            return known
        if not run.trace.steps:
            raise PlaygroundError("error.inspect_no_steps")
        return replace(run, bundle=self.desk.recorded.inside(run.trace_id))

    def at_hand(self, model: ModelInfo) -> bool:
        """Whether the model that is loaded now has these weights."""
        info = self.desk.host.status().info
        return info is not None and same_model(info, model)

    def needs(self, model: ModelInfo) -> None:
        """Raises PlaygroundError unless that model is at hand."""
        if self.at_hand(model):
            return
        status = self.desk.host.status()
        if status.info is None and status.state == "loading":
            raise PlaygroundError("error.model_not_ready", name=status.name)
        raise PlaygroundError("error.inside_needs_model", name=model.name)

    def computed(
        self,
        asked: Asked,
        key: Hashable,
        work: Work,
        *,
        run: Shown | None = None,
        shelf: Shelf | None = None,
        long: bool = False,
    ) -> Any:
        """What `work` gives, kept under `key`. run: whose model it takes, None for the model at
        hand; long: it may take minutes."""
        shelf = self.results if shelf is None else shelf
        state = self.jobs.follow(key, asked.waiter, shelf)
        if state is None:
            if run is not None:
                self.needs(run.model)
                self._runs.put(run.trace_id, run)
            state = self.jobs.begin(key, asked.waiter, shelf, self._sure(work, run), long=long)
        if not isinstance(state, Done):
            raise NotYet(state)
        return state.value

    def made(
        self,
        asked: Asked,
        name: str,
        key: Hashable,
        make: Callable[[OnProgress, ShouldStop], Made],
    ) -> Made:
        """What the model at hand makes of a request, kept as that model's."""
        status = self.desk.host.status()
        info = status.info
        if info is None:
            raise status.error or PlaygroundError("error.model_not_ready", name=status.name)

        def work(progress: OnProgress, stop: ShouldStop) -> Made:
            found = make(progress, stop)
            # A switch while the job waited would give another's.
            if not same_model(found.model, info):
                raise PlaygroundError("error.inside_needs_model", name=info.name)
            return found

        found: Made = self.computed(asked, (name, info, key), work)
        return found

    def detail(self, asked: Asked, run: Shown, layer: int) -> LayerDetail:
        """One layer of the run from inside, recorded or looked into now."""
        recorded = run.bundle.inspection.detail(layer) if run.bundle is not None else None
        if recorded is not None:
            return recorded
        found = self.look(asked, run, layer // self._at_once(run)).found.detail(layer)
        assert found is not None, "a group of layers lacks one of them"
        return found

    def look(self, asked: Asked, run: Shown, group: int = 0) -> Looked:
        """The inspection with the details of that group of layers; the first has the lens too,
        unless it was recorded."""
        at_once = self._at_once(run)
        layers = range(run.model.n_layers)[group * at_once : (group + 1) * at_once]
        lens = None if group == 0 and run.bundle is None else ()

        def work(progress: OnProgress, stop: ShouldStop) -> Looked:
            # The weights first: should the model be switched in between, `inspect` will say so.
            weights = self.desk.host.weights()
            found = self.desk.host.inspect(run.trace, progress, stop, layers=layers, lens=lens)
            return Looked(found, weights)

        key = ("inspect", run.trace_id, group, lens)
        looked: Looked = self.computed(asked, key, work, run=run, shelf=self.looked)
        return looked

    def _at_once(self, run: Shown) -> int:
        positions = len(run.trace.prompt) + len(run.trace.steps) - 1
        return layers_at_once(run.model, positions, self.looked.max_bytes // 3)

    def _sure(self, work: Work, run: Shown | None) -> Work:
        """`work`, refused when the model was switched while the job waited for its turn."""

        def sure(progress: OnProgress, stop: ShouldStop) -> Any:
            if run is not None:
                self.needs(run.model)
            return work(progress, stop)

        return sure


def layers_at_once(model: ModelInfo, positions: int, max_bytes: int) -> int:
    """How many layers' details fit in `max_bytes`, at least one: q, k and v of every position,
    raw, normed and rotated."""
    numbers = positions * model.d_head * (3 * model.n_heads + 4 * model.n_kv_heads + 2)
    return max(1, min(model.n_layers, max_bytes // (4 * numbers)))
