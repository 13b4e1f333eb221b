"""Looking inside a run with the model at hand, whichever that is when the work begins.

The engine is taken once for each call: a switch of the model meanwhile changes nothing of it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

from playground.errors import PlaygroundError
from playground.inspection import Inspection
from playground.inspection.check import Check
from playground.inspection.experiment import Ablation, Neuron, Uncached
from playground.inspection.weights import Weights
from playground.trace import ModelInfo, Trace

if TYPE_CHECKING:
    from playground.engine import Engine
    from playground.inside.forcing import OnProgress, ShouldStop


def same_weights(a: ModelInfo, b: ModelInfo) -> bool:
    """The same model in every respect but where it lies and in which precision."""
    return dataclasses.replace(a, device=b.device, dtype=b.dtype) == b


class Insight:
    """The part of a `Host` that looks inside. Every method raises PlaygroundError when no model
    is ready; those that take a trace, also when another model made it."""

    def _ready(self) -> Engine:
        raise NotImplementedError

    def inspect(
        self,
        trace: Trace,
        on_progress: OnProgress | None = None,
        should_stop: ShouldStop | None = None,
        *,
        layers: Sequence[int] | None = None,
        lens: Sequence[int] | None = None,
    ) -> Inspection:
        """See `Engine.inspect`. layers: whose details are kept, by default all; without weights."""
        engine = self._engine_of(trace)
        wanted = range(engine.info.n_layers) if layers is None else layers
        return engine.inspect(
            trace, layers=wanted, weights=False, lens=lens,
            on_progress=on_progress, should_stop=should_stop,
        )  # fmt: skip

    def weights(self) -> Weights | None:
        """How many numbers the model is made of, or None where that can not be told."""
        return self._ready().weights()

    def neuron(self, layer: int, neuron_id: int, k: int = 10) -> Neuron:
        """See `Engine.neuron`."""
        from playground.inside.forcing import memory_said

        engine = self._ready()
        with memory_said(engine):
            return engine.neuron(layer, neuron_id, k)

    def ablate(
        self,
        trace: Trace,
        step: int,
        hide: int | None = None,
        head: tuple[int, int] | None = None,
        ffn: int | None = None,
    ) -> Ablation:
        """See `Engine.ablate`."""
        return self._engine_of(trace).ablate(trace, step, hide=hide, head=head, ffn=ffn)

    def uncached(
        self,
        trace: Trace,
        on_progress: OnProgress | None = None,
        should_stop: ShouldStop | None = None,
    ) -> Uncached:
        """See `Engine.uncached`."""
        engine = self._engine_of(trace)
        return engine.uncached(trace, on_progress=on_progress, should_stop=should_stop)

    def checks(
        self,
        trace: Trace,
        on_progress: OnProgress | None = None,
        should_stop: ShouldStop | None = None,
    ) -> tuple[Check, ...]:
        """See `playground.checks.check`."""
        from playground.checks import check

        engine = self._engine_of(trace)
        return check(engine, trace, on_progress=on_progress, should_stop=should_stop)

    def _engine_of(self, trace: Trace) -> Engine:
        """The engine, if it has the weights that made `trace`: sizes alone do not tell a base
        model from its tuned ones."""
        engine = self._ready()
        if not same_weights(trace.model, engine.info):
            raise PlaygroundError(
                "error.inspect_other_model", recorded=trace.model.name, loaded=engine.info.name
            )
        return engine
