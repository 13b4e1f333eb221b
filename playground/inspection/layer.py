"""One layer from inside: q, k, v, what every head read, and the strongest FFN neurons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from playground.inspection.arrays import Axes, own_arrays


@dataclass(frozen=True, slots=True, eq=False)
class LayerDetail:
    """Layer `layer` (0 is the first). Axes as in `inspection.py`; kv heads are not expanded:
    query head h reads kv head h // (H / G).

    q_raw, k_raw: out of the projection. q_normed, k_normed: after the q/k-norm, None without
    one. q, k, v: what attention got (rotated by position, where the model rotates). cos, sin:
    of the rotation, for the Z first dimensions of a head (pairs are i and i + Z / 2); None
    without rotation. scores: q · k × scaling, capped to ±softcap by softcap × tanh(x / softcap)
    where the model does so, -inf where the mask forbids; weights: their soft-max. Both for the
    query positions `rows`: all of them, unless memory says only the last answering ones. None
    where they were not kept: `inspection.attend` gives them again from q and k.
    head_out: a head's weighted values; head_writes: the same through o_proj (without its bias
    and before a post-norm).
    neurons: the U FFN neurons that write most at an answering position, by |activation| times
    the norm of their output row; activation: what the output row is multiplied by; up, gate:
    the products it is made of, before the activation function (gate is None without gating).
    write_norms: norm of what each of these neurons writes.
    """

    layer: int
    scaling: float | None
    softcap: float | None
    window: int | None
    q_raw: np.ndarray | None
    k_raw: np.ndarray | None
    q_normed: np.ndarray | None
    k_normed: np.ndarray | None
    q: np.ndarray | None
    k: np.ndarray | None
    v: np.ndarray | None
    cos: np.ndarray | None
    sin: np.ndarray | None
    rows: np.ndarray | None
    scores: np.ndarray | None
    weights: np.ndarray | None
    head_out: np.ndarray | None
    head_writes: np.ndarray | None
    neurons: np.ndarray | None
    activation: np.ndarray | None
    gate: np.ndarray | None
    up: np.ndarray | None
    write_norms: np.ndarray | None

    AXES: ClassVar[Axes] = {
        "q_raw": ("f4", "HTE"), "k_raw": ("f4", "GTE"), "q_normed": ("f4", "HTE"),
        "k_normed": ("f4", "GTE"), "q": ("f4", "HTE"), "k": ("f4", "GTE"), "v": ("f4", "GTE"),
        "cos": ("f4", "TZ"), "sin": ("f4", "TZ"), "rows": ("i4", "Q"), "scores": ("f4", "HQT"),
        "weights": ("f4", "HQT"), "head_out": ("f4", "HPE"), "head_writes": ("f4", "HPD"),
        "neurons": ("i4", "PU"), "activation": ("f4", "PU"), "gate": ("f4", "PU"),
        "up": ("f4", "PU"), "write_norms": ("f4", "PU"),
    }  # fmt: skip

    def __post_init__(self) -> None:
        own_arrays(self)
