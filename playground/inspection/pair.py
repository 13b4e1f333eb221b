"""Two prompts that differ in a few tokens, run by one model and laid side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from playground.inspection import Inspection, LayerDetail, Missing, same_model
from playground.inspection.arrays import Axes, agree, own_arrays
from playground.inspection.experiment import Contrast
from playground.tokenlab import FORM_NOTE
from playground.trace import ModelInfo, Trace

PAIR_SCHEMA = 1


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One of the two. Axis letters as in `inspection.py`; W: positions that differ.

    trace: a short greedy run. differ: i4[W], the prompt positions left when what both prompts
    begin and end with is taken off (none where the other prompt only has more in between).
    reads: f4[L, H], the weight that each head's last prompt position puts on `differ`, summed;
    None where there is nothing to read or the weights can not be seen. The lens at the last
    prompt position: row r is the stream after `layers[r]` blocks, ids and probs its K most
    likely tokens.
    """

    trace: Trace
    differ: np.ndarray
    reads: np.ndarray | None
    layers: np.ndarray
    ids: np.ndarray
    probs: np.ndarray
    entropy_bits: np.ndarray

    AXES: ClassVar[Axes] = {
        "differ": ("i4", "W"), "reads": ("f4", "LH"), "layers": ("i4", "R"), "ids": ("i4", "RK"),
        "probs": ("f4", "RK"), "entropy_bits": ("f4", "R"),
    }  # fmt: skip

    def __post_init__(self) -> None:
        own_arrays(self)


@dataclass(frozen=True, slots=True, eq=False)
class NextTokens:
    """The first answer token under both prompts: the most likely ones of either.

    ids: i4[C], by falling larger probability of the two; a, b: their probabilities over the
    whole vocabulary; rank_a, rank_b: 1 = first.
    """

    ids: np.ndarray
    a: np.ndarray
    b: np.ndarray
    rank_a: np.ndarray
    rank_b: np.ndarray

    AXES: ClassVar[Axes] = {
        "ids": ("i4", "C"), "a": ("f4", "C"), "b": ("f4", "C"), "rank_a": ("i4", "C"),
        "rank_b": ("i4", "C"),
    }  # fmt: skip

    def __post_init__(self) -> None:
        own_arrays(self)


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """Both sides, and what is only there between them.

    contrast: of the streams at the last prompt positions. pieces: the bytes of every token that
    is named; special: those among them that are control tokens. missing: what could not be seen.
    """

    a: Side
    b: Side
    contrast: Contrast
    next: NextTokens
    missing: tuple[Missing, ...]
    pieces: Mapping[int, bytes]
    special: frozenset[int]

    def __post_init__(self) -> None:
        if not same_model(self.a.trace.model, self.b.trace.model):
            raise ValueError("both sides of a pair are of one model")
        for side in (self.a, self.b):
            agree([side, self.contrast])

    @property
    def model(self) -> ModelInfo:
        return self.a.trace.model

    @property
    def parts_at(self) -> int | None:
        """The layer across which 1 - cosine rises most: there the two part company; the first of
        equals, None where it rises nowhere."""
        rises = np.diff(1 - self.contrast.cosine.astype("f8"))
        layer = int(rises.argmax())
        return layer if rises[layer] > 0 else None


def differing(a: Sequence[int], b: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """The positions of `a` and of `b`, i4 each, between what both begin and end with."""
    shorter = min(len(a), len(b))
    start = next((k for k in range(shorter) if a[k] != b[k]), shorter)
    room = shorter - start  # what both begin with does not count as their end as well
    end = next((k for k in range(room) if a[-1 - k] != b[-1 - k]), room)
    in_a, in_b = (np.arange(start, len(ids) - end, dtype="i4") for ids in (a, b))
    return in_a, in_b


def prompt_ids(trace: Trace) -> list[int]:
    return [token.id for token in trace.prompt]


def form_of(trace: Trace) -> str | None:
    """The template that stood in for the model's own, by name; None for the model's own or none."""
    names = (str(values.get("name", "")) for key, values in trace.notes if key == FORM_NOTE)
    return next(names, None)


def named_by(side: Side) -> set[int]:
    """The tokens that a side names: prompt, answer and lens."""
    return {*prompt_ids(side.trace), *side.trace.ids, *np.unique(side.ids).tolist()}


def side(trace: Trace, found: Inspection, differ: np.ndarray) -> Side:
    """`trace` as one side of a pair; found: its inspection with the details of all layers."""
    reads = [reading(d, found.n_prompt - 1, differ) for d in found.details]
    seen = len(differ) > 0 and all(r is not None for r in reads)
    return Side(
        trace=trace,
        differ=differ,
        reads=np.array(reads) if seen else None,
        layers=found.lens.layers,
        ids=found.lens.ids[:, 0],
        probs=found.lens.probs[:, 0],
        entropy_bits=found.lens.entropy_bits[:, 0],
    )


def reading(detail: LayerDetail, position: int, keys: np.ndarray) -> np.ndarray | None:
    """f4[H]: the weight that each head puts from `position` on the positions `keys`, summed.

    As `attend`, for one row only; None where the model does not let q and k be seen.
    """
    if detail.q is None or detail.k is None or detail.scaling is None:
        return None
    q, k = detail.q[:, position], detail.k[:, : position + 1]
    k = np.repeat(k, len(q) // len(k), axis=0)  # the kv head that each query head reads
    scores = np.einsum("he,hte->ht", q, k) * np.float32(detail.scaling)
    if detail.softcap is not None:
        cap = np.float32(detail.softcap)
        scores = cap * np.tanh(scores / cap)
    if detail.window is not None:
        scores[:, : max(0, position + 1 - detail.window)] = -np.inf
    weights: np.ndarray = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    summed: np.ndarray = weights[:, keys].sum(axis=1).astype("f4")
    return summed
