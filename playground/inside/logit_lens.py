"""The stream after every layer, read out as if the model ended there.

Read out is what the final norm makes of it, by the model's own head. The last row is the model's
answer. For a family that the table does not know, norm and head are used only if they give, from
the end of the stream, what the model itself gave in this pass.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import nn

from playground.capture import Parts
from playground.errors import PlaygroundError
from playground.inside.columns import fits, read_columns
from playground.inside.detail import host
from playground.inside.forcing import Forced, Turn
from playground.inside.numbers import working
from playground.inside.readout import Head, Source, Statistics, chunk_rows, histogram, read, settled
from playground.inside.recording import Recorder
from playground.inspection import Histogram, Lens
from playground.inspection.arrays import Missing
from playground.trace import Candidates

TOP = 5
# How far norm and head of an unknown family may be from the model's own, by the largest score.
_NEAR = {torch.float32: 1e-4, torch.float64: 1e-4}
_NEAR_HALF = 3e-2


@dataclass(slots=True, eq=False)
class Final:
    """What is wanted of the model's own scores beyond a row of the lens. logits_gap [P] is to
    `recorded`; logit, capped [P]: the chosen token's score before and after the cap."""

    recorded: Sequence[Candidates]
    chosen: torch.Tensor
    logits_gap: list[float] = field(default_factory=list)
    logit: list[torch.Tensor] = field(default_factory=list)
    capped: list[torch.Tensor] = field(default_factory=list)
    edges: list[torch.Tensor] = field(default_factory=list)
    counts: list[torch.Tensor] = field(default_factory=list)

    def take(self, rows: slice, raw: torch.Tensor, scores: torch.Tensor) -> None:
        """The next answering positions: `rows` of them, scores [M, V]. Raises PlaygroundError
        where they are no scores."""
        if not bool(scores.amax(dim=1).isfinite().all()):  # NaN goes through a maximum
            raise PlaygroundError("error.inspect_non_finite")
        own = self.chosen[rows, None]
        self.logit.append(working(raw.gather(1, own))[:, 0])
        self.capped.append(scores.gather(1, own)[:, 0])
        edges, counts = histogram(scores)
        self.edges.append(edges)
        self.counts.append(counts)
        for candidates, row in zip(self.recorded[rows], scores, strict=True):
            ids = torch.tensor(candidates.ids, device=row.device)
            now, then = row[ids].cpu(), torch.tensor(candidates.logits)
            gap = torch.where(now == then, 0, (now - then).abs())  # -inf equals -inf
            self.logits_gap.append(float(gap.max()))

    def histogram(self) -> Histogram:
        return Histogram(edges=host(torch.cat(self.edges)), counts=host(torch.cat(self.counts)))


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """lens, the final scores, how far the head alone is from the model's output, and what is
    missing."""

    lens: Lens
    final: Final
    head_gap: float
    missing: tuple[Missing, ...]


def logit_lens(
    parts: Parts,
    recorder: Recorder,
    output: torch.Tensor,
    given: Forced,
    recorded: Sequence[Candidates],
    layers: Sequence[int],
    turn: Turn,
) -> Reading:
    """Read out the stream after each of `layers` (rising, the last is L) at P positions.

    output: the model's own scores, [P, V] or, where the head is known, of the last one [1, V].
    """
    assert recorder.normed is not None
    n, n_layers = len(given.chosen), len(parts.layers)
    head, normed = Head(parts.head, parts.cap), recorder.normed[-n:]
    chosen = torch.tensor(given.chosen, device=normed.device)
    final = Final(recorded, chosen)
    step, total = chunk_rows(output.shape[-1]), n * len(layers)

    def of_output(rows: slice) -> tuple[torch.Tensor, torch.Tensor]:
        return output[rows], working(output[rows])

    last = read(
        of_output if recorder.whole_head else _through(head, step, normed), n, chosen, TOP,
        step=step, each=final.take, turn=lambda done: turn("lens", done, total),
    )  # fmt: skip
    head_gap = _head_gap(head, normed[-output.shape[0] :], output, step)
    unlike = None if parts.places else _unlike(parts, recorder.streams[-1], normed, head_gap)
    earlier = [] if unlike else [layer for layer in layers if layer < n_layers]
    read_out = [last]
    if earlier and parts.final_norm is not None:
        # all of them: as they lie; some: a copy
        whole = earlier == list(range(n_layers))
        streams = recorder.streams[:-1] if whole else recorder.streams[earlier]
        streams = streams.reshape(-1, streams.shape[-1]).to(normed)
        before = _before(
            head, parts.final_norm, streams, chosen.repeat(len(earlier)), step,
            lambda done: turn("lens", n + done, total),
        )  # fmt: skip
        read_out = [before, last]
    lens = _record([*earlier, n_layers], read_out, n, n_layers)
    return Reading(lens, final, head_gap, (unlike,) if unlike else ())


