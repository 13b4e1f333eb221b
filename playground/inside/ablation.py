"""What the next token would have been without something, and what the answer costs uncached."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import torch

from playground.capture import locate
from playground.errors import PlaygroundError
from playground.inside import attention
from playground.inside.detail import host
from playground.inside.forcing import (
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
from playground.inside.numbers import wide, working
from playground.inside.watching import Call, Watch
from playground.inspection.experiment import Ablation, Uncached
from playground.sampling import leading
from playground.trace import Trace

N_CANDIDATES = 20  # the most likely tokens of either pass

Attended = tuple[torch.Tensor, object]


class _Asked(NamedTuple):
    """What `Ablation` says of the question; chosen: the token that the step took."""

    step: int
    hide: int | None
    head: tuple[int, int] | None
    ffn: int | None
    chosen: int


class Taken(NamedTuple):
    """What is taken away, one or several: see `Ablation`."""

    hide: int | None = None
    head: tuple[int, int] | None = None
    ffn: int | None = None


def ablations(
    runner: Runner,
    trace: Trace,
    step: int,
    wanted: Sequence[Taken],
    *,
    n_candidates: int = N_CANDIDATES,
    on_progress: OnProgress | None = None,
    should_stop: ShouldStop | None = None,
) -> tuple[Ablation, ...]:
    """See `Engine.ablations`."""
    given, turn = forced(runner, trace), Turn(on_progress, should_stop)
    step = index("step", step, len(given.chosen))
    ids = given.before(step)
    for taken in wanted:
        _there(runner, taken, len(ids))
    if not wanted:
        return ()
    found: list[Ablation] = []
    with memory_said(runner), torch.inference_mode():
        before = _logits(runner, ids, Taken())
        for i, taken in enumerate(wanted):
            turn("ablate", i, len(wanted))
            after = _logits(runner, ids, taken)
            asked = _Asked(step, *taken, chosen=given.chosen[step])
            found.append(_compared(runner, before, after, n_candidates, asked))
    return tuple(found)


def _there(runner: Runner, taken: Taken, n_positions: int) -> None:
    """Raises PlaygroundError where nothing is taken, or what is not there."""
    info = runner.info
    if taken == Taken():
        raise PlaygroundError("error.inspect_nothing")
    if taken.hide is not None:
        index("position", taken.hide, n_positions)
    if taken.head is not None:
        index("layer", taken.head[0], info.n_layers)
        index("head", taken.head[1], info.n_heads)
    if taken.ffn is not None:
        index("layer", taken.ffn, info.n_layers)


def _logits(runner: Runner, ids: tuple[int, ...], taken: Taken) -> torch.Tensor:
    """f32[V]: the scores after `ids`, with what is named taken away."""
    hide, head, ffn = taken
    parts = locate(runner.model, runner.info.family)
    with runner.lock, Watch() as watch:
        for i, module in enumerate(parts.attention):
            knocked = head[1] if head is not None and head[0] == i else None
            if hide is None and knocked is None:
                continue
            if module is None or not watch.attends(module, partial(_attend, hide, knocked)):
                raise PlaygroundError("error.inspect_part", family=runner.info.family)
        if ffn is not None:
            if parts.blocks is None:
                raise PlaygroundError("error.inspect_part", family=runner.info.family)
            watch.leaves(parts.blocks[ffn].ffn_write, torch.zeros_like)
        batched = batch(runner, ids)
        output = runner.model(input_ids=batched, use_cache=False, logits_to_keep=1).logits
        return working(output[0, -1])


def _attend(hide: int | None, knocked: int | None, call: Call) -> Attended:
    """The attention call with one key hidden, and one head's output set to zero."""
    if hide is not None:
        call = call.with_mask(attention.hidden(call, hide))
    out, rest = call.run()
    if knocked is not None:
        out = out.clone()
        out[:, :, knocked] = 0
    return out, rest


def _compared(
    runner: Runner, before: torch.Tensor, after: torch.Tensor, n: int, asked: _Asked
) -> Ablation:
    """The two score vectors f32[V], side by side."""
    ids = torch.cat(
        [leading(before, n), leading(after, n), before.new_tensor([asked.chosen]).long()]
    )
    ids = torch.unique(ids)
    ids = ids[before[ids].sort(descending=True, stable=True).indices]
    log_p, log_q = wide(before).log_softmax(0), wide(after).log_softmax(0)
    p, q = log_p.exp(), log_q.exp()
    # 0 × log 0 counts as 0: rows that the model masks
    kl = torch.where(p > 0, p * (log_p - log_q), 0).sum()
    listed = ids.tolist()
    return Ablation(
        **asked._asdict(),
        ids=host(ids),
        raw=tuple(runner.vocabulary.raw(i) for i in listed),
        special=np.array([runner.vocabulary.special(i) for i in listed]),
        logits_before=host(before[ids]),
        logits_after=host(after[ids]),
        probs_before=host(p[ids]),
        probs_after=host(q[ids]),
        rank_before=_ranks(before, ids),
        rank_after=_ranks(after, ids),
        entropy_bits_before=_bits(p, log_p),
        entropy_bits_after=_bits(q, log_q),
        kl_bits=max(0.0, float(kl) / math.log(2)),
    )


def _ranks(scores: torch.Tensor, ids: torch.Tensor) -> np.ndarray:
    return host(1 + (scores[None, :] > scores[ids][:, None]).sum(dim=1))


def _bits(p: torch.Tensor, log_p: torch.Tensor) -> float:
    return float(-torch.where(p > 0, p * log_p, 0).sum()) / math.log(2)


def uncached(
    runner: Runner,
    trace: Trace,
    *,
    on_progress: OnProgress | None = None,
    should_stop: ShouldStop | None = None,
) -> Uncached:
    """See `Engine.uncached`."""
    given, turn = forced(runner, trace), Turn(on_progress, should_stop)
    n = len(given.chosen)
    times, gaps = [], []
    with memory_said(runner), torch.inference_mode():
        for step in trace.steps:
            turn("uncached", step.index, n)
            ids = given.before(step.index)
            with runner.lock:
                start = time.perf_counter()
                batched = batch(runner, ids)
                output = runner.model(input_ids=batched, use_cache=False, logits_to_keep=1).logits
                logits = working(output[0, -1])
                synchronise(logits)
                times.append(1000 * (time.perf_counter() - start))
            now = host(logits[torch.tensor(step.candidates.ids, device=logits.device)])
            gaps.append(largest_gap(now, step.candidates.logits))
    positions = np.arange(n) + given.n_prompt
    return Uncached(ms=np.array(times), positions=positions, logits_gap=np.array(gaps))


def largest_gap(a: np.ndarray, b: np.ndarray) -> float:
    """Largest |difference|; -inf equals -inf."""
    with np.errstate(invalid="ignore"):
        return float(np.where(a == b, 0, np.abs(a - b)).max())
