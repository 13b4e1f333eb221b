"""The inside of a model for one trace: what `engine.inspect` gives and every view of it reads.

Axis letters are those of `trace.py` (L layers, H query heads, G kv heads, T positions, D width,
F ffn width, V vocabulary rows) and of this room: P answering positions (position n_prompt - 1 + i
wrote the token of step i), R rows of the lens, K listed tokens, E width of one head, Z rotated
part of it, Q query positions, U listed neurons, B bins; M is L + 1, X is B + 1.

Every record names its arrays in `AXES` as (dtype, axes); arrays are owned and read-only, and
sizes agree.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from playground.inspection.arrays import Axes, Missing, agree, own_arrays
from playground.inspection.layer import LayerDetail
from playground.inspection.parts import Attribution, Gaps, Heads, Histogram, Lens, Stream
from playground.trace import ModelInfo

__all__ = [
    "INSPECTION_SCHEMA", "Attribution", "Gaps", "Heads", "Histogram", "Inspection", "LayerDetail",
    "Lens", "Missing", "Stopped", "Stream", "same_model",
]  # fmt: skip

INSPECTION_SCHEMA = 1


class Stopped(Exception):
    """`should_stop` said yes: nothing was kept, nothing is left behind."""


def same_model(a: ModelInfo, b: ModelInfo) -> bool:
    """Whether two runs can be laid side by side: one family, one set of sizes."""
    sizes = ("family", "n_layers", "n_heads", "n_kv_heads", "d_model", "d_ffn", "vocab_rows")
    return all(getattr(a, name) == getattr(b, name) for name in (*sizes, "n_params"))


@dataclass(frozen=True, slots=True, eq=False)
class Inspection:
    """One teacher-forced pass over prompt and answer (its last token is not fed).

    ids: i32[T], T = n_prompt + P - 1. chosen: i32[P], the token of every step. A part is None
    where the model does not let it be seen; `missing` says which and why. pieces: the bytes of
    every token named (empty for a row without a token); special: those among them that are
    control tokens. forward_ms: the pass with capture; lens_ms: reading the stream out.
    """

    schema: int
    model: ModelInfo
    n_prompt: int
    ids: np.ndarray
    chosen: np.ndarray
    stream: Stream
    lens: Lens
    heads: Heads | None
    attribution: Attribution | None
    histogram: Histogram
    details: tuple[LayerDetail, ...]
    gaps: Gaps
    missing: tuple[Missing, ...]
    pieces: Mapping[int, bytes]
    special: frozenset[int]
    forward_ms: float
    lens_ms: float

    AXES: ClassVar[Axes] = {"ids": ("i4", "T"), "chosen": ("i4", "P")}

    def __post_init__(self) -> None:
        own_arrays(self)
        parts: list[Any] = [self, self.stream, self.lens, self.heads, self.attribution]
        agree([p for p in [*parts, self.histogram, self.gaps, *self.details] if p is not None])
        if len(self.ids) != self.n_prompt + len(self.chosen) - 1:
            raise ValueError("an inspection has n_prompt + steps - 1 positions")

    @property
    def logits_gap(self) -> float:
        """The largest difference of any recorded logit to the same one of this pass."""
        return float(self.gaps.logits.max())

    def position(self, step: int) -> int:
        """The position whose output chose the token of `step`."""
        return self.n_prompt - 1 + step

    def detail(self, layer: int) -> LayerDetail | None:
        """The detail of `layer`, where it was asked for."""
        return next((d for d in self.details if d.layer == layer), None)