def _before(
    head: Head,
    norm: nn.Module,
    streams: torch.Tensor,
    chosen: torch.Tensor,
    step: int,
    turn: Callable[[int], None],
) -> Statistics:
    """What `streams` [M, D] give through `norm` and the head."""
    if fits(head, streams):
        return read_columns(
            head, lambda rows: norm.forward(streams[rows]), len(streams), chosen, TOP, turn=turn
        )
    source = _through(head, step, streams, norm)
    return read(source, len(streams), chosen, TOP, step=step, turn=turn)


def _through(head: Head, step: int, vectors: torch.Tensor, norm: nn.Module | None = None) -> Source:
    """The head's scores of `vectors` [M, D], through `norm` first where one is given."""
    buffer = vectors.new_empty(min(step, len(vectors)), head.table.shape[0])

    def source(rows: slice) -> tuple[torch.Tensor, torch.Tensor]:
        normed = vectors[rows] if norm is None else norm.forward(vectors[rows])
        raw = head.raw(normed, buffer)
        return raw, head.capped(raw)

    return source


def _head_gap(head: Head, normed: torch.Tensor, output: torch.Tensor, step: int) -> float:
    """Largest |difference| between the head's scores and the model's output, [M, V] each."""
    gaps = [0.0]
    for at in range(0, len(output), step):
        mine = head.capped(head.raw(normed[at : at + step]))
        theirs = working(output[at : at + step])
        gaps.append(float(torch.where(mine == theirs, 0, (mine - theirs).abs()).amax()))
    return max(gaps)


def _unlike(
    parts: Parts, end: torch.Tensor, normed: torch.Tensor, head_gap: float
) -> Missing | None:
    """Why the lens can not be had of a family that the table does not know."""
    near = _NEAR.get(normed.dtype, _NEAR_HALF)
    if parts.final_norm is None:
        return Missing("lens", "missing.final_norm", {})
    mine = working(parts.final_norm.forward(end.to(normed)))
    if float((mine - working(normed)).abs().amax()) > near * float(normed.abs().amax()):
        return Missing("lens", "missing.final_norm", {})
    scores = Head(parts.head, parts.cap).raw(normed)
    if head_gap > near * float(scores.abs().amax()):
        return Missing("lens", "missing.head", {})
    return None


def _record(layers: Sequence[int], read_out: Sequence[Statistics], n: int, n_layers: int) -> Lens:
    def whole(name: str) -> torch.Tensor:
        flat = torch.cat([getattr(part, name) for part in read_out])
        return flat.reshape(-1, n, *flat.shape[1:])

    ids, rank, logprob = whole("ids"), whole("rank").long(), whole("logprob")
    return Lens(
        layers=np.array(layers),
        ids=host(ids),
        probs=host(whole("probs")),
        prob=host(logprob.exp()),
        logprob=host(logprob),
        rank=host(rank),
        entropy_bits=host(whole("entropy_bits")),
        settled=host(settled(rank == 1)) if len(layers) == n_layers + 1 else None,
    )
