"""What one forward leaves behind: layers are taken one at a time, and of each a few numbers stay.

Kept whole are only the stream at the answering positions (for the lens) and what `detail` keeps
of the layers that were asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch import nn

from playground.capture import LayerParts, Parts
from playground.inside import attention
from playground.inside.attention import HeadSummary, Heard
from playground.inside.attribution import Norm, attention_parts, cosine, dots
from playground.inside.detail import Grabbed, detail, grab
from playground.inside.numbers import working
from playground.inside.watching import Call, Watch
from playground.inspection import LayerDetail
from playground.trace import ModelInfo


@dataclass(slots=True, eq=False)
class Layer:
    """One layer while it runs; gone when the next one starts. [T, D] each."""

    entered: torch.Tensor
    between: torch.Tensor | None = None
    attn: torch.Tensor | None = None
    ffn: torch.Tensor | None = None
    projected: torch.Tensor | None = None  # [P, D] what o_proj gave, where a post-norm follows
    heard: Heard | None = None
    grabbed: Grabbed = field(default_factory=Grabbed)


@dataclass(slots=True, eq=False)
class Writes:
    """Of one layer's two writes. Norms [T]; cosines [P]; parts of the score, f64, not yet
    divided by the final norm's scale: attn, ffn [P]; heads [H, P] and attn_bias [P] or None."""

    attn_norms: torch.Tensor
    ffn_norms: torch.Tensor
    mid_norms: torch.Tensor | None
    attn_cosine: torch.Tensor
    ffn_cosine: torch.Tensor
    attn: torch.Tensor
    heads: torch.Tensor | None
    attn_bias: torch.Tensor | None
    ffn: torch.Tensor
    stream_gap: float
    heads_gap: torch.Tensor | None  # [P], not yet divided


