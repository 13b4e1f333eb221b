"""The parts of an inspection, see `playground.inspection` for the axis letters.

Numbers are float32 unless a name says otherwise; norms are Euclidean. Where a field may be None,
`Inspection.missing` says why.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from playground.inspection.arrays import Axes, own_arrays


@dataclass(frozen=True, slots=True, eq=False)
class Lens:
    """The stream after some of the layers, read out by the model's own final norm and head.

    layers: row r is the stream after `layers[r]` blocks; 0 is the embedding output, L the model's
    own answer. ids, probs: the K most likely tokens, by falling probability, equals by rising id.
    prob, logprob (natural log), rank (1 = first): of the token that the step chose. All over the
    whole vocabulary. settled: the first layer from which on the chosen token stays first, -1 where
    it is not first at the end; None where not every layer was read.
    """

    layers: np.ndarray
    ids: np.ndarray
    probs: np.ndarray
    prob: np.ndarray
    logprob: np.ndarray
    rank: np.ndarray
    entropy_bits: np.ndarray
    settled: np.ndarray | None

    AXES: ClassVar[Axes] = {
        "layers": ("i4", "R"), "ids": ("i4", "RPK"), "probs": ("f4", "RPK"), "prob": ("f4", "RP"),
        "logprob": ("f4", "RP"), "rank": ("i4", "RP"), "entropy_bits": ("f4", "RP"),
        "settled": ("i4", "P"),
    }  # fmt: skip

    def __post_init__(self) -> None:
        own_arrays(self)


@dataclass(frozen=True, slots=True, eq=False)
class Stream:
    """The residual stream and what was written into it.

    norms[l]: norm of the stream after l blocks (0: what enters the first one), at every position.
    mid_norms: between attention and FFN; None where the two read the same input (parallel).
    attn_norms, ffn_norms: of what each layer wrote (after its post-norm, where the family has
    one). attn_cosine, ffn_cosine: of those writes to the chosen token's row of the head.
    prompt_end: the stream itself at the last prompt position. final: what enters the final norm.
    normed: what the head gets. position_rows: what GPT-2 adds for the position, None elsewhere.
    """

    norms: np.ndarray
    mid_norms: np.ndarray | None
    attn_norms: np.ndarray | None
    ffn_norms: np.ndarray | None
    attn_cosine: np.ndarray | None
    ffn_cosine: np.ndarray | None
    prompt_end: np.ndarray
    final: np.ndarray
    normed: np.ndarray
    position_rows: np.ndarray | None

    AXES: ClassVar[Axes] = {
        "norms": ("f4", "MT"), "mid_norms": ("f4", "LT"), "attn_norms": ("f4", "LT"),
        "ffn_norms": ("f4", "LT"), "attn_cosine": ("f4", "LP"), "ffn_cosine": ("f4", "LP"),
        "prompt_end": ("f4", "MD"), "final": ("f4", "PD"), "normed": ("f4", "PD"),
        "position_rows": ("f4", "TD"),
    }  # fmt: skip

    def __post_init__(self) -> None:
        own_arrays(self)


@dataclass(frozen=True, slots=True, eq=False)
class Heads:
    """What every head reads, in a few numbers, at every answering position.

    sink: weight on position 0. entropy_bits: of the head's weights. peak, peak_weight: the key
    with the largest weight (the first of equals). windows: positions a layer looks back over,
    itself included; None is all. key_norms, value_norms: of what the cache holds.
    Query head h reads kv head h // (H / G).
    """

    sink: np.ndarray
    entropy_bits: np.ndarray
    peak: np.ndarray
    peak_weight: np.ndarray
    windows: tuple[int | None, ...]
    key_norms: np.ndarray
    value_norms: np.ndarray

    AXES: ClassVar[Axes] = {
        "sink": ("f4", "LHP"), "entropy_bits": ("f4", "LHP"), "peak": ("i4", "LHP"),
        "peak_weight": ("f4", "LHP"), "key_norms": ("f4", "LGT"), "value_norms": ("f4", "LGT"),
    }  # fmt: skip

    def __post_init__(self) -> None:
        own_arrays(self)


@dataclass(frozen=True, slots=True, eq=False)
class Attribution:
    """The chosen token's logit as a sum over everything that wrote into the stream.

    Exact but for rounding: the final norm divides every part by the same number, the one it took
    at that position (frozen scale; LayerNorm takes the mean off every part first). attn, ffn: what
    each layer's blocks wrote. heads, attn_bias: attn taken apart, each head through o_proj (and
    the post-norm, frozen likewise) and o_proj's bias; None where the heads can not be told.
    norm_bias, head_bias: the final norm's and the head's own. total: the sum, in float64, over
    heads and attn_bias where there are any. logit: the model's. Where a model caps its scores
    (Gemma 2: cap × tanh(x / cap)), the parts add up to the score before the cap; logit is that
    one, and capped what the cap made of it.
    """

    embedding: np.ndarray
    position: np.ndarray | None
    attn: np.ndarray
    heads: np.ndarray | None
    attn_bias: np.ndarray | None
    ffn: np.ndarray
    norm_bias: np.ndarray
    head_bias: np.ndarray
    total: np.ndarray
    logit: np.ndarray
    capped: np.ndarray
    cap: float | None

    AXES: ClassVar[Axes] = {
        "embedding": ("f4", "P"), "position": ("f4", "P"), "attn": ("f4", "LP"),
        "heads": ("f4", "LHP"), "attn_bias": ("f4", "LP"), "ffn": ("f4", "LP"),
        "norm_bias": ("f4", "P"), "head_bias": ("f4", "P"), "total": ("f8", "P"),
        "logit": ("f4", "P"), "capped": ("f4", "P"),
    }  # fmt: skip

    def __post_init__(self) -> None:
        own_arrays(self)


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """All V scores of each answering position: edges[P, B + 1], counts[P, B]; -inf not counted."""

    edges: np.ndarray
    counts: np.ndarray

    AXES: ClassVar[Axes] = {"edges": ("f4", "PX"), "counts": ("i4", "PB")}

    def __post_init__(self) -> None:
        own_arrays(self)


@dataclass(frozen=True, slots=True, eq=False)
class Gaps:
    """How far the pass is from what it must equal, measured in this very pass.

    logits: largest |difference| to the recorded logits of the step's candidates. head: to the
    model's own output at the last position. embedding: of what enters the first block to the
    rows of the table (scaled, position added). Per layer: stream, |out - (in + both writes)| by
    the largest |out|; attention_sum, |1 - sum of a row|; attention_future, the largest weight on
    a later position or outside of the window; attention_output, |weights × values - what
    attention gave| by the largest of it; heads, |sum of the heads' parts + bias - the part of
    the attention's write| in logits. attribution: |total - logit|.
    """

    logits: np.ndarray
    head: float
    embedding: float | None
    stream: np.ndarray | None
    attention_sum: np.ndarray | None
    attention_future: np.ndarray | None
    attention_output: np.ndarray | None
    heads: np.ndarray | None
    attribution: np.ndarray | None

    AXES: ClassVar[Axes] = {
        "logits": ("f4", "P"), "stream": ("f4", "L"), "attention_sum": ("f4", "L"),
        "attention_future": ("f4", "L"), "attention_output": ("f4", "L"), "heads": ("f4", "L"),
        "attribution": ("f4", "P"),
    }  # fmt: skip

    def __post_init__(self) -> None:
        own_arrays(self)
