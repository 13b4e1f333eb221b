"""One teacher-forced pass that explains every step: the forward, the lens, the record of both."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
import torch

from playground.capture import Parts, locate
from playground.inside.attribution import Norm
from playground.inside.forcing import (
    Forced,
    OnProgress,
    Runner,
    ShouldStop,
    Turn,
    batch,
    forced,
    index,
    memory_said,
    synchronise,
)
from playground.inside.logit_lens import Reading, logit_lens
from playground.inside.numbers import working
from playground.inside.recording import Recorder
from playground.inside.summing import summed
from playground.inside.watching import Watch
from playground.inspection import INSPECTION_SCHEMA, Inspection
from playground.trace import Trace


def inspect(
    runner: Runner,
    trace: Trace,
    *,
    layers: Sequence[int] = (),
    weights: bool = True,
    lens: Sequence[int] | None = None,
    on_progress: OnProgress | None = None,
    should_stop: ShouldStop | None = None,
) -> Inspection:
    """See `Engine.inspect`."""
    given = forced(runner, trace)
    n_layers = runner.info.n_layers
    wanted = frozenset(index("layer", i, n_layers) for i in layers)
    asked = range(n_layers + 1) if lens is None else lens
    read_out = sorted({*(index("lens", i, n_layers + 1) for i in asked), n_layers})
    parts = locate(runner.model, runner.info.family)
    turn = Turn(on_progress, should_stop)
    with memory_said(runner), torch.inference_mode():
        recorder, output, forward_ms = _forward(runner, given, parts, wanted, weights, turn)
        start = time.perf_counter()
        recorded = [step.candidates for step in trace.steps]
        reading = logit_lens(parts, recorder, output, given, recorded, read_out, turn)
        lens_ms = 1000 * (time.perf_counter() - start)
        found = summed(parts, recorder, given, reading.final, reading.head_gap)
    pieces = {i: runner.vocabulary.raw(i) for i in _named(given, reading)}
    return Inspection(
        schema=INSPECTION_SCHEMA,
        model=runner.info,
        n_prompt=given.n_prompt,
        ids=np.array(given.ids),
        chosen=np.array(given.chosen),
        stream=found.stream,
        lens=reading.lens,
        heads=found.heads,
        attribution=found.attribution,
        histogram=reading.final.histogram(),
        details=tuple(recorder.details),
        gaps=found.gaps,
        missing=(*parts.missing, *reading.missing, *found.missing),
        pieces=pieces,
        special=frozenset(i for i in pieces if runner.vocabulary.special(i)),
        forward_ms=forward_ms,
        lens_ms=lens_ms,
    )


def _forward(
    runner: Runner,
    given: Forced,
    parts: Parts,
    wanted: frozenset[int],
    weights: bool,
    turn: Turn,
) -> tuple[Recorder, torch.Tensor, float]:
    """(what was seen, the model's own scores [P, V] or of the last position [1, V], ms)."""
    n_layers, n_answers = len(parts.layers), len(given.chosen)
    table = parts.head.weight
    assert isinstance(table, torch.Tensor)
    rows = working(table[torch.tensor(given.chosen, device=table.device)])
    norm = Norm.final(parts)
    recorder = Recorder(
        info=runner.info,
        parts=parts,
        n_answers=n_answers,
        rows=rows,
        direction=norm.through(rows) if norm is not None else None,
        wanted=wanted,
        weights=weights,
        turn=lambda layer: turn("forward", layer, n_layers),
        whole_head=parts.places is None,
    )
    ids = batch(runner, given.ids)
    with runner.lock:
        start = time.perf_counter()
        with Watch() as watch:
            recorder.attach(watch)
            output = runner.model(input_ids=ids, use_cache=False, logits_to_keep=n_answers).logits
        synchronise(output)
        ms = 1000 * (time.perf_counter() - start)
    return recorder, output[0, -n_answers:], ms


def _named(given: Forced, reading: Reading) -> list[int]:
    """Every token that the record names."""
    return sorted({*given.ids, *given.chosen, *np.unique(reading.lens.ids).tolist()})
