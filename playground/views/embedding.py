"""One row of the embedding table as the browser gets it: every value as recorded.

The panel is drawn by assets/js/embedding.js. Float32 arrays travel as base64 of their
little-endian bytes, as in a trace's payload (`playground.views.payload`).
"""

from __future__ import annotations

import base64
import dataclasses
from typing import Any

import numpy as np

from playground.trace import EmbeddingRow, Neighbours


def row_payload(row: EmbeddingRow) -> dict[str, Any]:
    """{model, id, hex, special, values: base64 of f32[D], norm, mean, min, max, neighbours}."""
    return {
        "model": dataclasses.asdict(row.model),
        "id": row.id,
        "hex": row.raw.hex(),
        "special": row.special,
        "values": _f32(row.values),
        "norm": row.norm,
        "mean": row.mean,
        "min": row.minimum,
        "max": row.maximum,
        "neighbours": [_neighbours(near) for near in row.neighbours],
    }


def _neighbours(near: Neighbours) -> dict[str, Any]:
    """score: base64 of f32[N]; rank_in: i64[3, N] as lists, under cosine, euclidean and dot."""
    return {
        "metric": near.metric,
        "ids": near.ids.tolist(),
        "hexes": [raw.hex() for raw in near.raw],
        "score": _f32(near.score),
        "rank_in": near.rank_in.tolist(),
    }


def _f32(array: np.ndarray) -> str:
    return base64.b64encode(array.astype("<f4").tobytes()).decode("ascii")
