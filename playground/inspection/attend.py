"""What one head reads, once more from its q, k and v.

scores = q · k × scaling; softcap × tanh(scores / softcap) where the model caps; minus infinity
where the mask forbids (a later position, or one that has left the window); soft-max; weights
times values. As `inside.attention`, which computed it while the model ran, in numpy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from playground.inspection.arrays import Axes, own_arrays
from playground.inspection.layer import LayerDetail


@dataclass(frozen=True, slots=True, eq=False)
class Attended:
    """One query head at the query positions `rows`; kv: the kv head it reads.

    scores, weights: [Q, T]; out: [Q, E], the values that the weights mixed.
    """

    head: int
    kv: int
    rows: np.ndarray
    scores: np.ndarray
    weights: np.ndarray
    out: np.ndarray

    AXES: ClassVar[Axes] = {
        "rows": ("i4", "Q"), "scores": ("f4", "QT"), "weights": ("f4", "QT"), "out": ("f4", "QE"),
    }  # fmt: skip

    def __post_init__(self) -> None:
        own_arrays(self)


def attend(detail: LayerDetail, head: int, last: int | None = None) -> Attended | None:
    """What `head` of the layer reads from every query position at hand, or only from the `last`
    so many (1 or more); None where the model does not let q and k be seen. Raises IndexError for a
    head that is not there."""
    if detail.q is None or detail.k is None or detail.v is None:
        return None
    n_heads, n = detail.q.shape[:2]
    if not 0 <= head < n_heads:
        raise IndexError(head)
    kv = head // (n_heads // len(detail.k))
    at = slice(None if last is None else -last, None)
    if detail.scores is not None and detail.weights is not None and detail.rows is not None:
        rows, scores, weights = detail.rows[at], detail.scores[head][at], detail.weights[head][at]
    else:
        rows = np.arange(n)[at]
        scores = _scores(detail, head, kv, rows)
        weights = _softmax(scores)
    return Attended(head, kv, rows, scores, weights, weights @ detail.v[kv])


def _scores(detail: LayerDetail, head: int, kv: int, rows: np.ndarray) -> np.ndarray:
    assert detail.q is not None and detail.k is not None and detail.scaling is not None
    scores = (detail.q[head, rows[0] :] @ detail.k[kv].T) * np.float32(detail.scaling)
    if detail.softcap is not None:
        cap = np.float32(detail.softcap)
        scores = cap * np.tanh(scores / cap)
    back = rows[:, None] - np.arange(scores.shape[1])[None, :]  # how far a query looks back
    hidden = back < 0
    if detail.window is not None:
        hidden |= back >= detail.window
    masked: np.ndarray = np.where(hidden, np.float32(-np.inf), scores)
    return masked


def _softmax(scores: np.ndarray) -> np.ndarray:
    weights: np.ndarray = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    return weights
