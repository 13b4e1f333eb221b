"""Who looks at what: attention weights again from q and k, as transformers' eager path has them.

scores = q · k × scaling; softcap × tanh(scores / softcap) where the model caps (Gemma 2); the
mask; soft-max. (`eager_attention_forward` of the families, 5.24.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from playground.inside.numbers import working
from playground.inside.watching import Call

_AT_ONCE = 2**20  # weights held at a time, all heads together


@dataclass(frozen=True, slots=True, eq=False)
class Heard:
    """What one attention call got and gave, without the batch: q [H, T, E]; k, v [G, T, E];
    out [T, H, E]; allowed bool[T, T] (query, key); bias [T, T] where the mask also adds."""

    q: torch.Tensor
    k: torch.Tensor
    v: torch.Tensor
    out: torch.Tensor
    allowed: torch.Tensor
    bias: torch.Tensor | None
    scaling: float
    softcap: float | None
    window: int | None


def hear(call: Call, out: torch.Tensor) -> Heard | None:
    """`call` in numbers; None where its mask or its terms are of a kind not known here."""
    options = call.options
    n = call.q.shape[2]
    plain = call.mask is None or (isinstance(call.mask, torch.Tensor) and call.mask.dim() == 4)
    if not plain or options.get("s_aux") is not None or options.get("position_bias") is not None:
        return None
    if call.k.shape[2] != n or call.q.shape[0] != 1:
        return None
    window = options.get("sliding_window")
    allowed, bias = seen(call.mask, n, window, call.q.device)
    scaling = options.get("scaling")
    return Heard(
        q=call.q[0],
        k=call.k[0],
        v=call.v[0],
        out=out[0],
        allowed=allowed,
        bias=bias,
        scaling=float(call.q.shape[-1] ** -0.5 if scaling is None else scaling),
        softcap=options.get("softcap"),
        window=int(window) if window else None,
    )


def seen(
    mask: torch.Tensor | None, n: int, window: int | None, device: torch.device
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """(allowed bool[T, T], bias [T, T] or None) of a mask bool or additive [1, 1, T, T].

    No mask means causal, and within `window` (SDPA leaves the mask out only where the window is
    longer than the text; flash attention gets the window itself).
    """
    if mask is None:
        allowed = torch.ones(n, n, dtype=torch.bool, device=device).tril()
        if window:
            allowed &= ~torch.ones_like(allowed).tril(-window)
        return allowed, None
    plane = mask[0, 0, :n, :n]
    if plane.dtype == torch.bool:
        return plane, None
    allowed = plane > torch.finfo(plane.dtype).min / 2
    kept = plane.masked_fill(~allowed, 0)
    return allowed, kept if bool(kept.any()) else None


def attend(heard: Heard, rows: torch.Tensor | slice) -> tuple[torch.Tensor, torch.Tensor]:
    """(scores, weights) of the query positions `rows`: [H, Q, T] each, scores -inf where hidden."""
    q, k = working(heard.q[:, rows]), working(heard.k)
    n_heads, n_rows, width = q.shape
    shared = q.reshape(k.shape[0], -1, width)  # the heads of one kv head are neighbours
    scores = (shared @ k.transpose(1, 2)).reshape(n_heads, n_rows, -1)
    scores *= heard.scaling
    if heard.softcap is not None:
        scores = heard.softcap * torch.tanh(scores / heard.softcap)
    if heard.bias is not None:
        scores += heard.bias[rows]
    scores.masked_fill_(~heard.allowed[rows], -math.inf)
    return scores, scores.softmax(dim=-1)


def values(heard: Heard, weights: torch.Tensor) -> torch.Tensor:
    """weights [H, Q, T] times the values of each head's kv head: [H, Q, E]."""
    v = working(heard.v)
    shared = weights.reshape(v.shape[0], -1, weights.shape[-1])
    return (shared @ v).reshape(*weights.shape[:2], v.shape[-1])


@dataclass(frozen=True, slots=True, eq=False)
class HeadSummary:
    """Of one layer, at P answering positions: [H, P] each; the gaps are single numbers, see
    `inspection.Gaps`."""

    sink: torch.Tensor
    entropy_bits: torch.Tensor
    peak: torch.Tensor
    peak_weight: torch.Tensor
    sum_gap: float
    future: float
    output_gap: float


def summarise(heard: Heard, n_answers: int) -> HeadSummary:
    """What every head reads from the last `n_answers` positions, taken a few rows at a time."""
    n = heard.q.shape[1]
    step = max(1, _AT_ONCE // (heard.q.shape[0] * n))
    parts: list[tuple[torch.Tensor, ...]] = []
    gaps: list[torch.Tensor] = []
    size = working(heard.out[n - n_answers :]).abs().amax().clamp_min(1e-30)
    keys = torch.arange(n, device=heard.q.device)
    for start in range(n - n_answers, n, step):
        rows = slice(start, min(start + step, n))
        _, weights = attend(heard, rows)
        late = keys[None, :] > keys[rows, None]
        if heard.window is not None:
            late |= keys[None, :] <= keys[rows, None] - heard.window
        peak_weight, peak = weights.max(dim=-1)
        # w log w is 0 at w = 0; the smallest normal number in its place gives just that
        bits = -(weights.clamp_min(1e-38).log2_() * weights).sum(dim=-1)
        parts.append((weights[:, :, 0].clone(), bits.clamp_min(0), peak, peak_weight))
        off = values(heard, weights).sub_(working(heard.out[rows]).transpose(0, 1))
        worst = ((weights.sum(dim=-1) - 1), weights.masked_fill(~late, 0), off / size)
        gaps.append(torch.stack([gap.abs().amax() for gap in worst]))
    sink, bits, peak, peak_weight = (torch.cat(p, dim=1) for p in zip(*parts, strict=True))
    sums, future, outputs = torch.stack(gaps).amax(dim=0).tolist()
    return HeadSummary(sink, bits, peak, peak_weight, sums, future, outputs)


def hidden(call: Call, position: int) -> torch.Tensor:
    """The call's mask with key `position` closed to every later query; as the mask's own kind.

    Where there was none, a bool mask [1, 1, T, T], which SDPA takes (True: may look).
    """
    n = call.q.shape[2]
    mask: torch.Tensor | None = call.mask
    if mask is None:
        allowed, _ = seen(None, n, call.options.get("sliding_window"), call.q.device)
        mask = allowed[None, None]
    mask = mask.clone()
    closed = False if mask.dtype == torch.bool else torch.finfo(mask.dtype).min
    mask[:, :, position + 1 :, position] = closed
    return mask
