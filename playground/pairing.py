"""Two prompts through one model: both answers, and where the model begins to tell them apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import torch
from transformers import DynamicCache

from playground import inspecting
from playground.errors import PlaygroundError
from playground.inside.forcing import OnProgress, Runner, ShouldStop, Turn, memory_said
from playground.inside.numbers import wide
from playground.inspection import Inspection
from playground.inspection.experiment import contrast
from playground.inspection.pair import NextTokens, Pair, differing, named_by, prompt_ids, side
from playground.run import OnPrefill, Run
from playground.sampling import leading
from playground.template import Prompt
from playground.trace import SamplingParams, Trace

# All layers of both runs are kept while their heads are asked.
MAX_PROMPT = 512
N_NEXT = 16
# How much of a side's work each stage is, about.
SHARES = {"prefill": 0.25, "decode": 0.3, "forward": 0.35, "lens": 0.1}


class Source(Runner, Protocol):
    """What is needed of an engine."""

    def generate(
        self,
        prompt: Prompt,
        params: SamplingParams,
        max_tokens: int,
        *,
        on_prefill: OnPrefill | None = None,
        prefill_chunk: int = ...,
    ) -> Run: ...

    def forward(self, ids: Sequence[int], cache: DynamicCache) -> tuple[torch.Tensor, float]: ...


def pair(
    engine: Source,
    prompt_a: Prompt,
    prompt_b: Prompt,
    max_tokens: int,
    on_progress: OnProgress | None,
    should_stop: ShouldStop | None,
    chunk: int,
) -> Pair:
    """See `Engine.pair`; chunk: prompt tokens at once."""
    ids = [[token.id for token in prompt.tokens] for prompt in (prompt_a, prompt_b)]
    for one in ids:
        if len(one) > MAX_PROMPT:
            raise PlaygroundError("error.pair_long", n=len(one), limit=MAX_PROMPT)
    if ids[0] == ids[1]:
        raise PlaygroundError("error.pair_same")
    traces: list[Trace] = []
    founds: list[Inspection] = []
    scores: list[torch.Tensor] = []
    for k, prompt in enumerate((prompt_a, prompt_b)):
        told = _in_part(on_progress, k / 2, 0.5)
        turn = Turn(told, should_stop)
        trace = _run(engine, prompt, max_tokens, chunk, turn)
        with memory_said(engine):
            scores.append(_scores(engine, prompt_ids(trace), chunk, turn))
        found = inspecting.inspect(
            engine, trace, layers=range(engine.info.n_layers), weights=False, lens=None,
            on_progress=told, should_stop=should_stop,
        )  # fmt: skip
        traces.append(trace)
        founds.append(found)
    differ = differing(*map(prompt_ids, traces))
    sides = [side(t, f, d) for t, f, d in zip(traces, founds, differ, strict=True)]
    following = _next(*scores)
    named = {i for one in sides for i in named_by(one)} | set(following.ids.tolist())
    vocabulary = engine.vocabulary
    return Pair(
        a=sides[0],
        b=sides[1],
        contrast=contrast(*founds),
        next=following,
        missing=tuple(m for m in founds[0].missing if m.part in ("writes", "heads", "lens")),
        pieces={i: vocabulary.raw(i) for i in sorted(named)},
        special=frozenset(i for i in named if vocabulary.special(i)),
    )


def _in_part(on_progress: OnProgress | None, start: float, share: float) -> OnProgress | None:
    """Progress of one side as progress of the whole, so that it never goes back."""
    if on_progress is None:
        return None
    before = dict(zip(SHARES, np.cumsum([0, *SHARES.values()]).tolist(), strict=False))

    def told(stage: str, done: float) -> None:
        on_progress(stage, start + share * (before[stage] + SHARES[stage] * done))

    return told


def _run(engine: Source, prompt: Prompt, max_tokens: int, chunk: int, turn: Turn) -> Trace:
    """The greedy answer. Raises Stopped between two forwards."""
    turn("prefill", 0, 1)

    def on_prefill(done: int, total: int) -> None:
        turn("prefill", done, total)

    run = engine.generate(
        prompt, SamplingParams(), max_tokens, on_prefill=on_prefill, prefill_chunk=chunk
    )
    for step in run:
        turn("decode", step.index + 1, max_tokens)
    return run.trace()


def _scores(engine: Source, ids: Sequence[int], chunk: int, turn: Turn) -> torch.Tensor:
    """f32[V] after the prompt: what the run's first step saw, of which it keeps a few."""
    cache = DynamicCache(config=engine.model.config)
    for at in range(0, len(ids), chunk):
        turn("forward", 0, 1)
        scores, _ = engine.forward(ids[at : at + chunk], cache)
    return scores


@torch.inference_mode()
def _next(a: torch.Tensor, b: torch.Tensor) -> NextTokens:
    """The most likely tokens of either; a, b: scores f32[V]."""
    p, q = wide(a).softmax(0), wide(b).softmax(0)
    ids = torch.unique(torch.cat([leading(a, N_NEXT), leading(b, N_NEXT)]))
    ids = ids[torch.maximum(p, q)[ids].sort(descending=True, stable=True).indices]
    ranks = [1 + (x[None, :] > x[ids][:, None]).sum(dim=1) for x in (a, b)]
    arrays = [x.cpu().numpy() for x in (ids, p[ids], q[ids], *ranks)]
    return NextTokens(*arrays)
