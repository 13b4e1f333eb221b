"""From logits to one token, exactly as transformers' `generate` does it, with a record.

Each stage *is* transformers' own warper, applied one at a time in the library's order
(temperature, top_k, top_p, min_p; `GenerationMixin._get_logits_processor`, 5.24), so the kept
set is the one `generate` would draw from, ties and boundary included. After every stage the
probabilities are the soft-max over the whole vocabulary, so renormalising needs no stage of
its own: the last row is what the draw is made on.

The order of tokens, here and in every record: falling raw logit, equal logits by rising id.
The draw: one uniform u in [0, 1); the choice is the first token in that order whose running
sum of probability (float64) exceeds u. Greedy is `argmax` of the raw logits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from transformers.generation.logits_process import (
    LogitsProcessor,
    MinPLogitsWarper,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from playground.trace import Candidates, SamplingParams

_NO_IDS = torch.zeros((1, 0), dtype=torch.long)


class Pieces(Protocol):
    """What this room needs to know of a vocabulary."""

    def raw(self, token_id: int, /) -> bytes: ...
    def special(self, token_id: int, /) -> bool: ...


class NonFiniteLogits(ArithmeticError):
    """NaN, +inf or nothing but -inf among the logits: there is no distribution to show."""


@dataclass(frozen=True, slots=True, eq=False)
class Pick:
    """One choice and everything that led to it; the fields are those of `trace.Step`."""

    token_id: int
    candidates: Candidates
    entropy_bits: float
    rank: int
    logprob: float
    draw: float | None


def warpers(params: SamplingParams) -> list[tuple[str, LogitsProcessor]]:
    """The named stages that `params` switches on, as `generate` would build them."""
    chain: list[tuple[str, LogitsProcessor]] = []
    if params.greedy:
        return chain
    if params.temperature != 1:
        chain.append(("temperature", TemperatureLogitsWarper(float(params.temperature))))
    if params.top_k:
        chain.append(("top_k", TopKLogitsWarper(int(params.top_k))))
    if params.top_p < 1:
        chain.append(("top_p", TopPLogitsWarper(float(params.top_p))))
    if params.min_p:
        chain.append(("min_p", MinPLogitsWarper(float(params.min_p))))
    return chain


def leading(scores: torch.Tensor, n: int) -> torch.Tensor:
    """The ids of the `n` highest of `scores` f32[V], by falling score, ties by rising id.

    `torch.topk` promises no order among equals, so ties are put right here, also those at
    the edge of the list. Ids with a score of -inf are left out.
    """
    n = min(n, scores.numel())
    values, ids = torch.topk(scores, n)
    edge = values[-1]
    tied = int(torch.count_nonzero(scores == edge))
    if tied > int((values == edge).sum()):  # more equals than places: the lowest ids win
        above = ids[values > edge]
        ids = torch.cat([above, torch.nonzero(scores == edge)[: n - above.numel(), 0]])
    ids = ids.sort().values
    ids = ids[scores[ids].sort(descending=True, stable=True).indices]
    return ids[scores[ids] > -math.inf]


def choose(logits: torch.Tensor, probs: torch.Tensor, listed: torch.Tensor, u: float) -> int:
    """The token that `u` falls on. logits, probs: f32[V]; listed: the leading ids, in order."""
    head = probs[listed].double().cumsum(0)
    if u < float(head[-1]):
        return int(listed[int((head <= u).sum())])
    # Rare: the draw fell past the listed ones. Only now is the whole order worth a sort.
    order = logits.sort(descending=True, stable=True).indices
    order = order[probs[order] > 0]
    running = probs[order].double().cumsum(0)
    # Rounding can leave the last sum a hair below 1; u in that hair means the last token.
    return int(order[min(int((running <= u).sum()), order.numel() - 1)])


def pick(
    logits: torch.Tensor,
    params: SamplingParams,
    pieces: Pieces,
    *,
    u: float | None = None,
    forced: int | None = None,
    n_candidates: int = 50,
) -> Pick:
    """Choose a token from `logits` f32[V] (left unchanged) and record how.

    u: the uniform number, needed when sampling. forced: take this id whatever the numbers say
    (the record still shows them). Raises NonFiniteLogits.
    """
    top = float(logits.max())  # torch's max hands NaN on
    if not math.isfinite(top):
        raise NonFiniteLogits
    scores = logits
    names, stage_scores, stage_probs = ["logits"], [logits], [torch.softmax(logits, dim=-1)]
    for name, warper in warpers(params):
        scores = warper(_NO_IDS, scores[None])[0]
        names.append(name)
        stage_scores.append(scores)
        stage_probs.append(torch.softmax(scores, dim=-1))

    listed = leading(logits, n_candidates)
    draw = None
    if forced is not None:
        chosen = int(forced)
    elif params.greedy:
        chosen = int(logits.argmax())
    else:
        if u is None:
            raise ValueError("sampling needs u")
        draw = float(u)
        chosen = choose(logits, stage_probs[-1], listed, draw)

    entropy, log_top = _entropy(logits - top, stage_probs[0])
    chosen_logit = float(logits[chosen])
    return Pick(
        token_id=chosen,
        candidates=_record(logits, names, stage_scores, stage_probs, listed, chosen, pieces),
        entropy_bits=entropy / math.log(2),
        rank=1 + int(torch.count_nonzero(logits > chosen_logit)),
        logprob=chosen_logit - top + log_top,
        draw=draw,
    )


def _entropy(below: torch.Tensor, probs: torch.Tensor) -> tuple[float, float]:
    """(-Σ p ln p, ln of the highest probability); below: each logit minus the highest.

    With z = `below`, ln p = z + ln p_top, so -Σ p ln p = -ln p_top - Σ p z: one pass over the
    vocabulary, and exact where it is nearly 0, since every z is then taken from the top.
    """
    log_top = math.log(float(probs.max()))
    weighted = float(torch.dot(probs, below))
    if math.isnan(weighted):  # 0 × -inf: rows that the model masks count as 0
        weighted = float(torch.nan_to_num(probs * below, nan=0.0).sum())
    return max(0.0, -log_top - weighted), log_top


def _record(
    logits: torch.Tensor,
    names: Sequence[str],
    stage_scores: Sequence[torch.Tensor],
    stage_probs: Sequence[torch.Tensor],
    listed: torch.Tensor,
    chosen: int,
    pieces: Pieces,
) -> Candidates:
    """What the record keeps: the listed, the chosen and the last token still kept."""
    kept_masks = [scores > -math.inf for scores in stage_scores]
    extra = [chosen]
    if len(names) > 1 and not bool(kept_masks[-1].all()):
        kept_logits = torch.where(kept_masks[-1], logits, math.inf)
        extra.append(int(kept_logits.argmin()))  # the boundary: the least of those kept
    missing = [i for i in dict.fromkeys(extra) if not bool((listed == i).any())]
    if missing:
        listed = torch.cat([listed, torch.tensor(sorted(missing), device=listed.device)])
        listed = listed[logits[listed].sort(descending=True, stable=True).indices]
    ids = listed.tolist()
    tails = []
    for probs in stage_probs:
        rest = probs.clone()
        rest[listed] = 0
        tails.append(float(rest.sum(dtype=torch.float64)))
    return Candidates(
        ids=np.array(ids, dtype=np.int64),
        raw=tuple(pieces.raw(i) for i in ids),
        special=np.array([pieces.special(i) for i in ids], dtype=bool),
        logits=logits[listed].cpu().numpy(),
        probs=torch.stack([probs[listed] for probs in stage_probs]).cpu().numpy(),
        kept=torch.stack([mask[listed] for mask in kept_masks]).cpu().numpy(),
        kept_count=np.array([int(torch.count_nonzero(mask)) for mask in kept_masks]),
        tail=np.array(tails),
        stages=tuple(names),
    )
