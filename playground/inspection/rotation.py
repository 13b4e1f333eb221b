"""Rotary positions: what turns a query or key as it is projected into the one attention gets."""

from __future__ import annotations

import numpy as np


def rotated(x: np.ndarray, cos: np.ndarray | None, sin: np.ndarray | None) -> np.ndarray:
    """x [N, T, E] turned by the angles of its positions: cos, sin [T, Z], Z even and at most E.

    The first Z dimensions are turned in pairs i and i + Z / 2, the others stay; without angles all
    do. The operations are those of `apply_rotary_pos_emb` (transformers 5.24) in their order, so
    that in float32 the result is that of the model to the bit.
    """
    if cos is None or sin is None:
        return x
    z = cos.shape[1]
    turned, rest = x[..., :z], x[..., z:]
    across = np.concatenate((-turned[..., z // 2 :], turned[..., : z // 2]), axis=-1)
    return np.concatenate((turned * cos + across * sin, rest), axis=-1)