@dataclass(slots=True, eq=False)
class Recorder:
    """Sees one forward. rows: [P, D], the chosen tokens' rows of the head. direction: [P, D], the
    same before the final norm, up to its scale. turn(l) is called as layer l begins."""

    info: ModelInfo
    parts: Parts
    n_answers: int
    rows: torch.Tensor
    direction: torch.Tensor | None
    wanted: frozenset[int]
    weights: bool
    turn: Callable[[int], None]
    whole_head: bool  # let the head read every answering position, not only the last
    _streams: torch.Tensor | None = None
    norms: list[torch.Tensor] = field(default_factory=list)  # [T]
    writes: list[Writes] = field(default_factory=list)
    summaries: list[HeadSummary | None] = field(default_factory=list)
    key_norms: list[torch.Tensor] = field(default_factory=list)  # [G, T]
    value_norms: list[torch.Tensor] = field(default_factory=list)
    windows: list[int | None] = field(default_factory=list)
    details: list[LayerDetail] = field(default_factory=list)
    embedded: torch.Tensor | None = None  # [T, D] rows of the table, scaled
    position: torch.Tensor | None = None  # [T, D]
    entered: torch.Tensor | None = None  # [T, D] what the first block got
    normed: torch.Tensor | None = None  # [P, D] what the head got
    _layer: Layer | None = None

    def attach(self, watch: Watch) -> None:
        """Set everything that is to be seen; `watch` takes it off again."""
        parts = self.parts
        watch.leaves(parts.embed, partial(self._set, "embedded"))
        if parts.position is not None:
            watch.leaves(parts.position, partial(self._set, "position"))
        watch.enters(parts.head, self._head)
        for i, layer in enumerate(parts.layers):
            watch.enters(layer, partial(self._enter, i))
            attn = parts.attention[i]
            if attn is not None:
                watch.attends(attn, self._attend)
            if parts.blocks is not None:
                self._attach_block(watch, i, parts.blocks[i])
            watch.leaves(layer, partial(self._leave, i))

    def _attach_block(self, watch: Watch, i: int, block: LayerParts) -> None:
        if block.attn_norm is not None:
            watch.leaves(block.o_proj, self._projected)
        watch.leaves(block.attn_write, partial(self._put, "attn"))
        watch.leaves(block.ffn_write, partial(self._put, "ffn"))
        if block.between is not None:
            watch.enters(block.between, partial(self._put, "between"))
        if i in self.wanted:
            grab(watch, block, lambda: self._now.grabbed)

    def _set(self, name: str, x: torch.Tensor) -> None:
        setattr(self, name, x[0] if x.dim() == 3 else x)

    def _put(self, name: str, x: torch.Tensor) -> None:
        setattr(self._now, name, x[0])

    def _projected(self, x: torch.Tensor) -> None:
        self._now.projected = x[0, -self.n_answers :]

    @property
    def _now(self) -> Layer:
        assert self._layer is not None, "a part of a layer ran outside of a layer"
        return self._layer

    def _head(self, x: torch.Tensor) -> torch.Tensor | None:
        self.normed = x[0]
        return None if self.whole_head else x[:, -1:]

    def _enter(self, i: int, x: torch.Tensor) -> None:
        self.turn(i)
        if i == 0:
            self.entered = x[0]
            self._keep(x[0])
        self._layer = Layer(x[0])

    def _keep(self, x: torch.Tensor) -> None:
        """The stream [T, D] between two blocks."""
        if self._streams is None:
            # one block for all: small ones among what comes and goes would hold the heap open
            shape = len(self.parts.layers) + 1, self.n_answers, x.shape[-1]
            self._streams = working(x).new_empty(shape)
        self._streams[len(self.norms)] = x[-self.n_answers :]
        self.norms.append(working(x).norm(dim=-1))

    @property
    def streams(self) -> torch.Tensor:
        """[L + 1, P, D]: the stream at the answering positions, after 0 … L blocks."""
        assert self._streams is not None
        return self._streams

    def _attend(self, call: Call) -> tuple[torch.Tensor, Any]:
        out, rest = call.run()
        self._now.heard = attention.hear(call, out)
        return out, rest

    def _leave(self, i: int, x: torch.Tensor) -> None:
        now, x = self._now, x[0]
        self._keep(x)
        if self.parts.blocks is not None:
            self.writes.append(self._written(now, x, self.parts.blocks[i]))
        summary = None
        if now.heard is not None:
            summary = attention.summarise(now.heard, self.n_answers)
            self.key_norms.append(working(now.heard.k).norm(dim=-1))
            self.value_norms.append(working(now.heard.v).norm(dim=-1))
        self.windows.append(now.heard.window if now.heard is not None else None)
        self.summaries.append(summary)
        if i in self.wanted:
            self.details.append(
                detail(
                    i, self.info, self.parts, now.heard, now.grabbed, self.n_answers, self.weights
                )
            )
        self._layer = None

    def _norm(self, module: nn.Module | None) -> Norm | None:
        places = self.parts.places
        return Norm.of(module, places.unit_offset) if module is not None and places else None

    def _written(self, now: Layer, out: torch.Tensor, block: LayerParts) -> Writes:
        assert now.attn is not None and now.ffn is not None and self.direction is not None
        attn, ffn = working(now.attn), working(now.ffn)
        at = slice(-self.n_answers, None)
        after = working(now.entered) + attn
        gap = (working(out) - (after + ffn)).abs().amax()
        mid_norms = None
        if now.between is not None:
            between = working(now.between)
            mid_norms = between.norm(dim=-1)
            gap = torch.maximum(gap, (between - after).abs().amax())
        attn_norms, ffn_norms = attn.norm(dim=-1), ffn.norm(dim=-1)
        direction, rows = self.direction.to(attn.device), self.rows
        of_attn = dots(direction, attn[at])
        heads = bias = heads_gap = None
        if now.heard is not None:
            norm = self._norm(block.attn_norm)
            found = attention_parts(direction, block.o_proj, norm, now.projected, now.heard.out[at])
            heads, bias = found.heads, found.bias
            heads_gap = (heads.sum(dim=0) + bias - of_attn).abs()
        return Writes(
            attn_norms=attn_norms,
            ffn_norms=ffn_norms,
            mid_norms=mid_norms,
            attn_cosine=cosine(attn[at], attn_norms[at], rows),
            ffn_cosine=cosine(ffn[at], ffn_norms[at], rows),
            attn=of_attn,
            heads=heads,
            attn_bias=bias,
            ffn=dots(direction, ffn[at]),
            stream_gap=float(gap / working(out).abs().amax().clamp_min(1e-30)),
            heads_gap=heads_gap,
        )
