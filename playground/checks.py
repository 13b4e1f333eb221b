"""Every invariant of one trace, measured: data that the user can see.

Three independent looks at the recorded run: the inspection (one pass with capture), a plain pass
over the same ids without hooks, and the same answer once more without a cache. A check that this
model or this run does not allow says so and is not green.
"""

from __future__ import annotations

import torch

from playground.checking.looking import LastRow, inspection_checks, uncached_check
from playground.checking.measure import tolerances
from playground.checking.picking import Picking
from playground.checking.record import cache_check, prompt_check, seed_check, text_check
from playground.engine import Engine
from playground.inside.forcing import OnProgress, ShouldStop, Turn, batch, forced, memory_said
from playground.inside.numbers import working
from playground.inspection.check import Check
from playground.trace import Trace

# Shares of the progress: the inspection, the plain pass with its steps, the run without a cache.
_SHARES = {
    "forward": (0.0, 0.25), "lens": (0.25, 0.125), "steps": (0.375, 0.125), "uncached": (0.5, 0.5)
}  # fmt: skip


def check(
    engine: Engine,
    trace: Trace,
    *,
    on_progress: OnProgress | None = None,
    should_stop: ShouldStop | None = None,
) -> tuple[Check, ...]:
    """All checks of `trace`, always the same ones in the same order.

    on_progress("check", fraction of the whole); should_stop: a yes raises `inspection.Stopped`.
    Raises PlaygroundError for a trace without steps, of another model, or longer than the model
    reads, and where the memory does not suffice.
    """

    def report(stage: str, fraction: float) -> None:
        if on_progress is not None:
            start, share = _SHARES[stage]
            on_progress("check", start + share * fraction)

    allowed = tolerances(trace.model.dtype)
    found = engine.inspect(trace, on_progress=report, should_stop=should_stop)
    picking, last_row = Picking(trace, allowed), LastRow(found)
    turn = Turn(report, should_stop)
    with memory_said(engine), torch.inference_mode():
        scores = plain_scores(engine, trace)
        for step in trace.steps:
            turn("steps", step.index, len(trace.steps))
            row = working(scores[step.index]).cpu()
            picking.take(step, row)
            last_row.take(step.index, row)
        del scores
    uncached = engine.uncached(trace, on_progress=report, should_stop=should_stop)
    return (
        prompt_check(engine.vocabulary, trace),
        text_check(engine.vocabulary, trace),
        *picking.verdicts(),
        seed_check(trace),
        cache_check(engine.model.config, trace),
        *inspection_checks(found, allowed),
        last_row.verdict(allowed),
        uncached_check(uncached, allowed),
    )


def plain_scores(engine: Engine, trace: Trace) -> torch.Tensor:
    """[P, V]: the model's own scores at every answering position, from one pass without hooks."""
    given = forced(engine, trace)
    ids = batch(engine, given.ids)
    with engine.lock:
        output = engine.model(input_ids=ids, use_cache=False, logits_to_keep=len(given.chosen))
    scores: torch.Tensor = output.logits[0, -len(given.chosen) :]
    return scores
