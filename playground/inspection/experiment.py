"""What comes of asking "what if" and "what does this one say": small records beside a trace.

Axis letters as in `inspection.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from playground.errors import PlaygroundError
from playground.inspection import Inspection, same_model
from playground.inspection.arrays import Axes, own_arrays


@dataclass(frozen=True, slots=True, eq=False)
class Ablation:
    """The next token's distribution at one step, with something taken away.

    hide: a position that stays where it is, but that no later position may attend to. head:
    (layer, head) whose output is set to zero at every position. ffn: a layer whose FFN writes
    nothing, at any position. Both passes are made now, without cache. ids: the most likely
    tokens of either, by falling logit before; raw: their bytes. probs are over the whole
    vocabulary. rank, 1 = first. kl_bits: how many bits the distribution after differs from the
    one before, sum of p_before × log2(p_before / p_after).
    """

    step: int
    hide: int | None
    head: tuple[int, int] | None
    ffn: int | None
    chosen: int
    ids: np.ndarray
    raw: tuple[bytes, ...]
    special: np.ndarray
    logits_before: np.ndarray
    logits_after: np.ndarray
    probs_before: np.ndarray
    probs_after: np.ndarray
    rank_before: np.ndarray
    rank_after: np.ndarray
    entropy_bits_before: float
    entropy_bits_after: float
    kl_bits: float

    AXES: ClassVar[Axes] = {
        "ids": ("i8", "C"), "special": ("?", "C"), "logits_before": ("f4", "C"),
        "logits_after": ("f4", "C"), "probs_before": ("f4", "C"), "probs_after": ("f4", "C"),
        "rank_before": ("i4", "C"), "rank_after": ("i4", "C"),
    }  # fmt: skip

    def __post_init__(self) -> None:
        own_arrays(self)


@dataclass(frozen=True, slots=True, eq=False)
class Neuron:
    """One FFN neuron's output row, read out over the vocabulary.

    row_norm: of the row as it stands in the matrix. The scores are row · (gain of the final
    norm) · each row of the head, the mean taken off for LayerNorm, after the post-norm's gain
    where the family has one: what one unit of activation adds to a token's score, times the
    scale that the norms divide by at a position. up_ids, up: the K tokens raised most; down_ids,
    down: those lowered most. pieces as in up_raw, down_raw.
    """

    layer: int
    id: int
    row_norm: float
    up_ids: np.ndarray
    up: np.ndarray
    up_raw: tuple[bytes, ...]
    down_ids: np.ndarray
    down: np.ndarray
    down_raw: tuple[bytes, ...]

    AXES: ClassVar[Axes] = {
        "up_ids": ("i8", "K"), "up": ("f4", "K"), "down_ids": ("i8", "K"), "down": ("f4", "K"),
    }  # fmt: skip

    def __post_init__(self) -> None:
        own_arrays(self)


@dataclass(frozen=True, slots=True, eq=False)
class Uncached:
    """The same answer without a cache: every step runs over all positions again.

    ms: f64[P], the forward of each step. positions: i32[P], how many it ran over. logits_gap:
    f32[P], largest |difference| to the recorded logits of the step's candidates.
    """

    ms: np.ndarray
    positions: np.ndarray
    logits_gap: np.ndarray

    AXES: ClassVar[Axes] = {
        "ms": ("f8", "P"), "positions": ("i4", "P"), "logits_gap": ("f4", "P")
    }  # fmt: skip

    def __post_init__(self) -> None:
        own_arrays(self)


@dataclass(frozen=True, slots=True, eq=False)
class Contrast:
    """Where the last prompt positions of two prompts part company.

    cosine: f32[L + 1] of the stream after l blocks. distance: of the two vectors, by the mean of
    their norms. gap[l] = 1 - cosine[l] is small while both say the same.
    """

    cosine: np.ndarray
    distance: np.ndarray

    AXES: ClassVar[Axes] = {"cosine": ("f4", "M"), "distance": ("f4", "M")}

    def __post_init__(self) -> None:
        own_arrays(self)


def contrast(a: Inspection, b: Inspection) -> Contrast:
    """The streams of `a` and `b` at their last prompt positions, layer by layer.

    Raises PlaygroundError unless both are of one model.
    """
    if not same_model(a.model, b.model):
        raise PlaygroundError("error.inspect_two_models", one=a.model.name, other=b.model.name)
    x, y = a.stream.prompt_end.astype("f8"), b.stream.prompt_end.astype("f8")
    norms = np.linalg.norm(x, axis=1), np.linalg.norm(y, axis=1)
    return Contrast(
        cosine=(x * y).sum(axis=1) / np.maximum(norms[0] * norms[1], 1e-300),
        distance=2 * np.linalg.norm(x - y, axis=1) / np.maximum(norms[0] + norms[1], 1e-300),
    )
